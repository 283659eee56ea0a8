//! Graphs of Scotch: read from arrays that it lends, and built, checked and written here where it is not there.
#![allow(unsafe_code)] // a foreign interface

use std::collections::HashMap;

use viem::CsrGraph;
use viem::base::types::{NodeId, Weight};
use viem_ffi::{LooseGraph, array, optional};

use crate::{Num, text};

/// The arrays of a graph, which belong to the program. Vertices and arcs count from `base`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrays {
    pub base: Num,
    pub num_vertices: Num,
    pub num_arcs: Num,
    /// Where the arcs of each vertex begin, and where they end.
    pub begins: *mut Num,
    pub ends: *mut Num,
    /// May be null, as may the next one and the last.
    pub vertex_weights: *mut Num,
    pub labels: *mut Num,
    pub targets: *mut Num,
    pub edge_weights: *mut Num,
}

/// The same as slices whose lengths are known to fit each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub base: i64,
    begins: &'a [Num],
    ends: &'a [Num],
    pub vertex_weights: Option<&'a [Num]>,
    pub labels: Option<&'a [Num]>,
    targets: &'a [Num],
    edge_weights: Option<&'a [Num]>,
}

impl Arrays {
    /// # Safety
    ///
    /// The arrays are as long as Scotch says, and do not change as long as the view is used.
    pub unsafe fn view<'a>(&self) -> Result<View<'a>, String> {
        let base = i64::from(self.base);
        let n = usize::try_from(self.num_vertices).map_err(|_| "the number of vertices is negative")?;
        // SAFETY: this and what follows: the caller's promise.
        let begins = unsafe { array("verttab", self.begins, n) }.map_err(text)?;
        let ends = unsafe { array("vendtab", self.ends, n) }.map_err(text)?;
        let mut last = base;
        for (&begin, &end) in begins.iter().zip(ends) {
            if i64::from(begin) < base || end < begin {
                return Err("the offsets of the arcs fall, or are below the base".into());
            }
            last = last.max(end.into());
        }
        let extent = usize::try_from(last - base).map_err(text)?;
        Ok(View {
            base,
            begins,
            ends,
            vertex_weights: unsafe { optional("velotab", self.vertex_weights, n) }.map_err(text)?,
            labels: unsafe { optional("vlbltab", self.labels, n) }.map_err(text)?,
            targets: unsafe { array("edgetab", self.targets, extent) }.map_err(text)?,
            edge_weights: unsafe { optional("edlotab", self.edge_weights, extent) }.map_err(text)?,
        })
    }
}

impl View<'_> {
    pub fn num_vertices(&self) -> usize {
        self.begins.len()
    }

    /// The arcs of a vertex: the other end, counted from 0 if it exists, and the weight.
    pub fn arcs(&self, vertex: usize) -> impl Iterator<Item = (i64, i64)> {
        let range = self.positions(vertex);
        range.map(|arc| {
            let weight = self.edge_weights.map_or(1, |weights| weights[arc].into());
            (i64::from(self.targets[arc]) - self.base, weight)
        })
    }

    fn positions(&self, vertex: usize) -> std::ops::Range<usize> {
        let position = |offset: Num| (i64::from(offset) - self.base) as usize;
        position(self.begins[vertex])..position(self.ends[vertex])
    }

    /// The length of the arrays of the arcs, which may have gaps.
    pub fn extent(&self) -> usize {
        self.targets.len()
    }

    pub fn num_arcs(&self) -> usize {
        (0..self.num_vertices()).map(|vertex| self.positions(vertex).len()).sum()
    }

    pub fn has_edge_weights(&self) -> bool {
        self.edge_weights.is_some()
    }

    /// The graph to be partitioned; of one that is not symmetric, the union of both directions. O(n + m).
    pub fn graph(&self) -> Result<CsrGraph, String> {
        let n = self.num_vertices();
        let mut offsets = vec![0; n + 1];
        for vertex in 0..n {
            offsets[vertex + 1] = offsets[vertex] + self.positions(vertex).len();
        }
        if offsets[n] >= u32::MAX as usize {
            return Err("the graph has too many arcs".into());
        }
        let is_compact = (0..n).all(|vertex| self.positions(vertex).start == offsets[vertex]);
        let gathered = |values: &[Num]| -> Vec<Num> {
            (0..n).flat_map(|vertex| &values[self.positions(vertex)]).copied().collect()
        };
        let copies = (!is_compact).then(|| (gathered(self.targets), self.edge_weights.map(gathered)));
        let loose = LooseGraph {
            base: self.base,
            offsets: &offsets,
            targets: copies.as_ref().map_or(&self.targets[..offsets[n]], |copies| &copies.0),
            edge_weights: copies.as_ref().map_or(self.edge_weights, |copies| copies.1.as_deref()),
            vertex_weights: self.vertex_weights,
        };
        loose.symmetric_graph().map_err(text)
    }

    /// Fails unless the graph is one as Scotch defines it: symmetric, without loops and multiple edges, with positive weights of edges. O(n + m).
    pub fn check(&self) -> Result<(), String> {
        let n = self.num_vertices();
        let (mut offsets, mut targets, mut weights) = (vec![0], Vec::new(), Vec::new());
        for vertex in 0..n {
            for (target, weight) in self.arcs(vertex) {
                let target = NodeId::try_from(target)
                    .map_err(|_| format!("vertex {vertex} has a neighbour that does not exist"))?;
                targets.push(target);
                weights.push(weight);
            }
            offsets.push(targets.len());
        }
        let of_vertices: Vec<Weight> = self
            .vertex_weights
            .map_or_else(|| vec![1; n], |weights| weights.iter().map(|&weight| weight.into()).collect());
        CsrGraph::new(offsets, targets, weights, of_vertices).map_err(text)?;
        Ok(())
    }

    /// The position of each label; none without labels, where vertices have their numbers.
    pub fn by_label(&self) -> Option<HashMap<i64, usize>> {
        self.labels
            .map(|labels| labels.iter().enumerate().map(|(vertex, &label)| (label.into(), vertex)).collect())
    }

    /// The label of a vertex, or its number.
    pub fn label(&self, vertex: usize) -> i64 {
        self.labels.map_or(vertex as i64 + self.base, |labels| labels[vertex].into())
    }
}
