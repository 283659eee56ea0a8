//! What the programs share about remapping: an older partition or mapping is resumed, and few vertices change place.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use crate::console::Console;
use crate::error::{PreviousError, Result, UsageError, VerificationError};
use crate::files;
use viem::base::number_list::{ListOf, is_list};
use viem::base::observer::Observer;
use viem::base::text::counted;
use viem::base::types::Weight;
use viem::graph::CsrGraph;
use viem::partition::{CurvePoint, Migration, MigrationWeight, PreviousAssignment, Remapping, RemovedBlocks};
use viem::solve::{Config, Request, Solution};
use viem_io as io;
use viem_io::{ReadError, Source, number_list};
use viem_report::picture;
use viem_verify::{self as verify, OldText};

/// Blocks may have been empty, so they may have numbers beyond the greatest in an older partition; below this, as a bit is kept for each.
const MOST_EMPTY: usize = 1 << 24;

/// A previous assignment, and what it costs to depart from it.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Remapping")]
pub(crate) struct RemapOptions {
    /// Keep most vertices where this partition or mapping has them. Line i holds the block or PE of vertex i; minimises the
    /// cut, or J on a machine, plus --migration-weight times the weight of the vertices that move
    #[arg(long, value_name = "FILE", requires = "migration_weight")]
    previous: Option<PathBuf>,

    /// Cost of moving a vertex of weight 1. In units of the cut or of J; with 0, only the cut or J counts
    #[arg(long, value_name = "X", requires = "previous", allow_negative_numbers = true)]
    migration_weight: Option<MigrationWeight>,

    /// The blocks or PEs of the previous file that are gone. Numbers and ranges such as 3,8-11, or a file
    /// of them; the others keep their order and are numbered from 0, and new ones come last
    #[arg(hide_short_help = true, long, value_name = "LIST|FILE", requires = "previous")]
    removed: Option<String>,

    /// The previous vertex that each vertex of the graph comes from. One per line, from 0; for graphs that
    /// were refined
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "previous")]
    parents: Option<PathBuf>,

    /// Also show the cut or J against migration. The graph is remapped with a series of migration weights; with a file
    /// name, draw it too
    #[arg(hide_short_help = true, long, value_name = "FILE.svg", num_args = 0..=1, require_equals = true, requires = "previous")]
    curve: Option<Option<PathBuf>>,
}

/// An older partition or mapping as it was read.
pub(crate) struct Remap<'a> {
    options: &'a RemapOptions,
    pub(crate) homes: PreviousAssignment,
    pub(crate) weight: MigrationWeight,
}

impl RemapOptions {
    /// The previous assignment, which may be replaced by its successor.
    pub(crate) fn previous(&self) -> Option<&Path> {
        self.previous.as_deref()
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

    /// An error if the time of a curve is limited.
    pub(crate) fn check_limit(&self, has_limit: bool) -> Result<()> {
        if self.curve.is_some() && has_limit {
            let message = "--time-limit does not go with --curve, whose points can only be compared if each was searched to its end";
            return Err(UsageError(message.to_owned()).into());
        }
        Ok(())
    }

    /// The blocks of an older partition that have left, also such that were empty.
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

    /// Reads what is to be resumed by a graph, if anything is, in `num_blocks` blocks.
    pub(crate) fn read(&self, graph: &CsrGraph, num_blocks: usize) -> Result<Option<Remap<'_>>> {
        let (Some(path), Some(weight)) = (&self.previous, self.migration_weight) else { return Ok(None) };
        let expected = self.parents.is_none().then(|| graph.num_nodes());
        let old = io::partition::read(Source::open(path)?, expected)?;
        let left = self.blocks_that_left(&old)?;
        let unfit = |source| PreviousError { file: files::name(path), source };
        let mut homes = PreviousAssignment::after(&old, RemovedBlocks(&left), num_blocks).map_err(unfit)?;
        if let Some(path) = &self.parents {
            let parents = io::parents::read(Source::open(path)?, graph.num_nodes(), old.len())?;
            homes = homes.of_children(&parents).map_err(unfit)?;
        }
        Ok(Some(Remap { options: self, homes, weight }))
    }
}

impl Remap<'_> {
    /// The solution of a request that resumes this, the best for the weight that was asked for, and the curve if it was asked for. `objective` is
    /// what the cost is called, `total` the weight of all vertices.
    pub(crate) fn solve(
        &self,
        request: Request<'_>,
        config: &Config,
        (objective, total, console): (&str, Weight, Console),
        observer: &dyn Observer,
    ) -> Result<(Solution, Option<Curve>)> {
        let (is_asked, remapping) = (self.options.curve.is_some(), Remapping::new(&self.homes, self.weight));
        let remapping = if is_asked { remapping.with_curve() } else { remapping };
        let found = request.previous(remapping).observed(observer).solve_for_weights(config)?;
        let curve = is_asked.then(|| self.curve(found.curve(), (objective, total), console));
        Ok((found.into_best(self.weight)?, curve))
    }

    fn curve(&self, points: Vec<CurvePoint>, (objective, total): (&str, Weight), console: Console) -> Curve {
        console.line(format_args!(
            "{:>16} {:>20} {:>16} {:>9} {:>12}",
            "migration weight", objective, "migration", "share", "overload"
        ));
        for point in &points {
            let CurvePoint { migration_weight, cost, migration: Migration { weight, .. }, overload, .. } =
                point;
            let share = 100.0 * *weight as f64 / total.max(1) as f64;
            console.line(format_args!(
                "{migration_weight:>16} {cost:>20} {weight:>16} {share:>7.2} % {overload:>12}"
            ));
        }
        let name = self.options.previous().map(files::name).unwrap_or_default();
        let picture = picture::draw_curve(&name, objective, total, &points);
        Curve { points, picture }
    }

    /// Prints what moves.
    pub(crate) fn print(&self, console: Console, total: Weight, migration: &Migration) {
        let Migration { weight, vertices, .. } = migration;
        let share = 100.0 * *weight as f64 / total.max(1) as f64;
        console.line(format_args!(
            "migration: {vertices} of weight {weight} move, {share:.2} % of all",
            vertices = counted(vertices, "vertex", "vertices")
        ));
    }

    /// What was resumed, as written to `--json`.
    pub(crate) fn report(&self, curve: Option<&Curve>) -> JsonRemap {
        JsonRemap {
            previous: self.options.previous().map(files::name).unwrap_or_default(),
            migration_weight: self.weight,
            removed: self.options.removed.clone(),
            parents: self.options.parents.as_deref().map(files::name),
            curve: curve.map(|curve| curve.points.clone()),
        }
    }

    /// Has the auditor recompute from the texts of the graph and of the new partition or mapping what changes place.
    pub(crate) fn check(&self, graph: &str, mapping: &str, migration: Migration) -> Result<()> {
        let [old, parents, left] = self.texts()?;
        let old =
            OldText { blocks: &old.unwrap_or_default(), parents: parents.as_deref(), left: left.as_deref() };
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

    /// The texts that the auditor takes: the older partition, the parents, the list of those that have left.
    fn texts(&self) -> Result<[Option<String>; 3]> {
        let text = |path: Option<&Path>| path.map(files::text).transpose();
        let left = match self.options.file_of_left() {
            Some(file) => Some(files::text(file)?),
            None => self.options.removed.clone(),
        };
        Ok([text(self.options.previous())?, text(self.options.parents.as_deref())?, left])
    }
}

/// A curve and its picture.
pub(crate) struct Curve {
    points: Vec<CurvePoint>,
    /// The text of an SVG file.
    pub(crate) picture: String,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<Vec<CurvePoint>>,
}
