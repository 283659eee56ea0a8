//! From bytes and messages to the weight of an edge, and which edges are kept.

use super::pairs::Pair;
use viem::base::error::{ErrorKind, HasKind};

/// The greatest sum of the weights of all edges when they are rounded: it leaves distances up to 9000 before
/// the greatest possible J leaves 64 bits, and errors of rounding far below those of any measurement.
const GREATEST_ROUNDED_TOTAL: u128 = 1_000_000_000_000_000;

/// The cost of a message and that of a byte, in units of 10^-`digits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weighing {
    per_message: u64,
    per_byte: u64,
    digits: u32,
}

/// The reason why a text is no [`Weighing`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum WeighingError {
    #[error(
        "`{text}` is not bytes, msgs or ALPHA+BETA such as 1.5e-6+2e-10 (seconds per message and per byte)"
    )]
    Malformed { text: String },
    #[error("`{text}` would make every weight zero")]
    Zero { text: String },
    #[error("the two numbers of `{text}` have too many digits or are too far apart")]
    TooPrecise { text: String },
}

impl HasKind for WeighingError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Malformed { .. } | Self::Zero { .. } | Self::TooPrecise { .. } => ErrorKind::Usage,
        }
    }
}

impl Weighing {
    /// A byte costs 1, a message nothing.
    pub const BYTES: Self = Self { per_message: 0, per_byte: 1, digits: 0 };
    /// A message costs 1, a byte nothing.
    pub const MESSAGES: Self = Self { per_message: 1, per_byte: 0, digits: 0 };

    /// Reads `bytes`, `msgs`, or two decimal numbers with a plus between: the cost of a message and of a
    /// byte.
    pub fn parse(text: &str) -> Result<Self, WeighingError> {
        match text {
            "bytes" => return Ok(Self::BYTES),
            "msgs" => return Ok(Self::MESSAGES),
            _ => {}
        }
        // The plus of an exponent is not the one between the numbers: exactly one leaves a number on both
        // sides.
        let split = |at: usize| Some((Decimal::parse(&text[..at])?, Decimal::parse(&text[at + 1..])?));
        let numbers = text.match_indices('+').find_map(|(at, _)| split(at));
        let (message, byte) = numbers.ok_or_else(|| WeighingError::Malformed { text: text.to_owned() })?;
        if message.digits == 0 && byte.digits == 0 {
            return Err(WeighingError::Zero { text: text.to_owned() });
        }
        let least = [message, byte]
            .into_iter()
            .filter(|number| number.digits > 0)
            .map(|number| number.exponent)
            .min();
        let exponent = least.unwrap_or(0).min(0);
        let scaled = |number: Decimal| {
            number.at(exponent).ok_or_else(|| WeighingError::TooPrecise { text: text.to_owned() })
        };
        Ok(Self { per_message: scaled(message)?, per_byte: scaled(byte)?, digits: exponent.unsigned_abs() })
    }

    /// Returns whether numbers of messages count.
    pub fn needs_messages(&self) -> bool {
        self.per_message > 0
    }

    /// Returns the cost of the traffic of a pair, in units; `None` beyond 128 bits.
    fn cost(&self, pair: &Pair) -> Option<u128> {
        let messages = u128::from(self.per_message) * u128::from(pair.messages);
        messages.checked_add(u128::from(self.per_byte) * u128::from(pair.bytes))
    }

    /// The weight of each pair, and the number s of decimal places kept: weights are costs times 10^s,
    /// rounded.
    ///
    /// Costs that are whole numbers are never rounded. `None` if a weight leaves 63 bits.
    pub(super) fn weigh(&self, pairs: &[Pair]) -> Option<(Vec<i64>, u32)> {
        let total = pairs.iter().try_fold(0u128, |total, pair| total.checked_add(self.cost(pair)?))?;
        let (mut dropped, mut divisor) = (0, 1);
        while dropped < self.digits && total / divisor > GREATEST_ROUNDED_TOTAL {
            dropped += 1;
            divisor *= 10;
        }
        let weight = |pair| i64::try_from((self.cost(pair)?.checked_add(divisor / 2)?) / divisor).ok();
        let weights = pairs.iter().map(weight).collect::<Option<_>>()?;
        Some((weights, self.digits - dropped))
    }
}

/// A number `digits` times 10^`exponent`.
#[derive(Clone, Copy)]
struct Decimal {
    pub digits: u64,
    exponent: i32,
}

