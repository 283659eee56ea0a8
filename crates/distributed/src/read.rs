//! Graph files, of which each rank reads its part.
//!
//! | file | how it is read |
//! |---|---|
//! | METIS, text | each rank counts the lines in its share of the bytes, then parses them |
//! | ParHIP, binary | each rank reads the offsets, lists and weights of its vertices, which have its share of the arcs |
//! | packed with gzip, in UTF-16, or no file (a pipe) | rank 0 reads all of it and deals it out |
//!
//! Ranks without lines or vertices are right. An error is that of the first rank that has one, with its place in the file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use viem::base::types::Weight;
use viem_io::metis::part::{PartStart, Unpaired};
use viem_io::metis::{GraphNote, Header, NodeWeights, part as lines};
use viem_io::parhip::part as bytes;
use viem_io::{ReadError, Source, is_stream, parhip, read_noted_graph};

use crate::alike;
use crate::comm::{Comm, Ranges};
use crate::error::{DistError, agree};
use crate::gather::scatter;
use crate::graph::{Asymmetry, DistGraph, Rows};

/// The way in which a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Lines,
    Bytes,
    Whole,
}

impl Manner {
    const ALL: [Self; 3] = [Self::Lines, Self::Bytes, Self::Whole];

    fn of(path: &Path) -> Result<Self, ReadError> {
        if is_stream(path) || !path.is_file() {
            // What cannot be read fails there.
            return Ok(Self::Whole);
        }
        let mut source = Source::open(path)?;
        let is_binary = parhip::is_parhip(&source.start());
        Ok(match source.is_plain() {
            false => Self::Whole,
            true if is_binary => Self::Bytes,
            true => Self::Lines,
        })
    }
}

/// Reads a graph in METIS or ParHIP format. The vertices are dealt to the ranks in their order, so that each has about as much of the file.
pub fn read(comm: &impl Comm, path: &Path) -> Result<DistGraph, DistError> {
    read_noted(comm, path).map(|(graph, _)| graph)
}

/// Reads a graph as [`read`] does. Rank 0 also gets notes on the parts of the file that the graph leaves out.
pub fn read_noted(comm: &impl Comm, path: &Path) -> Result<(DistGraph, Vec<GraphNote>), DistError> {
    let manner = if comm.rank() == 0 { Manner::of(path) } else { Ok(Manner::Whole) };
    let manner = agree(comm, manner)?;
    let mut number = vec![Manner::ALL.iter().position(|&listed| listed == manner).unwrap_or(0) as u64];
    comm.broadcast(0, &mut number);
    let manner = Manner::ALL[number[0] as usize];
    if manner != Manner::Whole {
        let [length, start] = agree(comm, digest(path))?;
        alike::check(comm, &[("length of the graph file", length), ("start of the graph file", start)])?;
    }
    match manner {
        Manner::Lines => read_lines(comm, path),
        Manner::Bytes => Ok((read_bytes(comm, path)?, Vec::new())),
        Manner::Whole => {
            let read = || Source::open(path).and_then(|source| read_noted_graph(source, NodeWeights::Read));
            let whole = agree(comm, (comm.rank() == 0).then(read).transpose())?;
            let (whole, notes) = whole.unzip();
            Ok((scatter(comm, 0, whole.as_ref())?, notes.unwrap_or_default()))
        }
    }
}

/// The length of a file, and a hash of its start: ranks on other machines may see another file under its name.
fn digest(path: &Path) -> Result<[u64; 2], ReadError> {
    let unreadable = |source| ReadError::Unreadable { file: path.display().to_string(), source };
    let length = path.metadata().map_err(unreadable)?.len();
    let start = Source::open(path)?.start();
    Ok([length, alike::digest(start.into_iter().map(u64::from))])
}

/// A part of a file, from a byte on.
struct FilePart {
    file: File,
    start: u64,
    end: u64,
}

impl FilePart {
    /// The lines that begin in the share of a rank.
    fn of(path: &Path, rank: usize, size: usize) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let share = |rank: usize| (u128::from(length) * rank as u128 / size as u128) as u64;
        let start = start_of_line(&mut file, share(rank))?;
        let end = if rank + 1 == size { length } else { start_of_line(&mut file, share(rank + 1))? };
        Ok(Self { file, start, end: end.max(start) })
    }

    fn reader(&self) -> io::Result<impl Read + Send + use<>> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(self.start))?;
        Ok(file.take(self.end - self.start))
    }
}

