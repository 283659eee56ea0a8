//! The program `viem`; see [`viem::cli::viem`].

fn main() -> std::process::ExitCode {
    viem::cli::viem::main()
}
