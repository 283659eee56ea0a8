//! The network of a cluster: `topology.conf`, `topology.yaml`, what `scontrol show topology` prints, a list of the addresses of the nodes,
//! an InfiniBand fabric ([`super::fabric`]), or what topograph writes (`topograph`).
//!
//! | kind | meaning |
//! |---|---|
//! | tree | switches, and the nodes and switches that hang on each |
//! | block | blocks of nodes with fast links; sizes of blocks of blocks |
//! | ring | rings of nodes |
//! | torus3d | tori of nodes, the first dimension the fastest; or boxes of nodes in a torus, which need not fill it |
//! | flat | all nodes are alike |
//! | fabric | switches and the links between them |
//!
//! A `topology.yaml`, and what `scontrol show topoconf` prints, may hold several, each with a name that partitions refer to. Kinds that
//! are empty there (`block: {}`) are as if they were not there.
//!
//! Without sizes, blocks are combined by 2, 4, 8 and 16, as Slurm does it. `scontrol` prints the nodes of a switch again at the switches above
//! it, and blocks of blocks as `AggregatedBlock`; a node hangs on the switch of the least `Level`.
//!
//! An address is what Slurm puts into `SLURM_TOPOLOGY_ADDR`: the names of the switches above a node from the root, and the node,
//! with dots between them.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use super::fabric::{self, Fabric};
use super::topograph;
use super::yaml::{self, Value};
use crate::files::{ClusterFault, Fault, MOST_HOSTS, Text, fields, hostlist, lines, shown};
use viem_io::{ReadError, Source};

/// Names in an address at most; each switch is called by all the names before it.
const MOST_NAMES: usize = 64;

/// Vertices of a dimension of a torus at most, where not all of them have nodes.
const LONGEST_DIMENSION: u32 = u16::MAX as u32;

/// The sizes with which Slurm plans if none are given, in blocks.
const DEFAULT_SIZES: [u32; 5] = [1, 2, 4, 8, 16];

/// The network of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Topology {
    /// All nodes are alike.
    Flat,
    /// Switches in any order.
    Tree(Vec<Switch>),
    /// Blocks of nodes, in order.
    Blocks {
        /// The nodes of each block.
        blocks: Vec<Vec<String>>,
        /// Sizes that blocks are planned in: of a block, of a block of blocks, and so on.
        sizes: Vec<u32>,
    },
    /// Tori of nodes; a ring is one of one dimension.
    Tori(Vec<Torus>),
    /// Switches with links in any shape.
    Fabric(Fabric),
}

impl Topology {
    /// The names of all nodes; none where all are alike.
    pub fn nodes(&self) -> Vec<&str> {
        if let Topology::Fabric(fabric) = self {
            return fabric.hosts.iter().map(|host| host.name.as_str()).collect();
        }
        self.lists().into_iter().flatten().map(String::as_str).collect()
    }

    /// The nodes of each switch, block or torus; none of a fabric.
    pub(crate) fn lists(&self) -> Vec<&[String]> {
        match self {
            Topology::Flat | Topology::Fabric(_) => Vec::new(),
            Topology::Tree(switches) => switches.iter().map(|switch| switch.nodes.as_slice()).collect(),
            Topology::Blocks { blocks, .. } => blocks.iter().map(Vec::as_slice).collect(),
            Topology::Tori(tori) => tori.iter().map(|torus| torus.nodes.as_slice()).collect(),
        }
    }
}

/// A switch and what hangs on it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// Names of the switches on it.
    pub switches: Vec<String>,
    /// Names of the nodes on it.
    pub nodes: Vec<String>,
}

impl Switch {
    /// A switch, with the names of the switches and of the nodes on it.
    pub fn new(name: String, switches: Vec<String>, nodes: Vec<String>) -> Self {
        Self { name, switches, nodes }
    }
}

/// Nodes on a torus.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Torus {
    /// Lengths of the dimensions, the fastest first.
    pub lengths: Vec<u32>,
    /// The nodes.
    pub nodes: Vec<String>,
    /// The vertex of each node.
    pub vertices: Vec<u64>,
    /// True if the vertices are only assumed to be those of a list in order, because the file does not have them.
    pub is_order_assumed: bool,
}

impl Torus {
    /// A torus of these lengths, with the name of the node at each vertex.
    pub fn new(lengths: Vec<u32>, nodes: Vec<String>) -> Self {
        let vertices = (0..nodes.len() as u64).collect();
        Self { lengths, nodes, vertices, is_order_assumed: false }
    }
}

/// Reads a topology, of whichever kind the file is.
pub fn read(source: Source<'_>) -> Result<Topology, ReadError> {
    read_named(source, None)
}

/// Reads a topology. Where a file has several, it is that of this name; or else the default, or the first.
pub fn read_named(source: Source<'_>, name: Option<&str>) -> Result<Topology, ReadError> {
    Text::read(source)?.parse(|text| topology(text, name))
}

/// The tree of some addresses, with blanks or line ends between them.
pub fn read_addresses(name: &str, text: &str) -> Result<Topology, ReadError> {
    Text::read(Source::new(name, text.as_bytes())?)?.parse(addresses)
}

