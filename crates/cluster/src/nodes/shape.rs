//! The inside of a node: its processing elements in order, and the place of each at each level.

use std::collections::BTreeSet;

use crate::files::hwloc::{CoreNumbers, Object, ObjectKind};
use viem::base::types::Distance;
use viem::machine::CoreRange;

/// The unit on which processes are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// A core with all its hardware threads.
    Core,
    /// A hardware thread.
    Pu,
}

impl Unit {
    /// Returns the plural of its name in such a node.
    pub(crate) fn plural(self, inside: &Object) -> &'static str {
        match self {
            _ if inside.has_gpus() => "GPUs",
            Unit::Core => "cores",
            Unit::Pu => "hardware threads",
        }
    }
}

/// A class of objects that make up one level: those of a kind that have as many of the same kind around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Class {
    pub(super) kind: ObjectKind,
    depth: usize,
}

/// A processing element of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// Its place at each level, innermost first.
    pub(super) digits: Vec<u32>,
    /// The cores that it has a thread of, or that are near its GPUs, ascending.
    pub(super) cores: Vec<CoreRange>,
    /// Ascending.
    pub(super) cpus: Vec<u32>,
    /// Ascending.
    pub(super) gpus: Vec<u32>,
    /// The distance of the nearest network adapter, if it is known.
    pub(super) to_network: Option<Distance>,
}

/// Those of the leaves of a node that have some of these CPUs, which are in ascending order, with those that they have. Only they count in
/// the numbers of packages and cores. GPUs stay, whatever CPUs are left near them; the numbers of their cores are not known any more.
pub(super) fn among(leaves: &[Leaf], cpus: &[u32]) -> Vec<Leaf> {
    let mut found: Vec<Leaf> = leaves.to_vec();
    found.iter_mut().for_each(|leaf| leaf.cpus.retain(|cpu| cpus.binary_search(cpu).is_ok()));
    if found.iter().any(|leaf| !leaf.gpus.is_empty()) {
        found.iter_mut().for_each(|leaf| leaf.cores.clear());
        return found;
    }
    found.retain(|leaf| !leaf.cpus.is_empty());
    let levels = found.first().map_or(0, |leaf| leaf.digits.len());
    close_gaps(&mut found, levels);
    let (mut packages, mut cores): (Vec<u32>, Vec<CoreRange>) = (Vec::new(), Vec::new());
    for core in found.iter_mut().flat_map(|leaf| &mut leaf.cores) {
        if packages.last() != Some(&core.package) {
            packages.push(core.package);
            cores.clear();
        }
        if cores.last() != Some(core) {
            cores.push(*core);
        }
        *core = CoreRange::new(packages.len() as u32 - 1, cores.len() as u32 - 1, 1);
    }
    found
}

/// Renumbers the groups of leaves that agree outside of a level, from 0 without gaps; inner levels follow.
pub(super) fn close_gaps(leaves: &mut [Leaf], level: usize) {
    let Some(level) = level.checked_sub(1) else { return };
    for (index, group) in leaves.chunk_by_mut(|a, b| a.digits[level] == b.digits[level]).enumerate() {
        group.iter_mut().for_each(|leaf| leaf.digits[level] = index as u32);
        close_gaps(group, level);
    }
}

/// The levels inside some nodes, innermost first.
///
/// They are put in an order in which what holds something is outside of it. Where there is none, because of two kinds each holds
/// the other somewhere, levels are distinguished by their depth alone.
pub(super) struct Levels {
    classes: Vec<Class>,
    unit: Unit,
    are_depths: bool,
}

