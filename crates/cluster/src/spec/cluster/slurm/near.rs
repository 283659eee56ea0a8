//! The CPUs near GPUs that the job has.

use super::job::Job;
use super::nodes::node_of;
use super::variables::variable;
use crate::files::hwloc::Object;
use crate::files::names;
use crate::files::scontrol::Hardware;
use crate::nodes::ClusterSpec;
use crate::spec::cluster::inside;

/// The known CPUs of a node.
enum Own {
    /// The job has all that are near its GPUs, as far as can be determined.
    All,
    /// The job has these, by the numbers of the operating system in ascending order.
    These(Vec<u32>),
    Unknown,
}

impl Job {
    /// Leaves the GPUs of each node those CPUs near them that belong to the job, where it has not all. Warns where it is not known which.
    pub(super) fn limit_near(&mut self, draft: &mut ClusterSpec<'_>) {
        let near: Vec<Vec<Vec<u32>>> = draft.insides.iter().map(near_gpus).collect();
        let mut unknown = Vec::new();
        for (host, node) in draft.nodes.iter_mut().enumerate() {
            match self.own_near(host, &near[node.inside]) {
                Own::All => {}
                Own::These(own) => node.cpus = Some(own),
                Own::Unknown => unknown.push(host),
            }
            self.knows_cpus[host] = !unknown.ends_with(&[host]);
        }
        self.print_unknown(&unknown, draft);
    }

    /// Returns the known CPUs of a host; `near` has those near each of its GPUs.
    fn own_near(&self, host: usize, near: &[Vec<u32>]) -> Own {
        let ids = self.cpu_ids[host].as_ref();
        let granted = self.granted.as_ref().and_then(|granted| granted.get(host).copied());
        let Some(count) = ids.map(Vec::len).or(granted.map(|count| count as usize)) else { return Own::All };
        let hardware = self.hardware[host];
        let whole = hardware.map_or_else(|| num_cpus(near), |hardware| hardware.threads() as usize);
        if count >= whole {
            return Own::All;
        }
        let this_host = variable("SLURMD_NODENAME").or_else(inside::this_host).unwrap_or_default();
        let is_this = names::are_one(&this_host, &self.hosts[host]);
        let allowed = || inside::allowed_cpus().filter(|own| is_this && own.len() == count);
        let as_usual = || {
            let node = hardware.filter(|&hardware| are_as_usual(near, hardware)).map(node_of)?;
            self.own_cpus(host, &inside::cores(&node))
        };
        allowed().or_else(as_usual).map_or(Own::Unknown, Own::These)
    }
}

/// The CPUs near each GPU, as far as they are known.
fn near_gpus(object: &Object) -> Vec<Vec<u32>> {
    let own = object.near.iter().map(|near| near.cpus.clone()).filter(|cpus| !cpus.is_empty());
    own.chain(object.children.iter().flat_map(near_gpus)).collect()
}

fn num_cpus(near: &[Vec<u32>]) -> usize {
    let mut all = near.concat();
    all.sort_unstable();
    all.dedup();
    all.len()
}

/// Returns whether the CPUs of a node of this size can be numbered as is usual on Linux: those near a GPU are of one socket then.
fn are_as_usual(near: &[Vec<u32>], hardware: Hardware) -> bool {
    let socket = |cpu: u32| cpu % hardware.cores() / hardware.cores_per_socket;
    let is_in_one = |cpus: &Vec<u32>| cpus.windows(2).all(|pair| socket(pair[0]) == socket(pair[1]));
    let is_there = |cpus: &Vec<u32>| cpus.iter().all(|&cpu| cpu < hardware.threads());
    hardware.threads() > 0 && near.iter().all(|cpus| is_there(cpus) && is_in_one(cpus))
}
