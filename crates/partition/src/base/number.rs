//! The grammar of numbers in files and in machines that are written as text: decimal digits, with a sign, a decimal point or an exponent if need be.
//!
//! `7`, `7.0`, `7.`, `+7`, `70e-1`, `0.7E1` and Fortran's `0.7D+01` are the same number. A whole number is one by its value, which
//! is computed exactly: nothing passes through floating point, so `1.2e16` and numbers beyond 2^53 are what they say.

use std::fmt;

/// The reason why a text is not a whole number from 0 to 2^64 - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// A whole number below 0, of this size; the greatest one stands for all beyond.
    Negative(u64),
    /// A number that is not whole.
    Fractional,
    /// A whole number beyond 2^64.
    TooLarge,
    /// A text with a NUL byte in it.
    Nul,
    /// A carriage return that no newline follows.
    CarriageReturn,
    /// Anything else.
    Word,
}

/// What may follow in a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Start,
    Sign,
    /// A point without digits before it.
    LonePoint,
    Whole,
    Fraction,
    ExponentMark,
    ExponentSign,
    Exponent,
    Broken,
}

/// A number that is spelled byte by byte.
#[derive(Default)]
pub struct Spelling {
    state: State,
    is_negative: bool,
    has_nul: bool,
    has_carriage_return: bool,
    /// The digits up to the last one that is not zero; none if they are too many.
    significant: Option<u128>,
    /// Zeros since then.
    zeros: u32,
    /// The power of ten of the last digit.
    power: i64,
    is_exponent_negative: bool,
    exponent: i64,
}

impl Spelling {
    /// Nothing read yet.
    pub fn new() -> Self {
        Self { significant: Some(0), ..Self::default() }
    }

    /// Adds the next byte.
    pub fn push(&mut self, byte: u8) {
        self.has_nul |= byte == 0;
        self.has_carriage_return |= byte == b'\r';
        self.state = match (self.state, byte) {
            (State::Start | State::Sign | State::Whole, b'0'..=b'9') => {
                self.digit(byte, 0);
                State::Whole
            }
            (State::LonePoint | State::Fraction, b'0'..=b'9') => {
                self.digit(byte, 1);
                State::Fraction
            }
            (State::ExponentMark | State::ExponentSign | State::Exponent, b'0'..=b'9') => {
                self.exponent = self.exponent.saturating_mul(10).saturating_add(i64::from(byte - b'0'));
                State::Exponent
            }
            (State::Start, b'+' | b'-') => {
                self.is_negative = byte == b'-';
                State::Sign
            }
            (State::Start | State::Sign, b'.') => State::LonePoint,
            (State::Whole, b'.') => State::Fraction,
            (State::Whole | State::Fraction, b'e' | b'E' | b'd' | b'D') => State::ExponentMark,
            (State::ExponentMark, b'+' | b'-') => {
                self.is_exponent_negative = byte == b'-';
                State::ExponentSign
            }
            _ => State::Broken,
        };
    }

    fn digit(&mut self, byte: u8, places: i64) {
        self.power -= places;
        let digit = u128::from(byte - b'0');
        if digit == 0 {
            self.zeros = self.zeros.saturating_add(1);
            return;
        }
        let shift = 10u128.checked_pow(self.zeros + 1);
        self.significant = match (self.significant, shift) {
            (Some(0), _) => Some(digit),
            (Some(significant), Some(shift)) => {
                significant.checked_mul(shift).and_then(|shifted| shifted.checked_add(digit))
            }
            _ => None,
        };
        self.zeros = 0;
    }

    /// Returns whether it is a number of any kind.
    fn is_number(&self) -> bool {
        matches!(self.state, State::Whole | State::Fraction | State::Exponent)
    }

    /// The power of ten of the last digit that is not zero.
    fn power(&self) -> i64 {
        let exponent = if self.is_exponent_negative { -self.exponent } else { self.exponent };
        self.power.saturating_add(i64::from(self.zeros)).saturating_add(exponent)
    }

    /// The whole number that was spelled, or why it is none.
    pub fn whole(&self) -> Result<u64, TextKind> {
        match self {
            Self { has_nul: true, .. } => return Err(TextKind::Nul),
            Self { has_carriage_return: true, .. } => return Err(TextKind::CarriageReturn),
            Self { significant: Some(0), .. } if self.is_number() => return Ok(0),
            _ if !self.is_number() => return Err(TextKind::Word),
            _ => {}
        }
        let power = self.power();
        if power < 0 {
            return Err(TextKind::Fractional);
        }
        let scale = u32::try_from(power).ok().and_then(|power| 10u128.checked_pow(power));
        let product =
            self.significant.zip(scale).and_then(|(significant, scale)| significant.checked_mul(scale));
        let size = product.and_then(|product| u64::try_from(product).ok());
        match (self.is_negative, size) {
            (true, size) => Err(TextKind::Negative(size.unwrap_or(u64::MAX))),
            (false, Some(size)) => Ok(size),
            (false, None) => Err(TextKind::TooLarge),
        }
    }
}

