//! Files of the weights of PEs, of the speeds of blocks, of least loads, and of capacities of nodes, with one whole number per line. Line i is for PE or block i. A weight or a
//! speed is its work relative to the others.
//!
//! Blank lines after the last PE are accepted.

use super::lines::{self, LineFault, Words};
use crate::{ReadError, Source};
use viem::base::number;
use viem::base::types::Weight;

/// The greatest weight of a PE.
pub const MOST: u32 = 1_000_000;

const WEIGHTS: Words = Words {
    value: "weight",
    must: "the line must hold one whole number from 1 to 1000000",
    items: ("processing element", "processing elements"),
    ends: ("the weights end", "the weights go on"),
    of: ("each", "machine"),
};

const SPEEDS: Words = Words {
    value: "speed",
    must: "speeds are whole numbers from 0 to 1000000, in proportion to each other",
    items: ("block", "blocks"),
    ends: ("the speeds end", "the speeds go on"),
    of: ("each", "graph"),
};

const LEAST_LOADS: Words = Words {
    value: "least load",
    must: "least loads are whole numbers from 0 to 9223372036854775807",
    items: ("PE or block", "PEs or blocks"),
    ends: ("the least loads end", "the least loads go on"),
    of: ("each", "machine or partition"),
};

const NODE_CAPACITIES: Words = Words {
    value: "capacity",
    must: "capacities of nodes are whole numbers from 0 to 9223372036854775807",
    items: ("node", "nodes"),
    ends: ("the capacities end", "the capacities go on"),
    of: ("each", "machine"),
};

/// Reads the greatest weight of the vertices on each of `num_nodes` nodes.
///
/// ```
/// use viem_io::{Source, pe_weights};
///
/// let source = Source::new("memory", "256000\n512000\n".as_bytes())?;
/// assert_eq!(pe_weights::read_node_capacities(source, 2)?, [256_000, 512_000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_node_capacities(source: Source<'_>, num_nodes: usize) -> Result<Vec<Weight>, ReadError> {
    loads(source, num_nodes, &NODE_CAPACITIES)
}

/// Reads the least load of each of `count` PEs or blocks, from 0.
///
/// ```
/// use viem_io::{Source, pe_weights};
///
/// let source = Source::new("least", "20\n0\n".as_bytes())?;
/// assert_eq!(pe_weights::read_least_loads(source, 2)?, [20, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_least_loads(source: Source<'_>, count: usize) -> Result<Vec<Weight>, ReadError> {
    loads(source, count, &LEAST_LOADS)
}

fn loads(source: Source<'_>, count: usize, words: &'static Words) -> Result<Vec<Weight>, ReadError> {
    lines::read(source, Some(count), words, |number| {
        Weight::try_from(number).map_err(|_| words.not_a_value(number))
    })
}

/// Reads the weight of each of `num_pes` PEs, from 1.
///
/// ```
/// use viem_io::{Source, pe_weights};
///
/// let source = Source::new("weights", "2\n1\n".as_bytes())?;
/// assert_eq!(pe_weights::read(source, 2)?, [2, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(source: Source<'_>, num_pes: usize) -> Result<Vec<u32>, ReadError> {
    let take = |number: u64| match number {
        1.. if number <= u64::from(MOST) => Ok(number as u32),
        _ => Err(WEIGHTS.not_a_value(number)),
    };
    lines::read(source, Some(num_pes), &WEIGHTS, take)
}

/// Reads the speed of each part, from 0: as many parts as the file has lines. A part of speed 0 takes no work.
///
/// ```
/// use viem_io::{Source, pe_weights};
///
/// let source = Source::new("speeds", "2\n1\n0\n".as_bytes())?;
/// assert_eq!(pe_weights::read_speeds(source)?, [2, 1, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_speeds(source: Source<'_>) -> Result<Vec<u32>, ReadError> {
    speeds(source, None)
}

/// Reads the speed of each of `count` PEs, from 0.
pub fn read_speeds_of(source: Source<'_>, count: usize) -> Result<Vec<u32>, ReadError> {
    speeds(source, Some(count))
}

fn speeds(source: Source<'_>, count: Option<usize>) -> Result<Vec<u32>, ReadError> {
    lines::read(source, count, &SPEEDS, |number| speed(number).ok_or_else(|| SPEEDS.not_a_value(number)))
}

/// The speeds of a list with commas between them, such as `1,2,4`.
pub fn speeds_of(list: &str) -> Result<Vec<u32>, LineFault> {
    let each = |text: &str| {
        let number = number::whole(text.trim().as_bytes()).ok().and_then(speed);
        number.ok_or_else(|| SPEEDS.not_a_value(text.trim()))
    };
    list.split(',').map(each).collect()
}

fn speed(number: u64) -> Option<u32> {
    u32::try_from(number).ok().filter(|&speed| speed <= MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_as_many_as_there_are_lines() {
        let read = |text: &str| read_speeds(Source::new("test", text.as_bytes()).unwrap()).unwrap();
        assert_eq!(read("3\n0\n1000000\n\n\n"), [3, 0, MOST]);
        assert_eq!(read(""), [0; 0]);
        let cases = [
            (
                "1\n1000001\n",
                2,
                1,
                "`1000001` is not a speed; speeds are whole numbers from 0 to 1000000, in",
            ),
            ("1\n-1\n", 2, 1, "`-1` is not a speed"),
            ("1 2\n", 1, 3, "`2` is too much; a line holds the speed of one block"),
            ("1\n\n2\n", 3, 1, "it must hold the speed of block 1"),
        ];
        lines::check_faults(read_speeds, &cases);
        assert_eq!(speeds_of("1, 2,4"), Ok(vec![1, 2, 4]));
        for (list, text) in [("", ""), ("1,,2", ""), ("1,0.5", "0.5"), ("-1", "-1"), ("1,x", "x")] {
            assert_eq!(speeds_of(list), Err(SPEEDS.not_a_value(text)), "{list}");
        }
    }

    #[test]
    fn least_loads_may_be_any_weight() {
        let cases = [
            (
                "9223372036854775808\n",
                1,
                1,
                "`9223372036854775808` is not a least load; least loads are whole",
            ),
            ("-1\n", 1, 1, "`-1` is not a least load"),
            ("0\n", 2, 1, "the least loads end after 1 of 2 PEs or blocks; give each a line"),
            (
                "0\n0\n0\n",
                3,
                1,
                "the least loads go on after 2 PEs or blocks, which is all that the machine or",
            ),
        ];
        lines::check_faults(|source| read_least_loads(source, 2), &cases);
        let source = Source::new("test", "9223372036854775807\n0\n".as_bytes()).unwrap();
        assert_eq!(read_least_loads(source, 2).unwrap(), [Weight::MAX, 0]);
    }

    #[test]
    fn faults_name_the_processing_element() {
        let cases = [
            ("1\n0\n", 2, 1, "`0` is not a weight; the line must hold one whole number from 1 to 1000000"),
            ("1\n\n", 2, 1, "the line is empty; it must hold the weight of processing element 1"),
            ("1\n", 2, 1, "the weights end after 1 of 2 processing elements; give each a line"),
            (
                "1\n1\n1\n",
                3,
                1,
                "the weights go on after 2 processing elements, which is all that the machine has",
            ),
        ];
        lines::check_faults(|source| read(source, 2), &cases);
    }
}
