//! InfiniBand networks as `ibnetdiscover` prints them: switches, hosts, and a line for each link.
//!
//! ```text
//! Switch  36 "S-0002c9"       # "leaf1" base port 0 lid 3 lmc 0
//! [1]     "H-00a1"[1](00a2)   # "n1 mlx5_0" lid 11 4xHDR
//! [19]    "S-0002ca"[2]       # "spine" lid 4 4xHDR
//! ```
//!
//! Links of hosts (`Ca`) are listed from both ends. The name of a host is the first word of the description of its adapter. A host
//! with several adapters hangs on the switches of all of them. Routers (`Rt`) count as switches.

use std::collections::HashMap;

use crate::files::{ClusterFault, Fault, MOST_HOSTS, shown};

/// Switches and the links between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fabric {
    /// The names of the switches.
    pub switches: Vec<String>,
    /// Links between two switches; each may occur several times.
    pub links: Vec<(u32, u32)>,
    /// The hosts, in the order in which they are first named.
    pub hosts: Vec<FabricHost>,
}

/// A host and the switches that it hangs on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FabricHost {
    /// Its name.
    pub name: String,
    /// Its switches, ascending.
    pub switches: Vec<u32>,
}

/// Words at the start of the description of a node.
const NODES: [&str; 3] = ["Switch", "Ca", "Rt"];

/// Keys of the lines before it.
const KEYS: [&str; 6] = ["vendid", "devid", "sysimgguid", "switchguid", "caguid", "rtguid"];

/// Returns whether a file whose first line this is describes a fabric.
pub(super) fn is_fabric(line: &str) -> bool {
    KEYS.iter().any(|key| line.strip_prefix(key).is_some_and(|rest| rest.starts_with('='))) || is_node(line)
}

fn is_node(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next().is_some_and(|word| NODES.contains(&word))
        && words.next().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The fabric of a text. O(n) for n bytes, and O(n log n) for the switches of hosts.
pub(super) fn parse(text: &str) -> Result<Fabric, Fault> {
    let mut reader = Reader::default();
    let mut offset = 0;
    for whole in text.split_inclusive('\n') {
        let (line, comment) = whole.split_once('#').unwrap_or((whole, ""));
        reader.take(offset, line, quoted(comment).map(|(_, name)| name))?;
        offset += whole.len();
    }
    reader.finish(text.len())
}

/// The first text in quotes, and its offset.
fn quoted(text: &str) -> Option<(usize, &str)> {
    let (before, after) = text.split_once('"')?;
    let (inside, _) = after.split_once('"')?;
    Some((before.len(), inside))
}

/// An end of a link: by index.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Switch(u32),
    Adapter(u32),
}

/// The network as read so far.
#[derive(Default)]
struct Reader<'a> {
    fabric: Fabric,
    index_of: HashMap<&'a str, u32>,
    adapter_of: HashMap<&'a str, u32>,
    /// The name of the host of each adapter, if a description was there, and its switches.
    adapters: Vec<(Option<&'a str>, Vec<u32>)>,
    /// The node whose links follow.
    node: Option<End>,
}

impl<'a> Reader<'a> {
    /// Takes a line that starts at an offset, without its comment, which may have a description.
    fn take(&mut self, offset: usize, line: &'a str, description: Option<&'a str>) -> Result<(), Fault> {
        let text = line.trim();
        let at = offset + line.len() - line.trim_start().len();
        let is_link = text.starts_with('[');
        if !is_link && !is_node(text) {
            return Ok(());
        }
        let fault = |reason| Err((at, ClusterFault::Fabric { text: shown(text), reason }));
        let Some((_, id)) = quoted(text).filter(|(_, id)| !id.is_empty()) else {
            return fault("a node is in quotes");
        };
        let end = self.end(id, description);
        if !is_link {
            self.node = Some(end);
            return Ok(());
        }
        match (self.node, end) {
            (None, _) => return fault("a link comes before the first node"),
            (Some(End::Switch(a)), End::Switch(b)) => self.fabric.links.push((a, b)),
            (Some(End::Switch(switch)), End::Adapter(adapter))
            | (Some(End::Adapter(adapter)), End::Switch(switch)) => {
                self.adapters[adapter as usize].1.push(switch);
            }
            // Two hosts without a switch between them.
            (Some(End::Adapter(_)), End::Adapter(_)) => {}
        }
        if self.adapters.len() > MOST_HOSTS { Err((at, ClusterFault::TooManyHosts)) } else { Ok(()) }
    }

