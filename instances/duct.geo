// A duct whose first half is divided into hexahedra, and the second into prisms.
Point(1) = {0, 0, 0, 0.35}; Point(2) = {1.5, 0, 0, 0.35}; Point(3) = {3, 0, 0, 0.3};
Point(4) = {3, 1, 0, 0.3}; Point(5) = {1.5, 1, 0, 0.35}; Point(6) = {0, 1, 0, 0.35};
Line(1) = {1, 2}; Line(2) = {2, 5}; Line(3) = {5, 6}; Line(4) = {6, 1};
Line(5) = {2, 3}; Line(6) = {3, 4}; Line(7) = {4, 5};
Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1};
Curve Loop(2) = {5, 6, 7, -2}; Plane Surface(2) = {2};
Transfinite Surface {1}; Recombine Surface {1};
Extrude {0, 0, 0.5} { Surface{1, 2}; Layers{2}; Recombine; }
