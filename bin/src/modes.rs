//! Which option means something in which mode of a program: one table per program, from which come both the refusals and the
//! option tables of the guide.

use crate::error::UsageError;
use crate::given::Given;

/// What a program is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Each process has a PE, or one of the places on a PE, of its own.
    OneToOne,
    /// Many vertices share a PE.
    ManyToOne,
    /// A many-to-one mapping is made from an older one.
    Remapping,
    /// The model is a workload.
    Workload,
    /// The model is a quadratic assignment problem.
    Qap,
    /// The experts of a model are placed.
    Experts,
    /// A graph is partitioned.
    Partition,
    /// A graph is partitioned by cutting an order of its vertices that was written before.
    Index,
    /// A partition is made from an older one.
    Repartition,
    /// Recorded traffic is summed.
    Traffic,
    /// The recorded order of messages becomes a workload.
    Order,
    /// A workload is generated.
    Generator,
    /// The traffic of a training job is computed.
    Training,
    /// A graph is checked.
    Check,
}

/// Every mode.
pub(crate) const MODES: [Mode; 14] = [
    Mode::OneToOne,
    Mode::ManyToOne,
    Mode::Remapping,
    Mode::Workload,
    Mode::Qap,
    Mode::Experts,
    Mode::Partition,
    Mode::Index,
    Mode::Repartition,
    Mode::Traffic,
    Mode::Order,
    Mode::Generator,
    Mode::Training,
    Mode::Check,
];

/// How a mode is called.
struct Words {
    /// In option tables.
    name: &'static str,
    /// What is done, as the guide explains it.
    task: &'static str,
    /// What messages call things that are done in this mode.
    plural: &'static str,
    /// What messages say of one of them.
    singular: &'static str,
}

impl Mode {
    fn words(self) -> Words {
        match self {
            Self::OneToOne => Words {
                name: "one-to-one",
                task: "each process gets a processing element, or one of the places on it, of its own",
                plural: "one-to-one mappings",
                singular: "this mapping is one-to-one",
            },
            Self::ManyToOne => Words {
                name: "many-to-one",
                task: "many vertices share a processing element: there are more of them, or `--pe_weights` is given",
                plural: "many-to-one mappings",
                singular: "this mapping is many-to-one",
            },
            Self::Remapping => Words {
                name: "remapping",
                task: "a many-to-one mapping is made from an older one: `--remap_from`",
                plural: "mappings that are remapped",
                singular: "this mapping is remapped",
            },
            Self::Workload => Words {
                name: "workload",
                task: "the model is a workload (PROCESS ...)",
                plural: "workloads",
                singular: "this is a workload",
            },
            Self::Qap => Words {
                name: "QAP",
                task: "the model is a quadratic assignment problem of QAPLIB",
                plural: "quadratic assignment problems",
                singular: "this is a quadratic assignment problem",
            },
            Self::Experts => Words {
                name: "experts",
                task: "the experts of a model are placed on GPUs: `--experts`",
                plural: "experts",
                singular: "--experts is about a trace of experts",
            },
            Self::Partition => Words {
                name: "partition",
                task: "a graph is partitioned: `--k` or `--speeds`",
                plural: "graphs that are partitioned",
                singular: "this is a graph that is partitioned",
            },
            Self::Index => Words {
                name: "index",
                task: "a graph is partitioned by cutting an order of its vertices that was written before: `--index`",
                plural: "graphs that are cut by --index",
                singular: "this graph is cut by --index",
            },
            Self::Repartition => Words {
                name: "repartition",
                task: "a partition is made from an older one: `--remap_from`",
                plural: "graphs that are repartitioned",
                singular: "this graph is repartitioned",
            },
            Self::Traffic => Words {
                name: "traffic",
                task: "recorded traffic is summed",
                plural: "recorded traffic",
                singular: "this is recorded traffic",
            },
            Self::Order => Words {
                name: "order",
                task: "the recorded order of messages becomes a workload (viem_order ...)",
                plural: "recorded orders of messages",
                singular: "this is the recorded order of messages",
            },
            Self::Generator => Words {
                name: "generator",
                task: "a workload is generated: `--generate`",
                plural: "generated workloads",
                singular: "--generate makes a workload",
            },
            Self::Training => Words {
                name: "training",
                task: "the traffic of a training job is computed: `--parallel`",
                plural: "training jobs",
                singular: "--parallel is about a training job",
            },
            Self::Check => Words {
                name: "check",
                task: "a graph is checked",
                plural: "graphs",
                singular: "this is a graph",
            },
        }
    }

