//! The program `generate_model`; see [`viem_cli`].

fn main() -> std::process::ExitCode {
    viem_cli::main("generate_model")
}