fn topology(text: &str, name: Option<&str>) -> Result<Topology, Fault> {
    let Some((at, first)) = lines(text).next() else { return Err((0, ClusterFault::EmptyTopology)) };
    let key = first.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
    match key.as_str() {
        "switchname" | "blockname" | "aggregatedblock" | "blocksizes" | "ringname" | "torusname"
        | "linkspeed" => conf(text),
        _ if fabric::is_fabric(first) => Ok(Topology::Fabric(fabric::parse(text)?)),
        _ if first.starts_with('{') || first.starts_with("apiVersion:") => {
            let layers = topograph::parse(text)?.into_iter();
            check_tree(at, layers.map(|layer| Switch::new(layer.name, layer.below, layer.hosts)).collect())
        }
        _ if is_yaml(first) => yaml_file(text, name),
        _ if first.contains('.') && !first.contains(['=', '<', '{']) => addresses(text),
        _ => Err((at, ClusterFault::NotTopology)),
    }
}

/// Returns whether a file whose first line this is can be YAML: a directive, the start of a document, or a list.
fn is_yaml(line: &str) -> bool {
    line.starts_with(['%', '[', '&', '!']) || line.starts_with("---") || line.starts_with("- ") || line == "-"
}

/// A `topology.conf`, or what `scontrol` prints: settings `Key=value` in lines, of switches, blocks or rings.
fn conf(text: &str) -> Result<Topology, Fault> {
    let (mut switches, mut blocks, mut tori) = (Switches::default(), Blocks::default(), Vec::new());
    let room = Cell::new(MOST_HOSTS);
    for line in joined(text) {
        let in_file = |(at, fault): Fault| (line.offset_of(at), fault);
        let settings = settings(&line.text).map_err(in_file)?;
        let Some(first) = settings.first() else { continue };
        let setting =
            |key: &str| settings.iter().find(|setting| setting.key == key && setting.value != "(null)");
        let hosts = |key: &str| match setting(key) {
            Some(setting) => hostlist::expand(setting.value, setting.at, &room).map_err(in_file),
            None => Ok(Vec::new()),
        };
        let number = |key: &str| setting(key).and_then(|setting| setting.value.parse::<u32>().ok());
        match first.key.as_str() {
            "switchname" => {
                let name = first.value.to_owned();
                switches.add(Switch::new(name, hosts("switches")?, hosts("nodes")?), number("level"));
            }
            "blockname" => blocks.add(hosts("nodes")?, number("blockindex"), number("blocksize")),
            // Its nodes are listed in its blocks, too.
            "aggregatedblock" => blocks.printed_sizes.extend(number("blocksize")),
            "ringname" => tori.push(ring(hosts("nodes")?)),
            // How many boxes of which size Slurm places jobs in.
            "torusname" if setting("placementdims").is_some() => {}
            "torusname" => tori.push(printed_torus(&settings, hosts("nodes")?).map_err(in_file)?),
            "blocksizes" => blocks.sizes = block_sizes(first).map_err(in_file)?,
            _ => {
                let reason = "this setting is not known";
                return Err(in_file((0, ClusterFault::Topology { text: shown(&line.text), reason })));
            }
        }
    }
    let (blocks, sizes) = blocks.in_order();
    one_kind(0, switches.with_own_nodes(), blocks, sizes, tori)
}

/// Switches, and the level of each if it is printed.
#[derive(Default)]
struct Switches {
    switches: Vec<Switch>,
    levels: Vec<Option<u32>>,
}

impl Switches {
    fn add(&mut self, switch: Switch, level: Option<u32>) {
        self.switches.push(switch);
        self.levels.push(level);
    }

    /// The switches, with each node only at the least level where levels are printed.
    fn with_own_nodes(mut self) -> Vec<Switch> {
        if self.levels.iter().all(Option::is_none) {
            return self.switches;
        }
        let mut order: Vec<usize> = (0..self.switches.len()).collect();
        order.sort_by_key(|&index| self.levels[index].unwrap_or(0));
        let mut seen = HashSet::new();
        for index in order {
            self.switches[index].nodes.retain(|node| seen.insert(node.clone()));
        }
        self.switches
    }
}

/// Blocks, with the output for each.
#[derive(Default)]
struct Blocks {
    blocks: Vec<(Option<u32>, Vec<String>)>,
    sizes: Vec<u32>,
    printed_sizes: Vec<u32>,
}

impl Blocks {
    fn add(&mut self, nodes: Vec<String>, index: Option<u32>, size: Option<u32>) {
        self.blocks.push((index, nodes));
        self.printed_sizes.extend(size);
    }

    /// The blocks by their printed numbers, and the sizes that are given, or else printed.
    fn in_order(mut self) -> (Vec<Vec<String>>, Vec<u32>) {
        self.blocks.sort_by_key(|&(index, _)| index);
        self.printed_sizes.sort_unstable();
        self.printed_sizes.dedup();
        self.printed_sizes.retain(|&size| size > 0);
        let sizes = if self.sizes.is_empty() { self.printed_sizes } else { self.sizes };
        (self.blocks.into_iter().map(|(_, nodes)| nodes).collect(), sizes)
    }
}

/// A line of settings, which may be several of the file.
struct Line {
    text: String,
    /// The start of each line of the file in the text, and its offset in the file.
    starts: Vec<(usize, usize)>,
}

impl Line {
    /// The offset in the file of a byte of the text.
    fn offset_of(&self, at: usize) -> usize {
        let (start, offset) = self.starts[self.starts.partition_point(|&(start, _)| start <= at) - 1];
        offset + at - start
    }
}

