//! Numbers of all files.

use std::num::IntErrorKind;

/// The whole number that a field spells: digits, perhaps with a sign, a fraction or an exponent, as in `5.0`, `-0` and `1.0D+03`.
pub(crate) fn number(field: &str) -> Option<u64> {
    signed_number(field).and_then(|number| u64::try_from(number).ok())
}

/// The same for a number that may be negative.
pub(crate) fn signed_number(field: &str) -> Option<i128> {
    match field.strip_prefix('-') {
        Some(size) => unsigned_number(size).map(|size| -i128::from(size)),
        None => unsigned_number(field.strip_prefix('+').unwrap_or(field)).map(i128::from),
    }
}

fn unsigned_number(field: &str) -> Option<u64> {
    if field.bytes().all(|byte| byte.is_ascii_digit()) {
        return field.parse().ok();
    }
    let (mantissa, exponent) = field.split_once(['e', 'E', 'd', 'D']).unwrap_or((field, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let exponent = match exponent.parse::<i64>() {
        Ok(exponent) => exponent,
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => i64::MAX,
        Err(error) if *error.kind() == IntErrorKind::NegOverflow => i64::MIN,
        Err(_) => return None,
    };
    let significant = digits.trim_end_matches('0');
    let power = exponent.saturating_add((digits.len() - significant.len()) as i64 - fraction.len() as i64);
    let significant: u64 = if significant.is_empty() { return Some(0) } else { significant.parse().ok()? };
    significant.checked_mul(10u64.checked_pow(u32::try_from(power).ok()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_have_fractions_and_exponents() {
        for (field, expected) in [
            ("5", Some(5)),
            ("5.0", Some(5)),
            ("5.", Some(5)),
            (".5e1", Some(5)),
            ("1.0D+03", Some(1000)),
            ("120e-1", Some(12)),
            ("0.0", Some(0)),
            ("0D99999999999999999999", Some(0)),
            ("-0.0", Some(0)),
            ("+7", Some(7)),
            ("-+7", None),
            ("1e9223372036854775807", None),
            ("10e-99999999999999999999", None),
            ("9.007199254740993000e15", Some(9_007_199_254_740_993)),
            ("18446744073709551616", None),
            ("1.5", None),
            ("-1", None),
            (".", None),
            ("1e", None),
            ("x", None),
        ] {
            assert_eq!(number(field), expected, "{field}");
        }
    }
}