/// Returns the start of the first line that begins at this byte or behind it.
fn start_of_line(file: &mut File, from: u64) -> io::Result<u64> {
    let Some(mut place) = from.checked_sub(1) else { return Ok(0) };
    file.seek(SeekFrom::Start(place))?;
    let mut block = [0; 1 << 12];
    loop {
        let count = match file.read(&mut block) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            result => result?,
        };
        if let Some(end) = block[..count].iter().position(|&byte| byte == b'\n') {
            return Ok(place + end as u64 + 1);
        }
        place += count as u64;
        if count == 0 {
            return Ok(place);
        }
    }
}

fn read_lines(comm: &impl Comm, path: &Path) -> Result<(DistGraph, Vec<GraphNote>), DistError> {
    let name = &path.display().to_string();
    let unreadable = |source: io::Error| ReadError::Unreadable { file: name.clone(), source };
    let (header, place) = agree(comm, Source::open(path).and_then(lines::header))?;
    let count = || {
        let part = FilePart::of(path, comm.rank(), comm.size())?;
        Ok((lines::count_rows(part.reader()?)?, part))
    };
    let (counted, part) = agree(comm, count().map_err(unreadable))?;
    let all = comm.all_gather(&[counted.lines, counted.rows]).words;
    let before = all.as_chunks::<2>().0[..comm.rank()]
        .iter()
        .fold([1, 0], |[line, rows], [more_lines, more_rows]| [line + more_lines, rows + more_rows]);
    let start = PartStart::new(before[0], before[1], comm.rank() + 1 == comm.size());
    let read = || {
        let source = Source::new(name.clone(), part.reader().map_err(unreadable)?)?;
        lines::read(source, header, start)
    };
    let found = explained(comm, path, read())?;
    let lines::MetisPart { offsets, targets, edge_weights, node_weights, places, .. } = found;
    let rows = Rows { offsets, targets, edge_weights, node_weights, num_weights: 1 };
    let arcs: u64 = comm.all_gather(&[rows.targets.len() as u64]).words.iter().sum();
    let wrong = lines::wrong_count(name, header, place, arcs);
    // As many entries as edges: each edge is at one end only.
    if arcs == header.num_edges {
        explained(comm, path, wrong.map_or(Ok(()), Err))?;
        return Ok((finish(comm, path, header, rows, &places)?, header.notes()));
    }
    let graph = finish(comm, path, header, rows, &places)?;
    explained(comm, path, wrong.map_or(Ok(()), Err))?;
    Ok((graph, header.notes()))
}

/// Returns the results of all ranks, or the first error; if the start of the file explains that, its explanation.
fn explained<T>(comm: &impl Comm, path: &Path, result: Result<T, ReadError>) -> Result<T, DistError> {
    let error = match agree(comm, result) {
        Ok(found) => return Ok(found),
        Err(error) => error,
    };
    let explanation = (comm.rank() == 0).then(|| Source::open(path).ok().and_then(lines::explain)).flatten();
    agree(comm, explanation.map_or(Ok(()), Err))?;
    Err(error)
}

/// The graph of rows whose edges may not agree at their ends.
fn finish(
    comm: &impl Comm,
    path: &Path,
    header: Header,
    rows: Rows,
    places: &lines::MetisPlaces,
) -> Result<DistGraph, DistError> {
    let ranges = Ranges::gather(comm, (rows.offsets.len() - 1) as u32);
    debug_assert_eq!(ranges.total() as usize, header.num_nodes);
    if let Some(asymmetry) = rows.first_asymmetry(comm, &ranges) {
        let own = ranges.own();
        let Asymmetry { vertex, target, forward, backward } = asymmetry;
        let mut place = match arc_of(&rows, &ranges, asymmetry) {
            Some(arc) => {
                let local = (vertex - own.start) as usize;
                let start = rows.offsets[local];
                let weights = rows.edge_weights.as_ref().map(|weights| &weights[start..arc]);
                vec![places.line(local), places.column(start, &rows.targets[start..arc], weights)]
            }
            None => Vec::new(),
        };
        comm.broadcast(ranges.owner(vertex), &mut place);
        let mut line = match own.contains(&target) {
            true => vec![places.line((target - own.start) as usize)],
            false => Vec::new(),
        };
        comm.broadcast(ranges.owner(target), &mut line);
        let found = Unpaired::new((place[0], place[1]), (vertex, target), (forward, backward), line[0]);
        explained(comm, path, Err::<(), _>(found.error(&path.display().to_string())))?;
    }
    DistGraph::of_symmetric(comm, ranges, rows)
}