fn spelled(text: &[u8]) -> Spelling {
    let mut spelling = Spelling::new();
    text.iter().for_each(|&byte| spelling.push(byte));
    spelling
}

/// The whole number that a text spells.
pub fn whole(text: &[u8]) -> Result<u64, TextKind> {
    // Nineteen digits cannot overflow.
    if (1..=19).contains(&text.len()) && text.iter().all(u8::is_ascii_digit) {
        return Ok(text.iter().fold(0, |value, &digit| 10 * value + u64::from(digit - b'0')));
    }
    spelled(text).whole()
}

/// What to do with a number that is not whole, for the end of a message: multiply all of them by the least power of ten that makes it one.
pub fn scaling(text: &str) -> String {
    let spelling = spelled(text.trim().as_bytes());
    let is_fraction = matches!(spelling.whole(), Err(TextKind::Fractional));
    match usize::try_from(-spelling.power()) {
        Ok(places @ 1..=18) if is_fraction => format!("; multiply all of them by 1{}", "0".repeat(places)),
        _ => String::new(),
    }
}

/// The whole number that a text without a sign spells.
pub fn unsigned(text: &str) -> Option<u64> {
    text.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        .then(|| whole(text.as_bytes()).ok())
        .flatten()
}

/// A number from 0: `digits` times 10^`power`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// The digits without the point.
    pub digits: u64,
    /// The power of ten of the last digit.
    pub power: i32,
}

impl Decimal {
    /// The whole number that it is.
    pub fn whole(self) -> Option<u64> {
        (self.power == 0).then_some(self.digits)
    }

    /// The floating-point number next to it.
    pub fn real(self) -> f64 {
        self.digits as f64 * 10f64.powi(self.power)
    }
}

impl From<u64> for Decimal {
    fn from(digits: u64) -> Self {
        Self { digits, power: 0 }
    }
}

/// The number from 0 that a text spells, exactly; of more than 19 digits, the floating-point number next to it. The power of a whole number is 0.
pub fn decimal(text: &[u8]) -> Result<Decimal, TextKind> {
    let spelling = match whole(text) {
        Ok(number) => return Ok(number.into()),
        Err(TextKind::Fractional) => spelled(text),
        Err(kind) => return Err(kind),
    };
    if spelling.is_negative {
        return Err(TextKind::Negative(u64::MAX));
    }
    let digits = spelling.significant.and_then(|digits| u64::try_from(digits).ok());
    match digits.zip(i32::try_from(spelling.power()).ok()) {
        Some((digits, power)) => Ok(Decimal { digits, power }),
        None => decimal_of(real(text).unwrap_or(0.0)),
    }
}

/// The shortest number that is read as this one, which is finite and not below 0.
pub fn decimal_of(number: f64) -> Result<Decimal, TextKind> {
    decimal(format!("{number:e}").as_bytes())
}

/// The whole number, of either sign, that such a number is.
pub fn signed(number: Result<u64, TextKind>) -> Option<i64> {
    match number {
        Ok(number) => i64::try_from(number).ok(),
        Err(TextKind::Negative(size)) => 0i64.checked_sub_unsigned(size),
        Err(_) => None,
    }
}

/// The finite floating-point number next to the number that a text spells.
pub fn real(text: &[u8]) -> Option<f64> {
    if !spelled(text).is_number() {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    let value: f64 = match text.contains(['d', 'D']) {
        true => text.replace(['d', 'D'], "e").parse().ok()?,
        false => text.parse().ok()?,
    };
    Some(value).filter(|value| value.is_finite())
}

/// The reason why a text is not the number it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum NumberFault {
    NotANumber,
    Negative,
    Fractional,
    Zero,
    TooLarge,
    /// There is a NUL byte in it.
    Nul,
    /// There is a carriage return in it that no newline follows.
    CarriageReturn,
}

impl From<TextKind> for NumberFault {
    fn from(kind: TextKind) -> Self {
        match kind {
            TextKind::Word => Self::NotANumber,
            TextKind::Negative(_) => Self::Negative,
            TextKind::Fractional => Self::Fractional,
            TextKind::TooLarge => Self::TooLarge,
            TextKind::Nul => Self::Nul,
            TextKind::CarriageReturn => Self::CarriageReturn,
        }
    }
}

