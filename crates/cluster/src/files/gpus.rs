//! Distances between the GPUs of a node, in what tools print about them.
//!
//! | tool | where they are |
//! |---|---|
//! | `nvidia-smi topo -m` | a line with the names of the devices and `CPU Affinity`, then `GPU0  X  NV18  SYS` and so on |
//! | `rocm-smi --showtopo` | `Weight between two GPUs`, then a line with the names, then `GPU0  0  15  15` and so on |
//!
//! Weights are distances as they are. For the links of NVIDIA distances are assumed, in inverse proportion to their bandwidth:
//!
//! | link | between two GPUs | distance |
//! |---|---|--:|
//! | `NV#` | # NVLinks, each as fast as 16 lanes of PCIe 4 | 36 / #, rounded up |
//! | `PIX` | one PCIe switch | 36 |
//! | `PXB` | several PCIe switches | 40 |
//! | `PHB` | a PCIe host bridge | 44 |
//! | `NODE` | several host bridges of a NUMA node | 48 |
//! | `SYS`, `SOC` | the interconnect of NUMA nodes | 72 |
//!
//! [`hwloc::read_gpus`](crate::files::hwloc::read_gpus) finds the same links in a file of hwloc.
//!
//! Columns of other devices between the last GPU and the affinities are network adapters, such as `NIC0` or `mlx5_0`. Of each GPU, the nearest
//! one counts.
//!
//! The column `CPU Affinity` has the CPUs near each GPU, such as `0-15` or `0-7,16-23`, which the GPUs that have the same [share](crate::files::near).
//! Where it has none (`N/A`), and in what `rocm-smi` prints, they are not known.
//!
//! All else that they print is skipped: other affinities, rows of adapters, other tables, and sequences that set a terminal's style.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::files::hwloc::{Object, ObjectKind};
use crate::files::near::{self, NearCores};
use crate::files::{ClusterFault, Fault, Text, shown};
use viem::base::types::Distance;
use viem_io::{ReadError, Source};

/// GPUs of a node at most.
pub(super) const MOST: usize = 1 << 10;

/// Levels of groups at most.
const MOST_LEVELS: usize = 16;

/// The greatest weight.
const MOST_WEIGHT: Distance = 1 << 31;

/// The CPUs of a node in an affinity are numbered below this.
const MOST_CPUS: usize = 1 << 14;

/// The distance of one NVLink, and of two GPUs at one PCIe switch.
const ONE_LINK: u32 = 36;

/// The rate of one NVLink in a direction, in MB/s.
const RATE_OF_LINK: u64 = 25_000;

/// Distances between the GPUs of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GpuDistances {
    /// The tool that has printed them.
    pub tool: &'static str,
    /// The links that there are with the distances that are assumed of them; none if the tool prints distances.
    pub links: BTreeMap<String, Distance>,
    /// Row by row, symmetric, 0 on the diagonal.
    pub entries: Vec<Distance>,
    /// The distance from each GPU to the nearest network adapter, if one is known.
    pub to_network: Vec<Option<Distance>>,
    /// The cores of each GPU, if they are known.
    pub near: Vec<NearCores>,
}

/// GPUs as the inside of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GpuNode {
    /// The node. Each GPU is a core of it, whose number is that of the GPU.
    pub node: Object,
    /// Pairs of GPUs that are nearer to each other in the node than in the table.
    pub num_nearer: usize,
}

impl GpuDistances {
    /// The GPUs as a tree: those that links of at most a distance join are a group, for each distance. Where the links make up no tree,
    /// this brings GPUs nearer to each other. Fails if there are more than 16 levels of groups. O(n² d) for n GPUs and d levels.
    pub fn node(&self) -> Result<GpuNode, ClusterFault> {
        let count = self.entries.len().isqrt();
        let mut tree = Tree { of: self, count, num_nearer: 0 };
        let children = tree.children(&(0..count).collect::<Vec<_>>(), 0)?;
        Ok(GpuNode { node: Object::new(ObjectKind::Machine, children), num_nearer: tree.num_nearer })
    }
}

