//! The program `generate_model`; see [`viem::cli::generate_model`].

fn main() -> std::process::ExitCode {
    viem::cli::generate_model::main()
}
