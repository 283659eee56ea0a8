//! The program `graphchecker`; see [`viem_cli::programs::graphchecker`].

fn main() -> std::process::ExitCode {
    viem_cli::programs::graphchecker::main()
}
