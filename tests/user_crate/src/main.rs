mod coordinate;

fn main() -> std::process::ExitCode {
    tfrt_cli::main()
}
