//! The meanings of the names over columns.

use super::fault::ExpertTraceFault;
use viem_io::table::{Fields, shortened};

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Layer,
    Expert,
    Count,
    /// The number of the token.
    Token,
    /// The time or place of the recording.
    Step,
    /// The number of a line.
    Index,
    Unknown,
}

/// The names of columns, without digits at their end.
const NAMES: [(Role, &[&str]); 6] = [
    (
        Role::Count,
        &[
            "activations",
            "cnt",
            "count",
            "counts",
            "expert_count",
            "expert_load",
            "freq",
            "frequencies",
            "frequency",
            "hits",
            "load",
            "loads",
            "logical_count",
            "n",
            "n_tokens",
            "ntokens",
            "num",
            "num_tokens",
            "number",
            "token_count",
            "token_counts",
            "tokens",
            "tokens_per_expert",
            "total",
            "usage",
            "value",
            "weight",
            "weights",
        ],
    ),
    (Role::Layer, &["l", "layer", "layers", "moe_layer"]),
    (Role::Token, &["pos", "position", "req", "request", "sample", "seq", "sequence", "tok", "token"]),
    (
        Role::Step,
        &[
            "batch",
            "datetime",
            "device",
            "epoch",
            "forward_pass",
            "global_step",
            "gpu",
            "host",
            "interval",
            "iter",
            "iteration",
            "node",
            "pass",
            "phase",
            "rank",
            "step",
            "time",
            "timestamp",
            "timestep",
            "window",
        ],
    ),
    (
        Role::Expert,
        &[
            "choice",
            "chosen",
            "e",
            "expert",
            "experts",
            "k",
            "logical_expert",
            "selected",
            "selected_expert",
            "selected_experts",
            "top",
            "top_k",
            "topk",
            "topk_expert",
            "topk_experts",
        ],
    ),
    (Role::Index, &["", "id", "idx", "index", "row", "unnamed:"]),
];

impl Role {
    pub(super) fn of(name: &[u8]) -> Self {
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        let name = name.replace(['-', ' ', '.', '[', ']', '(', ')'], "_");
        let called =
            |name: &str| NAMES.iter().find(|(_, names)| names.contains(&name)).map(|&(role, _)| role);
        let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '_');
        if stem.is_empty() && !name.is_empty() {
            // The number of an expert.
            return Self::Unknown;
        }
        let endings = ["_ids", "_idx", "_id", "_index", "_number", "_no", "ids", "idx", "id"];
        let shorter = endings.iter().filter_map(|ending| stem.strip_suffix(ending));
        called(stem).or_else(|| shorter.map(called).find_map(|role| role)).unwrap_or(Self::Unknown)
    }
}

/// The columns that a first line names.
pub(super) struct Columns {
    pub(super) roles: Vec<Role>,
    names: Vec<String>,
}

impl Columns {
    pub(super) fn named(mut fields: Fields<'_>) -> Self {
        let fields = std::iter::from_fn(|| fields.next_of_table());
        let (roles, names) = fields.map(|field| (Role::of(field.text), shortened(field.text))).unzip();
        Self { roles, names }
    }

    pub(super) fn count(&self, role: Role) -> usize {
        self.roles.iter().filter(|&&other| other == role).count()
    }

    fn first(&self, role: Role) -> Option<usize> {
        self.roles.iter().position(|&other| other == role)
    }

    fn name(&self, place: usize) -> String {
        self.names[place].clone()
    }

    /// The only column of a role, if there is one.
    pub(super) fn only(&self, role: Role, what: &'static str) -> Result<Option<usize>, ExpertTraceFault> {
        let mut places = (0..self.roles.len()).filter(|&place| self.roles[place] == role);
        match (places.next(), places.next()) {
            (_, Some(second)) => Err(ExpertTraceFault::ColumnTwice { what, name: self.name(second) }),
            (first, None) => Ok(first),
        }
    }

    /// The names of the columns of some roles.
    pub(super) fn names_of(&self, roles: &[Role]) -> Vec<String> {
        let places = (0..self.roles.len()).filter(|&place| roles.contains(&self.roles[place]));
        places.map(|place| self.name(place)).collect()
    }

