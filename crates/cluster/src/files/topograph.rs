//! Networks as NVIDIA's topograph writes them: JSON with the switches above each instance, by its graph engine, or labels of the nodes of
//! Kubernetes.
//!
//! ```text
//! {"instances": [{"id": "n1", "network_layers": ["leaf1", "spine"],
//!                 "labels": {"accelerator.topograph.run/domain": "nvl1"}}]}
//! ```
//!
//! An instance is a host of this name. Layers are switches, the nearest first. Instances of an accelerator domain, which share
//! NVLink, are nearer to each other than others of their switch: the domain is a switch of its own, on the nearest one that is
//! above all of them. A sub-domain is the same inside its domain. Domains are in `labels`, or, in earlier versions, as
//! `nvlink` in `attributes`. O(n d²) for n instances with d layers each.
//!
//! The output of `kubectl get nodes -o json` (or `yaml`) is a list of nodes as `items`, with `name` and `labels` in the `metadata` of each. Layers
//! are labels there, too:
//!
//! | version | switches, the nearest first | domain |
//! |---|---|---|
//! | 1 | `fabric.topograph.run/tier-0`, and so on | `accelerator.topograph.run/domain`, and `sub-domain` |
//! | 0.5 | `network.topology.nvidia.com/leaf` (`block`), `spine`, `core` (`datacenter`), or `tier-0` and so on | `accelerator` there, or `nvidia.com/gpu.clique` |
//! | 0.1 | the same under `network.topology.kubernetes.io` | `accelerator` there |
//!
//! Nodes without any of them are left out: they have no place in the network.

use std::collections::{HashMap, HashSet};

use super::yaml::{self, Value};
use crate::files::{ClusterFault, Fault, MOST_HOSTS, shown};

/// Places of the domain of an instance: the map and the key.
const DOMAINS: [(&str, &str); 5] = [
    ("labels", "accelerator.topograph.run/domain"),
    ("labels", "network.topology.nvidia.com/accelerator"),
    ("labels", "network.topology.kubernetes.io/accelerator"),
    ("labels", "nvidia.com/gpu.clique"),
    ("attributes", "nvlink"),
];

/// Prefixes of the labels of switches.
const FABRICS: [&str; 3] =
    ["fabric.topograph.run/", "network.topology.nvidia.com/", "network.topology.kubernetes.io/"];

/// Names of the tiers of switches, the nearest first; each may have either.
const TIERS: [[&str; 2]; 3] = [["leaf", "block"], ["spine", "spine"], ["core", "datacenter"]];

/// The place of the domain inside its domain.
const SUB_DOMAIN: (&str, &str) = ("labels", "accelerator.topograph.run/sub-domain");

/// Layers above an instance at most.
const MOST_LAYERS: usize = 64;

/// A switch or a domain, and the names of the switches and of the hosts on it.
pub(super) struct LayerSwitch {
    pub(super) name: String,
    pub(super) below: Vec<String>,
    pub(super) hosts: Vec<String>,
}

/// The switches of a text, with the domains as switches.
pub(super) fn parse(text: &str) -> Result<Vec<LayerSwitch>, Fault> {
    // JSON is YAML, but for tabs between its values.
    let value = yaml::parse(&text.replace('\t', " "))?;
    let list = |name| value.get(name).and_then(Value::list);
    let (instances, nodes) = (list("instances"), list("items"));
    let Some(all) = instances.or(nodes) else {
        let reason = "a list of instances is missing, or one of nodes as kubectl prints them";
        return Err(topology(0, text, reason));
    };
    let read = |value| match instances {
        Some(_) => Instance::read(value).map(Some),
        None => Instance::of_node(value),
    };
    if all.len() > MOST_HOSTS {
        return Err((value.at, ClusterFault::TooManyHosts));
    }
    let instances: Vec<Instance<'_>> =
        all.iter().filter_map(|value| read(value).transpose()).collect::<Result<_, _>>()?;
    if instances.is_empty() && !all.is_empty() {
        return Err(topology(
            value.at,
            "items",
            "no node has a label of its switch or its accelerator domain",
        ));
    }
    let mut network = Network::default();
    instances.iter().try_for_each(|instance| network.add_layers(instance))?;
    instances.iter().for_each(|instance| network.add_domains(instance));
    network.hang_domains();
    instances.iter().try_for_each(|instance| network.add_host(instance))?;
    Ok(network.into_switches())
}

