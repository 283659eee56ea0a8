//! The program `generate_model`; see [`viem_cli::generate_model`].

fn main() -> std::process::ExitCode {
    viem_cli::generate_model::main()
}