/// The builder of a tree of GPUs.
struct Tree<'a> {
    of: &'a GpuDistances,
    count: usize,
    num_nearer: usize,
}

impl Tree<'_> {
    /// The groups of some GPUs, which lie in this many others.
    fn children(&mut self, gpus: &[usize], depth: usize) -> Result<Vec<Object>, ClusterFault> {
        let &[first, .., _] = gpus else { return Ok(gpus.iter().map(|&gpu| self.core(gpu)).collect()) };
        if depth == MOST_LEVELS {
            let reason = "their distances make up more than 16 levels";
            return Err(ClusterFault::Gpus { text: format!("GPU{first}"), reason });
        }
        let (count, top) = (self.count, self.bottleneck(gpus));
        let groups = self.joined_below(top, gpus);
        let mut objects = Vec::with_capacity(groups.len());
        for (index, group) in groups.iter().enumerate() {
            let others = groups[index + 1..].iter().flatten();
            let pairs = others.flat_map(|&other| group.iter().map(move |&gpu| gpu * count + other));
            self.num_nearer += pairs.filter(|&pair| self.of.entries[pair] > top).count();
            let distance = Reverse(u32::try_from(top).unwrap_or(u32::MAX).max(1));
            let kind = ObjectKind::Gpu { distance, is_single: group.len() == 1 };
            objects.push(Object::new(kind, self.children(group, depth + 1)?));
        }
        Ok(objects)
    }

    /// The least distance at which links join all of some GPUs: the greatest of a least spanning tree.
    fn bottleneck(&self, gpus: &[usize]) -> Distance {
        let mut left: Vec<(usize, Distance)> = gpus.iter().map(|&gpu| (gpu, Distance::MAX)).collect();
        let mut last = left.swap_remove(0).0;
        let mut greatest = 0;
        while !left.is_empty() {
            for (gpu, nearest) in &mut left {
                *nearest = self.of.entries[last * self.count + *gpu].min(*nearest);
            }
            let next = (0..left.len()).min_by_key(|&index| left[index].1).unwrap_or(0);
            let (gpu, distance) = left.swap_remove(next);
            (last, greatest) = (gpu, distance.max(greatest));
        }
        greatest
    }

    /// The groups that links of less than a distance join, in the order of their first GPUs.
    fn joined_below(&self, top: Distance, gpus: &[usize]) -> Vec<Vec<usize>> {
        let mut left = gpus.to_vec();
        let mut groups = Vec::new();
        while !left.is_empty() {
            let mut group = vec![left.remove(0)];
            let mut next = 0;
            while let Some(&gpu) = group.get(next) {
                let is_near = |&other: &usize| self.of.entries[gpu * self.count + other] < top;
                group.extend(left.extract_if(.., |other| is_near(other)));
                next += 1;
            }
            group.sort_unstable();
            groups.push(group);
        }
        groups
    }

    /// A GPU as a core.
    fn core(&self, gpu: usize) -> Object {
        let to_network = self.of.to_network.get(gpu).copied().flatten();
        let near = self.of.near.get(gpu).cloned().unwrap_or_default();
        Object::new(ObjectKind::Core, vec![Object { to_network, ..Object::gpu(gpu as u32, near) }])
    }
}

/// A tool, and how its table is found.
struct Tool {
    name: &'static str,
    /// Returns whether a line is above the table, or is its first.
    marks: fn(&[(usize, &str)]) -> bool,
    /// The distance that a cell off the diagonal stands for.
    distance: fn(&str) -> Option<Distance>,
    are_links: bool,
}

const TOOLS: [Tool; 2] = [
    Tool { name: "nvidia-smi", marks: is_header_of_nvidia, distance: distance_of_link, are_links: true },
    Tool {
        name: "rocm-smi",
        marks: is_title_of_rocm,
        distance: |cell| cell.parse().ok().filter(|weight| (0..=MOST_WEIGHT).contains(weight)),
        are_links: false,
    },
];