    /// The node with a number such as `S-0002c9`; those of hosts begin with H.
    fn end(&mut self, id: &'a str, description: Option<&'a str>) -> End {
        if id.starts_with(['H', 'h']) {
            let next = self.adapters.len() as u32;
            let adapter = *self.adapter_of.entry(id).or_insert(next);
            if adapter == next {
                self.adapters.push((None, Vec::new()));
            }
            let host = description.and_then(|text| text.split_whitespace().next());
            let known = &mut self.adapters[adapter as usize].0;
            *known = known.or(host);
            return End::Adapter(adapter);
        }
        let next = self.fabric.switches.len() as u32;
        let switch = *self.index_of.entry(id).or_insert(next);
        if switch == next {
            self.fabric.switches.push(description.unwrap_or(id).to_owned());
        }
        End::Switch(switch)
    }

    /// The fabric, whose text ends at an offset.
    fn finish(mut self, end: usize) -> Result<Fabric, Fault> {
        let mut host_of: HashMap<&str, usize> = HashMap::new();
        for (name, switches) in self.adapters {
            let Some(name) = name.filter(|_| !switches.is_empty()) else { continue };
            let hosts = &mut self.fabric.hosts;
            let index = *host_of.entry(name).or_insert(hosts.len());
            if index == hosts.len() {
                hosts.push(FabricHost { name: name.to_owned(), switches: Vec::new() });
            }
            hosts[index].switches.extend(switches);
        }
        for host in &mut self.fabric.hosts {
            host.switches.sort_unstable();
            host.switches.dedup();
        }
        if self.fabric.hosts.is_empty() {
            let reason = "no host with a description hangs on a switch";
            return Err((end, ClusterFault::Fabric { text: "ibnetdiscover".to_owned(), reason }));
        }
        Ok(self.fabric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_LEAVES: &str = "#\n# Topology file\n#\nvendid=0x2c9\nswitchguid=0x1(1)\nSwitch\t4 \"S-1\"\t\t# \"MF0;leaf1:MSB7700/U1\" enhanced port 0 lid 1 lmc 0\n\
        [1]\t\"H-a\"[1](a1)\t\t# \"n1 mlx5_0\" lid 11 4xHDR\n[2][ext 2]\t\"H-b\"[1](b1)\t# \"n2.site mlx5_0\" lid 12 4xHDR\n\
        [3]\t\"S-3\"[1]\t\t# \"spine\" lid 3 4xHDR\n\nSwitch\t4 \"S-2\"\t# \"leaf2\" base port 0 lid 2 lmc 0\n\
        [1]\t\"S-3\"[2]\t\t# \"spine\" lid 3 4xHDR\n\nvendid=0x2c9\ncaguid=0xc\nCa\t2 \"H-c\"\t\t# \"n1 mlx5_1\"\n[1](c1) \t\"S-2\"[2]\t\t# lid 13 lmc 0 \"leaf2\" lid 2 4xHDR\n";

    #[test]
    fn switches_links_and_hosts() {
        assert!(
            is_fabric("vendid=0x2c9")
                && is_fabric("Switch\t4 \"S-1\"")
                && !is_fabric("SwitchName=a")
                && !is_fabric("Switch a")
        );
        let fabric = parse(TWO_LEAVES).unwrap();
        assert_eq!(fabric.switches, ["MF0;leaf1:MSB7700/U1", "spine", "leaf2"]);
        assert_eq!(fabric.links, [(0, 1), (2, 1)]);
        let hosts: Vec<_> =
            fabric.hosts.iter().map(|host| (host.name.as_str(), host.switches.as_slice())).collect();
        assert_eq!(hosts, [("n1", &[0, 2][..]), ("n2.site", &[0][..])]);
    }

    #[test]
    fn faults_name_the_line() {
        for (text, at) in [
            ("vendid=1\n[1] \"S-1\"[1]\n", 9),
            ("Switch 4\n", 0),
            ("Switch 4 \"S-1\"\n [1] S-2\n", 16),
            ("Switch 4 \"S-1\" # \"a\"\n[1] \"S-2\"[1] # \"b\"\n", 40),
            ("Switch 4 \"S-1\"\n[1] \"H-2\"[1] # lid 4\n", 36),
        ] {
            assert_eq!(parse(text).unwrap_err().0, at, "{text}");
        }
    }
}
