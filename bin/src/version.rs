//! `viem --version --verbose`: details of the program and the machine that belong in a bug report.

use std::env;
use std::ffi::OsString;

use crate::describe;
use viem::base::vector;
use viem_io::WriteError;

/// Programs that describe the machine, where they are installed.
const ASKED: [&str; 3] = ["lstopo", "lstopo-no-graphics", "scontrol"];

/// Returns whether a command line requests the version with all details.
pub(crate) fn is_asked(command_line: &[OsString]) -> bool {
    let has =
        |names: [&str; 2]| command_line.iter().any(|argument| names.iter().any(|name| argument == name));
    has(["--version", "-V"]) && has(["--verbose", "-v"])
}

/// Prints the details.
pub(crate) fn print() -> Result<(), WriteError> {
    describe::to_stdout(details().as_bytes())
}

/// The version, the processor and system for which it was built, the number of threads, the width of vectors, and the programs found.
fn details() -> String {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let found: Vec<&str> = ASKED.into_iter().filter(|program| is_on_path(program)).collect();
    let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
    format!(
        "viem {version}\nbuilt for:       {arch}, {system}, {bits} bits{checks}\nthreads:         {threads}\nvectors:         \
         {width} bytes\nprograms found:  {found} (of {asked})\n",
        version = env!("CARGO_PKG_VERSION"),
        arch = env::consts::ARCH,
        system = env::consts::OS,
        bits = usize::BITS,
        checks = if cfg!(debug_assertions) { ", with all checks" } else { "" },
        width = vector::width(),
        asked = ASKED.join(", "),
    )
}

fn is_on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