/// The lines, up to comments that begin with `#`. One that ends with a backslash goes on in the next, whose blanks count.
fn joined(text: &str) -> Vec<Line> {
    let mut joined: Vec<Line> = Vec::new();
    let (mut offset, mut goes_on) = (0, false);
    for whole in text.split_inclusive('\n') {
        let line = whole.split('#').next().unwrap_or_default().trim_end();
        let (line, more) = line.strip_suffix('\\').map_or((line, false), |line| (line, true));
        match joined.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.starts.push((last.text.len(), offset));
                last.text.push_str(line);
            }
            None => joined.push(Line { text: line.to_owned(), starts: vec![(0, offset)] }),
        }
        offset += whole.len();
        goes_on = more;
    }
    joined
}

/// `Key=value`.
struct Setting<'a> {
    /// The key in lower case.
    key: String,
    /// The value without the quotes around it.
    value: &'a str,
    /// The position of the value in its line.
    at: usize,
}

/// The settings of a line; there may be blanks around the signs.
fn settings(line: &str) -> Result<Vec<Setting<'_>>, Fault> {
    let mut settings = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let at = line.len() - rest.len();
        let fault = |rest: &str| {
            let text = shown(rest.split_whitespace().next().unwrap_or_default());
            (at, ClusterFault::Topology { text, reason: "a setting is written Key=value" })
        };
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let (key, after) = (&rest[..end], rest[end..].trim_start().strip_prefix('='));
        let after = after.filter(|_| !key.is_empty()).ok_or_else(|| fault(rest))?.trim_start();
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
        };
        // A value that is another setting is missing.
        let is_setting = value.contains('=') && !after.starts_with('"') || next.trim_start().starts_with('=');
        if value.is_empty() || is_setting {
            return Err(fault(rest));
        }
        let value_at = line.len() - after.len() + usize::from(after.starts_with('"'));
        settings.push(Setting { key: key.to_ascii_lowercase(), value, at: value_at });
        rest = next.trim_start();
    }
    Ok(settings)
}

fn block_sizes(setting: &Setting<'_>) -> Result<Vec<u32>, Fault> {
    let size = |text: &str| text.trim().parse().ok().filter(|&size: &u32| size > 0);
    let reason = "block sizes are numbers above 0";
    let fault = || (setting.at, ClusterFault::Topology { text: shown(setting.value), reason });
    setting.value.split(',').map(size).collect::<Option<_>>().ok_or_else(fault)
}

fn ring(nodes: Vec<String>) -> Torus {
    Torus::new(vec![nodes.len() as u32], nodes)
}

