//! Graphs of random meshes, compared with their definitions.

use std::collections::BTreeSet;

use proptest::prelude::*;
use viem_io::Source;
use viem_mesh::{Format, Mesh, Neighbours};

use crate::grid::edges;

fn mesh(elements: &[BTreeSet<u32>]) -> Mesh {
    let mut text = format!("{}\n", elements.len());
    for element in elements {
        text += &element.iter().map(|node| (node + 1).to_string()).collect::<Vec<_>>().join(" ");
        text += "\n";
    }
    Format::ALL[0].read(Source::new("mesh", text.as_bytes()).unwrap()).unwrap()
}

/// The pairs of elements of which a condition holds.
fn pairs(
    elements: &[BTreeSet<u32>],
    holds: impl Fn(&BTreeSet<u32>, &BTreeSet<u32>, usize) -> bool,
) -> BTreeSet<(u32, u32)> {
    let all = (0..elements.len()).flat_map(|i| (i + 1..elements.len()).map(move |j| (i, j)));
    let is_near = |&(i, j): &(usize, usize)| {
        let (a, b) = (&elements[i], &elements[j]);
        holds(a, b, a.intersection(b).count())
    };
    all.filter(is_near).map(|(i, j)| (i as u32, j as u32)).collect()
}

fn elements() -> impl Strategy<Value = Vec<BTreeSet<u32>>> {
    prop::collection::vec(prop::collection::btree_set(0u32..12, 1..9), 1..14)
}

proptest! {
    #[test]
    fn neighbours_have_so_many_nodes_in_common(elements in elements(), common in 1usize..6) {
        let dual = mesh(&elements).dual(Neighbours::Common(common), &[]).unwrap();
        let expected = pairs(&elements, |a, b, shared| {
            shared > 0 && (shared >= common || shared + 1 >= a.len() || shared + 1 >= b.len())
        });
        prop_assert_eq!(edges(&dual), expected);
    }

    #[test]
    fn neighbours_share_a_face(elements in elements()) {
        let dual = mesh(&elements).dual(Neighbours::Faces, &[]).unwrap();
        let of_four = |set: &BTreeSet<u32>| set.len() == 4;
        let has_tetrahedra = !pairs(&elements, |a, b, shared| of_four(a) && of_four(b) && shared >= 3).is_empty();
        let face = |set: &BTreeSet<u32>| match set.len() {
            1 | 2 => 1,
            3 => 2,
            4 => if has_tetrahedra { 3 } else { 2 },
            8 => 4,
            _ => 3,
        };
        prop_assert_eq!(edges(&dual), pairs(&elements, |a, b, shared| shared >= face(a).min(face(b))));
    }

    #[test]
    fn nodes_are_neighbours_in_an_element(elements in elements()) {
        let mesh = mesh(&elements);
        let mut expected = BTreeSet::new();
        for element in &elements {
            expected.extend(element.iter().flat_map(|&u| element.iter().filter(move |&&v| u < v).map(move |&v| (u, v))));
        }
        let nodal = mesh.nodal().unwrap();
        prop_assert_eq!(nodal.num_nodes() as u32, elements.iter().flatten().max().unwrap() + 1);
        prop_assert_eq!(edges(&nodal), expected);
    }
}
