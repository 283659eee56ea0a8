//! The program `viem`; see [`viem_cli::programs::viem`].

fn main() -> std::process::ExitCode {
    viem_cli::programs::viem::main()
}
