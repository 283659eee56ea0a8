//! The program `evaluator`; see [`viem_cli::evaluator`].

fn main() -> std::process::ExitCode {
    viem_cli::evaluator::main()
}
