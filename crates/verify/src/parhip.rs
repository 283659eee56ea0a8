//! Binary graphs as text, for an audit.

use crate::error::AuditError;

/// Returns whether these are the bytes of a graph in ParHIP's binary format: no text begins with the zeros of its version.
pub fn is_parhip(bytes: &[u8]) -> bool {
    bytes.len() >= 8 && bytes[0] < 64 && bytes[1..8].iter().all(|&byte| byte == 0)
}

/// The same graph in METIS format.
///
/// ```
/// // Two vertices, one edge; no weights, 64 bits for each number.
/// let numbers: [u64; 8] = [3, 2, 2, 48, 56, 64, 1, 0];
/// let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
/// assert!(viem_verify::is_parhip(&bytes));
/// assert_eq!(viem_verify::text_of_parhip(&bytes)?, "2 1 0\n2\n1\n");
/// # Ok::<(), viem_verify::AuditError>(())
/// ```
pub fn text_of_parhip(bytes: &[u8]) -> Result<String, AuditError> {
    let malformed = |line| AuditError::Graph { line, reason: "the binary graph is malformed" };
    // The number at a byte of the file, of this many bytes.
    let number = |place: u64, width: u64| -> Option<u64> {
        let place = usize::try_from(place).ok()?;
        let digits = bytes.get(place..place.checked_add(width as usize)?)?;
        Some(digits.iter().rev().fold(0, |number, &digit| number << 8 | u64::from(digit)))
    };
    let (version, n, m) = (|| Some((number(0, 8)?, number(8, 8)?, number(16, 8)?)))().ok_or(malformed(1))?;
    let width = |bit: u64| if version & bit == 0 { 8 } else { 4 };
    let (has_edge_weights, has_node_weights) = (version & 1 == 0, version & 2 == 0);
    let end_of_lists = number(24 + n * width(4), width(4)).ok_or(malformed(1))?;
    let first_edge_weight = end_of_lists + if has_node_weights { n * width(16) } else { 0 };
    let format = 10 * u8::from(has_node_weights) + u8::from(has_edge_weights);
    let mut text = format!("{n} {} {format}\n", m / 2);
    let mut arc = 0;
    for node in 0..n {
        let mut row = || {
            let mut words = Vec::new();
            if has_node_weights {
                words.push(number(end_of_lists + node * width(16), width(16))?.to_string());
            }
            let place = 24 + node * width(4);
            let (first, last) = (number(place, width(4))?, number(place + width(4), width(4))?);
            for place in (first..last).step_by(width(8) as usize) {
                words.push((number(place, width(8))? + 1).to_string());
                if has_edge_weights {
                    words.push(number(first_edge_weight + arc * width(32), width(32))?.to_string());
                }
                arc += 1;
            }
            Some(words.join(" "))
        };
        text += &row().ok_or(malformed(node as usize + 2))?;
        text.push('\n');
    }
    Ok(text)
}
