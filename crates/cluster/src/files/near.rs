//! The cores near each GPU of a node, divided among the GPUs.
//!
//! Given is a set of CPUs for each GPU: those of what it hangs on, or those that a tool names. CPUs that are in the same sets make up an
//! area. Each GPU gets a part of one area of its set. GPUs with few CPUs choose first, and each takes the area that has most cores for each
//! of its GPUs. An area is divided evenly among its GPUs, in the order of their numbers. Parts are disjoint; only where an area has
//! fewer CPUs than GPUs, some of these share a core.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// CPUs near a GPU, and their cores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NearCores {
    /// Package and number in the package of each core, ascending; none if only the CPUs are known.
    pub cores: Vec<(u32, u32)>,
    /// CPUs (hardware threads) by the numbers of the operating system, ascending; none if they are not known.
    pub cpus: Vec<u32>,
}

impl NearCores {
    /// These CPUs, of which nothing else is known.
    pub(super) fn of_cpus(cpus: Vec<u32>) -> Self {
        Self { cores: Vec::new(), cpus }
    }
}

/// CPUs that are in the same sets.
struct Area {
    /// The indices of the sets.
    sets: Vec<usize>,
    cpus: Vec<u32>,
    /// The CPUs of each core.
    cores: Vec<Vec<u32>>,
    gpus: Vec<usize>,
}

impl Area {
    /// Cores for each GPU if there were one more, in millionths.
    fn room(&self) -> usize {
        self.cores.len() * 1_000_000 / (self.gpus.len() + 1)
    }

    /// The CPUs of each of its GPUs: whole cores, or hardware threads where cores do not suffice.
    fn parts(&self) -> Vec<(usize, Vec<u32>)> {
        let threads: Vec<Vec<u32>> = self.cpus.iter().map(|&cpu| vec![cpu]).collect();
        let count = self.gpus.len();
        let units = if self.cores.len() < count && threads.len() >= count { &threads } else { &self.cores };
        let part = |(index, &gpu): (usize, &usize)| {
            let start = index * units.len() / count;
            let end = ((index + 1) * units.len() / count).max(start + 1);
            let mut cpus = units[start..end].concat();
            cpus.sort_unstable();
            (gpu, cpus)
        };
        self.gpus.iter().enumerate().map(part).collect()
    }
}

/// The CPUs of each GPU, none if it has no set. `set_of` has the index of the set of each GPU, and `cores_of` divides CPUs into cores.
/// O(s log s + g a) for s CPUs of all sets, g GPUs and a areas.
pub(super) fn shares(
    sets: &[Vec<u32>],
    set_of: &[Option<usize>],
    cores_of: impl Fn(&[u32]) -> Vec<Vec<u32>>,
) -> Vec<Vec<u32>> {
    let mut areas = areas(sets, cores_of);
    let mut gpus: Vec<(usize, usize)> =
        set_of.iter().enumerate().filter_map(|(gpu, set)| Some((gpu, (*set)?))).collect();
    gpus.sort_by_key(|&(gpu, set)| (sets[set].len(), gpu));
    for (gpu, set) in gpus {
        let own = areas.iter_mut().filter(|area| area.sets.binary_search(&set).is_ok());
        if let Some(area) = own.min_by_key(|area| Reverse(area.room())) {
            area.gpus.push(gpu);
        }
    }
    let mut shares = vec![Vec::new(); set_of.len()];
    for area in &mut areas {
        area.gpus.sort_unstable();
        area.parts().into_iter().for_each(|(gpu, cpus)| shares[gpu] = cpus);
    }
    shares
}

/// The areas, by their first CPUs.
fn areas(sets: &[Vec<u32>], cores_of: impl Fn(&[u32]) -> Vec<Vec<u32>>) -> Vec<Area> {
    let mut sets_of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (set, cpus) in sets.iter().enumerate() {
        for &cpu in cpus {
            let own = sets_of.entry(cpu).or_default();
            if own.last() != Some(&set) {
                own.push(set);
            }
        }
    }
    let mut cpus_of: BTreeMap<Vec<usize>, Vec<u32>> = BTreeMap::new();
    for (cpu, sets) in sets_of {
        cpus_of.entry(sets).or_default().push(cpu);
    }
    let area =
        |(sets, cpus): (Vec<usize>, Vec<u32>)| Area { cores: cores_of(&cpus), sets, cpus, gpus: Vec::new() };
    let mut areas: Vec<Area> = cpus_of.into_iter().map(area).collect();
    areas.sort_by_key(|area| area.cpus[0]);
    areas
}

