//! The auditor's own reader of quadratic assignment problems.

use super::error::AuditError;
use super::number::signed_number;

/// J of an assignment (a mapping numbered from 0, or a solution file with the place of each object numbered
/// from 1) of a problem in QAPLIB format, computed from both texts.
///
/// ```
/// use viem_verify::audit_qap;
///
/// let problem = "2\n0 3\n1 0\n0 5\n7 0\n";
/// assert_eq!(audit_qap(problem, "0\n1\n"), Ok(3 * 5 + 1 * 7));
/// assert_eq!(audit_qap(problem, "2 26\n2 1\n"), Ok(3 * 7 + 1 * 5));
/// assert_eq!(audit_qap("2\n0,3.0\n1,0\n0,-5e0\n7,0\n", "0\n1\n"), Ok(3 * -5 + 1 * 7));
/// ```
pub fn audit_qap(problem: &str, assignment: &str) -> Result<i128, AuditError> {
    let lines = numbers(problem)?;
    let first = lines.first().ok_or(fault("it is empty"))?;
    let all: Vec<i128> = lines.iter().flatten().copied().collect();
    let size = usize::try_from(all[0]).ok().filter(|&size| size > 0).ok_or(fault("n is not a valid size"))?;
    let more = (all.len() - 1).checked_sub(2 * size * size).ok_or(fault("entries are missing"))?;
    let beside = first.len() - 1;
    let matrices = &all[1 + if beside <= 2 { beside.min(more) } else { 0 }..];
    let place_of = places(assignment, size)?;
    let mut cost = 0i128;
    for (i, &k) in place_of.iter().enumerate() {
        for (j, &l) in place_of.iter().enumerate() {
            let term = matrices[i * size + j].checked_mul(matrices[size * size + k * size + l]);
            cost = term.and_then(|term| cost.checked_add(term)).ok_or(AuditError::Overflow)?;
        }
    }
    Ok(cost)
}

fn fault(reason: &'static str) -> AuditError {
    AuditError::Problem { reason }
}

/// The numbers of each non-empty line.
fn numbers(text: &str) -> Result<Vec<Vec<i128>>, AuditError> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let words =
            line.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';')).filter(|word| !word.is_empty());
        let words = words.take_while(|word| !word.starts_with(['#', '%']));
        let numbers: Option<Vec<i128>> = words.map(signed_number).collect();
        lines.push(numbers.ok_or(fault("not a number"))?);
    }
    lines.retain(|line| !line.is_empty());
    Ok(lines)
}

/// The place of each object, from 0.
pub(crate) fn places(text: &str, size: usize) -> Result<Vec<usize>, AuditError> {
    let all: Vec<i128> = numbers(text)?.into_iter().flatten().collect();
    let (head, first) = if all.len() == size { (0, 0) } else { (2, 1) };
    let order = all.get(head..).unwrap_or_default();
    let mut is_taken = vec![false; size];
    let mut places = Vec::new();
    for (line, number) in order.iter().enumerate() {
        let place = usize::try_from(number - first).ok().filter(|&place| place < size);
        let place = place.ok_or(AuditError::Mapping { line: line + 1 })?;
        if std::mem::replace(&mut is_taken[place], true) {
            return Err(AuditError::Mapping { line: line + 1 });
        }
        places.push(place);
    }
    let lines = places.len();
    if lines == size { Ok(places) } else { Err(AuditError::Sizes { lines, processes: size }) }
}
