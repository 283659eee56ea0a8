//! The program `viem_mpi`.

mod options;
mod output;
mod program;
mod report;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator;
use viem::ground::error::ErrorKind;

use crate::options::Options;

/// The exit code of a panic.
const INTERNAL: u8 = ErrorKind::Internal.exit_code();

fn main() -> ExitCode {
    let Some((universe, _)) = mpi::initialize_with_threading(mpi::Threading::Funneled) else {
        return ExitCode::from(INTERNAL);
    };
    let world = universe.world();
    // The other ranks wait for one that panics, even while it ends.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        SimpleCommunicator::world().abort(i32::from(INTERNAL));
    }));
    // Every rank has the same command line, and comes to the same end.
    let is_first = world.rank() == 0;
    let parsed = Options::command().try_get_matches();
    let options = parsed.and_then(|matches| Options::from_arg_matches(&matches));
    let code = match options {
        Err(error) => {
            if is_first {
                // With stderr gone nobody is left to read it.
                let _ = error.print();
            }
            error.exit_code() as u8
        }
        Ok(options) => match program::run(&world, &options) {
            Ok(()) => 0,
            Err(error) => {
                if is_first {
                    eprintln!("{}: {error}", options::NAME);
                }
                error.kind.exit_code()
            }
        },
    };
    drop(universe);
    ExitCode::from(code)
}