fn topology(at: usize, text: &str, reason: &'static str) -> Fault {
    (at, ClusterFault::Topology { text: shown(text.trim()), reason })
}

/// The description of a host in the file.
struct Instance<'a> {
    at: usize,
    id: &'a str,
    /// The switches above it, the nearest first.
    layers: Vec<&'a str>,
    /// The domains it is in, the innermost first.
    domains: Vec<Domain<'a>>,
}

/// A domain, and the sub-domain in it if it is one.
type Domain<'a> = (&'a str, Option<&'a str>);

impl<'a> Instance<'a> {
    fn read(value: &'a Value) -> Result<Self, Fault> {
        let text = |value: &'a Value| value.text().filter(|text| !text.is_empty());
        let id = value.get("id").and_then(text);
        let id = id.ok_or_else(|| topology(value.at, "instances", "an instance has no `id`"))?;
        let fault = |reason| topology(value.at, id, reason);
        let layers = match value.get("network_layers") {
            None => Vec::new(),
            Some(layers) => {
                let layers = layers.list().ok_or_else(|| fault("`network_layers` is no list"))?;
                layers.iter().filter_map(text).collect()
            }
        };
        if layers.len() > MOST_LAYERS {
            return Err(fault("an instance has more than 64 network layers"));
        }
        let domains = domains(value);
        if layers.is_empty() && domains.is_empty() {
            return Err(fault("an instance has neither network layers nor an accelerator domain"));
        }
        Ok(Self { at: value.at, id, layers, domains })
    }

    /// A node of Kubernetes; nothing if no label says where it is.
    fn of_node(value: &'a Value) -> Result<Option<Self>, Fault> {
        let fault = |reason| topology(value.at, "items", reason);
        let metadata = value.get("metadata").ok_or_else(|| fault("a node has no `metadata`"))?;
        let id = metadata.get("name").and_then(Value::text).filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| fault("a node has no `name` in its `metadata`"))?;
        let (layers, domains) = (labelled_layers(metadata), domains(metadata));
        let is_placed = !layers.is_empty() || !domains.is_empty();
        Ok(is_placed.then_some(Self { at: value.at, id, layers, domains }))
    }
}

/// The label of an instance or of a node, if it is there.
fn label<'a>(value: &'a Value, (map, key): (&str, &str)) -> Option<&'a str> {
    value.get(map)?.get(key)?.text().filter(|text| !text.is_empty())
}

/// The domains that something with labels is in, the innermost first.
fn domains(value: &Value) -> Vec<Domain<'_>> {
    let domain = DOMAINS.into_iter().find_map(|place| label(value, place));
    match (domain, label(value, SUB_DOMAIN)) {
        (Some(domain), Some(inner)) => vec![(domain, Some(inner)), (domain, None)],
        (Some(domain), None) | (None, Some(domain)) => vec![(domain, None)],
        (None, None) => Vec::new(),
    }
}

/// The switches in the labels of a node, the nearest first.
fn labelled_layers(metadata: &Value) -> Vec<&str> {
    let of_fabric = |fabric: &str| {
        let find = |name: &str| label(metadata, ("labels", &format!("{fabric}{name}")));
        let numbered: Vec<&str> = (0..MOST_LAYERS).filter_map(|tier| find(&format!("tier-{tier}"))).collect();
        if !numbered.is_empty() {
            return numbered;
        }
        TIERS.iter().filter_map(|names| names.iter().find_map(|name| find(name))).collect()
    };
    FABRICS.into_iter().map(of_fabric).find(|layers| !layers.is_empty()).unwrap_or_default()
}