impl Levels {
    pub(super) fn new(nodes: &[Object], unit: Unit) -> Self {
        let mut levels = Self { classes: Vec::new(), unit, are_depths: false };
        if !levels.order(nodes) {
            levels.are_depths = true;
            levels.order(nodes);
        }
        levels
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = ObjectKind> {
        self.classes.iter().map(|class| class.kind)
    }

    /// Returns whether the classes could be put in order.
    fn order(&mut self, nodes: &[Object]) -> bool {
        let (mut classes, mut above) = (BTreeSet::new(), BTreeSet::new());
        for node in nodes {
            self.relate(node, &mut Vec::new(), &mut classes, &mut above);
        }
        self.classes.clear();
        while !classes.is_empty() {
            // Of the classes that hold no other one, that which is innermost by its kind.
            let holds_none = |&&class: &&Class| !classes.iter().any(|&inner| above.contains(&(class, inner)));
            let Some(&next) = classes.iter().rfind(holds_none) else { return false };
            classes.remove(&next);
            self.classes.push(next);
        }
        true
    }

    /// Collects the classes of the contents of an object, and which class is above which. `path` has the classes around it.
    fn relate(
        &self,
        object: &Object,
        path: &mut Vec<Class>,
        classes: &mut BTreeSet<Class>,
        above: &mut BTreeSet<(Class, Class)>,
    ) {
        if self.is_leaf(object) {
            return;
        }
        for child in &object.children {
            let class = self.class(child, path);
            classes.insert(class);
            above.extend(path.iter().map(|&outer| (outer, class)));
            path.push(class);
            self.relate(child, path, classes, above);
            path.pop();
        }
    }

    fn class(&self, object: &Object, path: &[Class]) -> Class {
        if self.are_depths {
            return Class { kind: ObjectKind::Group, depth: path.len() };
        }
        // Where there are no cores, PUs are what cores are elsewhere.
        let has_core = path.iter().any(|outer| outer.kind == ObjectKind::Core);
        let kind = if object.kind == ObjectKind::Pu && !has_core { ObjectKind::Core } else { object.kind };
        Class { kind, depth: path.iter().filter(|outer| outer.kind == kind).count() }
    }

    fn is_leaf(&self, object: &Object) -> bool {
        object.kind == ObjectKind::Pu || self.unit == Unit::Core && object.kind == ObjectKind::Core
    }

    /// The processing elements of a node.
    pub(super) fn leaves(&self, node: &Object) -> Vec<Leaf> {
        let mut walk = Walk {
            levels: self,
            digits: vec![0; self.classes.len()],
            path: Vec::new(),
            leaves: Vec::new(),
            numbers: CoreNumbers::default(),
        };
        walk.visit(node);
        walk.leaves
    }
}

/// A walk through a node.
struct Walk<'a> {
    levels: &'a Levels,
    digits: Vec<u32>,
    path: Vec<Class>,
    leaves: Vec<Leaf>,
    numbers: CoreNumbers,
}

impl Walk<'_> {
    fn visit(&mut self, object: &Object) {
        self.numbers.enter(object.kind);
        if self.levels.is_leaf(object) {
            let mut leaf = Leaf::of_places(self.digits.clone());
            leaf.add_pus(object);
            if leaf.gpus.is_empty() {
                let (package, core) = self.numbers.next();
                leaf.cores.push(CoreRange::new(package, core, 1));
            }
            leaf.cpus.sort_unstable();
            leaf.cores = joined(leaf.cores);
            self.leaves.push(leaf);
        } else {
            self.visit_children(object);
        }
        let is_in_core = self.path.iter().rev().skip(1).any(|class| class.kind == ObjectKind::Core);
        self.numbers.leave(object.kind, is_in_core);
    }

    fn visit_children(&mut self, object: &Object) {
        let classes: Vec<Class> =
            object.children.iter().map(|child| self.levels.class(child, &self.path)).collect();
        let level = |class: &Class| self.levels.classes.iter().position(|other| other == class);
        // Where objects of several classes are beside each other, all of them are distinguished at the outermost level.
        let Some(level) = classes.iter().filter_map(level).max() else { return };
        for (index, (child, class)) in object.children.iter().zip(classes).enumerate() {
            self.digits[level] = index as u32;
            self.path.push(class);
            self.visit(child);
            self.path.pop();
        }
        self.digits[level] = 0;
    }
}

impl Leaf {
    /// A processing element at these places, with nothing in it so far.
    fn of_places(digits: Vec<u32>) -> Self {
        Self { digits, cores: Vec::new(), cpus: Vec::new(), gpus: Vec::new(), to_network: None }
    }

    /// Adds the PUs in an object, or the GPUs that they stand for with the cores near them.
    fn add_pus(&mut self, object: &Object) {
        match &object.near {
            Some(near) => {
                self.gpus.push(object.os_index);
                self.cpus.extend(&near.cpus);
                self.cores.extend(near.cores.iter().map(|&(package, core)| CoreRange::new(package, core, 1)));
            }
            None if object.kind == ObjectKind::Pu => self.cpus.push(object.os_index),
            None => {}
        }
        self.to_network = nearer(self.to_network, object.to_network);
        object.children.iter().for_each(|child| self.add_pus(child));
    }
}

/// The lesser of two distances, as far as they are known.
pub(super) fn nearer(a: Option<Distance>, b: Option<Distance>) -> Option<Distance> {
    a.into_iter().chain(b).min()
}

