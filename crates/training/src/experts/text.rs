//! Traces, numbers of copies and placements as files.
//!
//! A placement is JSON, as SGLang reads it (`--init-expert-location`): `{"physical_to_logical_map": [[0, 2, 1, 3], …]}` has the expert in each slot,
//! layer by layer.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::Value;

use super::{ExpertCopies, ExpertError, ExpertId, ExpertPlacement, ExpertRouting, RoutingBuilder};
use crate::expert_trace::{self, TraceEntry, TraceFound, TraceKind};
use viem_io::{ContentError, ReadError, Source, Text};

/// The list of a placement.
const LIST: &str = "physical_to_logical_map";

/// A fault in a placement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum ExpertPlacementFault {
    #[error("this is not JSON: {reason}")]
    Json { reason: String },
    #[error("a placement has a list `{LIST}` of lists: the expert in each slot of each layer")]
    NoList,
    #[error("layer {layer}: `{text}` is not an expert (a whole number from 0)")]
    Expert { layer: usize, text: String },
    #[error("{reason}")]
    Unfit { reason: String },
}

/// A routing as it was read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RoutingFile {
    /// The choices of tokens.
    pub routing: ExpertRouting,
    /// The findings beside them.
    pub found: TraceFound,
}

/// Reads a trace of a model with this many experts in each layer, in any of the forms of [`expert_trace`]. Where it counts pairs and no loads, an
/// expert's load is the number of its pairs. O(file).
///
/// ```
/// use viem_io::Source;
/// use viem_training::experts::text;
///
/// // Two tokens of layer 0, one of layer 1.
/// let trace = "layer,expert,expert\n0,3,1\n0,1,3\n1,0,2\n";
/// let routing = text::read_routing(Source::new("a trace", trace.as_bytes())?, 4)?;
/// assert_eq!(routing.layer(0).sets().collect::<Vec<_>>(), [(&[1, 3][..], 2)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_routing(source: Source<'_>, num_experts: ExpertId) -> Result<ExpertRouting, ReadError> {
    read_trace(source, num_experts, None).map(|file| file.routing)
}

/// The same with the findings beside the routing; if a kind is given, the file is read as such a one.
pub fn read_trace(
    source: Source<'_>,
    num_experts: ExpertId,
    kind: Option<TraceKind>,
) -> Result<RoutingFile, ReadError> {
    let file = source.name().to_owned();
    let invalid = |error: ExpertError| {
        let kind = ContentError::new(error);
        ReadError::Invalid { file: file.clone(), line: 1, column: 1, kind }
    };
    let mut builder = RoutingBuilder::new(num_experts).map_err(invalid)?;
    let mut pairs = Pairs::default();
    let found = expert_trace::read(source, num_experts, kind, &mut |layer, entry| {
        let layer = layer as usize;
        match entry {
            TraceEntry::Token(experts) => builder.add(layer, experts, 1),
            TraceEntry::Pair(experts, tokens) => {
                pairs.add(layer, experts, tokens);
                builder.add_set(layer, &experts, tokens)
            }
            TraceEntry::Load(expert, tokens) => {
                pairs.has_loads |= tokens > 0;
                builder.add_load(layer, expert, tokens)
            }
        }
        .map_err(ContentError::new)
    })?;
    pairs.add_loads(&mut builder).map_err(invalid)?;
    let routing = builder.with_decimals(found.decimals).build().map_err(invalid)?;
    Ok(RoutingFile { routing, found })
}

/// The loads that pairs are, if there are no others.
#[derive(Default)]
struct Pairs {
    has_loads: bool,
    /// The loads by layer and expert.
    loads: BTreeMap<(usize, ExpertId), u64>,
}

impl Pairs {
    fn add(&mut self, layer: usize, experts: [ExpertId; 2], tokens: u64) {
        for expert in experts {
            let load = self.loads.entry((layer, expert)).or_default();
            *load = load.saturating_add(tokens);
        }
    }

    fn add_loads(self, builder: &mut RoutingBuilder) -> Result<(), ExpertError> {
        let loads = if self.has_loads { BTreeMap::new() } else { self.loads };
        loads.into_iter().try_for_each(|((layer, expert), tokens)| builder.add_load(layer, expert, tokens))
    }
}

/// Reads how many copies each expert has: a line for each layer, or one for all, with a number from 1 for each expert.
pub fn read_copies(source: Source<'_>, routing: &ExpertRouting) -> Result<ExpertCopies, ReadError> {
    let file = source.name().to_owned();
    let rows = expert_trace::read_copies(source)?;
    ExpertCopies::given(routing, rows).map_err(|error| {
        let kind = ContentError::new(error);
        ReadError::Invalid { file, line: 1, column: 1, kind }
    })
}

/// Reads a placement of this many experts in each layer. O(file).
pub fn read_placement(source: Source<'_>, num_experts: ExpertId) -> Result<ExpertPlacement, ReadError> {
    let text = Text::read(source)?;
    placement(text.as_str(), num_experts).map_err(|(line, column, fault)| {
        let kind = ContentError::new(fault);
        ReadError::Invalid { file: text.name().to_owned(), line, column, kind }
    })
}

fn placement(text: &str, num_experts: ExpertId) -> Result<ExpertPlacement, (u64, u64, ExpertPlacementFault)> {
    let parsed: Value = serde_json::from_str(text).map_err(|error| {
        let fault = ExpertPlacementFault::Json { reason: error.to_string() };
        (error.line().max(1) as u64, error.column().max(1) as u64, fault)
    })?;
    let at_start = |fault| (1, 1, fault);
    let list = parsed.get(LIST).and_then(Value::as_array).ok_or(at_start(ExpertPlacementFault::NoList))?;
    let mut layers = Vec::with_capacity(list.len());
    for (layer, slots) in list.iter().enumerate() {
        let slots = slots.as_array().ok_or(at_start(ExpertPlacementFault::NoList))?;
        let expert = |slot: &Value| {
            let expert = slot.as_u64().and_then(|expert| ExpertId::try_from(expert).ok());
            let text = || slot.to_string().chars().take(40).collect();
            expert.ok_or_else(|| at_start(ExpertPlacementFault::Expert { layer, text: text() }))
        };
        layers.push(slots.iter().map(expert).collect::<Result<Vec<_>, _>>()?);
    }
    ExpertPlacement::new(num_experts, layers)
        .map_err(|error| at_start(ExpertPlacementFault::Unfit { reason: error.to_string() }))
}

/// Writes a placement, a line for each layer. O(slots).
pub fn write_placement(out: &mut (impl Write + ?Sized), placement: &ExpertPlacement) -> std::io::Result<()> {
    write!(out, "{{\"{LIST}\": [")?;
    for (number, slots) in placement.layers().iter().enumerate() {
        let slots: Vec<String> = slots.iter().map(ExpertId::to_string).collect();
        write!(out, "{}\n[{}]", if number > 0 { "," } else { "" }, slots.join(", "))?;
    }
    out.write_all(b"\n]}\n")
}
