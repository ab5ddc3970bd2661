//! The program: argv in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    iotui::app::main(std::env::args_os())
}
