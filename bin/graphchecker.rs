//! The program `graphchecker`; see [`viem::cli::graphchecker`].

fn main() -> std::process::ExitCode {
    viem::cli::graphchecker::main()
}
