//! The GPUs of a node as hwloc sees them, and how they are linked.
//!
//! *GPUs* are PCI devices that a driver of GPUs knows: one of their OS devices is called `nvml0`, `cuda0`, `rsmi0`, `ze0`, `opencl0d0` or
//! `renderD128`; or PCI says that they are 3D controllers. A device that only draws text on a console is none. They are numbered in the
//! order of their addresses on the PCI bus (domain, bus, device and function), as `nvidia-smi` and ROCm number them; the order of the file is often
//! another one. Devices without an address are behind the others, in the order of the file.
//!
//! *Distances* are those of [`gpus`](crate::files::gpus), whose links are found here in what the devices hang on:
//!
//! | link | what the innermost object that holds two GPUs is |
//! |---|---|
//! | `PIX` | a PCI bridge with at most one more above each of them |
//! | `PXB` | a PCI bridge |
//! | `PHB` | a host bridge |
//! | `NODE` | something with at most one NUMA node |
//! | `SYS` | something with several |
//!
//! A bandwidth between them replaces that if it is nearer: that of links from one to the other (NVLink, XGMI, Xe), or of those to
//! switches (NVSwitch); all switches of a node are taken to be one fabric.
//!
//! *Network adapters* are PCI devices of the class of network controllers; those that OpenFabrics knows or that are InfiniBand or fabric
//! controllers, if there are any: others are for management then. Of each GPU, the nearest one counts.
//!
//! *Cores near a GPU* are its [share](crate::files::near) of those of the innermost object that holds it and has some, such as a NUMA node.

use std::collections::{BTreeMap, HashMap};

use roxmltree::{Document, Node, NodeId};

use super::{MOST_DEPTH, NumberedCore, USABLE, attribute, document, machine_of};
use crate::files::gpus::{self, GpuDistances};
use crate::files::near::{self, NearCores};
use crate::files::{ClusterFault, Fault, Text};
use viem::base::types::Distance;
use viem_io::{ReadError, Source};

/// Prefixes of the names of OS devices that are GPUs.
const NAMES: [&str; 6] = ["nvml", "cuda", "rsmi", "ze", "opencl", "renderD"];

/// The prefix of the class of a 3D controller.
const CONTROLLER_3D: &str = "0302";

/// Prefixes of the class of a network controller, and of those of InfiniBand and fabrics.
const NETWORK: &str = "02";
const FAST_NETWORKS: [&str; 2] = ["0207", "0208"];

/// The type of a device of OpenFabrics, in versions before 3 and from there on.
const OPEN_FABRICS: [&str; 2] = ["3", "8"];

/// The bit of hwloc that says that numbers between objects are bandwidths, in MB/s.
const ARE_BANDWIDTHS: u64 = 1 << 3;

/// The GPUs of the node that an XML file of hwloc describes. O(file + g² d) for g GPUs inside of d objects.
pub fn read_gpus(source: Source<'_>) -> Result<GpuDistances, ReadError> {
    Text::read(source)?.parse(distances)
}

fn distances(text: &str) -> Result<GpuDistances, Fault> {
    let document = document(text)?;
    let topology = document.root_element();
    let mut devices: Vec<Node<'_, '_>> = topology.descendants().filter(|&node| is_gpu(node)).collect();
    if devices.is_empty() {
        return Err((topology.range().start, ClusterFault::NoGpus));
    }
    if let Some(device) = devices.get(gpus::MOST) {
        return Err((device.range().start, ClusterFault::TooManyGpus { most: gpus::MOST }));
    }
    devices.sort_by_key(|&device| {
        let address = address(device);
        (address.is_none(), address)
    });
    let around = devices.iter().map(|&device| around(device)).collect::<Result<Vec<_>, _>>()?;
    let bandwidths = Bandwidths::read(&document, &devices)?;
    let count = devices.len();
    let (mut links, mut entries) = (BTreeMap::new(), vec![0; count * count]);
    let mut has_several = HashMap::new();
    let adapters = adapters_below(&adapters(topology))?;
    let to_network = around.iter().map(|gpu| to_network(gpu, &adapters, &mut has_several)).collect();
    for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))).filter(|(a, b)| a != b) {
        let by_tree = link(&around[a], &around[b], &mut has_several);
        let by_tree = (gpus::distance_of_link(by_tree).unwrap_or_default(), by_tree.to_owned());
        let (distance, link) = match bandwidths.between(a, b) {
            0 => by_tree,
            rate => by_tree.min((gpus::distance_of_bandwidth(rate), format!("{rate} MB/s"))),
        };
        links.insert(link, distance);
        entries[a * count + b] = distance;
    }
    let near = near(&around, &cores(&document)?);
    Ok(GpuDistances { tool: "hwloc", links, entries, to_network, near })
}