/// Cores in as few ranges as there can be.
pub(super) fn joined(mut cores: Vec<CoreRange>) -> Vec<CoreRange> {
    cores.sort_unstable();
    let mut joined: Vec<CoreRange> = Vec::new();
    for core in cores {
        match joined.last_mut() {
            Some(last) if last.package == core.package && core.first <= last.last() + 1 => {
                last.count = last.count.max(core.last() + 1 - last.first);
            }
            _ => joined.push(core),
        }
    }
    joined
}

/// A node that is a regular tree of these arities, innermost first: cores in packages, and what lies between if there are more levels.
pub fn regular(arities: &[u32]) -> Object {
    let kinds: &[ObjectKind] = match arities.len() {
        0 | 1 => &[ObjectKind::Core],
        2 => &[ObjectKind::Core, ObjectKind::Package],
        3 => &[ObjectKind::Core, ObjectKind::Numa, ObjectKind::Package],
        4 => &[ObjectKind::Core, ObjectKind::L3, ObjectKind::Numa, ObjectKind::Package],
        _ => &[ObjectKind::Core, ObjectKind::L3, ObjectKind::Die, ObjectKind::Numa, ObjectKind::Package],
    };
    fn members(levels: &[(ObjectKind, u32)], next: &mut u32) -> Vec<Object> {
        let Some((&(kind, arity), inner)) = levels.split_last() else {
            *next += 1;
            return vec![Object::pu(*next - 1)];
        };
        (0..arity).map(|_| Object::new(kind, members(inner, next))).collect()
    }
    let kind = |level: usize| kinds.get(level).copied().unwrap_or(ObjectKind::Group);
    let levels: Vec<(ObjectKind, u32)> =
        arities.iter().enumerate().map(|(level, &arity)| (kind(level), arity)).collect();
    Object::new(ObjectKind::Machine, members(&levels, &mut 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(node: &Object, unit: Unit) -> Vec<Vec<u32>> {
        let levels = Levels::new(std::slice::from_ref(node), unit);
        levels.leaves(node).into_iter().map(|leaf| leaf.digits).collect()
    }

    fn core(pus: &[u32]) -> Object {
        Object::new(ObjectKind::Core, pus.iter().map(|&pu| Object::pu(pu)).collect())
    }

    #[test]
    fn regular_nodes_count_like_numbers() {
        let node = regular(&[2, 3]);
        let levels = Levels::new(std::slice::from_ref(&node), Unit::Core);
        assert_eq!(levels.kinds().collect::<Vec<_>>(), [ObjectKind::Core, ObjectKind::Package]);
        let leaves = levels.leaves(&node);
        let expected: Vec<Vec<u32>> = (0..6).map(|pe| vec![pe % 2, pe / 2]).collect();
        assert_eq!(digits(&node, Unit::Core), expected);
        let (core, cpus) = (CoreRange::new(2, 1, 1), &[5][..]);
        assert_eq!((leaves[5].cores.as_slice(), leaves[5].cpus.as_slice()), (&[core][..], cpus));
    }

    #[test]
    fn what_stands_beside_each_other_is_told_apart_whatever_it_is() {
        let group = Object::new(ObjectKind::Group, vec![core(&[0, 4]), core(&[1])]);
        let node = Object::new(ObjectKind::Machine, vec![group, core(&[2, 5]), Object::pu(3)]);
        for (unit, count) in [(Unit::Core, 4), (Unit::Pu, 6)] {
            let mut all = digits(&node, unit);
            assert_eq!(all.len(), count);
            all.sort();
            all.dedup();
            assert_eq!(all.len(), count);
        }
        let levels = Levels::new(std::slice::from_ref(&node), Unit::Core);
        let cores: Vec<u32> = levels.leaves(&node).iter().map(|leaf| leaf.cores[0].first).collect();
        assert_eq!(cores, [0, 1, 2, 3]);
        let levels = Levels::new(std::slice::from_ref(&node), Unit::Pu);
        let cores: Vec<u32> = levels.leaves(&node).iter().map(|leaf| leaf.cores[0].first).collect();
        assert_eq!(cores, [0, 0, 1, 2, 2, 3]);
    }

    #[test]
    fn kinds_that_hold_each_other_are_told_apart_by_depth() {
        let inner = |outer, inner, pu| {
            Object::new(outer, vec![Object::new(inner, vec![core(&[pu]), core(&[pu + 1])])])
        };
        let node = Object::new(
            ObjectKind::Machine,
            vec![
                inner(ObjectKind::Numa, ObjectKind::Package, 0),
                inner(ObjectKind::Package, ObjectKind::Numa, 2),
            ],
        );
        let mut all = digits(&node, Unit::Core);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 4);
    }
}