/// The likely cores of CPUs of which only the numbers are known, ascending. Runs of numbers that are equally long, such as `0-7,16-23`, are
/// taken for the first and the second hardware threads of the same cores; otherwise each CPU is a core.
pub(super) fn likely_cores(cpus: &[u32]) -> Vec<Vec<u32>> {
    let mut runs: Vec<&[u32]> = Vec::new();
    let mut rest = cpus;
    while let Some(length) = (!rest.is_empty()).then(|| length_of_run(rest)) {
        let (run, behind) = rest.split_at(length);
        runs.push(run);
        rest = behind;
    }
    if runs.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
        return cpus.iter().map(|&cpu| vec![cpu]).collect();
    }
    let length = runs.first().map_or(0, |run| run.len());
    (0..length).map(|index| runs.iter().map(|run| run[index]).collect()).collect()
}

/// Returns the number of entries at the start that are equally far from each other.
fn length_of_run(numbers: &[u32]) -> usize {
    let [first, second, ..] = *numbers else { return numbers.len() };
    1 + numbers.windows(2).take_while(|pair| pair[1] - pair[0] == second - first).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::base::rng::Rng;

    fn of(sets: &[&[u32]]) -> Vec<Vec<u32>> {
        let sets: Vec<Vec<u32>> = sets.iter().map(|set| set.to_vec()).collect();
        let set_of: Vec<Option<usize>> =
            (0..sets.len()).map(|set| Some(set).filter(|&set| !sets[set].is_empty())).collect();
        shares(&sets, &set_of, likely_cores)
    }

    #[test]
    fn gpus_that_share_cores_get_even_parts_in_order() {
        let all: Vec<u32> = (0..8).collect();
        assert_eq!(of(&[&all, &all]), [[0, 1, 2, 3], [4, 5, 6, 7]]);
        assert_eq!(of(&[&all, &all, &all]), [vec![0, 1], vec![2, 3, 4], vec![5, 6, 7]]);
        assert_eq!(of(&[&[4, 5], &[0, 1], &[4, 5], &[]]), [vec![4], vec![0, 1], vec![5], vec![]]);
        // Two threads of each core.
        let threads = [0, 1, 2, 3, 16, 17, 18, 19];
        assert_eq!(of(&[&threads, &threads]), [[0, 1, 16, 17], [2, 3, 18, 19]]);
        assert_eq!(of(&[&[0, 2, 4, 6, 8, 10, 12, 14][..]; 2]), [[0, 2, 4, 6], [8, 10, 12, 14]]);
        // One core, whose threads suffice or do not.
        assert_eq!(of(&[&[3, 7], &[3, 7]]), [[3], [7]]);
        assert_eq!(of(&[&[3], &[3]]), [[3], [3]]);
    }

    #[test]
    fn gpus_with_more_to_choose_from_leave_the_others_theirs() {
        let all: Vec<u32> = (0..8).collect();
        assert_eq!(of(&[&all, &[0, 1, 2, 3]]), [[4, 5, 6, 7], [0, 1, 2, 3]]);
        let three = of(&[&all, &[0, 1, 2, 3], &[4, 5, 6, 7]]);
        assert_eq!(three, [vec![0, 1], vec![2, 3], vec![4, 5, 6, 7]]);
    }

    #[test]
    fn runs_of_equal_length_are_threads_of_the_same_cores() {
        assert_eq!(likely_cores(&[0, 1, 2]), [[0], [1], [2]]);
        assert_eq!(likely_cores(&[0, 1, 8, 9]), [[0, 8], [1, 9]]);
        assert_eq!(likely_cores(&[0, 2, 4, 32, 34, 36]), [[0, 32], [2, 34], [4, 36]]);
        assert_eq!(likely_cores(&[0, 1, 2, 8]), [[0], [1], [2], [8]]);
        assert!(likely_cores(&[]).is_empty());
    }

    #[test]
    fn parts_are_disjoint_wherever_they_can_be() {
        let mut rng = Rng::new(5);
        for _ in 0..500 {
            let num_cpus = 8 + rng.below(40);
            let sets: Vec<Vec<u32>> = (0..1 + rng.below(8))
                .map(|_| {
                    let start = rng.below(num_cpus - 7);
                    (start..start + 8 + rng.below(num_cpus - 7 - start)).collect()
                })
                .collect();
            let set_of: Vec<Option<usize>> = (0..sets.len()).map(Some).collect();
            let parts = shares(&sets, &set_of, |cpus| cpus.iter().map(|&cpu| vec![cpu]).collect());
            // An area is never so small that eight GPUs would choose it before one with more room.
            let mut seen: Vec<u32> = Vec::new();
            for (part, set) in parts.iter().zip(&sets) {
                assert!(!part.is_empty() && part.iter().all(|cpu| set.contains(cpu)), "{sets:?}");
                seen.extend(part);
            }
            seen.sort_unstable();
            assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "{sets:?}: {parts:?}");
        }
    }
}