/// The tool that has printed a text, or the text that begins so.
pub fn tool(start: &str) -> Option<&'static str> {
    found(start).map(|tool| tool.name)
}

fn found(start: &str) -> Option<&'static Tool> {
    const ALL: &[Tool] = &TOOLS;
    ALL.iter().find(|tool| lines(start).any(|words| (tool.marks)(&words)))
}

/// Reads the distances in the output of a tool. O(text).
pub fn read(source: Source<'_>) -> Result<GpuDistances, ReadError> {
    Text::read(source)?.parse(distances)
}

/// The words of each line with their offsets.
fn lines(text: &str) -> impl Iterator<Item = Vec<(usize, &str)>> {
    let mut offset = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = offset;
        offset += line.len();
        words(start, line)
    })
}

/// The words of a line that starts at an offset; sequences that set a style divide words as blanks do.
fn words(start: usize, line: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(part) = (!rest.is_empty()).then(|| rest.split('\u{1b}').next().unwrap_or_default()) {
        let at = start + line.len() - rest.len();
        words.extend(
            part.split_whitespace()
                .map(|word| (at + (word.as_ptr() as usize - part.as_ptr() as usize), word)),
        );
        let sequence = rest.get(part.len()..).unwrap_or_default();
        rest = sequence.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, rest)| rest);
    }
    words
}

/// The number of GPUs that a line names, from GPU0 on, before all else.
fn num_gpus(words: &[(usize, &str)]) -> usize {
    words.iter().enumerate().take_while(|(index, (_, word))| is_gpu(word, *index)).count()
}

fn is_gpu(word: &str, index: usize) -> bool {
    word.strip_prefix("GPU").is_some_and(|number| number == index.to_string())
}

fn is_header_of_nvidia(words: &[(usize, &str)]) -> bool {
    num_gpus(words) > 0 && words.windows(2).any(|pair| pair[0].1 == "CPU" && pair[1].1 == "Affinity")
}

fn is_title_of_rocm(words: &[(usize, &str)]) -> bool {
    let words = words.iter().map(|(_, word)| *word).filter(|word| !word.bytes().all(|byte| byte == b'='));
    words.eq(["Weight", "between", "two", "GPUs"])
}

/// The distance that is assumed of a link of NVIDIA.
pub(super) fn distance_of_link(link: &str) -> Option<Distance> {
    Some(match link {
        "PIX" => ONE_LINK.into(),
        "PXB" => 40,
        "PHB" => 44,
        "NODE" => 48,
        "SYS" | "SOC" => 72,
        _ => {
            let digits = link.strip_prefix("NV").filter(|digits| !digits.starts_with('+'))?;
            let count: u32 = digits.parse().ok().filter(|&count| count > 0)?;
            ONE_LINK.div_ceil(count).into()
        }
    })
}

/// The distance that is assumed of a bandwidth in MB/s.
pub(super) fn distance_of_bandwidth(rate: u64) -> Distance {
    (u64::from(ONE_LINK) * RATE_OF_LINK).div_ceil(rate.max(1)) as Distance
}

/// The CPUs of a cell such as `0-7,16-23`, ascending; nothing if it is none, such as `N/A`.
fn cpus_of_affinity(cell: &str) -> Option<Vec<u32>> {
    let number = |text: &str| -> Option<usize> {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|&cpu| is_number && cpu < MOST_CPUS)
    };
    let mut is_in = vec![false; MOST_CPUS];
    for range in cell.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        is_in.get_mut(number(first)?..=number(last)?)?.fill(true);
    }
    Some((0..).zip(is_in).filter_map(|(cpu, is_in)| is_in.then_some(cpu)).collect())
}

fn fault<T>(at: usize, text: &str, reason: &'static str) -> Result<T, Fault> {
    Err((at, ClusterFault::Gpus { text: shown(text), reason }))
}

