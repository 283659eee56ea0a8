//! The start of `viem remap`: a previous partition or mapping, of which few vertices move.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use crate::console::Console;
use crate::error::{PreviousError, Result, UsageError, VerificationError};
use crate::files;
use viem::base::number_list::{ListOf, is_list};
use viem::base::text::counted;
use viem::base::types::{Cost, Weight};
use viem::graph::CsrGraph;
use viem::mapping::Mapping;
use viem::partition::{CurvePoint, Migration, MigrationWeight, PreviousAssignment, Remapping, RemovedBlocks};
use viem::solve::{Config, Report, Request, Solution};
use viem_io as io;
use viem_io::output::OutputId;
use viem_io::{ReadError, Source, number_list};
use viem_report::picture;
use viem_verify::{self as verify, OldText};

/// Blocks may have been empty, so they may have numbers beyond the greatest in an older partition; below this, as a bit is kept for each.
const MOST_EMPTY: usize = 1 << 24;

/// A previous assignment, and what it costs to depart from it.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Remapping")]
pub(crate) struct RemapOptions {
    /// The previous partition or mapping. Line i holds the block or PE of vertex i, both from 0; the result may replace it
    #[arg(help_heading = None::<&str>)]
    previous: PathBuf,

    /// Cost of moving a vertex of weight 1. In units of the cut or of J, from 0 to 10^9 with at most six decimal places; with 0,
    /// only the cut or J counts
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    migration_weight: MigrationWeight,

    /// The blocks or PEs of the previous file that are gone. Numbers and ranges such as 3,8-11, or a file
    /// of them; the others keep their order and are numbered from 0, and new ones come last
    #[arg(long, value_name = "LIST|FILE")]
    removed: Option<String>,

    /// The previous vertex that each vertex of the graph comes from. One per line, from 0; for graphs that
    /// were refined
    #[arg(long, value_name = "FILE")]
    parents: Option<PathBuf>,

    /// Also show the cut or J against migration. The graph is remapped with a series of migration weights, and each search runs
    /// to its end; with a file name, the curve is drawn, too
    #[arg(long, value_name = "FILE.svg", num_args = 0..=1, require_equals = true, conflicts_with = "time_limit")]
    curve: Option<Option<PathBuf>>,
}

/// A previous partition or mapping as it was read.
pub(crate) struct Remap<'a> {
    options: &'a RemapOptions,
    homes: PreviousAssignment,
    /// Blocks that have left and had no vertex.
    unused: Vec<u32>,
    num_blocks: usize,
    /// The output for the picture of the curve.
    to: Option<OutputId>,
}

impl RemapOptions {
    /// The previous assignment, which may be replaced by its successor.
    pub(crate) fn previous(&self) -> &Path {
        &self.previous
    }

    /// Every other file that is read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.parents.as_deref().into_iter().chain(self.file_of_left())
    }

    fn file_of_left(&self) -> Option<&Path> {
        self.removed.as_deref().filter(|text| !is_list(text)).map(Path::new)
    }

    /// The file of the picture of the curve, if there is to be one.
    pub(crate) fn picture(&self) -> Option<&Path> {
        self.curve.iter().flatten().next().map(PathBuf::as_path)
    }

    /// The blocks of the previous assignment that are gone, including empty ones.
    fn blocks_that_left(&self, old: &[u32]) -> Result<Vec<u32>> {
        let Some(left) = &self.removed else { return Ok(Vec::new()) };
        let in_use = old.iter().max().map_or(0, |&most| most as usize + 1);
        let list = number_list::open(left, "--removed")?;
        number_list::read(list, ListOf::Blocks, in_use.max(MOST_EMPTY)).map_err(|error| match error {
            ReadError::Invalid { .. } if self.file_of_left().is_none() => {
                UsageError(error.to_string()).into()
            }
            error => error.into(),
        })
    }

    /// Reads the previous assignment of the vertices of a graph that is remapped to `num_blocks` blocks. The picture of the curve is written to `to`.
    pub(crate) fn read(
        &self,
        graph: &CsrGraph,
        num_blocks: usize,
        to: Option<OutputId>,
    ) -> Result<Remap<'_>> {
        let path = &self.previous;
        let expected = self.parents.is_none().then(|| graph.num_nodes());
        let old = io::partition::read(Source::open(path)?, expected).map_err(PreviousError::Unread)?;
        let left = self.blocks_that_left(&old)?;
        let used: HashSet<u32> = old.iter().copied().collect();
        let unused = left.iter().copied().filter(|block| !used.contains(block)).collect();
        let unfit = |source| PreviousError::Unfit { file: files::name(path), source };
        let mut homes = PreviousAssignment::after(&old, RemovedBlocks(&left), num_blocks).map_err(unfit)?;
        if let Some(path) = &self.parents {
            let parents = io::parents::read(Source::open(path)?, graph.num_nodes(), old.len())?;
            homes = homes.of_children(&parents).map_err(unfit)?;
        }
        Ok(Remap { options: self, homes, unused, num_blocks, to })
    }

    /// Prints a curve, and draws it.
    fn curve(&self, points: Vec<CurvePoint>, (objective, total): (&str, Weight), console: Console) -> Curve {
        console.line(format_args!(
            "{:>16} {:>20} {:>16} {:>9} {:>12}",
            "migration weight", objective, "migration", "share", "overload"
        ));
        for point in &points {
            let CurvePoint { migration_weight, cost, migration: Migration { weight, .. }, overload, .. } =
                point;
            let share = percent(*weight, total);
            console.line(format_args!(
                "{migration_weight:>16} {cost:>20} {weight:>16} {share:>7.2} % {overload:>12}"
            ));
        }
        let picture = picture::draw_curve(&files::name(&self.previous), objective, total, &points);
        Curve { points, picture }
    }

    /// The texts for the auditor: the previous partition, the parents, and the list of the blocks that are gone.
    fn texts(&self) -> Result<(String, [Option<String>; 2])> {
        let left = match self.file_of_left() {
            Some(file) => Some(files::text(file)?),
            None => self.removed.clone(),
        };
        Ok((files::text(&self.previous)?, [self.parents.as_deref().map(files::text).transpose()?, left]))
    }
}