/// A switch or a domain, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Name<'a> {
    Switch(&'a str),
    Domain(Domain<'a>),
}

/// A switch or a domain, with its properties.
struct Vertex<'a> {
    name: Name<'a>,
    above: Option<usize>,
    /// The switches that are above all of its instances, the nearest first; of domains only, once one was seen.
    common: Option<Vec<usize>>,
    hosts: Vec<String>,
}

/// The network as read so far.
#[derive(Default)]
struct Network<'a> {
    vertices: Vec<Vertex<'a>>,
    index_of: HashMap<Name<'a>, usize>,
    hosts: HashSet<&'a str>,
}

impl<'a> Network<'a> {
    fn vertex(&mut self, name: Name<'a>) -> usize {
        let next = self.vertices.len();
        let index = *self.index_of.entry(name).or_insert(next);
        if index == next {
            self.vertices.push(Vertex { name, above: None, common: None, hosts: Vec::new() });
        }
        index
    }

    /// Adds the switches above an instance.
    fn add_layers(&mut self, instance: &Instance<'a>) -> Result<(), Fault> {
        for pair in instance.layers.windows(2) {
            let (below, above) = (self.vertex(Name::Switch(pair[0])), self.vertex(Name::Switch(pair[1])));
            let earlier = self.vertices[below].above.replace(above);
            if earlier.is_some_and(|earlier| earlier != above) {
                let reason = "a switch hangs on two others; only trees are understood";
                return Err(topology(instance.at, pair[0], reason));
            }
        }
        instance.layers.first().into_iter().for_each(|&layer| _ = self.vertex(Name::Switch(layer)));
        Ok(())
    }

    /// Adds the domains of an instance, and keeps the switches that all their instances share.
    fn add_domains(&mut self, instance: &Instance<'a>) {
        let layers: Vec<usize> =
            instance.layers.iter().map(|&layer| self.vertex(Name::Switch(layer))).collect();
        for &domain in &instance.domains {
            let index = self.vertex(Name::Domain(domain));
            let common = &mut self.vertices[index].common;
            let shared = match common.take() {
                None => layers.clone(),
                Some(common) => common.into_iter().filter(|switch| layers.contains(switch)).collect(),
            };
            *common = Some(shared);
        }
    }

    /// Hangs sub-domains on their domains, and these on the nearest switch that their instances share.
    fn hang_domains(&mut self) {
        for index in 0..self.vertices.len() {
            let Name::Domain((domain, inner)) = self.vertices[index].name else { continue };
            self.vertices[index].above = match inner {
                Some(_) => self.index_of.get(&Name::Domain((domain, None))).copied(),
                None => self.vertices[index].common.as_ref().and_then(|common| common.first().copied()),
            };
        }
    }

    fn add_host(&mut self, instance: &Instance<'a>) -> Result<(), Fault> {
        if !self.hosts.insert(instance.id) {
            return Err(topology(instance.at, instance.id, "an instance is listed twice"));
        }
        let domain = instance.domains.first().map(|&domain| Name::Domain(domain));
        let nearest = domain.or(instance.layers.first().map(|&layer| Name::Switch(layer)));
        let nearest = nearest.and_then(|name| self.index_of.get(&name).copied());
        if let Some(index) = nearest {
            self.vertices[index].hosts.push(instance.id.to_owned());
        }
        Ok(())
    }

    fn into_switches(self) -> Vec<LayerSwitch> {
        let name = |index: usize| match self.vertices[index].name {
            Name::Switch(name) => format!("switch {name}"),
            Name::Domain((name, None)) => format!("domain {name}"),
            Name::Domain((name, Some(inner))) => format!("domain {name}: {inner}"),
        };
        let mut below = vec![Vec::new(); self.vertices.len()];
        for (index, vertex) in self.vertices.iter().enumerate() {
            vertex.above.into_iter().for_each(|above| below[above].push(name(index)));
        }
        let switches = self.vertices.iter().zip(below).enumerate();
        switches
            .map(|(index, (vertex, below))| LayerSwitch {
                name: name(index),
                below,
                hosts: vertex.hosts.clone(),
            })
            .collect()
    }
}
