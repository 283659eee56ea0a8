//! SYRTHES, which divides meshes by METIS or Scotch, with the libraries in their place.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use crate::dropins::{mean, number};
use crate::tools::{expect, has, lib};

/// A triangulated rectangle in the format of SYRTHES.
fn mesh(width: usize, height: usize) -> String {
    let node = |x: usize, y: usize| 1 + x + y * (width + 1);
    let squares = (0..width * height).map(|square| (square % width, square / width));
    let triangles = squares.flat_map(|(x, y)| {
        let (a, b, c, d) = (node(x, y), node(x + 1, y), node(x, y + 1), node(x + 1, y + 1));
        // Diagonals alternate.
        if (x + y) % 2 == 0 { [[a, b, c], [b, d, c]] } else { [[a, b, d], [a, d, c]] }
    });
    let along = |x: usize, y: usize, to: usize| [node(x, y), to];
    let level = (0..width).flat_map(|x| [0, height].map(|y| along(x, y, node(x + 1, y))));
    let upright = (0..height).flat_map(|y| [0, width].map(|x| along(x, y, node(x, y + 1))));
    let num_nodes = (width + 1) * (height + 1);
    let mut text = format!(
        "C*V4.0*******************************************C\nC           FICHIER GEOMETRIQUE SYRTHES          C\n\
         C************************************************C\nC  DIMENSION = 2\nC  DIMENSION DES ELTS = 2\n\
         C  NOMBRE DE NOEUDS = {num_nodes:12}\nC  NOMBRE D'ELEMENTS = {:11}\nC  NOMBRE D'ELEMENTS DE BORD = {:11}\n\
         C  NOMBRE DE NOEUDS PAR ELEMENT =   3\nC************************************************C\nC\n\
         C$ RUBRIQUE = NOEUDS\nC\n",
        2 * width * height,
        2 * (width + height)
    );
    for node in 0..num_nodes {
        let (x, y) = (node % (width + 1), node / (width + 1));
        writeln!(text, "{:10}   0 {:14.7E} {:14.7E} {:14.7E} ", node + 1, x as f64, y as f64, 0.0).unwrap();
    }
    text += "C\nC$ RUBRIQUE = ELEMENTS\nC\n";
    for (element, [a, b, c]) in triangles.enumerate() {
        writeln!(text, "{:10}   1{a:10}{b:10}{c:10}", element + 1).unwrap();
    }
    text += "C\nC$ RUBRIQUE = ELEMENTS DE BORD\nC\n";
    for (element, [a, b]) in level.chain(upright).enumerate() {
        writeln!(text, "{:10}   2{a:10}{b:10}", element + 1).unwrap();
    }
    text
}

/// Reads the triangles of each part from what SYRTHES writes for Ensight: the edges between parts, and the numbers of triangles.
fn divided(path: &Path) -> (usize, Vec<usize>) {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let (mut cut, mut loads) = (0, Vec::new());
    let mut owners: HashMap<[usize; 2], usize> = HashMap::new();
    let is_part = |block: &&str| block.contains("Partition") && block.contains("tria3");
    for block in text.split("\npart ").filter(is_part) {
        let rows = block.lines().skip_while(|line| line.trim() != "tria3").skip(1);
        let mut rows = rows.map(|row| row.split_whitespace().map(number).collect::<Vec<_>>());
        let count = rows.next().unwrap()[0];
        let part = loads.len();
        loads.push(count);
        for row in rows.take(count) {
            let [a, b, c] = row[row.len() - 3..] else { panic!("{row:?}") };
            for edge in [[a, b], [b, c], [a, c]] {
                let other = owners.insert([edge[0].min(edge[1]), edge[0].max(edge[1])], part);
                cut += usize::from(other.is_some_and(|other| other != part));
            }
        }
    }
    (cut, loads)
}

#[test]
fn syrthes_divides_meshes_better_within_the_same_balance() {
    if !has("syrthes-pp") {
        return;
    }
    let own = tempfile::tempdir().unwrap();
    // The imbalances are those that METIS and Scotch keep by default.
    for (tool, library, imbalance) in [("metis", "viem_metis", 0.03), ("scotch", "viem_scotch", 0.01)] {
        let mut ratios = Vec::new();
        for (width, height) in [(90, 70), (130, 50), (75, 75), (64, 100), (200, 31)] {
            std::fs::write(own.path().join("mesh.syr"), mesh(width, height)).unwrap();
            let [theirs, ours] = [None, Some(library)].map(|library| {
                let mut command = Command::new("syrthes-pp");
                command.current_dir(own.path());
                command.args(["-v", "-n", "12", "-m", "mesh.syr", "-o", "parts", "--toolpart", tool]);
                if let Some(library) = library {
                    command.env("LD_PRELOAD", lib().join(format!("lib{library}.so")));
                }
                expect(&mut command);
                divided(&own.path().join("domaine.geom"))
            });
            let share = (2 * width * height) as f64 / 12.0;
            assert_eq!((ours.1.len(), ours.1.iter().sum::<usize>()), (12, 2 * width * height));
            for load in ours.1 {
                let load = load as f64;
                assert!(load <= ((1.0 + imbalance) * share).max(share.ceil()) && load >= 0.9 * share - 1.0);
            }
            ratios.push(ours.0 as f64 / theirs.0 as f64);
        }
        println!("{tool}: cuts {ratios:.3?}, mean {:.3}", mean(&ratios));
        assert!(mean(&ratios) <= 0.95, "{tool}: {ratios:?}");
    }
}
