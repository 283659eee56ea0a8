"""Meshes as graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import viem

INSTANCES = Path(__file__).parents[3] / "instances"

# A bar of three unit cubes. Node (x, y, z) is number x + 4 * (y + 2 * z).
POINTS = [(x, y, z) for z in range(2) for y in range(2) for x in range(4)]
CORNERS = [0, 1, 5, 4, 8, 9, 13, 12]
CUBES = [[corner + x for corner in CORNERS] for x in range(3)]
FACES = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (2, 3, 7, 6), (1, 2, 6, 5), (0, 4, 7, 3)]


def rows(rows, first=0):
    return "".join(" ".join(str(entry + first) for entry in row) + "\n" for row in rows)


def metis(folder):
    (folder / "bar.mesh").write_text("3\n" + rows(CUBES, 1))
    return folder / "bar.mesh"


def gmsh(folder):
    nodes = "".join(f"{i + 1} {x} {y} {z}\n" for i, (x, y, z) in enumerate(POINTS))
    cubes = [[i + 1, 5, 2, 0, 1, *(node + 1 for node in cube)] for i, cube in enumerate(CUBES)]
    text = f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n16\n{nodes}$EndNodes\n"
    (folder / "bar.msh").write_text(f"{text}$Elements\n4\n4 15 2 0 1 1\n{rows(cubes)}$EndElements\n")
    return folder / "bar.msh"


def vtk(folder):
    head = "# vtk DataFile Version 3.0\nbar\nASCII\nDATASET UNSTRUCTURED_GRID\n"
    cells = rows([8, *cube] for cube in CUBES)
    (folder / "bar.vtk").write_text(
        f"{head}POINTS 16 float\n{rows(POINTS)}CELLS 3 27\n{cells}CELL_TYPES 3\n12\n12\n12\n"
    )
    return folder / "bar.vtk"


def vtu(folder):
    def array(name, kind, values, components=1):
        head = f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{components}" format="ascii">'
        return f"{head}{' '.join(map(str, np.ravel(values)))}</DataArray>"

    cells = array("connectivity", "Int64", CUBES) + array("offsets", "Int64", [8, 16, 24])
    (folder / "bar.vtu").write_text(
        '<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian"><UnstructuredGrid>'
        f'<Piece NumberOfPoints="16" NumberOfCells="3"><Points>{array("Points", "Float64", POINTS, 3)}</Points>'
        f"<Cells>{cells}{array('types', 'UInt8', [12] * 3)}</Cells></Piece></UnstructuredGrid></VTKFile>"
    )
    return folder / "bar.vtu"


def openfoam(folder):
    sides: dict[frozenset[int], list[tuple[int, list[int]]]] = {}
    for cell, cube in enumerate(CUBES):
        for face in FACES:
            nodes = [cube[corner] for corner in face]
            sides.setdefault(frozenset(nodes), []).append((cell, nodes))
    faces = sorted(sides.values(), key=lambda of: (-len(of), of[0][0]))
    mesh = folder / "case" / "constant" / "polyMesh"
    mesh.mkdir(parents=True)

    def write(name, kind, entries):
        head = f"FoamFile\n{{\n    format ascii;\n    class {kind};\n}}\n"
        (mesh / name).write_text(f"{head}{len(entries)}\n(\n" + "\n".join(entries) + "\n)\n")

    write("points", "vectorField", [f"({x} {y} {z})" for x, y, z in POINTS])
    write("faces", "faceList", [f"4({' '.join(map(str, of[0][1]))})" for of in faces])
    write("owner", "labelList", [str(of[0][0]) for of in faces])
    write("neighbour", "labelList", [str(of[1][0]) for of in faces if len(of) == 2])
    return folder / "case"


@pytest.mark.parametrize("write", [metis, gmsh, vtk, vtu, openfoam])
def test_all_kinds_of_files(tmp_path, write):
    path = write(tmp_path)
    mesh = viem.read_mesh(path)
    assert isinstance(mesh, viem.Graph) and repr(mesh) == "Mesh(3 vertices, 2 edges)"
    assert (mesh.to_scipy().toarray() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]).all()
    assert mesh.kinds == {"hexahedron": 3}
    assert mesh.left_out == ({"point": 1} if write is gmsh else {})
    if write is metis:
        assert mesh.coordinates is None
    else:
        assert mesh.coordinates is not None
        assert np.allclose(mesh.coordinates, [[x + 0.5, 0.5] for x in range(3)])
    assert viem.partition(mesh, 3, imbalance=0).cut == 2


def test_options(tmp_path):
    path = vtk(tmp_path)
    assert viem.read_mesh(path, common=1).num_edges == 2
    nodal = viem.read_mesh(path, nodal=True)
    pairs = {(u, v) for cube in CUBES for u in cube for v in cube if u < v}
    assert nodal.num_vertices == 16 and nodal.num_edges == len(pairs)
    assert nodal.coordinates is not None and (nodal.coordinates == POINTS).all()
    assert viem.partition(viem.read_mesh(path, element_weights={"hexahedron": 5}), 1).loads.tolist() == [15]
    duct = viem.read_mesh(INSTANCES / "duct.msh", element_weights={"hexahedron": 3, "prism": 2})
    assert duct.kinds == {"prism": 104, "hexahedron": 48}
    assert viem.partition(duct, 1).loads.tolist() == [104 * 2 + 48 * 3]


def test_several_weights_of_elements(tmp_path):
    (tmp_path / "two.mesh").write_text("2 2\n5 1 1 2 3\n7 1 2 3 4\n")
    assert viem.partition(viem.read_mesh(tmp_path / "two.mesh"), 1).loads.tolist() == [[12, 2]]


def test_decompositions_of_openfoam(tmp_path):
    mesh = viem.read_mesh(openfoam(tmp_path))
    parts = viem.partition(mesh, 3, imbalance=0)
    name = tmp_path / "case" / "constant" / "cellDecomposition"
    for what in (parts, parts.blocks):
        viem.write(name, what, "decomposition")
        assert "FoamFile" in name.read_text()
        assert (viem.read(name, "mapping") == parts.blocks).all()


def test_refusals(tmp_path):
    path = metis(tmp_path)
    for arguments in (
        {"common": 0},
        {"element_weights": {"cube": 1}},
        {"element_weights": {"hexahedron": -1}},
        {"nodal": True, "common": 2},
        {"nodal": True, "element_weights": {"hexahedron": 2}},
    ):
        with pytest.raises(ValueError):
            viem.read_mesh(path, **arguments)
    path.write_text("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\nmany\n")
    with pytest.raises(viem.DataError) as error:
        viem.read_mesh(path)
    assert error.value.line == 5 and error.value.file is not None
    with pytest.raises(viem.InputError):
        viem.read_mesh(tmp_path / "nothing")