fn distances(text: &str) -> Result<GpuDistances, Fault> {
    let Some(tool) = found(text) else {
        return fault(0, text.lines().next().unwrap_or_default(), "no tool is known that prints this");
    };
    let mut table = Table::of(tool);
    let mut lines = lines(text).filter(|words| !words.is_empty());
    let mut header = lines.find(|words| (tool.marks)(words)).unwrap_or_default();
    if !tool.are_links {
        header = lines.next().unwrap_or_default();
    }
    table.count = num_gpus(&header);
    table.num_affinities = header.iter().filter(|(_, name)| *name == "Affinity").count();
    table.num_adapters = header[table.count..].iter().take_while(|(_, name)| *name != "CPU").count();
    let is_other = |(_, name): &&(usize, &str)| name.starts_with("GPU") && *name != "GPU";
    if let Some(&(at, name)) = header.get(table.count).filter(is_other) {
        return fault(at, name, "the names over a table are GPU0, GPU1 and so on, in this order");
    }
    let at = header.first().map_or(text.len(), |&(at, _)| at);
    match table.count {
        0 => return fault(at, tool.name, "no GPUs are named above the table"),
        1..=MOST => {}
        _ => return Err((at, ClusterFault::TooManyGpus { most: MOST })),
    }
    for row in 0..table.count {
        let words = lines.next().unwrap_or_default();
        table.add(row, &words, text.len())?;
    }
    if let Some(words) = lines.find(|words| (tool.marks)(words)) {
        return fault(words[0].0, words[0].1, "a second table; give each kind of node a file");
    }
    table.check_symmetry()?;
    let near = table.near();
    let Table { links, entries, to_network, .. } = table;
    Ok(GpuDistances { tool: tool.name, links, entries, to_network, near })
}

/// A table as read so far.
struct Table {
    tool: &'static Tool,
    /// Number of GPUs.
    count: usize,
    /// Columns of network adapters.
    num_adapters: usize,
    /// Columns of affinities; the first is that of CPUs.
    num_affinities: usize,
    links: BTreeMap<String, Distance>,
    entries: Vec<Distance>,
    /// The position of each entry.
    places: Vec<usize>,
    to_network: Vec<Option<Distance>>,
    /// The CPUs near each GPU; none if they are not known.
    cpus: Vec<Vec<u32>>,
}

impl Table {
    fn of(tool: &'static Tool) -> Self {
        Self {
            tool,
            count: 0,
            num_adapters: 0,
            num_affinities: 0,
            links: BTreeMap::new(),
            entries: Vec::new(),
            places: Vec::new(),
            to_network: Vec::new(),
            cpus: Vec::new(),
        }
    }

    /// Adds the row of a GPU; `end` is where the text ends.
    fn add(&mut self, row: usize, words: &[(usize, &str)], end: usize) -> Result<(), Fault> {
        let at = words.first().map_or(end, |&(at, _)| at);
        let Some((_, cells)) = words.split_first().filter(|((_, name), _)| is_gpu(name, row)) else {
            return fault(at, &format!("GPU{row}"), "the row of this GPU is missing");
        };
        if cells.len() < self.count {
            return fault(at, &format!("GPU{row}"), "this row has fewer entries than there are GPUs");
        }
        for (column, &(at, cell)) in cells[..self.count].iter().enumerate() {
            let is_own = self.tool.are_links && cell == "X";
            let distance = match (is_own, column == row) {
                (true, true) => Some(0),
                (true, false) | (false, true) if self.tool.are_links => None,
                _ => (self.tool.distance)(cell),
            };
            let Some(distance) = distance else {
                return fault(at, cell, "this is no link or weight that is known there");
            };
            if self.tool.are_links && column != row {
                self.links.insert(cell.to_owned(), distance);
            }
            self.entries.push(if column == row { 0 } else { distance });
            self.places.push(at);
        }
        let (to_adapters, others) =
            cells[self.count..].split_at(self.num_adapters.min(cells.len() - self.count));
        self.to_network.push(to_adapters.iter().filter_map(|(_, cell)| distance_of_link(cell)).min());
        // An empty cell must not make another column pass for that of CPUs.
        let affinity = others.first().filter(|_| others.len() >= self.num_affinities.max(1));
        self.cpus.push(affinity.and_then(|(_, cell)| cpus_of_affinity(cell)).unwrap_or_default());
        Ok(())
    }

