//! Loads that need not be whole numbers.

use super::entry::{TakeEntry, TraceEntry, TraceFound};
use super::fault::TraceKind;
use viem::base::number::Decimal;
use viem_io::ContentError;

/// The greatest sum of the loads of a layer when they have decimal places: errors of rounding are then far below those of any measurement.
const GREATEST_TOTAL: f64 = 1e15;

/// Decimal places that loads have at most, so that their unit is a floating-point number.
const MOST_DECIMALS: u32 = 300;

/// Loads by layer and expert.
#[derive(Default)]
pub(super) struct Loads {
    entries: Vec<(u64, u32, Decimal)>,
}

impl Loads {
    pub(super) fn add(&mut self, layer: u64, expert: u32, load: Decimal) {
        self.entries.push((layer, expert, load));
    }

    /// Returns their number.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Passes them on as whole numbers of the greatest unit that all of them are multiples of, among powers of ten, or of the least unit that leaves
    /// sums small enough.
    pub(super) fn pass_on(self, take: TakeEntry<'_>) -> Result<TraceFound, ContentError> {
        let places = |&(_, _, load): &(u64, u32, Decimal)| load.power.min(0).unsigned_abs();
        let needed = self.entries.iter().map(places).max().unwrap_or(0);
        let layers = self.entries.iter().map(|&(layer, ..)| layer as usize + 1).max().unwrap_or(0);
        let mut totals = vec![0.0; layers];
        self.entries.iter().for_each(|&(layer, _, load)| totals[layer as usize] += load.real());
        let greatest = totals.into_iter().fold(0.0, f64::max);
        let room = (GREATEST_TOTAL / greatest.max(f64::MIN_POSITIVE)).log10().floor();
        let decimals = needed.min(room.max(0.0) as u32).min(MOST_DECIMALS);
        for (layer, expert, load) in self.entries {
            take(layer, TraceEntry::Load(expert, in_units(load, decimals)))?;
        }
        Ok(TraceFound { decimals, is_rounded: decimals < needed, ..TraceFound::whole(TraceKind::Loads) })
    }
}

/// A number in units of 10^-`decimals`, rounded; the greatest one stands for all beyond.
fn in_units(number: Decimal, decimals: u32) -> u64 {
    let power = i64::from(number.power) + i64::from(decimals);
    let scale = u32::try_from(power.unsigned_abs()).ok().and_then(|power| 10u128.checked_pow(power));
    let digits = u128::from(number.digits);
    let scaled = match (power >= 0, scale) {
        (true, scale) => scale.and_then(|scale| digits.checked_mul(scale)).unwrap_or(u128::MAX),
        (false, Some(scale)) => (digits + scale / 2) / scale,
        (false, None) => 0,
    };
    // Nothing is not scaled to much.
    if digits == 0 { 0 } else { u64::try_from(scaled).unwrap_or(u64::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::base::number::decimal;

    fn passed(texts: &[&str]) -> (Vec<u64>, u32, bool) {
        let mut loads = Loads::default();
        texts.iter().for_each(|text| loads.add(0, 0, decimal(text.as_bytes()).unwrap()));
        let mut passed = Vec::new();
        let found = loads.pass_on(&mut |_, entry| {
            let TraceEntry::Load(_, load) = entry else { panic!("{entry:?}") };
            passed.push(load);
            Ok(())
        });
        let found = found.unwrap();
        (passed, found.decimals, found.is_rounded)
    }

    #[test]
    fn loads_are_exact_while_their_sum_leaves_room() {
        assert_eq!(passed(&["3", "0", "7"]), (vec![3, 0, 7], 0, false));
        assert_eq!(passed(&["3", "2.5", "0.125"]), (vec![3000, 2500, 125], 3, false));
        assert_eq!(passed(&["0.1", "0.2", "0.7"]), (vec![1, 2, 7], 1, false));
        assert_eq!(passed(&["4000000000000001", "1.5"]), (vec![4_000_000_000_000_001, 2], 0, true));
        assert_eq!(passed(&["18446744073709551615", "0.5"]), (vec![u64::MAX, 1], 0, true));
        let (loads, decimals, is_rounded) = passed(&["1000.3333333333333333", "2e-30", "0"]);
        assert_eq!((loads, decimals, is_rounded), (vec![100_033_333_333_333, 0, 0], 11, true));
        assert_eq!(passed(&["1e-40", "3e-40"]), (vec![1, 3], 40, false));
    }
}