/// The position of an arc, if its tail is here.
fn arc_of(rows: &Rows, ranges: &Ranges, Asymmetry { vertex, target, .. }: Asymmetry) -> Option<usize> {
    let own = ranges.own();
    let local = own.contains(&vertex).then(|| (vertex - own.start) as usize)?;
    (rows.offsets[local]..rows.offsets[local + 1]).find(|&arc| rows.targets[arc] == target)
}

fn read_bytes(comm: &impl Comm, path: &Path) -> Result<DistGraph, DistError> {
    let part = agree(comm, bytes::read(path, comm.rank(), comm.size()))?;
    let bytes::ParhipPart { offsets, targets, edge_weights, node_weights, places, .. } = part;
    let rows = Rows { offsets, targets, edge_weights, node_weights, num_weights: 1 };
    let ranges = Ranges::gather(comm, (rows.offsets.len() - 1) as u32);
    if let Some(asymmetry) = rows.first_asymmetry(comm, &ranges) {
        let Asymmetry { vertex, target, forward, backward } = asymmetry;
        let name = path.display().to_string();
        let weights: (Weight, Weight) = (forward, backward);
        let error = |arc| bytes::unpaired(&name, places.byte(arc), (vertex, target), weights);
        let result = arc_of(&rows, &ranges, asymmetry).map_or(Ok(()), |arc| Err(error(arc)));
        agree(comm, result)?;
    }
    DistGraph::of_symmetric(comm, ranges, rows)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::gather::gather;
    use crate::testing::random_graph;
    use crate::threads;
    use viem::base::error::HasKind;
    use viem::base::rng::Rng;
    use viem::graph::CsrGraph;
    use viem_io::metis::GraphContent;
    use viem_io::parhip::ParhipWidth;
    use viem_io::read_graph;

    const SIZES: [usize; 5] = [1, 2, 3, 5, 16];

    fn whole(path: &Path) -> Result<CsrGraph, ReadError> {
        read_graph(Source::open(path)?, NodeWeights::Read)
    }

    #[test]
    fn ranks_that_see_other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let usual = write("usual", "4 3\n2\n1 3\n2 4\n3\n");
        let same_length = write("same_length", "4 3\n2\n1 4\n4 3\n3\n");
        let longer = write("longer", "5 3\n2\n1 3\n2 4\n3\n\n");
        for (other, what) in [(same_length, "start"), (longer, "length")] {
            let results = threads::run(4, |comm| read(comm, if comm.rank() == 2 { &other } else { &usual }));
            for error in results.into_iter().map(Result::unwrap_err) {
                assert_eq!((error.rank, error.kind()), (2, viem::base::error::ErrorKind::Usage));
                assert!(error.message.contains(&format!("another {what} of the graph file")), "{error}");
            }
        }
    }

    /// Reads a file on different numbers of ranks; graphs, messages and kinds are those of one machine.
    fn check(bytes: &[u8], is_place_exact: bool) -> bool {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let expected = whole(file.path());
        for size in SIZES {
            let found = threads::run(size, |comm| {
                read(comm, file.path()).map(|graph| gather(comm, &graph, size).unwrap().unwrap())
            });
            assert!(found.iter().all(|one| *one == found[0]));
            match (&found[0], &expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (Err(found), Err(expected)) => {
                    assert_eq!(found.kind, expected.kind(), "{found} {expected}");
                    let (found, expected) = (found.message.clone(), expected.to_string());
                    let text = || String::from_utf8_lossy(bytes).into_owned();
                    assert!(!is_place_exact || found == expected, "{size}: {found}\n{expected}\n{}", text());
                }
                (found, expected) => {
                    panic!("{size}: {found:?} {expected:?}\n{}", String::from_utf8_lossy(bytes))
                }
            }
        }
        expected.is_ok()
    }

    #[test]
    fn texts_with_and_without_faults_are_read_as_on_one_machine() {
        let mut rng = Rng::new(23);
        let mut valid = 0;
        for round in 0..1500 {
            let graph = random_graph(&mut rng, 12);
            let mut text = Vec::new();
            viem_io::write_graph(&mut text, &graph, viem_io::GraphFormat::Metis).unwrap();
            if rng.below(3) == 0 {
                text = text.split_inclusive(|&byte| byte == b'\n').collect::<Vec<_>>().join(&b"% x\n"[..]);
            }
            if rng.below(4) == 0 && text.last() == Some(&b'\n') {
                text.pop();
            }
            for _ in 0..[0, 0, 1, 1][round % 4] {
                let place = rng.below(text.len().max(1) as u32) as usize;
                if let Some(byte) = text.get_mut(place) {
                    *byte = b"\n 0123456789x-%"[rng.below(15) as usize];
                }
            }
            valid += u32::from(check(&text, true));
        }
        assert!((500..1400).contains(&valid), "{valid}");
    }

    #[test]
    fn binary_files_with_and_without_faults_are_read_as_on_one_machine() {
        let mut rng = Rng::new(29);
        let mut valid = 0;
        for round in 0..800 {
            let graph = random_graph(&mut rng, 12);
            let mut bytes = Vec::new();
            let width = [ParhipWidth::Eight, ParhipWidth::Least][round % 2];
            let content = [GraphContent::NO_WEIGHTS, GraphContent::ALL_WEIGHTS][rng.below(2) as usize];
            parhip::write(&mut bytes, &graph, content, width).unwrap();
            match round % 8 {
                4 | 5 => bytes.truncate(rng.below(bytes.len() as u32 + 1) as usize),
                6 => bytes.push(0),
                7 => {
                    let place = 8 + rng.below(bytes.len() as u32 - 8) as usize;
                    bytes[place] ^= 1 << rng.below(8);
                }
                _ => {}
            }
            valid += u32::from(check(&bytes, false));
        }
        assert!((380..800).contains(&valid), "{valid}");
    }

    #[test]
    fn what_a_graph_leaves_out_is_known_to_rank_0() {
        let expected = [GraphNote::MoreWeights { count: 2 }];
        let text = b"2 1 010 2\n1 5 2\n1 7 1\n".to_vec();
        for bytes in [text.clone(), [b"\xef\xbb\xbf".to_vec(), text].concat()] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&bytes).unwrap();
            for size in SIZES {
                let notes = threads::run(size, |comm| read_noted(comm, file.path()).unwrap().1);
                assert_eq!(notes[0], expected);
            }
        }
    }

    #[test]
    fn what_cannot_be_split_is_read_as_a_whole() {
        let graph = viem::graph::generate::grid(7, 5);
        let mut text = Vec::new();
        viem_io::write_graph(&mut text, &graph, viem_io::GraphFormat::Metis).unwrap();
        let marked = [b"\xef\xbb\xbf".to_vec(), text.clone()].concat();
        assert!(check(&marked, true));
        let wide: Vec<u8> = text.iter().flat_map(|&byte| [byte, 0]).collect();
        assert!(check(&[b"\xff\xfe".to_vec(), wide].concat(), true));
        let returns: Vec<u8> = text.iter().map(|&byte| if byte == b'\n' { b'\r' } else { byte }).collect();
        assert!(check(&returns, true));
        let both = String::from_utf8(text).unwrap().replace('\n', "\r\n");
        assert!(check(both.as_bytes(), true));
        assert!(!check(b"", true));
        let errors = threads::run(3, |comm| read(comm, Path::new("/no/such/file")).map(|_| ()));
        assert!(errors.iter().all(|error| error.as_ref().unwrap_err().message.contains("/no/such/file")));
    }
}
