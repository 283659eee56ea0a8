//! Schedules whose ranks are renamed.

use super::schedule::{Number, Part, Schedule, Statement};
use crate::fault::{Stop, TrafficFault, read_whole};
use crate::fields::ScannerExt;
use viem::base::types::PeId;
use viem_io::scanner::Scanner;
use viem_io::{ReadError, Source};

/// A schedule whose ranks are renamed: rank r becomes `places[r]`, which are different numbers below `num_places`. Blocks are put in the order of
/// their new names, and names that no rank has get empty ones, as simulators need a block of each. Everything else stays as it is. O(file).
///
/// ```
/// use viem_io::Source;
/// use viem_traffic::relabel_goal;
///
/// let schedule = "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n";
/// let source = Source::new("job.goal", schedule.as_bytes())?;
/// let renamed = relabel_goal(source, &[2, 0], 3)?;
/// assert_eq!(
///     renamed,
///     "num_ranks 3\nrank 0 {\nrecv 8b from 2\n}\nrank 1 {\n}\nrank 2 {\nsend 8b to 0\n}\n"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn relabel_goal(source: Source<'_>, places: &[PeId], num_places: usize) -> Result<String, ReadError> {
    let mut renamed = Renamed::new(places, num_places);
    read_whole(source, |scanner| renamed.read(scanner))?;
    Ok(renamed.finish())
}

/// A schedule as it is renamed.
struct Renamed<'a> {
    places: &'a [PeId],
    num_places: usize,
    /// The text before the first block.
    head: String,
    /// The new name and the text of each block, with the text before it.
    blocks: Vec<(PeId, String)>,
    /// The text behind the last block, or of a block that has not ended.
    text: String,
    name: PeId,
}

impl<'a> Renamed<'a> {
    fn new(places: &'a [PeId], num_places: usize) -> Self {
        let (head, blocks, text) = (String::new(), Vec::new(), String::new());
        Self { places, num_places, head, blocks, text, name: 0 }
    }

    fn read(&mut self, scanner: &mut Scanner<Source<'_>>) -> Result<(), Stop> {
        let mut schedule = Schedule::default();
        while let Some((number, line)) = scanner.next_line() {
            // Up to where the line is written.
            let mut done = 0;
            schedule.read(number, line, &mut |part| self.add(part, line, &mut done))?;
            self.text += &String::from_utf8_lossy(&line[done..]);
            self.text.push('\n');
        }
        schedule.end().map_err(|fault| scanner.stop(fault))
    }

    fn add(&mut self, part: Part, line: &[u8], done: &mut usize) -> Result<(), TrafficFault> {
        match part.statement {
            Statement::NumRanks(count) => {
                let (found, expected) = (count.value, self.places.len() as u64);
                if found != expected {
                    return Err(TrafficFault::OtherNumber { found, expected });
                }
                self.replace(&count, self.num_places as u64, line, done);
            }
            Statement::Open(rank) => {
                if self.blocks.is_empty() {
                    self.copy(line, done, part.at.start);
                    self.head = std::mem::take(&mut self.text);
                }
                self.name = self.places[rank.value as usize];
                self.replace(&rank, self.name.into(), line, done);
            }
            Statement::Close => {
                self.copy(line, done, part.at.end);
                self.blocks.push((self.name, std::mem::take(&mut self.text)));
            }
            Statement::Send { to: peer, .. } | Statement::Receive { from: Some(peer), .. } => {
                let name = self.places[peer.value as usize];
                self.replace(&peer, name.into(), line, done);
            }
            Statement::Receive { from: None, .. } | Statement::Compute(_) | Statement::Requires { .. } => {}
        }
        Ok(())
    }

    fn copy(&mut self, line: &[u8], done: &mut usize, end: usize) {
        self.text += &String::from_utf8_lossy(&line[*done..end]);
        *done = end;
    }

    fn replace(&mut self, number: &Number, value: u64, line: &[u8], done: &mut usize) {
        self.copy(line, done, number.at.start);
        self.text += &value.to_string();
        *done = number.at.end;
    }

    fn finish(mut self) -> String {
        if self.blocks.is_empty() {
            self.head = std::mem::replace(&mut self.text, "\n".to_owned());
        }
        let mut is_there = vec![false; self.num_places];
        for &(name, _) in &self.blocks {
            if let Some(is_there) = is_there.get_mut(name as usize) {
                *is_there = true;
            }
        }
        let empty = |name: usize| (name as PeId, format!("\nrank {name} {{\n}}"));
        self.blocks.extend((0..self.num_places).filter(|&name| !is_there[name]).map(empty));
        self.blocks.sort_by_key(|&(name, _)| name);
        let blocks = self.blocks.into_iter().map(|(_, block)| block);
        let blocks: Vec<String> =
            blocks.map(|block| block.trim_start_matches(['\r', '\n']).to_owned()).collect();
        format!("{}{}{}", self.head, blocks.join("\n"), self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_without_blocks_get_some() {
        let renamed =
            |text: &str| relabel_goal(Source::new("test", text.as_bytes()).unwrap(), &[1, 0], 2).unwrap();
        let empty = "num_ranks 2\nrank 0 {\n}\nrank 1 {\n}\n";
        assert_eq!(renamed("num_ranks 2\n"), empty);
        assert_eq!(renamed("num_ranks 2\nrank 0 {\n}\n"), empty);
        assert_eq!(renamed(empty), empty);
    }
}