    /// The name in option tables.
    pub(crate) fn name(self) -> &'static str {
        self.words().name
    }

    /// What is done, as the guide explains it.
    pub(crate) fn task(self) -> &'static str {
        self.words().task
    }

    /// The mode that this one is a special case of.
    fn general(self) -> Option<Self> {
        match self {
            Self::Remapping => Some(Self::ManyToOne),
            Self::Index | Self::Repartition => Some(Self::Partition),
            _ => None,
        }
    }
}

/// In which modes some options mean something.
pub(crate) struct Row {
    /// Their ids.
    pub(crate) options: &'static [&'static str],
    /// The values that this is about; all if there are none.
    pub(crate) values: &'static [&'static str],
    pub(crate) modes: &'static [Mode],
    /// What to do in some other modes, if that is not just to leave the option out.
    instead: (&'static [Mode], &'static str),
}

impl Row {
    /// Options that mean something in these modes.
    pub(crate) const fn new(modes: &'static [Mode], options: &'static [&'static str]) -> Self {
        Self { options, values: &[], modes, instead: (&[], "") }
    }

    /// The same of these values only.
    pub(crate) const fn with_values(self, values: &'static [&'static str]) -> Self {
        Self { values, ..self }
    }

    /// What to do in these other modes, if that is not just to leave the option out.
    pub(crate) const fn instead(self, modes: &'static [Mode], instead: &'static str) -> Self {
        Self { instead: (modes, instead), ..self }
    }

    /// Whether it is about what was given for an option.
    fn is_about(&self, option: &str, given: &Given) -> bool {
        given.has(option) && (self.values.is_empty() || given.has_one_of(option, self.values))
    }

    /// What it is for, as messages about a mode where it means nothing say it.
    fn uses(&self, mode: Mode) -> String {
        let is_special = |mode: &Mode| mode.general().is_some_and(|general| self.modes.contains(&general));
        let uses: Vec<&str> =
            self.modes.iter().filter(|mode| !is_special(mode)).map(|mode| mode.words().plural).collect();
        match uses.len() {
            1 | 2 => format!("is for {}; {}", uses.join(" and "), mode.words().singular),
            _ => format!("is not for {}", mode.words().plural),
        }
    }

    /// What to do in a mode where it means nothing.
    fn remedy(&self, mode: Mode) -> &'static str {
        let (modes, instead) = self.instead;
        if modes.contains(&mode) { instead } else { "leave it out" }
    }

    /// The option as messages name it.
    fn name(&self, option: &str, given: &Given) -> String {
        let value = given.value(option).filter(|_| !self.values.is_empty());
        value.map_or(format!("--{option}"), |value| format!("--{option}={value}"))
    }
}

/// An option that means something only if another one is given, or has one of some values.
pub(crate) struct Need {
    pub(crate) option: &'static str,
    /// In which modes that is so.
    pub(crate) modes: &'static [Mode],
    /// The other options, one of which suffices, and their values; any value if there are none.
    pub(crate) of: &'static [(&'static str, &'static [&'static str])],
}

impl Need {
    fn is_met(&self, given: &Given) -> bool {
        self.of.iter().any(|(option, values)| match values {
            [] => given.has(option),
            values => given.has_one_of(option, values),
        })
    }

    /// The other options as messages name them.
    fn names(&self) -> String {
        let name = |(option, values): &(&str, &[&str])| match values {
            [] => format!("--{option}"),
            values => format!("--{option}={}", values.join(", ")),
        };
        self.of.iter().map(name).collect::<Vec<_>>().join(" and for ")
    }
}

/// All that a program knows of its options and modes.
pub(crate) struct Table {
    pub(crate) modes: &'static [Mode],
    pub(crate) rows: &'static [Row],
    pub(crate) needs: &'static [Need],
}

impl Table {
    /// An error if an option is given that means nothing in this mode.
    pub(crate) fn refuse(&self, mode: Mode, given: &Given) -> Result<(), UsageError> {
        for row in self.rows.iter().filter(|row| !row.modes.contains(&mode)) {
            if let Some(option) = row.options.iter().find(|option| row.is_about(option, given)) {
                let (name, uses, remedy) = (row.name(option, given), row.uses(mode), row.remedy(mode));
                return Err(UsageError(format!("{name} {uses}: {remedy}")));
            }
        }
        let mut needs = self.needs.iter().filter(|need| need.modes.contains(&mode) && given.has(need.option));
        match needs.find(|need| !need.is_met(given)) {
            Some(need) => Err(UsageError(format!("--{} is for {}; leave it out", need.option, need.names()))),
            None => Ok(()),
        }
    }

    /// The rows about an option.
    pub(crate) fn rows_of<'a>(&self, option: &'a str) -> impl Iterator<Item = &'static Row> + use<'a> {
        self.rows.iter().filter(move |row| row.options.contains(&option))
    }
}
