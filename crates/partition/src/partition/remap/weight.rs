//! The cost of moving a vertex.

use std::fmt;
use std::str::FromStr;

use crate::base::error::{ErrorKind, HasKind};
use crate::base::types::{Cost, Weight};

/// The cost of moving a vertex of weight 1, in units of the objective: a non-negative decimal number, kept exactly.
///
/// ```
/// use viem::partition::MigrationWeight;
///
/// let half: MigrationWeight = "0.50".parse()?;
/// assert_eq!(half.to_string(), "0.5");
/// assert!("-1".parse::<MigrationWeight>().is_err());
/// # Ok::<(), viem::partition::MigrationWeightError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MigrationWeight {
    /// In units of 1 / `UNIT`.
    parts: Weight,
}

/// Digits after the point.
const DIGITS: usize = 6;

/// 10 to the power of [`DIGITS`].
const UNIT: Weight = 1_000_000;

/// A text that is no weight of migration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no weight of migration: give a number from 0 to {most} with at most {DIGITS} digits after the point", most = MigrationWeight::MOST)]
#[non_exhaustive]
pub struct MigrationWeightError {
    /// What was given instead.
    pub text: String,
}

impl HasKind for MigrationWeightError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

impl MigrationWeight {
    /// The greatest weight.
    pub const MOST: Weight = 1_000_000_000;

    /// Nothing: migration costs nothing.
    pub const ZERO: Self = Self { parts: 0 };

    /// As much as an edge of weight 1.
    pub const ONE: Self = Self { parts: UNIT };

    /// The weight as a number.
    pub fn value(self) -> f64 {
        self.parts as f64 / UNIT as f64
    }

    /// The weight above 0 that is nearest to a number, rounded to two significant digits; the least or the greatest weight
    /// if the number is beyond them.
    pub fn rounded(value: f64) -> Self {
        let parts = (value * UNIT as f64).clamp(1.0, (Self::MOST * UNIT) as f64);
        let digit = 10f64.powf(parts.log10().floor() - 1.0).max(1.0);
        Self { parts: ((parts / digit).round() * digit) as Weight }
    }

    /// What a remapping minimises, in units of its own: the objective plus this weight times the migration.
    pub fn objective(self, cost: Cost, migration: Weight) -> i128 {
        let (numerator, denominator) = self.fraction();
        i128::from(cost) * i128::from(denominator) + i128::from(migration) * i128::from(numerator)
    }

    /// As a fraction in lowest terms: numerator and denominator.
    pub fn fraction(self) -> (Weight, Weight) {
        reduced(self.parts, UNIT)
    }
}

/// A fraction in lowest terms; not both numbers are 0.
pub(super) fn reduced(numerator: Weight, denominator: Weight) -> (Weight, Weight) {
    let (mut a, mut b) = (numerator, denominator);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    (numerator / a, denominator / a)
}

impl FromStr for MigrationWeight {
    type Err = MigrationWeightError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || MigrationWeightError { text: text.to_owned() };
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + part.len() == 0 || !is_number(whole) || !is_number(part) || part.len() > DIGITS {
            return Err(error());
        }
        let whole: Weight = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| error())? };
        let part: Weight = format!("{part:0<DIGITS$}").parse().map_err(|_| error())?;
        let parts = whole.checked_mul(UNIT).and_then(|parts| parts.checked_add(part));
        parts.filter(|&parts| parts <= Self::MOST * UNIT).map(|parts| Self { parts }).ok_or_else(error)
    }
}

impl fmt::Display for MigrationWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:0DIGITS$}", self.parts / UNIT, self.parts % UNIT);
        f.pad(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl serde::Serialize for MigrationWeight {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_exactly() {
        let parts = |text: &str| text.parse::<MigrationWeight>().map(|weight| weight.parts).ok();
        for (text, expected) in [("0", 0), ("1", UNIT), (".5", UNIT / 2), ("2.", 2 * UNIT), ("0.000001", 1)] {
            assert_eq!(parts(text), Some(expected), "{text}");
        }
        assert_eq!(parts("1000000000"), Some(MigrationWeight::MOST * UNIT));
        for text in
            ["", ".", "-1", "1e3", "x", "0.0000001", "1000000000.1", "99999999999999999999", "1.2.3", "+1"]
        {
            assert_eq!(parts(text), None, "{text}");
        }
        assert_eq!("0.25".parse::<MigrationWeight>().unwrap().fraction(), (1, 4));
        assert_eq!(MigrationWeight::ZERO.fraction(), (0, 1));
        for (value, text) in [(0.0, "0.000001"), (0.03749, "0.037"), (1.26, "1.3"), (1e30, "1000000000")] {
            assert_eq!(MigrationWeight::rounded(value).to_string(), text);
        }
        assert_eq!("12.340".parse::<MigrationWeight>().unwrap().to_string(), "12.34");
    }
}