impl fmt::Display for NumberFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotANumber => "is not a number",
            Self::Negative => "is negative",
            Self::Fractional => "is not a whole number",
            Self::Zero => "is zero",
            Self::TooLarge => "is too large",
            Self::Nul => "has a NUL byte in it",
            Self::CarriageReturn => {
                "has a carriage return in it that no newline follows (lines end with LF or CR LF)"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;

    #[test]
    fn whole_numbers_are_so_by_their_value() {
        for (text, number) in [
            ("0", 0),
            ("-0", 0),
            ("0.000e-999999999999999999999", 0),
            ("007", 7),
            ("+7", 7),
            ("7.", 7),
            ("7.000", 7),
            (".7e1", 7),
            ("70e-1", 7),
            ("700.0D-2", 7),
            ("1.0D+03", 1000),
            ("1e3", 1000),
            ("1.2e16", 12_000_000_000_000_000),
            ("9007199254740993", 9_007_199_254_740_993),
            ("9.007199254740993000e+15", 9_007_199_254_740_993),
            ("18446744073709551615", u64::MAX),
            ("1844674407370955161.5e1", u64::MAX),
            ("0000000000000000000000000000000000000000000000000000000000001", 1),
            ("1.0000000000000000000000000000000000000000000000000000000000000000", 1),
            ("1000000000000000000000000000000000000000000000000000000000000e-60", 1),
        ] {
            assert_eq!(whole(text.as_bytes()), Ok(number), "{text}");
        }
    }

    #[test]
    fn what_is_no_whole_number_is_refused_for_its_reason() {
        use TextKind::*;
        for (text, kind) in [
            ("", Word),
            (".", Word),
            ("-", Word),
            ("e3", Word),
            ("1e", Word),
            ("1e+", Word),
            ("1.2.3", Word),
            ("1-2", Word),
            ("0x10", Word),
            ("1,5", Word),
            ("inf", Word),
            ("nan", Word),
            ("--1", Word),
            ("1e5e", Word),
            ("1.5", Fractional),
            ("-1.5", Fractional),
            ("15e-1", Fractional),
            ("1e-400", Fractional),
            ("1.00000000000000000000000000000000000000000000000000000000001", Fractional),
            ("-3", Negative(3)),
            ("-3.0e2", Negative(300)),
            ("-99999999999999999999", Negative(u64::MAX)),
            ("18446744073709551616", TooLarge),
            ("1e400", TooLarge),
            ("1e99999999999999999999", TooLarge),
            ("1\0", Nul),
            ("1\r2", CarriageReturn),
        ] {
            assert_eq!(whole(text.as_bytes()), Err(kind), "{text:?}");
        }
        assert_eq!(signed(whole(b"-9223372036854775808")), Some(i64::MIN));
        assert_eq!(signed(whole(b"-9223372036854775809")), None);
        assert_eq!(signed(whole(b"9223372036854775808")), None);
    }

    #[test]
    fn the_least_power_of_ten_is_named() {
        for (text, expected) in [
            ("1.5", "; multiply all of them by 10"),
            ("-0.250", "; multiply all of them by 100"),
            ("15e-4", "; multiply all of them by 10000"),
            ("1.20e-1", "; multiply all of them by 100"),
            ("1e-18", "; multiply all of them by 1000000000000000000"),
            ("1e-19", ""),
            ("1e-99999999999999999999", ""),
            ("2.0", ""),
            ("x", ""),
            ("", ""),
        ] {
            assert_eq!(scaling(text), expected, "{text}");
        }
    }

    #[test]
    fn decimal_numbers_are_exact() {
        let decimal = |text: &str| decimal(text.as_bytes()).map(|number| (number.digits, number.power));
        assert_eq!(decimal("12.50"), Ok((125, -1)));
        assert_eq!(decimal("1250e-2"), Ok((125, -1)));
        assert_eq!(decimal("1.2e3"), Ok((1200, 0)));
        assert_eq!(decimal("33.333333333333336"), Ok((33_333_333_333_333_336, -15)));
        assert_eq!(decimal(&format!("0.{}", "3".repeat(60))), Ok((3_333_333_333_333_333, -16)));
        assert_eq!(decimal("-0.5"), Err(TextKind::Negative(u64::MAX)));
        assert_eq!(decimal("1.5x"), Err(TextKind::Word));
        assert_eq!(decimal("1e999"), Err(TextKind::TooLarge));
        assert_eq!(decimal_of(0.1), Ok(Decimal { digits: 1, power: -1 }));
        assert_eq!(decimal_of(1e-300), Ok(Decimal { digits: 1, power: -300 }));
    }

    #[test]
    fn any_way_to_write_a_number_has_its_value() {
        let mut rng = Rng::new(1);
        for _ in 0..20_000 {
            let number =
                (u64::from(rng.below(u32::MAX)) << 32 | u64::from(rng.below(u32::MAX))) >> rng.below(64);
            let zeros = |count: u32| "0".repeat(count as usize);
            let (before, after) = (rng.below(3), rng.below(5));
            let digits = format!("{}{number}{}", zeros(before), zeros(after));
            // The point moves to the left, which the exponent makes up for.
            let point = rng.below(digits.len() as u32 + 1) as usize;
            let exponent = (digits.len() - point) as i64 - i64::from(after);
            let mark = ["e", "E", "d", "D"][rng.below(4) as usize];
            let text = format!("{}.{}{mark}{exponent:+}", &digits[..point], &digits[point..]);
            assert_eq!(whole(text.as_bytes()), Ok(number), "{text}");
            assert_eq!(real(text.as_bytes()), Some(number as f64), "{text}");
        }
        assert_eq!(real(b"-1.5D-1"), Some(-0.15));
        for text in ["nan", "inf", "infinity", "1e999", "", "1_0", "0x1"] {
            assert_eq!(real(text.as_bytes()), None, "{text}");
        }
    }
}
