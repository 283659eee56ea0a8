//! The network of a Slurm cluster: `topology.conf`, `topology.yaml`, or a list of the addresses of the nodes.
//!
//! | kind | what it says |
//! |---|---|
//! | tree | switches, and the nodes and switches that hang on each |
//! | block | blocks of nodes with fast links; sizes of blocks of blocks |
//! | ring | rings of nodes |
//! | torus3d | tori of nodes, the first dimension the fastest |
//! | flat | all nodes are alike |
//!
//! An address is what Slurm puts into `SLURM_TOPOLOGY_ADDR`: the names of the switches above a node from the root, and the node,
//! with dots between them.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use super::yaml::{self, Value};
use crate::io::cluster::{ClusterFault, Fault, MOST_HOSTS, Text, fields, hostlist, lines, shown};
use crate::io::{ReadError, Source};

/// Names in an address at most; each switch is called by all the names before it.
const MOST_NAMES: usize = 64;

/// How the nodes of a cluster are connected.
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
    /// The nodes, one a vertex.
    pub nodes: Vec<String>,
}

impl Torus {
    /// A torus of these lengths, with the name of the node at each vertex.
    pub fn new(lengths: Vec<u32>, nodes: Vec<String>) -> Self {
        Self { lengths, nodes }
    }
}

/// Reads a topology, of whichever kind the file is.
pub fn read(source: Source<'_>) -> Result<Topology, ReadError> {
    Text::read(source)?.parse(topology)
}

/// The tree of some addresses, with blanks or line ends between them.
pub fn read_addresses(name: &str, text: &str) -> Result<Topology, ReadError> {
    Text::read(Source::new(name, text.as_bytes())?)?.parse(addresses)
}

fn topology(text: &str) -> Result<Topology, Fault> {
    let Some((at, first)) = lines(text).next() else { return Err((0, ClusterFault::NotTopology)) };
    let key = first.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
    match key.as_str() {
        "switchname" | "blockname" | "blocksizes" | "ringname" | "linkspeed" => conf(text),
        _ if is_yaml(first) => yaml_file(text),
        _ if first.contains('.') && !first.contains(['=', '<', '{']) => addresses(text),
        _ => Err((at, ClusterFault::NotTopology)),
    }
}

/// Whether a file whose first line this is can be YAML: a directive, the start of a document, or a list.
fn is_yaml(line: &str) -> bool {
    line.starts_with(['%', '[', '&', '!']) || line.starts_with("---") || line.starts_with("- ") || line == "-"
}

/// A `topology.conf`: settings `Key=value` in lines, of switches, blocks or rings.
fn conf(text: &str) -> Result<Topology, Fault> {
    let (mut switches, mut blocks, mut sizes, mut tori) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let room = Cell::new(MOST_HOSTS);
    for line in joined(text) {
        let in_file = |(at, fault): Fault| (line.offset_of(at), fault);
        let settings = settings(&line.text).map_err(in_file)?;
        let Some(first) = settings.first() else { continue };
        let hosts = |wanted: &str| match settings.iter().find(|setting| setting.key == wanted) {
            Some(setting) => hostlist::expand(setting.value, setting.at, &room).map_err(in_file),
            None => Ok(Vec::new()),
        };
        match first.key.as_str() {
            "switchname" => switches.push(Switch {
                name: first.value.to_owned(),
                switches: hosts("switches")?,
                nodes: hosts("nodes")?,
            }),
            "blockname" => blocks.push(hosts("nodes")?),
            "ringname" => tori.push(ring(hosts("nodes")?)),
            "blocksizes" => sizes = block_sizes(first).map_err(in_file)?,
            _ => {
                let reason = "this setting is not known";
                return Err(in_file((0, ClusterFault::Topology { text: shown(&line.text), reason })));
            }
        }
    }
    one_kind(0, switches, blocks, sizes, tori)
}

/// A line of settings, which may be several of the file.
struct Line {
    text: String,
    /// Where each line of the file starts in the text, and its offset in the file.
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
    /// In lower case.
    key: String,
    /// Without the quotes around it.
    value: &'a str,
    /// Where the value stands in its line.
    at: usize,
}

/// The settings of a line.
fn settings(line: &str) -> Result<Vec<Setting<'_>>, Fault> {
    fields(0, line).map(setting).collect()
}

