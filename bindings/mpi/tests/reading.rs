//! The output of jobs, as numbers.

/// The result for one topology.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Topology {
    /// The function that made it.
    pub name: String,
    /// J of the old ranks, and of the new ones.
    pub costs: [i64; 2],
}

/// Reads the output of `topologies`: the costs by the definition.
pub fn printed(out: &str) -> Vec<Topology> {
    let lines = out.lines().filter(|line| line.starts_with("MPI_"));
    let read = |line: &str| {
        let words: Vec<_> = line.split(' ').collect();
        Topology { name: words[0].into(), costs: [number(words[1]), number(words[2])] }
    };
    lines.map(read).collect()
}

/// Reads the output of the library about the same topologies, where it has J.
pub fn said(lines: &[&str]) -> Vec<Topology> {
    lines.iter().filter(|line| line.contains(": J is ")).map(|line| read_said(line)).collect()
}

/// A line such as `MPI_Cart_create of 8 ranks: ranks stay: J is 22, would be 22 (0.0 % less)`.
fn read_said(line: &str) -> Topology {
    let words: Vec<_> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let after = |word: &str| number(words[words.iter().position(|&other| other == word).unwrap() + 1]);
    let (before, after) = (after("is"), after("be"));
    let stays = line.contains(": ranks stay: ");
    Topology { name: words[0].into(), costs: [before, if stays { before } else { after }] }
}

fn number(word: &str) -> i64 {
    word.parse().unwrap_or_else(|_| panic!("not a number: {word}"))
}
