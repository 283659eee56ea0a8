//! What can go wrong in a program: every error that may end one, each with the kind that decides the exit code.

use viem::base::error::{ErrorKind, HasKind};
use viem::base::settings::ConfigError;
use viem::base::threads::ThreadsError;
use viem::machine::{HierarchyError, MachineError};
use viem::mapping::MappingError;
use viem::mapping::objective::ScoreError;
use viem::mapping::problem::ProblemError;
use viem::partition::{
    FixedError, PartitionAlgorithmError, PreviousAssignmentError, RemapError, TargetsError,
};
use viem::qap::{QapError, QapSolveError};
use viem::solve::SolveError;
use viem_cluster::SpecError;
use viem_io::metis::RepairError;
use viem_io::{ReadError, WriteError};
use viem_launch::LaunchError;
use viem_mesh::DualError;
use viem_traffic::TrafficError;
use viem_training::experts::ExpertError;
use viem_training::jobs::TrainingError;
use viem_verify::AuditError;
use viem_workload::WorkloadError;
use viem_workload::estimate::EstimateError;
use viem_workload::generate::GenerateError;
use viem_workload::map::TaskMapError;
use viem_workload::recorded::RecordingError;
use viem_workload::simulate::SimulationError;

/// What a program does that may fail.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// Declares the errors that can end a program. Each has a kind, or this does not compile.
macro_rules! failures {
    ($($name:ident($error:ty),)+) => {
        /// Why a program ends without its result.
        #[derive(Debug, thiserror::Error)]
        pub(crate) enum Failure {
            // Boxed, as some are large and all are rare.
            $(#[error(transparent)] $name(Box<$error>),)+
        }

        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::$name(Box::new(error))
            }
        })+

        impl Failure {
            /// What decides the exit code.
            pub(crate) fn kind(&self) -> ErrorKind {
                match self {
                    $(Self::$name(error) => error.kind(),)+
                }
            }
        }
    };
}

failures! {
    Algorithm(PartitionAlgorithmError),
    Assign(TaskMapError),
    Config(ConfigError),
    Dual(DualError),
    Estimate(EstimateError),
    Experts(ExpertError),
    Fixed(FixedError),
    Generate(GenerateError),
    Hierarchy(HierarchyError),
    Previous(PreviousError),
    Launch(LaunchError),
    Machine(MachineError),
    Mapping(MappingError),
    Problem(ProblemError),
    Workload(WorkloadError),
    Qap(QapError),
    QapSolve(QapSolveError),
    Read(ReadError),
    Recording(RecordingError),
    Remap(RemapError),
    Repair(RepairError),
    Score(ScoreError),
    Simulation(SimulationError),
    Solve(SolveError),
    Spec(SpecError),
    Targets(TargetsError),
    Threads(ThreadsError),
    Traffic(TrafficError),
    Training(TrainingError),
    Usage(UsageError),
    Verification(VerificationError),
    Write(WriteError),
}

/// A mistake in the command line that only shows once its values are put together.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

impl HasKind for UsageError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// A previous partition or mapping that does not fit.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PreviousError {
    /// The file does not have an entry for each vertex, or has other faults.
    #[error(transparent)]
    Unread(ReadError),
    #[error("{file}: {source}")]
    Unfit { file: String, source: PreviousAssignmentError },
}

impl HasKind for PreviousError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unread(error) => error.kind(),
            Self::Unfit { source, .. } => source.kind(),
        }
    }
}

/// What the auditor found is not what the optimiser computed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VerificationError {
    /// Both have a figure, and these differ.
    #[error("internal error, please report it: {0}")]
    Differs(String),
    /// The auditor cannot make sense of what was written.
    #[error(transparent)]
    Audit(#[from] AuditError),
}

impl HasKind for VerificationError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Differs(_) | Self::Audit(_) => ErrorKind::Internal,
        }
    }
}

/// `?` passes on what the auditor says.
impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Self {
        VerificationError::from(error).into()
    }
}
