//! The program `graphchecker`; see [`viem_cli::graphchecker`].

fn main() -> std::process::ExitCode {
    viem_cli::graphchecker::main()
}