/// The domain, bus, device and function of a PCI device: `0000:c1:00.0`.
fn address(device: Node<'_, '_>) -> Option<[u32; 4]> {
    let (path, function) = device.attribute("pci_busid")?.rsplit_once('.')?;
    let mut parts = path.split(':').chain([function]).map(|part| u32::from_str_radix(part, 16).ok());
    let address = [parts.next()??, parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(address)
}

/// The cores that may be used; files may have none.
fn cores(document: &Document<'_>) -> Result<Vec<NumberedCore>, Fault> {
    match machine_of(document, &USABLE) {
        Ok(machine) => Ok(machine.cores()),
        Err((_, ClusterFault::NoPus)) => Ok(Vec::new()),
        Err(fault) => Err(fault),
    }
}

/// The share of each GPU in the cores of the innermost object around it that has some.
fn near(around: &[Vec<Node<'_, '_>>], cores: &[NumberedCore]) -> Vec<NearCores> {
    let core_of: HashMap<u32, usize> = (0..)
        .zip(cores)
        .flat_map(|(core, NumberedCore { pus, .. })| pus.iter().map(move |&pu| (pu, core)))
        .collect();
    let pus_in = |object: Node<'_, '_>| -> Vec<u32> {
        let pus = object.descendants().filter(|node| node.attribute("type") == Some("PU"));
        let numbers = pus.filter_map(|pu| pu.attribute("os_index")?.parse().ok());
        numbers.filter(|pu| core_of.contains_key(pu)).collect()
    };
    let (mut sets, mut known) = (Vec::new(), HashMap::new());
    let mut set_of = |gpu: &Vec<Node<'_, '_>>| {
        gpu.iter().rev().find_map(|&object| {
            *known.entry(object.id()).or_insert_with(|| {
                let pus = pus_in(object);
                (!pus.is_empty()).then(|| {
                    sets.push(pus);
                    sets.len() - 1
                })
            })
        })
    };
    let set_of: Vec<Option<usize>> = around.iter().map(&mut set_of).collect();
    let cores_of = |pus: &[u32]| {
        let mut by_core: Vec<(usize, u32)> = pus.iter().map(|&pu| (core_of[&pu], pu)).collect();
        by_core.sort_unstable();
        let cores = by_core.chunk_by(|a, b| a.0 == b.0);
        cores.map(|core| core.iter().map(|&(_, pu)| pu).collect()).collect()
    };
    let near = |cpus: Vec<u32>| {
        let mut numbers: Vec<(u32, u32)> = cpus.iter().map(|pu| cores[core_of[pu]].number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        NearCores { cores: numbers, cpus }
    };
    near::shares(&sets, &set_of, cores_of).into_iter().map(near).collect()
}

/// The devices that messages to other nodes may pass.
fn adapters<'a>(topology: Node<'a, 'a>) -> Vec<Node<'a, 'a>> {
    let class = |device: Node<'a, 'a>| device.attribute("pci_type").unwrap_or_default();
    let is_adapter = |device: &Node<'a, 'a>| {
        device.attribute("type") == Some("PCIDev") && class(*device).starts_with(NETWORK)
    };
    let all: Vec<Node<'a, 'a>> = topology.descendants().filter(is_adapter).collect();
    let is_open_fabrics = |device: Node<'_, '_>| {
        device.attribute("osdev_type").is_some_and(|kind| OPEN_FABRICS.contains(&kind))
    };
    let is_fast = |device: &Node<'a, 'a>| {
        FAST_NETWORKS.iter().any(|start| class(*device).starts_with(start))
            || device.children().any(is_open_fabrics)
    };
    let fast: Vec<Node<'a, 'a>> = all.iter().copied().filter(is_fast).collect();
    if fast.is_empty() { all } else { fast }
}

/// Returns, by object, the number of other objects between it and the nearest adapter in it.
fn adapters_below(adapters: &[Node<'_, '_>]) -> Result<HashMap<NodeId, usize>, Fault> {
    let mut nearest = HashMap::new();
    for &adapter in adapters {
        for (below, object) in around(adapter)?.iter().rev().enumerate() {
            let known = nearest.entry(object.id()).or_insert(below);
            *known = below.min(*known);
        }
    }
    Ok(nearest)
}

/// The distance of a GPU in these objects from the nearest adapter.
fn to_network(
    gpu: &[Node<'_, '_>],
    adapters: &HashMap<NodeId, usize>,
    has_several: &mut HashMap<NodeId, bool>,
) -> Option<Distance> {
    let common = gpu.iter().rev().enumerate().filter_map(|(below, &object)| {
        let other = *adapters.get(&object.id())?;
        gpus::distance_of_link(link_in(object, below.max(other), has_several))
    });
    common.min()
}

fn is_gpu(node: Node<'_, '_>) -> bool {
    let is_named = |device: Node<'_, '_>| {
        let name = device.attribute("name").unwrap_or_default();
        device.attribute("type") == Some("OSDev") && NAMES.iter().any(|start| name.starts_with(start))
    };
    node.attribute("type") == Some("PCIDev")
        && (node.attribute("pci_type").is_some_and(|class| class.starts_with(CONTROLLER_3D))
            || node.children().any(is_named))
}

/// The objects that hold a device, outermost first.
fn around<'a>(device: Node<'a, 'a>) -> Result<Vec<Node<'a, 'a>>, Fault> {
    let mut objects: Vec<Node<'a, 'a>> =
        device.ancestors().skip(1).filter(|node| node.has_tag_name("object")).take(MOST_DEPTH + 1).collect();
    if objects.len() > MOST_DEPTH {
        return Err((device.range().start, ClusterFault::TooDeep { most: MOST_DEPTH }));
    }
    objects.reverse();
    Ok(objects)
}