    /// Returns whether there is a column of loads for each of this many experts.
    pub(super) fn has_each(&self, experts: usize) -> bool {
        let each = self.count(Role::Expert) + self.count(Role::Unknown);
        let is_repeated = experts > 1
            && (1..self.roles.len()).any(|place| {
                self.roles[place] == Role::Expert && self.names[..place].contains(&self.names[place])
            });
        each == experts && self.count(Role::Count) + self.count(Role::Token) == 0 && !is_repeated
    }

    /// Returns whether there is one of loads beside one of experts, or alone. Weights of experts in a step may be those of a token.
    pub(super) fn is_table(&self, are_loads: bool) -> bool {
        let are_counts = self.names_of(&[Role::Count]).iter().all(|name| !is_weight(name));
        let is_of_tokens = self.count(Role::Token) > 0 || self.has_steps() && !are_counts;
        let others = [Role::Expert, Role::Layer, Role::Unknown, Role::Step, Role::Token];
        let is_alone = others.iter().all(|&role| self.count(role) == 0);
        self.count(Role::Count) > 0
            && (are_loads || !is_of_tokens)
            && (self.count(Role::Expert) == 1 || is_alone)
    }

    /// Returns whether there are several steps, over which loads are summed.
    pub(super) fn has_steps(&self) -> bool {
        self.count(Role::Step) > 0
    }

    /// Returns whether a line may be of a token.
    pub(super) fn has_tokens(&self) -> bool {
        self.count(Role::Token) > 0 || self.has_steps()
    }

    /// Fails unless experts of tokens can be read by these names.
    pub(super) fn check_choices(&self) -> Result<(), ExpertTraceFault> {
        self.only(Role::Layer, "layers")?;
        if let Some(place) = self.first(Role::Count) {
            return Err(ExpertTraceFault::CountOfChoices { name: self.name(place) });
        }
        match self.first(Role::Unknown).filter(|_| self.first(Role::Expert).is_some()) {
            Some(place) => Err(ExpertTraceFault::UnknownColumn { name: self.name(place) }),
            None => Ok(()),
        }
    }

    /// Makes the first column that of layers, and the others those of experts, if no name is known.
    pub(super) fn by_place(mut self) -> Self {
        if self.roles.iter().all(|&role| role == Role::Unknown) {
            self.roles.fill(Role::Expert);
            self.roles[0] = Role::Layer;
        }
        self
    }

    /// Returns the columns of files without names: a layer, then experts.
    pub(super) fn unnamed() -> Self {
        Self { roles: vec![Role::Layer], names: Vec::new() }
    }

    /// The role of a column. The text behind the last name belongs to it.
    pub(super) fn role(&self, place: usize) -> Role {
        self.roles.get(place).copied().unwrap_or(Role::Expert)
    }

    /// The columns that nothing is known of.
    pub(super) fn passed_over(&self) -> Vec<String> {
        self.names_of(&[Role::Unknown])
    }

    /// The columns that loads are summed over.
    pub(super) fn summed_over(&self) -> Vec<String> {
        self.names_of(&[Role::Step, Role::Token])
    }
}

/// Returns whether a name of numbers may be that of the weight that a token gives to an expert.
fn is_weight(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["weight", "value"].iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_known_by_many_names() {
        for (role, names) in [
            (Role::Layer, "layer layer_id Layer layer_idx layerId LAYER_INDEX layer-id moe_layer"),
            (
                Role::Expert,
                "expert expert_id expert1 expert_2 e0 topk_ids_3 top1 Expert.1 expert_idx logical_expert_id",
            ),
            (Role::Count, "count counts load tokens num_tokens token_count frequency weight expert_count"),
            (Role::Token, "token token_id pos tokenid token_idx"),
            (Role::Step, "step rank timestamp iter_id"),
            (Role::Index, "index idx id"),
            (Role::Unknown, "a prob score share"),
        ] {
            names.split(' ').for_each(|name| assert_eq!(Role::of(name.as_bytes()), role, "{name}"));
        }
        assert_eq!(Role::of(b""), Role::Index);
        assert_eq!(Role::of(b"Unnamed: 0"), Role::Index);
    }
}