/// A setting that is a field of a line.
fn setting((at, field): (usize, &str)) -> Result<Setting<'_>, Fault> {
    let reason = "a setting is written Key=value";
    let fault = || (at, ClusterFault::Topology { text: shown(field), reason });
    let (key, quoted) = field.split_once('=').filter(|(_, value)| !value.is_empty()).ok_or_else(fault)?;
    let at = at + key.len() + 1 + quoted.len() - quoted.trim_start_matches('"').len();
    Ok(Setting { key: key.to_ascii_lowercase(), value: quoted.trim_matches('"'), at })
}

fn block_sizes(setting: &Setting<'_>) -> Result<Vec<u32>, Fault> {
    let size = |text: &str| text.trim().parse().ok().filter(|&size: &u32| size > 0);
    let reason = "block sizes are numbers above 0";
    let fault = || (setting.at, ClusterFault::Topology { text: shown(setting.value), reason });
    setting.value.split(',').map(size).collect::<Option<_>>().ok_or_else(fault)
}

fn ring(nodes: Vec<String>) -> Torus {
    Torus { lengths: vec![nodes.len() as u32], nodes }
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
        _ => fault("switches, blocks and rings stand in one topology"),
    }
}

fn check_sizes(at: usize, blocks: Vec<Vec<String>>, sizes: Vec<u32>) -> Result<Topology, Fault> {
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

/// Each switch stands once and hangs on one other at most, and none hangs on itself.
fn check_tree(at: usize, switches: Vec<Switch>) -> Result<Topology, Fault> {
    let fault = |text: &str, reason| Err((at, ClusterFault::Topology { text: shown(text), reason }));
    let mut index_of = HashMap::new();
    for (index, switch) in switches.iter().enumerate() {
        if index_of.insert(switch.name.as_str(), index).is_some() {
            return fault(&switch.name, "a switch stands twice");
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
    // The switch from which each was first reached: whoever comes back to one of its own goes round.
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

/// The switches that addresses name. They are told apart by the whole path to them, which is their name.
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
        // Where a node has no switch at a level, nothing stands between two dots.
        let switches: Vec<&str> = switches.split('.').filter(|name| !name.is_empty()).collect();
        if node.is_empty() || switches.is_empty() {
            return Err(fault("an address is switches and a node with dots between them"));
        }
        if switches.iter().any(|name| name.contains(':')) {
            return Err(fault(
                "the address of a node in a torus does not tell its lengths; give the topology.yaml",
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

/// A `topology.yaml`: of several topologies the default one, or else the first.
fn yaml_file(text: &str) -> Result<Topology, Fault> {
    let value = yaml::parse(text)?;
    let topologies = value.list().ok_or((0, ClusterFault::NotTopology))?;
    if topologies.iter().any(|topology| topology.get("topology").is_none()) {
        return Err((0, ClusterFault::NotTopology));
    }
    let is_default = |topology: &&Value| {
        let default = topology.get("cluster_default").and_then(Value::text);
        default.is_some_and(|text| text.eq_ignore_ascii_case("true"))
    };
    let chosen = topologies.iter().find(is_default).or(topologies.first());
    let chosen = chosen.ok_or((0, ClusterFault::NotTopology))?;
    let room = Cell::new(MOST_HOSTS);
    let is_flat = chosen.get("flat").is_some();
    let (tree, block) = (chosen.get("tree"), chosen.get("block"));
    let (ring, torus) = (chosen.get("ring"), chosen.get("torus3d"));
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
    let Some(hosts) = value.get(key) else {
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
    let dims = value.get("dims").ok_or_else(|| missing(value, "a torus has no dims"))?;
    let length =
        |key: &str| dims.get(key).ok_or_else(|| missing(dims, "dims are x, y and z")).and_then(number);
    let lengths = vec![length("x")?, length("y")?, length("z")?];
    let nodes = hosts(value, "nodes", true, room)?;
    let vertices = lengths.iter().fold(1u64, |product, &length| product.saturating_mul(length.into()));
    if vertices != nodes.len() as u64 {
        return Err(missing(value, "a torus has not as many nodes as its dims say"));
    }
    Ok(Torus { lengths, nodes })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let torus = "---\n- topology: a\n  torus3d:\n    toruses:\n      - name: p\n        dims: {x: 2, y: 2, z: 1}\n        nodes: n[1-4]\n";
        let Topology::Tori(tori) = topology(torus).unwrap() else { panic!() };
        assert_eq!((tori[0].lengths.as_slice(), tori[0].nodes.len()), (&[2, 2, 1][..], 4));
        let ring = "- topology: a\n  ring:\n    rings:\n      - ring: r1\n        nodes: n[1-4]\n";
        let Topology::Tori(tori) = topology(ring).unwrap() else { panic!() };
        assert_eq!(tori[0].lengths, [4]);
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