/// The link between two devices, given the objects that hold each. `has_several` are the objects that are known to have
/// several NUMA nodes, or not.
fn link(a: &[Node<'_, '_>], b: &[Node<'_, '_>], has_several: &mut HashMap<NodeId, bool>) -> &'static str {
    let depth = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let Some(&common) = a[..depth].last() else { return "SYS" };
    link_in(common, a.len().max(b.len()) - depth, has_several)
}

/// The link between two devices of which this is the innermost common object; at most this many others are between it and one of them.
fn link_in(common: Node<'_, '_>, below: usize, has_several: &mut HashMap<NodeId, bool>) -> &'static str {
    if common.attribute("type") == Some("Bridge") {
        let is_host_bridge = common.attribute("bridge_type").is_some_and(|kind| kind.starts_with('0'));
        return match (is_host_bridge, below <= 1) {
            (true, _) => "PHB",
            (false, true) => "PIX",
            (false, false) => "PXB",
        };
    }
    let several = has_several.entry(common.id()).or_insert_with(|| {
        let is_numa = |node: &Node<'_, '_>| matches!(node.attribute("type"), Some("NUMANode" | "Node"));
        common.descendants().filter(is_numa).nth(1).is_some()
    });
    if *several { "SYS" } else { "NODE" }
}

