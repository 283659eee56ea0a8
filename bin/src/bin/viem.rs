//! The program `viem`; see [`viem_cli`].

fn main() -> std::process::ExitCode {
    viem_cli::main(viem_cli::called())
}