impl<'a> Remap<'a> {
    /// The best solution of a request that resumes this, for the requested migration weight. `objective` is the name of the cost.
    pub(crate) fn solve(
        &self,
        request: Request<'_>,
        (graph, config): (&CsrGraph, &Config),
        (objective, console): (&str, Console),
    ) -> Result<(Solution, Remapped<'a>)> {
        let &Self { options, ref homes, ref unused, num_blocks, to } = self;
        if let Some(block) = unused.first() {
            let others = if unused.len() == 1 { "" } else { " and others" };
            console
                .warn(format_args!("--removed has {block}{others}, where the previous file has no vertex"));
        }
        let (weight, total) = (options.migration_weight, graph.total_node_weight());
        let remapping = Remapping::new(homes, weight);
        let remapping = if options.curve.is_some() { remapping.with_curve() } else { remapping };
        let found = request.previous(remapping).solve_for_weights(config)?;
        let curve =
            options.curve.is_some().then(|| options.curve(found.curve(), (objective, total), console));
        // A vertex whose block is gone has no previous place. If J of the previous places is too large, the new ones are still valid.
        let places: Option<Vec<_>> = graph.nodes().map(|vertex| homes.of(vertex)).collect();
        let old = places.and_then(|places| Mapping::many(num_blocks, places).ok());
        let before = old.and_then(|old| request.evaluate(&old, config).ok());
        Ok((found.into_best(weight)?, Remapped { options, total, before, curve, to }))
    }
}

impl Remapped<'_> {
    /// Prints what moves.
    pub(crate) fn print(&self, console: Console, migration: &Migration) {
        let Migration { weight, vertices, .. } = migration;
        let share = percent(*weight, self.total);
        let overload =
            self.before.as_ref().and_then(|before| before.loads.as_ref()).map_or(0, |loads| loads.overload);
        if overload > 0 {
            console.line(format_args!("the previous loads exceed their bounds by {overload} in total"));
        }
        console.line(format_args!(
            "migration: {vertices} of weight {weight} move, {share:.2} % of all",
            vertices = counted(vertices, "vertex", "vertices")
        ));
    }

    /// What was resumed, as written to `--json`.
    pub(crate) fn report(&self) -> JsonRemap {
        let RemapOptions { previous, migration_weight, removed, parents, .. } = self.options;
        JsonRemap {
            previous: files::name(previous),
            migration_weight: *migration_weight,
            removed: removed.clone(),
            parents: parents.as_deref().map(files::name),
            before: self.before.as_ref().map(|report| JsonCosts { cost: report.cost, cut: report.cut }),
            curve: self.curve.as_ref().map(|curve| curve.points.clone()),
        }
    }

    /// The picture of the curve and its output, if there is one.
    pub(crate) fn picture(&self) -> Option<Drawn<'_>> {
        self.to.zip(self.curve.as_ref().map(|curve| &*curve.picture))
    }

    /// Has the auditor recompute from the texts of the graph and of the new partition or mapping what changes place.
    pub(crate) fn check(&self, graph: &str, mapping: &str, migration: Migration) -> Result<()> {
        let (old, [parents, left]) = self.options.texts()?;
        let old = OldText { blocks: &old, parents: parents.as_deref(), left: left.as_deref() };
        let (weight, vertices) = verify::audit_migration(graph, mapping, &old)?;
        if (weight, vertices) != (migration.weight as u128, migration.vertices) {
            let message = format!(
                "{vertices} of weight {weight} change place in the mapping written, but {} of weight {} were counted",
                migration.vertices,
                migration.weight,
                vertices = counted(vertices, "vertex", "vertices")
            );
            return Err(VerificationError::Differs(message).into());
        }
        Ok(())
    }
}

/// The output for an SVG file, and its text.
pub(crate) type Drawn<'a> = (OutputId, &'a str);

/// A part of a total, in percent.
fn percent(part: Weight, total: Weight) -> f64 {
    100.0 * part as f64 / total.max(1) as f64
}

/// A previous partition or mapping that was remapped.
pub(crate) struct Remapped<'a> {
    options: &'a RemapOptions,
    /// The weight of all vertices.
    total: Weight,
    /// The costs of the previous places, if all of them still exist and J fits.
    pub(crate) before: Option<Report>,
    curve: Option<Curve>,
    /// The output for its picture.
    to: Option<OutputId>,
}

/// A curve and its picture.
struct Curve {
    points: Vec<CurvePoint>,
    /// The text of an SVG file.
    picture: String,
}

/// What was resumed, as written to `--json`.
#[derive(Serialize)]
pub(crate) struct JsonRemap {
    previous: String,
    migration_weight: MigrationWeight,
    /// As it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parents: Option<String>,
    /// The costs of the previous places, if all of them still exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<JsonCosts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<Vec<CurvePoint>>,
}

/// J and the cut of a mapping.
#[derive(Serialize)]
struct JsonCosts {
    cost: Cost,
    cut: Cost,
}
