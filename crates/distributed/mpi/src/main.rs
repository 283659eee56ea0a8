//! The program `viem_mpi`.

mod options;
mod output;
mod program;
mod report;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator;
use viem::base::error::ErrorKind;
use viem::base::text::printable;
use viem_distributed::comm::Comm;
use viem_mpi::Mpi;

use crate::options::Options;

/// The exit code of a panic.
const INTERNAL: u8 = ErrorKind::Internal.exit_code();

/// The options, if all ranks have some. Otherwise the first rank that has none, or that only asks for help, says why, and all have its exit code.
fn understood(world: &SimpleCommunicator, options: Result<Options, clap::Error>) -> Result<Options, u8> {
    let comm = Mpi::comm(world);
    // Help is an exit, too, and its code is 0.
    let own = options.as_ref().err().map_or(0, |error| 1 + error.exit_code() as u64);
    let codes = comm.all_gather(&[own]).words;
    let Some(rank) = codes.iter().position(|&code| code > 0) else {
        return options.map_err(|error| error.exit_code() as u8);
    };
    if let (Err(error), true) = (&options, rank == comm.rank()) {
        // With stderr gone there is no reader.
        let _ = error.print();
    }
    Err((codes[rank] - 1) as u8)
}

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
    let parsed = Options::command().try_get_matches();
    let options = parsed.and_then(|matches| Options::from_arg_matches(&matches));
    let code = match understood(&world, options) {
        Err(code) => code,
        Ok(options) => match program::run(&world, &options) {
            Ok(()) => 0,
            Err(error) => {
                if world.rank() == 0 {
                    eprintln!("{}: {}", options::NAME, printable(&error.to_string()));
                }
                error.kind.exit_code()
            }
        },
    };
    drop(universe);
    ExitCode::from(code)
}