impl Decimal {
    /// Reads digits, at most one point among them, and perhaps an exponent.
    fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i8>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{whole}{fraction}");
        let are_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        if !are_digits || mantissa.is_empty() || mantissa == "." {
            return None;
        }
        let digits = if digits.is_empty() { 0 } else { digits.parse().ok()? };
        Some(Self { digits, exponent: i32::from(exponent) - i32::try_from(fraction.len()).ok()? })
    }

    /// The number in units of 10^`exponent`, which is at most its own.
    fn at(self, exponent: i32) -> Option<u64> {
        if self.digits == 0 {
            return Some(0);
        }
        let factor = 10u64.checked_pow((self.exponent - exponent).try_into().ok()?)?;
        self.digits.checked_mul(factor)
    }
}

/// The part of all weight that the heaviest edges must hold together, above 0 and up to 1: a fraction, exactly
/// as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    numerator: u64,
    /// A power of ten, the least that will do.
    denominator: u64,
}

/// The reason why a text is no [`Share`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum ShareError {
    #[error("`{text}` is not a share of the weight, such as 0.95 or 95%")]
    Malformed { text: String },
    #[error("`{text}` has more decimal places than a share of the weight may have: 19, or 17 before a %")]
    TooPrecise { text: String },
}

impl HasKind for ShareError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Malformed { .. } | Self::TooPrecise { .. } => ErrorKind::Usage,
        }
    }
}

impl Share {
    /// Reads a number above 0 and up to 1, or a percentage.
    pub fn parse(text: &str) -> Result<Self, ShareError> {
        let malformed = || ShareError::Malformed { text: text.to_owned() };
        let (number, all, scale) =
            text.strip_suffix('%').map_or((text, 1.0, 0), |percent| (percent, 100.0, 2));
        let is_in_range = |value: f64| value > 0.0 && value <= all;
        if !number.parse().is_ok_and(is_in_range) {
            return Err(malformed());
        }
        let share = Decimal::parse(number.strip_prefix('+').unwrap_or(number))
            .and_then(|decimal| Self::exact(decimal.digits, decimal.exponent - scale))
            .ok_or_else(|| ShareError::TooPrecise { text: text.to_owned() })?;
        if share.numerator <= share.denominator { Ok(share) } else { Err(malformed()) }
    }

    /// `digits` times 10^`exponent`, if it needs no more than 64 bits for either part.
    fn exact(digits: u64, exponent: i32) -> Option<Self> {
        let (mut numerator, mut denominator) = (digits, 10u64.checked_pow((-exponent).try_into().ok()?)?);
        while numerator.is_multiple_of(10) && denominator > 1 {
            (numerator, denominator) = (numerator / 10, denominator / 10);
        }
        Some(Self { numerator, denominator })
    }

