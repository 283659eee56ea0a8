//! Ranges of a Z-curve: the interleaved bits of the coordinates of a cell are its position (Morton order).

use super::curve::{self, Curve, interleaved};
use crate::partition::orders::input::Method;

struct ZCurve;

impl Curve for ZCurve {
    fn position<const D: usize>(cell: [u32; D], bits: u32) -> u64 {
        interleaved(cell, bits)
    }
}

pub(super) fn method() -> Method {
    curve::method(|input| curve::order::<ZCurve>(input, "zcurve"))
}

#[cfg(test)]
mod tests {
    use super::super::curve::tests::cells_of;
    use super::*;

    #[test]
    fn positions_are_those_of_the_paper() {
        assert_eq!(ZCurve::position([13, 4], 4), 178);
        assert_eq!(cells_of::<ZCurve, 2>(1), [[0, 0], [0, 1], [1, 0], [1, 1]]);
        let first = &cells_of::<ZCurve, 2>(2)[..8];
        assert_eq!(first, [[0, 0], [0, 1], [1, 0], [1, 1], [0, 2], [0, 3], [1, 2], [1, 3]]);
        assert_eq!(ZCurve::position([u32::MAX; 2], 32), u64::MAX);
    }

    #[test]
    fn cubes_are_visited_one_after_the_other() {
        fn check<const D: usize>(bits: u32) {
            for (position, cell) in cells_of::<ZCurve, D>(bits).into_iter().enumerate() {
                let outer = ZCurve::position(cell.map(|coordinate| coordinate >> 1), bits - 1);
                assert_eq!(outer, position as u64 >> D);
            }
        }
        check::<1>(6);
        check::<2>(4);
        check::<3>(3);
        check::<4>(2);
    }
}
