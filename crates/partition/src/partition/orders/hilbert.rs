//! Ranges of a Hilbert curve, on which consecutive cells are neighbours.
//!
//! In two dimensions this is the curve of the procedure HCI of Kaddoura, Ou and Ranka. O(D · bits) per point.
//!
//! J. Skilling: Programming the Hilbert curve. AIP Conference Proceedings 707, 2004.

use super::curve::{self, Curve, interleaved};
use crate::partition::orders::input::Method;

struct Hilbert;

impl Curve for Hilbert {
    fn position<const D: usize>(mut cell: [u32; D], bits: u32) -> u64 {
        // From the largest cubes to the smallest: undoes the rotation of the curve inside each.
        for bit in (1..bits).rev() {
            let below = (1 << bit) - 1;
            for axis in 0..D {
                if cell[axis] >> bit & 1 == 1 {
                    cell[0] ^= below;
                } else {
                    let exchanged = (cell[0] ^ cell[axis]) & below;
                    cell[0] ^= exchanged;
                    cell[axis] ^= exchanged;
                }
            }
        }
        // The corners of a cube are visited in the order of a Gray code.
        for axis in 1..D {
            cell[axis] ^= cell[axis - 1];
        }
        let last = cell[D - 1];
        let flipped = (1..bits).filter(|bit| last >> bit & 1 == 1).fold(0, |sum, bit| sum ^ ((1 << bit) - 1));
        interleaved(cell.map(|coordinate| coordinate ^ flipped), bits)
    }
}

pub(super) fn method() -> Method {
    curve::method(|input| curve::order::<Hilbert>(input, "hilbert"))
}

#[cfg(test)]
mod tests {
    use super::super::curve::tests::cells_of;
    use super::*;

    /// The procedure HCI of the paper, as printed.
    fn hci(mut x: u32, mut y: u32, side: u32) -> u64 {
        const ROTATIONS: [usize; 4] = [3, 0, 0, 1];
        const SENSES: [i32; 4] = [-1, 1, 1, -1];
        const QUADS: [[[usize; 2]; 2]; 4] =
            [[[0, 1], [3, 2]], [[1, 2], [0, 3]], [[2, 3], [1, 0]], [[3, 0], [2, 1]]];
        let (mut rotation, mut sense, mut number, mut k) = (0, 1, 0, side / 2);
        while k > 0 {
            let (x_bit, y_bit) = (x / k, y / k);
            (x, y) = (x - k * x_bit, y - k * y_bit);
            let quad = QUADS[rotation][x_bit as usize][y_bit as usize];
            number += u64::from(k) * u64::from(k) * if sense == -1 { 3 - quad } else { quad } as u64;
            rotation = (rotation + ROTATIONS[quad]) % 4;
            sense *= SENSES[quad];
            k /= 2;
        }
        number
    }

    #[test]
    fn positions_in_the_plane_are_those_of_the_paper() {
        assert_eq!(cells_of::<Hilbert, 2>(1), [[0, 0], [0, 1], [1, 1], [1, 0]]);
        for bits in 1..=3 {
            for (position, [x, y]) in cells_of::<Hilbert, 2>(bits).into_iter().enumerate() {
                assert_eq!(hci(x, y, 1 << bits), position as u64, "({x}, {y}) of {bits} bits");
            }
        }
    }

    #[test]
    fn consecutive_cells_are_neighbours_in_every_dimension() {
        fn check<const D: usize>(bits: u32) {
            for pair in cells_of::<Hilbert, D>(bits).windows(2) {
                let steps = (0..D).map(|axis| pair[0][axis].abs_diff(pair[1][axis]));
                assert_eq!(steps.sum::<u32>(), 1, "{pair:?}");
            }
        }
        check::<1>(7);
        (1..=6).for_each(check::<2>);
        (1..=4).for_each(check::<3>);
        (1..=3).for_each(check::<4>);
    }
}