    /// Sets all weights to zero but the fewest that hold this share together, the heaviest; among equals the
    /// first are kept. The sum of the weights must fit 64 bits. O(m log m).
    pub(super) fn keep_heaviest(self, weights: &mut [i64]) {
        let mut heaviest = weights.to_vec();
        heaviest.sort_unstable_by(|a, b| b.cmp(a));
        let total: i64 = heaviest.iter().sum();
        let wanted = total as u128 * u128::from(self.numerator);
        let mut held = 0;
        let needed = heaviest.iter().take_while(|&&weight| {
            let is_needed = held as u128 * u128::from(self.denominator) < wanted;
            held += weight;
            is_needed
        });
        let kept = needed.count();
        let Some(&least) = heaviest[..kept].last() else { return };
        let mut equals = heaviest[..kept].iter().rev().take_while(|&&weight| weight == least).count();
        for weight in weights {
            let is_kept = *weight > least || (*weight == least && equals > 0);
            equals -= usize::from(*weight == least && equals > 0);
            if !is_kept {
                *weight = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighing(text: &str) -> (u64, u64, u32) {
        let Weighing { per_message, per_byte, digits } = Weighing::parse(text).unwrap();
        (per_message, per_byte, digits)
    }

    #[test]
    fn costs_are_read_exactly() {
        assert_eq!(weighing("bytes"), (0, 1, 0));
        assert_eq!(weighing("msgs"), (1, 0, 0));
        assert_eq!(weighing("1000+1"), (1000, 1, 0));
        assert_eq!(weighing("1e3+1e+0"), (1000, 1, 0));
        assert_eq!(weighing("1e+3+.5"), (10000, 5, 1));
        assert_eq!(weighing("1.50e-6+2e-10"), (15000, 2, 10));
        assert_eq!(weighing("0+2.5"), (0, 25, 1));
        assert_eq!(weighing("1e-90+0"), (1, 0, 90));
    }

    #[test]
    fn what_is_no_cost_is_refused() {
        for text in [
            "", "+", "1", "1+", "+1", "1+2+3", "-1+2", "1+-2", "a+b", "1e+2", ".+.", "1e999+1", "nan+1",
            "byte",
        ] {
            assert!(matches!(Weighing::parse(text), Err(WeighingError::Malformed { .. })), "{text}");
        }
        assert!(matches!(Weighing::parse("0+0.0"), Err(WeighingError::Zero { .. })));
        for text in ["1e30+1", "1e10+1e-10", "1.000000000000000001e-1+1000"] {
            assert!(matches!(Weighing::parse(text), Err(WeighingError::TooPrecise { .. })), "{text}");
        }
    }

    #[test]
    fn a_share_keeps_the_fewest_heaviest() {
        let kept = |share, weights: &[i64]| {
            let mut weights = weights.to_vec();
            Share::parse(share).unwrap().keep_heaviest(&mut weights);
            weights
        };
        assert_eq!(kept("100%", &[3, 1, 2]), [3, 1, 2]);
        assert_eq!(kept("0.5", &[3, 1, 2]), [3, 0, 0]);
        assert_eq!(kept("51%", &[3, 1, 2]), [3, 0, 2]);
        assert_eq!(kept("0.5", &[1, 1, 1, 1]), [1, 1, 0, 0]);
        assert_eq!(kept("0.75", &[1, 5, 1, 1]), [1, 5, 0, 0]);
        assert_eq!(kept("0.000001", &[1, 5]), [0, 5]);
        assert_eq!(kept("0.5", &[]), [0; 0]);
    }

    #[test]
    fn a_share_is_exact() {
        fn num_kept(share: &str, weights: &[i64]) -> usize {
            let mut weights = weights.to_vec();
            Share::parse(share).unwrap().keep_heaviest(&mut weights);
            weights.iter().filter(|&&weight| weight > 0).count()
        }
        for percent in 1..=100 {
            for text in [
                format!("{percent}%"),
                format!("{percent}e-2"),
                format!("{}.{:02}", percent / 100, percent % 100),
            ] {
                assert_eq!(num_kept(&text, &[1; 100]), percent, "{text}");
            }
        }
        let beyond_53_bits = [1 << 53, 1];
        assert_eq!(num_kept("100%", &beyond_53_bits), 2);
        assert_eq!(num_kept("0.9999999999999999", &beyond_53_bits), 2);
        assert_eq!(num_kept("0.9999999999999998", &beyond_53_bits), 1);
        assert_eq!(num_kept("1", &[i64::MAX - 1, 1]), 2);
        assert_eq!(num_kept("0.9999999999999999999", &[i64::MAX - 1, 1]), 2);
        assert_eq!(num_kept("0.0000000000000000001", &[i64::MAX - 1, 1]), 1);
    }

    #[test]
    fn shares_are_read_in_any_notation_or_refused() {
        let half = Share::parse("0.5").unwrap();
        for text in
            [".5", "+0.5", "50%", "5e-1", "5E+1%", "0000.50000000000000000000000", "500000000000000000e-18"]
        {
            assert_eq!(Share::parse(text), Ok(half), "{text}");
        }
        for text in ["1", "1.", "100%", "1e2%", "0.1e1"] {
            assert_eq!(Share::parse(text), Ok(Share { numerator: 1, denominator: 1 }), "{text}");
        }
        for text in
            "0 0% -1 1.1 101% 1.000000000000000001 x % nan inf 1e999 0x1".split(' ').chain(["", "5 %"])
        {
            assert_eq!(Share::parse(text), Err(ShareError::Malformed { text: text.to_owned() }), "{text}");
        }
        for text in ["0.12345678901234567891", "1e-20", "1e-18%", "1e-200", "0.333333333333333333333333333"] {
            assert_eq!(Share::parse(text), Err(ShareError::TooPrecise { text: text.to_owned() }), "{text}");
        }
    }
}
