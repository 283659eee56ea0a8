//! The program `evaluator`; see [`viem::cli::evaluator`].

fn main() -> std::process::ExitCode {
    viem::cli::evaluator::main()
}
