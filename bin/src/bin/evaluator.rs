//! The program `evaluator`; see [`viem_cli`].

fn main() -> std::process::ExitCode {
    viem_cli::main("evaluator")
}
