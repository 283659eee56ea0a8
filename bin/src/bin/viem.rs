//! The program `viem`; see [`viem_cli::viem`].

fn main() -> std::process::ExitCode {
    viem_cli::viem::main()
}
