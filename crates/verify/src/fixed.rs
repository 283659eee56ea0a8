//! The auditor's own reader of fixed processes.

use crate::error::AuditError;
use crate::number::signed_number;
use crate::qap::places;
use crate::text::read_mapping;

/// Returns the number of processes that `fixed` fixes, if a mapping (line i: PE of process i) has all of them where they must be. Either
/// line i of `fixed` is the PE of process i, or each line is a process and its PE; -1 is any PE.
///
/// ```
/// use viem_verify::{AuditError, audit_fixed};
///
/// assert_eq!(audit_fixed("-1\n2\n-1\n", "0\n2\n1\n"), Ok(1));
/// assert_eq!(audit_fixed("1 2\n2 1\n", "0\n2\n1\n"), Ok(2));
/// assert_eq!(audit_fixed("-1.0\n2e0\n-1\n", "0\n2\n1\n"), Ok(1));
/// let moved = AuditError::Fixed { process: 2, expected: 1, found: 2 };
/// assert_eq!(audit_fixed("2,1\n", "0\n1\n2\n"), Err(moved));
/// ```
pub fn audit_fixed(fixed: &str, mapping: &str) -> Result<usize, AuditError> {
    compare(fixed, &read_mapping(mapping)?)
}

/// As [`audit_fixed`], for an assignment of a problem of QAPLIB: a mapping, or a solution file with the place of each
/// object numbered from 1.
pub fn audit_fixed_objects(fixed: &str, assignment: &str, num_objects: usize) -> Result<usize, AuditError> {
    let places = places(assignment, num_objects)?;
    compare(fixed, &places.into_iter().map(|place| place as u64).collect::<Vec<_>>())
}

fn compare(fixed: &str, pe_of: &[u64]) -> Result<usize, AuditError> {
    let text = fixed.trim_start_matches('\u{feff}');
    let mut count = 0;
    let (mut next, mut is_first) = (0, true);
    for (index, line) in text.lines().enumerate() {
        let fields: Vec<&str> = line
            .split(|c: char| c.is_whitespace() || c == ',' || c == ';')
            .filter(|field| !field.is_empty())
            .collect();
        let is_name = |field: &&str| field.trim_matches('"').starts_with(char::is_alphabetic);
        let are_names = is_first && fields.len() == 2 && fields.iter().all(is_name);
        if are_names || fields.first().is_none_or(|field| field.starts_with(['#', '%'])) {
            is_first &= !are_names;
            continue;
        }
        is_first = false;
        let fault = AuditError::FixedLine { line: index + 1 };
        let numbers: Option<Vec<i128>> = fields.iter().map(|field| signed_number(field)).collect();
        let numbers = numbers.ok_or(fault.clone())?;
        let (process, pe) = match numbers[..] {
            [pe] => (next, pe),
            [process, pe] => (usize::try_from(process).map_err(|_| fault.clone())?, pe),
            _ => return Err(fault),
        };
        next += 1;
        let &found = pe_of.get(process).ok_or(fault.clone())?;
        match u64::try_from(pe) {
            Ok(expected) if expected != found => return Err(AuditError::Fixed { process, expected, found }),
            Ok(_) => count += 1,
            Err(_) if pe == -1 => {}
            Err(_) => return Err(fault),
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_of_qaplib_are_read_too() {
        assert_eq!(audit_fixed_objects("0 2\n", "3 17\n3 1 2\n", 3), Ok(1));
        let moved = AuditError::Fixed { process: 0, expected: 1, found: 2 };
        assert_eq!(audit_fixed_objects("1\n-1\n-1\n", "2\n0\n1\n", 3), Err(moved));
    }

    #[test]
    fn names_may_stand_over_pairs() {
        assert_eq!(audit_fixed("\"process\",\"pe\"\n0,2e0\n", "2\n0\n1\n"), Ok(1));
        assert_eq!(audit_fixed("0 2\nprocess pe\n", "2\n0\n"), Err(AuditError::FixedLine { line: 2 }));
    }

    #[test]
    fn malformed_lines_are_named() {
        assert_eq!(audit_fixed("0\nx\n", "0\n1\n"), Err(AuditError::FixedLine { line: 2 }));
        assert_eq!(audit_fixed("# none\n0 0 0\n", "0\n"), Err(AuditError::FixedLine { line: 2 }));
        assert_eq!(audit_fixed("5 0\n", "0\n"), Err(AuditError::FixedLine { line: 1 }));
    }
}