/// A torus as `scontrol show topology` prints it: its nodes by name, wherever they are.
fn printed_torus(settings: &[Setting<'_>], nodes: Vec<String>) -> Result<Torus, Fault> {
    let dims = settings.iter().find(|setting| setting.key == "dims");
    let fault = |at, text, reason| Err((at, ClusterFault::Topology { text: shown(text), reason }));
    let Some(dims) = dims else { return fault(0, settings[0].value, "a torus has no dims") };
    let length = |text: &str| text.parse().ok().filter(|&length: &u32| length > 0);
    let Some(lengths) = dims.value.split('x').map(length).collect::<Option<Vec<u32>>>() else {
        return fault(dims.at, dims.value, "dims of a torus are written like 4x4x2");
    };
    if volume(&lengths) != nodes.len() as u64 {
        let reason = "where the nodes of a torus are that they do not fill is not in this; give what scontrol show topoconf prints";
        return fault(dims.at, dims.value, reason);
    }
    Ok(Torus { is_order_assumed: true, ..Torus::new(lengths, nodes) })
}

/// The topology that the parts of a file make up: of one kind.
fn one_kind(
    at: usize,
    switches: Vec<Switch>,
    blocks: Vec<Vec<String>>,
    sizes: Vec<u32>,
    tori: Vec<Torus>,
) -> Result<Topology, Fault> {
    let fault = |reason| Err((at, ClusterFault::Topology { text: "topology".to_owned(), reason }));
    match (switches.is_empty(), blocks.is_empty(), tori.is_empty()) {
        (false, true, true) => check_tree(at, switches),
        (true, false, true) => check_sizes(at, blocks, sizes),
        (true, true, false) => Ok(Topology::Tori(tori)),
        (true, true, true) => fault("there are no switches, blocks or rings in it"),
        _ => fault("one topology has switches, blocks and rings"),
    }
}

fn check_sizes(at: usize, blocks: Vec<Vec<String>>, mut sizes: Vec<u32>) -> Result<Topology, Fault> {
    if sizes.is_empty() {
        let least = blocks.iter().map(Vec::len).min().unwrap_or(1).max(1) as u32;
        sizes = DEFAULT_SIZES.map(|factor| factor * least).to_vec();
    }
    let is_multiple = |pair: &[u32]| pair[0] < pair[1] && pair[1].is_multiple_of(pair[0]);
    if !sizes.windows(2).all(is_multiple) {
        let text = sizes.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        return Err((
            at,
            ClusterFault::Topology { text, reason: "each block size is a multiple of the one before" },
        ));
    }
    Ok(Topology::Blocks { blocks, sizes })
}

/// Each switch occurs once and hangs on one other at most, and none hangs on itself.
fn check_tree(at: usize, switches: Vec<Switch>) -> Result<Topology, Fault> {
    let fault = |text: &str, reason| Err((at, ClusterFault::Topology { text: shown(text), reason }));
    let mut index_of = HashMap::new();
    for (index, switch) in switches.iter().enumerate() {
        if index_of.insert(switch.name.as_str(), index).is_some() {
            return fault(&switch.name, "a switch is listed twice");
        }
    }
    let mut above = vec![None; switches.len()];
    for (index, switch) in switches.iter().enumerate() {
        for name in &switch.switches {
            let Some(&below) = index_of.get(name.as_str()) else {
                return fault(name, "a switch hangs on another, but is not described");
            };
            if above[below].replace(index).is_some() {
                return fault(name, "a switch hangs on two others; only trees are understood");
            }
        }
    }
    // The switch from which each was first reached: a search that comes back to one of its own has found a circle.
    let mut reached_from = vec![usize::MAX; switches.len()];
    for (start, switch) in switches.iter().enumerate() {
        let mut at = Some(start);
        while let Some(next) = at.filter(|&next| reached_from[next] == usize::MAX) {
            reached_from[next] = start;
            at = above[next];
        }
        if at.is_some_and(|next| reached_from[next] == start) {
            return fault(&switch.name, "a switch hangs on itself");
        }
    }
    Ok(Topology::Tree(switches))
}

/// Addresses of nodes: each is a path from the root.
fn addresses(text: &str) -> Result<Topology, Fault> {
    let mut tree = AddressTree::default();
    for (at, address) in lines(text).flat_map(|(at, line)| fields(at, line)) {
        tree.add(address).map_err(|fault| (at, fault))?;
    }
    if tree.switches.is_empty() {
        Err((0, ClusterFault::NotTopology))
    } else {
        Ok(Topology::Tree(tree.switches))
    }
}

/// The switches that addresses name. They are distinguished by the whole path to them, which is their name.
#[derive(Default)]
struct AddressTree {
    switches: Vec<Switch>,
    index_of: HashMap<String, usize>,
    /// Each node with its switch.
    nodes: HashSet<(usize, String)>,
}

impl AddressTree {
    /// Adds a node and the switches above it.
    fn add(&mut self, address: &str) -> Result<(), ClusterFault> {
        let fault = |reason| ClusterFault::Topology { text: shown(address), reason };
        if address.split('.').count() > MOST_NAMES {
            return Err(fault("an address has more than 64 names"));
        }
        let (switches, node) = address.rsplit_once('.').unwrap_or(("", address));
        // Where a node has no switch at a level, there is nothing between two dots.
        let switches: Vec<&str> = switches.split('.').filter(|name| !name.is_empty()).collect();
        if node.is_empty() || switches.is_empty() {
            return Err(fault("an address is switches and a node with dots between them"));
        }
        if switches.iter().any(|name| name.contains(':')) {
            return Err(fault(
                "the address of a node in a torus does not show its lengths; give the topology.yaml",
            ));
        }
        let path = switches.join(".");
        let ends = path.match_indices('.').map(|(end, _)| end).chain([path.len()]);
        let mut above = None;
        for end in ends {
            above = Some(self.switch(&path[..end], above));
        }
        let leaf = above.expect("a path has an end");
        if self.nodes.insert((leaf, node.to_owned())) {
            self.switches[leaf].nodes.push(node.to_owned());
        }
        if self.nodes.len() > MOST_HOSTS { Err(ClusterFault::TooManyHosts) } else { Ok(()) }
    }

    /// The index of the switch of this name, which hangs on another one unless it is a root.
    fn switch(&mut self, name: &str, above: Option<usize>) -> usize {
        if let Some(&index) = self.index_of.get(name) {
            return index;
        }
        let index = self.switches.len();
        self.switches.push(Switch { name: name.to_owned(), switches: Vec::new(), nodes: Vec::new() });
        self.index_of.insert(name.to_owned(), index);
        if let Some(above) = above {
            self.switches[above].switches.push(name.to_owned());
        }
        index
    }
}

/// A `topology.yaml`: of several topologies that of a name, or else the default one, or else the first.
fn yaml_file(text: &str, name: Option<&str>) -> Result<Topology, Fault> {
    let value = yaml::parse(text)?;
    let topologies = value.list().ok_or((0, ClusterFault::NotTopology))?;
    if topologies.iter().any(|topology| topology.get("topology").is_none()) {
        return Err((0, ClusterFault::NotTopology));
    }
    let is_default = |topology: &&Value| {
        let default = topology.get("cluster_default").and_then(Value::text);
        default.is_some_and(|text| text.eq_ignore_ascii_case("true"))
    };
    let is_named = |topology: &&Value| {
        let own = topology.get("topology").and_then(Value::text);
        own.is_some() && own == name
    };
    let chosen = topologies.iter().find(is_named).or_else(|| topologies.iter().find(is_default));
    let chosen = chosen.or(topologies.first()).ok_or((0, ClusterFault::NotTopology))?;
    let room = Cell::new(MOST_HOSTS);
    let kind = |key| chosen.get(key).filter(|value| !value.is_nothing());
    let is_flat = chosen.get("flat").is_some_and(|flat| flat.text().is_none() || !flat.is_nothing());
    let (tree, block, ring, torus) = (kind("tree"), kind("block"), kind("ring"), kind("torus3d"));
    match (tree, block, ring, torus) {
        (Some(tree), None, None, None) => {
            let switches =
                list(tree, "switches")?.iter().map(|value| switch(value, &room)).collect::<Result<_, _>>()?;
            one_kind(tree.at, switches, Vec::new(), Vec::new(), Vec::new())
        }
        (None, Some(block), None, None) => {
            let blocks = list(block, "blocks")?.iter().map(|block| hosts(block, "nodes", true, &room));
            let sizes = block.get("block_sizes").map_or(Ok(Vec::new()), |sizes| match sizes.list() {
                Some(sizes) => sizes.iter().map(number).collect(),
                None => Ok(vec![number(sizes)?]),
            })?;
            one_kind(block.at, Vec::new(), blocks.collect::<Result<_, _>>()?, sizes, Vec::new())
        }
        (None, None, Some(rings), None) => {
            let tori =
                list(rings, "rings")?.iter().map(|value| Ok(self::ring(hosts(value, "nodes", true, &room)?)));
            one_kind(rings.at, Vec::new(), Vec::new(), Vec::new(), tori.collect::<Result<_, _>>()?)
        }
        (None, None, None, Some(tori)) => {
            let found = list(tori, "toruses").or_else(|fault| list(tori, "tori").map_err(|_| fault))?;
            let tori_found = found.iter().map(|value| self::torus(value, &room)).collect::<Result<_, _>>()?;
            one_kind(tori.at, Vec::new(), Vec::new(), Vec::new(), tori_found)
        }
        (None, None, None, None) if is_flat => Ok(Topology::Flat),
        _ => Err(missing(chosen, "a topology is one of tree, block, ring, torus3d and flat")),
    }
}

fn missing(value: &Value, reason: &'static str) -> Fault {
    (value.at, ClusterFault::Yaml { reason: reason.to_owned() })
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a [Value], Fault> {
    let list = value.get(key).and_then(Value::list);
    list.ok_or_else(|| missing(value, "a list of switches, blocks, rings or toruses is missing"))
}

fn number(value: &Value) -> Result<u32, Fault> {
    let number = value.text().and_then(|text| text.parse().ok()).filter(|&number| number > 0);
    number.ok_or_else(|| missing(value, "a number above 0 is expected"))
}

/// The hosts of a key, which may also be written as a list; they take up `room`.
fn hosts(value: &Value, key: &str, is_needed: bool, room: &Cell<usize>) -> Result<Vec<String>, Fault> {
    let Some(hosts) = value.get(key).filter(|hosts| !hosts.is_nothing()) else {
        return if is_needed { Err(missing(value, "a list of nodes is missing")) } else { Ok(Vec::new()) };
    };
    let members = hosts.list().unwrap_or(std::slice::from_ref(hosts));
    let mut names = Vec::new();
    for member in members {
        let text = member.text().ok_or_else(|| missing(member, "a list of hosts is expected"))?;
        let hosts = hostlist::expand(text, 0, room);
        names.extend(hosts.map_err(|(at, fault)| (member.offset_of(at), fault))?);
    }
    Ok(names)
}

fn switch(value: &Value, room: &Cell<usize>) -> Result<Switch, Fault> {
    let name = value.get("switch").and_then(Value::text);
    let name = name.ok_or_else(|| missing(value, "a switch has no name"))?.to_owned();
    Ok(Switch {
        name,
        switches: hosts(value, "children", false, room)?,
        nodes: hosts(value, "nodes", false, room)?,
    })
}

fn torus(value: &Value, room: &Cell<usize>) -> Result<Torus, Fault> {
    let lengths = dims(value, "a torus has no dims")?;
    if let Some(regions) = value.get("regions") {
        if value.get("nodes").is_some() {
            return Err(missing(value, "a torus has both nodes and regions"));
        }
        let list = regions.list().ok_or_else(|| missing(regions, "a list of regions is expected"))?;
        return in_regions(value, lengths, list, room);
    }
    let nodes = hosts(value, "nodes", true, room)?;
    if volume(&lengths) != nodes.len() as u64 {
        return Err(missing(value, "a torus has not as many nodes as its dims say"));
    }
    Ok(Torus::new(lengths, nodes))
}

/// A torus whose nodes are in boxes: `regions` with an anchor, which is the corner next to the origin, dims and nodes.
fn in_regions(
    value: &Value,
    lengths: Vec<u32>,
    regions: &[Value],
    room: &Cell<usize>,
) -> Result<Torus, Fault> {
    if lengths.iter().any(|&length| length > LONGEST_DIMENSION) {
        return Err(missing(value, "a dimension of a torus has more than 65535 vertices"));
    }
    let (mut nodes, mut vertices, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for region in regions {
        let (own, anchor) = (dims(region, "a region of a torus has no dims")?, anchor(region)?);
        let fits = |axis: usize| u64::from(anchor[axis]) + u64::from(own[axis]) <= u64::from(lengths[axis]);
        if !(0..lengths.len()).all(fits) {
            return Err(missing(region, "a region reaches beyond the dims of its torus"));
        }
        let names = hosts(region, "nodes", true, room)?;
        if volume(&own) != names.len() as u64 {
            return Err(missing(region, "a region has not as many nodes as its dims say"));
        }
        for (index, name) in names.into_iter().enumerate() {
            let vertex = vertex_at(index as u64, &own, &anchor, &lengths);
            if !seen.insert(vertex) {
                return Err(missing(region, "two regions of a torus overlap"));
            }
            nodes.push(name);
            vertices.push(vertex);
        }
    }
    Ok(Torus { lengths, nodes, vertices, is_order_assumed: false })
}

/// The vertex of a torus at which a member of a box is.
fn vertex_at(mut index: u64, own: &[u32], anchor: &[u32], lengths: &[u32]) -> u64 {
    let (mut vertex, mut stride) = (0, 1);
    for ((&own, &anchor), &length) in own.iter().zip(anchor).zip(lengths) {
        vertex += (u64::from(anchor) + index % u64::from(own)) * stride;
        index /= u64::from(own);
        stride *= u64::from(length);
    }
    vertex
}

fn volume(lengths: &[u32]) -> u64 {
    lengths.iter().fold(1u64, |product, &length| product.saturating_mul(length.into()))
}

const AXES: [&str; 3] = ["x", "y", "z"];

/// The lengths in `dims`.
fn dims(value: &Value, reason: &'static str) -> Result<Vec<u32>, Fault> {
    let dims = value.get("dims").ok_or_else(|| missing(value, reason))?;
    let length = |axis| dims.get(axis).ok_or_else(|| missing(dims, "dims are x, y and z")).and_then(number);
    AXES.into_iter().map(length).collect()
}

/// The corner of a region, the origin if none is given.
fn anchor(region: &Value) -> Result<Vec<u32>, Fault> {
    let Some(anchor) = region.get("anchor") else { return Ok(vec![0; AXES.len()]) };
    let at = |axis| match anchor.get(axis) {
        Some(value) => {
            let number = value.text().and_then(|text| text.parse::<u32>().ok());
            number.ok_or_else(|| missing(value, "an anchor has whole numbers"))
        }
        None => Ok(0),
    };
    AXES.into_iter().map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topology(text: &str) -> Result<Topology, Fault> {
        super::topology(text, None)
    }

    #[test]
    fn files_of_each_kind() {
        let tree = "SwitchName=s0 Nodes=n[0-1]\nswitchname=s1 nodes=n[2-3] LinkSpeed=100\nSwitchName=top \\\n  Switches=s[0-1]\n";
        let Topology::Tree(switches) = topology(tree).unwrap() else { panic!() };
        assert_eq!(switches.len(), 3);
        assert_eq!(switches[2].switches, ["s0", "s1"]);
        assert_eq!(switches[1].nodes, ["n2", "n3"]);
        let Topology::Tree(of_addresses) = topology("top.s0.n0\ntop.s0.n1\ntop.s1.n2\ntop.s1.n3\n").unwrap()
        else {
            panic!()
        };
        assert_eq!(of_addresses[0].switches, ["top.s0", "top.s1"]);
        assert_eq!(of_addresses[2].nodes, ["n2", "n3"]);
        let blocks = "BlockName=b1 Nodes=n[0-1]\nBlockName=b2 Nodes=n[2-3]\nBlockSizes=2,4\n";
        let expected = Topology::Blocks {
            blocks: vec![vec!["n0".into(), "n1".into()], vec!["n2".into(), "n3".into()]],
            sizes: vec![2, 4],
        };
        assert_eq!(topology(blocks).unwrap(), expected);
        let yaml = "- topology: a\n  flat: true\n- topology: b\n  cluster_default: true\n  block:\n    block_sizes: [2, 4]\n    blocks:\n    - block: b1\n      nodes: n[0-1]\n    - block: b2\n      nodes: n[2-3]\n";
        assert_eq!(topology(yaml).unwrap(), expected);
        assert_eq!(topology("- topology: a\n  flat: true\n").unwrap(), Topology::Flat);
        // What scontrol show topology prints of it.
        assert_eq!(topology(""), Err((0, ClusterFault::EmptyTopology)));
        let torus = "---\n- topology: a\n  torus3d:\n    toruses:\n      - name: p\n        dims: {x: 2, y: 2, z: 1}\n        nodes: n[1-4]\n";
        let Topology::Tori(tori) = topology(torus).unwrap() else { panic!() };
        assert_eq!((tori[0].lengths.as_slice(), tori[0].nodes.len()), (&[2, 2, 1][..], 4));
        let ring = "- topology: a\n  ring:\n    rings:\n      - ring: r1\n        nodes: n[1-4]\n";
        let Topology::Tori(tori) = topology(ring).unwrap() else { panic!() };
        assert_eq!(tori[0].lengths, [4]);
    }

    #[test]
    fn blanks_may_stand_around_signs() {
        let plain = topology("SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\n").unwrap();
        for text in [
            "SwitchName = s0 Nodes = n[0-1]\nSwitchName= s1\tNodes =n[2-3]\n",
            "switchname = \"s0\" Nodes=\"n[0-1]\"\nSwitchName\t=\ts1 LinkSpeed = 100 Nodes= n[2-3]\n",
        ] {
            assert_eq!(topology(text).unwrap(), plain, "{text}");
        }
        for (text, at) in
            [("SwitchName = Nodes = n1", 0), ("SwitchName = a Nodes", 15), ("SwitchName=a Nodes = = n1", 13)]
        {
            assert_eq!(topology(text).unwrap_err().0, at, "{text}");
        }
    }

    #[test]
    fn what_scontrol_prints_is_understood() {
        let leaves = "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-1]\nSwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[2-3]\n";
        let top = "SwitchName=s2 Level=1 LinkSpeed=1 Nodes=n[0-4] Switches=s[0-1]\n";
        let conf = topology(
            "SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\nSwitchName=s2 Nodes=n4 Switches=s[0-1]\n",
        );
        assert_eq!(topology(&format!("{leaves}{top}")), conf);
        let Topology::Tree(switches) = topology(&format!("{top}{leaves}")).unwrap() else { panic!() };
        assert_eq!(
            (switches[0].nodes.join(" "), switches[1].nodes.join(" ")),
            ("n4".to_owned(), "n0 n1".to_owned())
        );
        let blocks = "BlockName=b2 BlockIndex=1 Nodes=c[3-4] BlockSize=2\nBlockName=b1 BlockIndex=0 Nodes=c[1-2] BlockSize=2\n\
                      AggregatedBlock=b[1-2] BlockIndex=2 Nodes=c[1-4] BlockSize=4\n";
        let expected =
            topology("BlockName=b1 Nodes=c[1-2]\nBlockName=b2 Nodes=c[3-4]\nBlockSizes=2,4\n").unwrap();
        assert_eq!(topology(blocks).unwrap(), expected);
        let Topology::Tori(tori) = topology("RingName=r1 Nodes=n[1-4] RingSize=4\n").unwrap() else {
            panic!()
        };
        assert_eq!(tori[0].lengths, [4]);
    }

    #[test]
    fn what_scontrol_prints_of_a_torus_has_its_lengths() {
        let printed = "TorusName=t Dims=2x2x2 Nodes=n[1-8]\n  TorusName=t PlacementDims=2x1x1(2) Anchors=4\n";
        let Topology::Tori(tori) = topology(printed).unwrap() else { panic!() };
        assert_eq!((tori[0].lengths.as_slice(), tori[0].nodes.len()), (&[2, 2, 2][..], 8));
        assert!(tori[0].is_order_assumed);
        for (text, at) in [
            ("TorusName=t Dims=2x2x2 Nodes=n[1-7]\n", 17),
            ("TorusName=t Dims=2x0x2 Nodes=n[1-8]\n", 17),
            ("TorusName=t Dims=99999x99999x99999 Nodes=n[1-8]\n", 17),
            ("TorusName=t Nodes=n[1-8]\n", 0),
        ] {
            assert_eq!(topology(text).unwrap_err().0, at, "{text}");
        }
    }

    #[test]
    fn topologies_have_names() {
        let file = "---\n- topology: a\n  cluster_default: true\n  tree: {switches: [{switch: s, children: null, nodes: 'n[1-4]'}]}\n  block: {}\n  flat: false\n\
                    - topology: b\n  cluster_default: false\n  tree: {}\n  block: {block_sizes: [2], blocks: [{block: x, nodes: 'n[1-2]'}, {block: y, nodes: 'n[3-4]'}]}\n  flat: false\n\
                    - topology: c\n  tree: null\n  block: ~\n  flat: true\n- topology: d\n  tree: {}\n  flat: {alpha_step_rank: true}\n\
                    - topology: e\n  tree: {}\n  block: {}\n  flat: false\n";
        let named = |name| super::topology(file, name);
        let is_tree = |topology| matches!(topology, Ok(Topology::Tree(switches)) if switches.len() == 1);
        assert!(is_tree(named(None)) && is_tree(named(Some("a"))) && is_tree(named(Some("other"))));
        assert!(matches!(named(Some("b")), Ok(Topology::Blocks { blocks, .. }) if blocks.len() == 2));
        assert_eq!((named(Some("c")), named(Some("d"))), (Ok(Topology::Flat), Ok(Topology::Flat)));
        assert!(named(Some("e")).is_err());
    }

    #[test]
    fn blocks_without_sizes_are_combined_as_slurm_does_it() {
        let text = "BlockName=b1 Nodes=n[0-2]\nBlockName=b2 Nodes=n[3-4]\n";
        let Topology::Blocks { sizes, .. } = topology(text).unwrap() else { panic!() };
        assert_eq!(sizes, [2, 4, 8, 16, 32]);
        let yaml = "- topology: a\n  block:\n    blocks:\n    - {block: b1, nodes: n1}\n    - {block: b2, nodes: n2}\n";
        let Topology::Blocks { sizes, .. } = topology(yaml).unwrap() else { panic!() };
        assert_eq!(sizes, [1, 2, 4, 8, 16]);
    }

    #[test]
    fn regions_of_a_torus_have_their_places() {
        let file = |regions: &str| {
            format!(
                "- topology: a\n  torus3d:\n    toruses:\n    - name: p\n      dims: {{x: 4, y: 4, z: 2}}\n      regions:\n{regions}"
            )
        };
        let two = "      - {anchor: {x: 0, y: 0, z: 0}, dims: {x: 2, y: 1, z: 1}, nodes: 'n[1-2]'}\n      - anchor: {x: 2, y: 1, z: 1}\n        dims: {x: 2, y: 2, z: 1}\n        nodes: n[3-6]\n";
        let Topology::Tori(tori) = topology(&file(two)).unwrap() else { panic!() };
        assert_eq!((tori[0].lengths.as_slice(), tori[0].nodes.len()), (&[4, 4, 2][..], 6));
        assert_eq!(tori[0].vertices, [0, 1, 22, 23, 26, 27]);
        for regions in [
            "      - {dims: {x: 2, y: 1, z: 1}, nodes: n1}\n",
            "      - {dims: {x: 5, y: 1, z: 1}, nodes: 'n[1-5]'}\n",
            "      - {anchor: {x: 3}, dims: {x: 2, y: 1, z: 1}, nodes: 'n[1-2]'}\n",
            "      - {anchor: {x: -1}, dims: {x: 2, y: 1, z: 1}, nodes: 'n[1-2]'}\n",
            "      - {dims: {x: 2, y: 1, z: 1}, nodes: 'n[1-2]'}\n      - {dims: {x: 1, y: 1, z: 1}, nodes: n3}\n",
            "      - {dims: {x: 1, y: 1, z: 1}}\n",
            "      - {nodes: n1}\n",
            "        none\n",
        ] {
            assert!(topology(&file(regions)).is_err(), "{regions}");
        }
    }

    #[test]
    fn lines_that_end_with_a_backslash_go_on() {
        let switches = |text| match topology(text).unwrap() {
            Topology::Tree(switches) => switches,
            other => panic!("{other:?}"),
        };
        let [both] = &switches("SwitchName=a\\\n  Nodes=n1,\\\nn2 # and no more\n")[..] else { panic!() };
        assert_eq!((both.name.as_str(), both.nodes.join(" ")), ("a", "n1 n2".to_owned()));
        // An empty line ends what went on, and a line of nothing else than a backslash is none.
        assert_eq!(switches("SwitchName=a Nodes=n1 \\\n\nSwitchName=b Nodes=n2\n\\\n").len(), 2);
    }

    #[test]
    fn faults_name_the_value_in_its_own_line() {
        let offset = |text| topology(text).unwrap_err().0;
        assert_eq!(offset("SwitchName=a Nodes=n1,n[2\n"), "SwitchName=a Nodes=n1,".len());
        assert_eq!(offset("SwitchName=a \\\n  Nodes=\"n1,n[2\"\n"), "SwitchName=a \\\n  Nodes=\"n1,".len());
        assert_eq!(offset("SwitchName=a \\\n  What\n"), "SwitchName=a \\\n  ".len());
        assert_eq!(offset("# sizes\nBlockSizes=1,x\n"), "# sizes\nBlockSizes=".len());
        let yaml = "- topology: a\n  ring:\n    rings:\n    - ring: r\n      nodes: \"n1,n[2\"\n";
        assert_eq!(offset(yaml), yaml.find("n[2").unwrap());
    }

    #[test]
    fn yaml_may_have_directives_anchors_and_tags() {
        let file = "%YAML 1.2\n---\n- topology: a\n  tree: !switches\n    switches:\n    - {switch: s0, nodes: &nodes 'n[0-1]'}\n    - \
                    switch: s1\n      nodes: [n2, *nodes]\n...\n";
        let Topology::Tree(switches) = topology(file).unwrap() else { panic!() };
        assert_eq!(switches[1].nodes, ["n2", "n0", "n1"]);
    }

    #[test]
    fn the_hosts_of_all_lines_count() {
        let lines = |count| {
            (0..count)
                .map(|index| format!("BlockName=b{index} Nodes=n{index}[0-399999]\n"))
                .collect::<String>()
        };
        assert!(topology(&lines(2)).is_ok());
        assert!(matches!(topology(&lines(3)), Err((_, ClusterFault::TooManyHosts))));
    }

    /// Slurm has a dot for each level, also where a node has no switch at it.
    #[test]
    fn addresses_may_leave_levels_out() {
        let read = |text: &str| topology(text).unwrap();
        assert_eq!(read("root.s0.s1.n1\nroot..s2.n3\n"), read("root.s0.s1.n1\nroot.s2.n3\n"));
        assert_eq!(read("a.leaf.n1\n.other.n3\n"), read("a.leaf.n1\nother.n3\n"));
    }

    #[test]
    fn what_is_no_topology_is_refused() {
        let files = [
            "",
            "# nothing\n",
            "hello\n",
            "<xml>\n",
            "SwitchName=s0 Nodes=n[0-\n",
            "SwitchName=s0 Switches=s1\n",
            "SwitchName=a Switches=b\nSwitchName=b Switches=a\n",
            "SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n",
            "SwitchName=a Switches=c\nSwitchName=b Switches=c\nSwitchName=c Nodes=n\n",
            "SwitchName= Nodes=n1\n",
            "BlockSizes=4\n",
            "BlockSizes=4,6\nBlockName=b Nodes=n[1-4]\n",
            "BlockSizes=x\n",
            "SwitchName=a Nodes=n1\nBlockName=b Nodes=n1\n",
            "SwitchName=a What\n",
            "What=a\n",
            "- topology: a\n",
            "- topology: a\n  tree:\n    switches: 3\n",
            "- topology: a\n  torus3d:\n    toruses:\n    - dims: {x: 2, y: 2, z: 2}\n      nodes: n[1-4]\n",
            "- what: a\n",
            "s0.n1 n2\n",
            "s0..\n",
            "t0:0:0:0.n1\n",
        ];
        for file in files {
            assert!(topology(file).is_err(), "{file:?}");
        }
        let deep = |switches: usize| topology(&format!("{}n1\n", "a.".repeat(switches)));
        assert!(deep(MOST_NAMES - 1).is_ok() && deep(MOST_NAMES).is_err());
    }
}