/// The role of an object for the GPUs.
#[derive(Clone, Copy)]
enum End {
    Gpu(usize),
    Switch,
}

/// Bandwidths by drivers, in MB/s.
struct Bandwidths {
    count: usize,
    /// The rates of links between two GPUs, row by row.
    direct: Vec<u64>,
    /// The rates of the links of each GPU to switches.
    to_switches: Vec<u64>,
}

impl Bandwidths {
    fn read(document: &Document<'_>, devices: &[Node<'_, '_>]) -> Result<Self, Fault> {
        let count = devices.len();
        let mut read = Self { count, direct: vec![0; count * count], to_switches: vec![0; count] };
        let tables = document
            .root_element()
            .children()
            .filter(|node| node.has_tag_name("distances2") || node.has_tag_name("distances2hetero"));
        let ends = ends(document, devices);
        for table in tables {
            let kind: u64 = number(table, "kind")?;
            if kind & ARE_BANDWIDTHS != 0 {
                read.add(table, &ends)?;
            }
        }
        Ok(read)
    }

    /// Adds the bandwidths of one table.
    fn add(&mut self, table: Node<'_, '_>, ends: &HashMap<(&str, u64), End>) -> Result<(), Fault> {
        let own = table.attribute("type");
        let of_token = |token: &str| {
            let (kind, index) = token.split_once(':').or(own.map(|own| (own, token)))?;
            Some(ends.get(&(kind, index.parse().ok()?)).copied())
        };
        let objects: Vec<Option<End>> = words(table, "indexes")
            .map(of_token)
            .collect::<Option<_>>()
            .ok_or_else(|| attribute(table, "indexes"))?;
        let values: Vec<u64> = words(table, "u64values")
            .map(|word| word.parse().ok())
            .collect::<Option<_>>()
            .filter(|values: &Vec<u64>| Some(values.len()) == objects.len().checked_mul(objects.len()))
            .ok_or_else(|| attribute(table, "u64values"))?;
        for (from, row) in objects.iter().zip(values.chunks(objects.len().max(1))) {
            let Some(End::Gpu(gpu)) = *from else { continue };
            let mut switched = 0u64;
            for (to, &rate) in objects.iter().zip(row) {
                match *to {
                    Some(End::Gpu(other)) if other != gpu => {
                        let direct = &mut self.direct[gpu * self.count + other];
                        *direct = rate.max(*direct);
                    }
                    Some(End::Switch) => switched = switched.saturating_add(rate),
                    _ => {}
                }
            }
            self.to_switches[gpu] = switched.max(self.to_switches[gpu]);
        }
        Ok(())
    }

    /// Returns the rate from one GPU to another and back, the lower of both; 0 if there is none.
    fn between(&self, a: usize, b: usize) -> u64 {
        let direct = self.direct[a * self.count + b].min(self.direct[b * self.count + a]);
        direct.max(self.to_switches[a].min(self.to_switches[b]))
    }
}

/// Finds the objects that tables name, by their type and number.
fn ends<'a>(document: &'a Document<'_>, devices: &[Node<'_, '_>]) -> HashMap<(&'a str, u64), End> {
    let gpu_of: HashMap<NodeId, usize> = devices.iter().map(|device| device.id()).zip(0..).collect();
    let mut ends = HashMap::new();
    for node in document.descendants().filter(|node| node.has_tag_name("object")) {
        let gpu = node.ancestors().take(2).find_map(|node| gpu_of.get(&node.id()));
        let kind = node.attribute("type").unwrap_or_default();
        let end = match gpu {
            Some(&gpu) => End::Gpu(gpu),
            None if kind == "PCIDev" => End::Switch,
            None => continue,
        };
        if let Some(index) = node.attribute("gp_index").and_then(|index| index.parse().ok()) {
            ends.insert((kind, index), end);
        }
    }
    ends
}

