//! Machines recognised by a matrix of their distances, with rows in any order.

use viem::base::rng::Rng;
use viem::base::types::Distance;
use viem::machine::recognise::{Recognised, recognise};
use viem::machine::{Dimension, Grid, Hierarchy, Hypercube, Machine};

/// The distances of a machine, row by row.
fn matrix(machine: &dyn Machine) -> Vec<Distance> {
    machine.distances().unwrap().rows().flatten().collect()
}

fn tree(rng: &mut Rng) -> Box<dyn Machine> {
    let levels = 1 + rng.below(4);
    let arities = (0..levels).map(|_| 1 + rng.below(5)).collect();
    // Not all of them grow outwards, and some are equal.
    let distances = (0..levels).map(|_| Distance::from(rng.below(9))).collect();
    Box::new(Hierarchy::new(arities, distances).unwrap())
}

fn cube(rng: &mut Rng) -> Box<dyn Machine> {
    Box::new(Hypercube::new(1 + rng.below(7)).unwrap())
}

fn complete(rng: &mut Rng) -> Box<dyn Machine> {
    Box::new(Hierarchy::new(vec![2 + rng.below(40)], vec![Distance::from(rng.below(9))]).unwrap())
}

/// A grid whose dimensions are closed where this holds.
fn grid(rng: &mut Rng, is_closed: impl Fn(&mut Rng) -> bool) -> Box<dyn Machine> {
    let count = 1 + rng.below(3);
    let most = [60, 12, 6][count as usize - 1];
    let dimension = |_| Dimension { length: 1 + rng.below(most), is_closed: is_closed(rng) };
    let dimensions = (0..count).map(dimension).collect();
    Box::new(Grid::new(dimensions, Hierarchy::single(), 1 + Distance::from(rng.below(5))).unwrap())
}

fn mesh(rng: &mut Rng) -> Box<dyn Machine> {
    grid(rng, |_| false)
}

fn torus(rng: &mut Rng) -> Box<dyn Machine> {
    grid(rng, |_| true)
}

fn mixed(rng: &mut Rng) -> Box<dyn Machine> {
    grid(rng, |rng| rng.below(2) == 0)
}

/// A random machine of a family.
type Random = fn(&mut Rng) -> Box<dyn Machine>;

/// The families that are recognised.
const FAMILIES: [Random; 6] = [tree, cube, complete, mesh, torus, mixed];

/// A matrix with rows and columns in a random order, with its entries scaled and shifted.
fn disguised(matrix: &[i64], n: usize, (factor, offset): (i64, i64), rng: &mut Rng) -> Vec<i64> {
    let mut order: Vec<usize> = (0..n).collect();
    rng.shuffle(&mut order);
    let mut disguised = vec![0; n * n];
    for k in 0..n {
        for l in 0..n {
            // The diagonal does not matter.
            let entry = if k == l { 77 * k as i64 } else { factor * matrix[k * n + l] + offset };
            disguised[order[k] * n + order[l]] = entry;
        }
    }
    disguised
}

/// The recognised machine has the entries of the matrix for all pairs.
fn check(found: &Recognised, entries: &[i64], n: usize) {
    let distances = matrix(&*found.machine);
    assert_eq!((found.machine.num_pes(), found.pe_of.len()), (n, n));
    for k in 0..n {
        for l in (0..n).filter(|&l| l != k) {
            let distance = distances[found.pe_of[k] as usize * n + found.pe_of[l] as usize];
            assert_eq!(found.factor * distance + found.offset, entries[k * n + l]);
        }
    }
}

#[test]
fn machines_of_every_family_are_recognised_in_any_order() {
    let mut rng = Rng::new(1);
    for random in FAMILIES {
        for _ in 0..60 {
            let machine = random(&mut rng);
            let n = machine.num_pes();
            let scale = (1 + i64::from(rng.below(9)), i64::from(rng.below(20)) - 10);
            let entries = disguised(&matrix(&*machine), n, scale, &mut rng);
            match recognise(n, &entries) {
                Some(found) => check(&found, &entries, n),
                None => assert!(n < 2, "{}", machine.describe()),
            }
        }
    }
}

#[test]
fn a_matrix_with_another_entry_is_not_recognised() {
    let mut rng = Rng::new(2);
    let mut tried = 0;
    for random in FAMILIES {
        for _ in 0..40 {
            let machine = random(&mut rng);
            let n = machine.num_pes();
            if n < 8 {
                continue;
            }
            let mut entries = disguised(&matrix(&*machine), n, (2, 0), &mut rng);
            let (k, l) = (rng.below(n as u32) as usize, rng.below(n as u32 - 1) as usize);
            let l = if l == k { n - 1 } else { l };
            // On both sides of the diagonal, or on one.
            let other = [0, 1, 2, 77][rng.below(4) as usize];
            entries[k * n + l] += 2 + other;
            if rng.below(2) == 0 {
                entries[l * n + k] += 2 + other;
            }
            assert!(recognise(n, &entries).is_none(), "{} ({k}, {l})", machine.describe());
            tried += 1;
        }
    }
    assert!(tried > 100);
}

#[test]
fn machines_have_the_right_names() {
    let mut rng = Rng::new(3);
    let cases: [(Box<dyn Machine>, &str); 6] = [
        (Box::new(Hypercube::new(5).unwrap()), "hypercube of dimension 5"),
        (Box::new(Grid::mesh(&[2, 7]).unwrap()), "mesh of"),
        (Box::new(Grid::torus(&[4, 4, 3]).unwrap()), "torus of"),
        (Box::new(Grid::torus(&[4, 6]).unwrap()), "torus of"),
        (Box::new(Grid::torus(&[9]).unwrap()), "torus of 9"),
        (Box::new(Hierarchy::parse("4:16:8", "1:10:100").unwrap()), "hierarchy 4:16:8"),
    ];
    for (machine, name) in cases {
        let n = machine.num_pes();
        let entries = disguised(&matrix(&*machine), n, (1, 0), &mut rng);
        let found = recognise(n, &entries).unwrap();
        assert!(found.machine.describe().contains(name), "{}", found.machine.describe());
    }
}

#[test]
fn any_matrix_is_handled() {
    let mut rng = Rng::new(4);
    let values = [i64::MIN, i64::MIN + 1, -3, -1, 0, 1, 2, 3, i64::MAX - 1, i64::MAX];
    for case in 0..2000 {
        let n = case % 9;
        let few = 1 + rng.below(values.len() as u32);
        let mut entries: Vec<i64> = (0..n * n).map(|_| values[rng.below(few) as usize]).collect();
        for k in 0..n {
            for l in 0..if rng.below(3) == 0 { 0 } else { k } {
                entries[k * n + l] = entries[l * n + k];
            }
        }
        if let Some(found) = recognise(n, &entries) {
            check(&found, &entries, n);
        }
    }
}
