//! The program `evaluator`; see [`viem_cli::programs::evaluator`].

fn main() -> std::process::ExitCode {
    viem_cli::programs::evaluator::main()
}
