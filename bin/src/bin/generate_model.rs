//! The program `generate_model`; see [`viem_cli::programs::generate_model`].

fn main() -> std::process::ExitCode {
    viem_cli::programs::generate_model::main()
}