    /// The share of each GPU in the CPUs near it.
    fn near(&self) -> Vec<NearCores> {
        let set_of: Vec<Option<usize>> =
            self.cpus.iter().enumerate().map(|(gpu, cpus)| (!cpus.is_empty()).then_some(gpu)).collect();
        let shares = near::shares(&self.cpus, &set_of, near::likely_cores);
        shares.into_iter().map(NearCores::of_cpus).collect()
    }

    fn check_symmetry(&self) -> Result<(), Fault> {
        for place in 0..self.entries.len() {
            let (row, column) = (place / self.count, place % self.count);
            if column < row && self.entries[place] != self.entries[column * self.count + row] {
                let text = format!("GPU{row}, GPU{column}");
                return fault(self.places[place], &text, "this differs from the other direction");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NVIDIA: &str = "\t\u{1b}[4mGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\u{1b}[0m\n\
        GPU0\t X \tNV12\tSYS\tPIX\t0-31\t0\t\tN/A\nGPU1\tNV12\t X \tSYS\tPIX\t0-31\t0\t\tN/A\n\
        GPU2\tSYS\tSYS\t X \tSYS\t32-63\t1\t\tN/A\nNIC0\tPIX\tPIX\tSYS\t X \t\t\t\t\n\nLegend:\n\n  X    = Self\n";
    const ROCM: &str = "\n============ ROCm System Management Interface ============\n============ Weight between two GPUs ============\n\
        \x20      GPU0         GPU1         \nGPU0   0            15           \nGPU1   15           0            \n\n\
        ============ Hops between two GPUs ============\n       GPU0         GPU1         \nGPU0   0            1            \nGPU1   1            0            \n";

    #[test]
    fn what_each_tool_prints() {
        let nvidia = distances(NVIDIA).unwrap();
        assert_eq!((tool(NVIDIA), nvidia.tool), (Some("nvidia-smi"), "nvidia-smi"));
        assert_eq!(nvidia.entries, [0, 3, 72, 3, 0, 72, 72, 72, 0]);
        assert_eq!(nvidia.to_network, [Some(36), Some(36), Some(72)]);
        assert_eq!(nvidia.links, BTreeMap::from([("NV12".to_owned(), 3), ("SYS".to_owned(), 72)]));
        // Copied from a terminal, without styles and with blanks.
        let plain = NVIDIA.replace("\u{1b}[4m", "").replace("\u{1b}[0m", "").replace('\t', "    ");
        assert_eq!(distances(&plain).unwrap(), nvidia);
        assert_eq!(distances(&NVIDIA.replace('\n', "\r\n")).unwrap(), nvidia);
        let rocm = distances(ROCM).unwrap();
        assert_eq!((tool(ROCM), rocm.tool, rocm.entries), (Some("rocm-smi"), "rocm-smi", vec![0, 15, 15, 0]));
        assert!(rocm.links.is_empty() && rocm.to_network == [None, None]);
        let one = "GPU0 CPU Affinity\nGPU0 X 0-7\n";
        assert_eq!(distances(one).unwrap().entries, [0]);
        for text in ["GPU0 GPU1\nGPU0 0 1\nGPU1 1 0\n", "a CPU Affinity\n", ""] {
            assert_eq!(tool(text), None, "{text}");
        }
    }

    fn of(entries: Vec<Distance>) -> GpuDistances {
        GpuDistances {
            tool: "test",
            links: BTreeMap::new(),
            entries,
            to_network: Vec::new(),
            near: Vec::new(),
        }
    }

    #[test]
    fn links_make_up_groups() {
        let node = |entries: &[Distance]| of(entries.to_vec()).node().unwrap();
        let core = |gpu| Object::new(ObjectKind::Core, vec![Object::gpu(gpu, NearCores::default())]);
        let gpu = |distance: u32, gpu: u32| {
            Object::new(ObjectKind::Gpu { distance: Reverse(distance), is_single: true }, vec![core(gpu)])
        };
        let machine = |children| Object::new(ObjectKind::Machine, children);
        assert_eq!(node(&[0]).node, machine(vec![core(0)]));
        assert_eq!(node(&[0, 2, 2, 0]).node, machine(vec![gpu(2, 0), gpu(2, 1)]));
        // 0 and 2 are linked, and so are 1 and 3.
        let pairs = node(&[0, 72, 3, 72, 72, 0, 72, 3, 3, 72, 0, 72, 72, 3, 72, 0]);
        let kind = ObjectKind::Gpu { distance: Reverse(72), is_single: false };
        let pair = |a, b| Object::new(kind, vec![gpu(3, a), gpu(3, b)]);
        assert_eq!(pairs, GpuNode { node: machine(vec![pair(0, 2), pair(1, 3)]), num_nearer: 0 });
        // A path of three.
        assert_eq!(node(&[0, 2, 9, 2, 0, 2, 9, 2, 0]).num_nearer, 1);
        let chain: Vec<Distance> = (0..20 * 20)
            .map(|pair| (pair / 20).max(pair % 20) * Distance::from(pair / 20 != pair % 20))
            .collect();
        assert!(of(chain).node().unwrap_err().to_string().contains("more than 16 levels"));
    }

    #[test]
    fn more_links_are_nearer_and_each_kind_is_known() {
        let of = |link: &str| distance_of_link(link).unwrap();
        let nvlink: Vec<Distance> = [18, 12, 4, 2, 1].map(|count| of(&format!("NV{count}"))).into();
        assert_eq!(nvlink, [2, 3, 9, 18, 36]);
        let others = ["NV1", "PIX", "PXB", "PHB", "NODE", "SYS"].map(of);
        assert!(others.is_sorted() && of("SOC") == of("SYS"));
        for link in ["NV0", "NV", "NV+1", "NV-1", "nv1", "N/A", "X", "XGMI"] {
            assert_eq!(distance_of_link(link), None, "{link}");
        }
    }

    #[test]
    fn faults_name_the_place() {
        for (text, line, column, reason) in [
            (NVIDIA.replace("GPU1\tNV12", "GPU1\tNV0"), 3, 6, "no link"),
            (NVIDIA.replace("GPU1\tNV12", "GPU1\tNV4"), 3, 6, "differs"),
            (NVIDIA.replace("GPU1\tNV12", "GPU1\t X"), 3, 7, "no link"),
            (NVIDIA.replace("GPU2\tSYS\tSYS\t X ", "GPU2\tSYS\tSYS\tSYS"), 4, 14, "no link"),
            (NVIDIA.replace("\nGPU1", "\nGPU3"), 3, 1, "row of this GPU is missing"),
            (NVIDIA.split("\nGPU2").next().unwrap().to_owned(), 3, 34, "row of this GPU is missing"),
            ("GPU0 GPU1 CPU Affinity\nGPU0 X\n".to_owned(), 2, 1, "fewer entries"),
            ("GPU0 GPU2 CPU Affinity\nGPU0 X\n".to_owned(), 1, 6, "in this order"),
            (NVIDIA.repeat(2), 10, 6, "second table"),
            (ROCM.replace("GPU1   15", "GPU1   -5"), 6, 8, "no link or weight"),
            (ROCM.replace("GPU1   15", "GPU1   16"), 6, 8, "differs"),
            ("Weight between two GPUs\n".to_owned(), 2, 1, "no GPUs are named"),
            ("nothing\n".to_owned(), 1, 1, "no tool is known"),
        ] {
            match read(Source::new("test", text.as_bytes()).unwrap()) {
                Err(ReadError::Invalid { line: found, column: at, kind, .. }) => {
                    assert_eq!((found, at), (line, column), "{text}: {kind}");
                    assert!(kind.to_string().contains(reason), "{kind}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