fn number(node: Node<'_, '_>, name: &'static str) -> Result<u64, Fault> {
    node.attribute(name).and_then(|text| text.parse().ok()).ok_or_else(|| attribute(node, name))
}

/// The words in the elements of this name.
fn words<'a>(table: Node<'a, '_>, name: &'static str) -> impl Iterator<Item = &'a str> {
    let texts =
        table.children().filter(move |child| child.has_tag_name(name)).filter_map(|child| child.text());
    texts.flat_map(str::split_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node of two packages. On the first a host bridge with a switch of two GPUs, a GPU of its own, and the device of a console; on
    /// the second a host bridge with a GPU. GPUs 0 and 3 are linked directly.
    const NODE: &str = r#"<topology version="2.0"><object type="Machine">
        <object type="Package"><object type="NUMANode" gp_index="1"/>
          <object type="Bridge" bridge_type="0-1">
            <object type="Bridge" bridge_type="1-1">
              <object type="Bridge" bridge_type="1-1"><object type="PCIDev" gp_index="10" pci_type="0302 [10de:1]"/></object>
              <object type="Bridge" bridge_type="1-1"><object type="PCIDev" gp_index="11"><object type="OSDev" gp_index="21" name="nvml1"/></object></object>
            </object>
            <object type="PCIDev" gp_index="12"><object type="OSDev" name="opencl0d2"/><object type="OSDev" gp_index="22" name="cuda2"/></object>
            <object type="PCIDev" gp_index="13" pci_type="0300 [102b:1]"><object type="OSDev" name="card0"/></object>
          </object>
        </object>
        <object type="Package"><object type="NUMANode" gp_index="2"/>
          <object type="Bridge" bridge_type="0-1"><object type="PCIDev" gp_index="14"><object type="OSDev" gp_index="24" name="rsmi3"/></object></object>
        </object></object>
        <distances2 type="NUMANode" kind="5"><indexes>0 1</indexes><u64values>10 21 21 10</u64values></distances2>
        TABLE
        </topology>"#;

    fn found(table: &str) -> GpuDistances {
        distances(&NODE.replace("TABLE", table)).unwrap()
    }

    #[test]
    fn what_holds_two_gpus_says_how_near_they_are() {
        let found = found("");
        assert_eq!(found.entries, [0, 36, 44, 72, 36, 0, 44, 72, 44, 44, 0, 72, 72, 72, 72, 0]);
        let links: Vec<&str> = found.links.keys().map(String::as_str).collect();
        assert_eq!(links, ["PHB", "PIX", "SYS"]);
        // One more bridge between them, and no NUMA node on the second package.
        let deep = NODE.replace("<object type=\"PCIDev\" gp_index=\"10\" pci_type=\"0302 [10de:1]\"/>", "<object type=\"Bridge\" bridge_type=\"1-1\"><object type=\"PCIDev\" pci_type=\"0302\"/></object>");
        let near = deep.replace("<object type=\"NUMANode\" gp_index=\"2\"/>", "").replace("TABLE", "");
        assert_eq!(distances(&near).unwrap().entries[..4], [0, 40, 44, 48]);
    }

    #[test]
    fn the_nearest_network_adapter_counts() {
        // Beside GPU 2 on the first host bridge; on the second package, one that is for management.
        let adapter = |class: &str, inside: &str| {
            format!("<object type=\"PCIDev\" pci_type=\"{class} [1:2]\">{inside}</object>")
        };
        let fast = adapter("0200", "<object type=\"OSDev\" osdev_type=\"3\" name=\"mlx5_0\"/>");
        let slow = adapter("0200", "<object type=\"OSDev\" osdev_type=\"2\" name=\"eth0\"/>");
        let gpu = "<object type=\"PCIDev\" gp_index=\"12\">";
        let of = |first: &str, second: &str| {
            let node = NODE.replace("TABLE", "").replace(gpu, &format!("{first}{gpu}"));
            let last = "<object type=\"PCIDev\" gp_index=\"14\">";
            distances(&node.replace(last, &format!("{second}{last}"))).unwrap().to_network
        };
        let some = |all: [Distance; 4]| all.map(Some).to_vec();
        assert_eq!(of("", ""), vec![None; 4]);
        assert_eq!(of(&fast, &slow), some([44, 44, 44, 72]));
        assert_eq!(of("", &slow), some([72, 72, 72, 44]));
        assert_eq!(of(&adapter("0207", ""), &fast), some([44; 4]));
        // Under one switch with GPU 0, behind a bridge of its own.
        let near = format!("<object type=\"Bridge\" bridge_type=\"1-1\">{}</object>", adapter("0207", ""));
        let at = "<object type=\"Bridge\" bridge_type=\"1-1\"><object type=\"PCIDev\" gp_index=\"10\"";
        let node = NODE.replace("TABLE", "").replace(at, &format!("{near}{at}"));
        assert_eq!(distances(&node).unwrap().to_network, some([36, 36, 44, 72]));
    }

    #[test]
    fn bandwidths_are_nearer_if_they_are_high() {
        let direct = "<distances2hetero kind=\"25\"><indexes>PCIDev:10 OSDev:24 Package:3</indexes>\
            <indexes>OSDev:22</indexes><u64values>0 50000 9 10000 50000 0 9 0 </u64values><u64values>9 9 9 9 20000 0 9 0</u64values>\
            </distances2hetero>";
        let entries = found(direct).entries;
        // Two links of 25 GB/s; what is slower than PCI, and goes through a package, does not count.
        assert_eq!(entries, [0, 36, 44, 18, 36, 0, 44, 72, 44, 44, 0, 72, 18, 72, 72, 0]);
        let switched = "<distances2hetero kind=\"25\"><indexes>PCIDev:13 OSDev:21 OSDev:24 PCIDev:10</indexes>\
            <u64values>0 1 1 0 150000 0 0 0 300000 0 0 0 0 0 0 0</u64values></distances2hetero>";
        assert_eq!(found(switched).entries[7], 6);
        let alike = "<distances2 type=\"OSDev\" kind=\"9\" indexing=\"gp\"><indexes>21 24</indexes><u64values>0 36 900000 0</u64values></distances2>";
        assert_eq!(found(alike).entries[7], 72);
        assert_eq!(found(&alike.replace("36", "900000")).entries[7], 1);
    }

    #[test]
    fn faults_name_the_place() {
        let fault = |text: &str| distances(text).unwrap_err().1.to_string();
        assert!(fault("<topology><object type=\"Machine\"/></topology>").contains("no GPUs"));
        assert!(fault("<topology/>").contains("no object"));
        for (table, name) in [
            ("<distances2 type=\"OSDev\"/>", "kind"),
            ("<distances2 kind=\"9\"><indexes>1</indexes></distances2>", "indexes"),
            ("<distances2 kind=\"9\" type=\"OSDev\"><indexes>1 x</indexes></distances2>", "indexes"),
            (
                "<distances2 kind=\"9\" type=\"OSDev\"><indexes>1</indexes><u64values>1 2</u64values></distances2>",
                "u64values",
            ),
            (
                "<distances2 kind=\"9\" type=\"OSDev\"><indexes>1</indexes><u64values>-1</u64values></distances2>",
                "u64values",
            ),
        ] {
            assert!(fault(&NODE.replace("TABLE", table)).contains(&format!("`{name}`")), "{table}");
        }
        let deep = format!(
            "<topology>{}<object type=\"PCIDev\" pci_type=\"0302\"/>{}</topology>",
            "<object>".repeat(101),
            "</object>".repeat(101)
        );
        assert!(fault(&deep).contains("more than 100 deep"));
    }
}
