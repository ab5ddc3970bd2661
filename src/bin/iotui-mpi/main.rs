//! iotui on many machines: the program that an MPI launcher starts once for each rank.

mod link;

use std::process::ExitCode;
use std::sync::Arc;

use mpi::Threading;
use mpi::traits::Communicator;

fn main() -> ExitCode {
    // Only the engine's thread calls MPI while it runs.
    let Some((universe, level)) = mpi::initialize_with_threading(Threading::Serialized) else {
        eprintln!("iotui-mpi: MPI is already initialized");
        return ExitCode::from(iotui::app::USAGE);
    };
    if level < Threading::Serialized {
        eprintln!(
            "iotui-mpi: this MPI library allows calls of one thread only (MPI_THREAD_SERIALIZED is needed)"
        );
        universe.world().abort(iotui::app::USAGE.into());
    }
    let ended = iotui::app::main_of_ranks(std::env::args_os(), Arc::new(link::World::new()));
    if !ended.together {
        // A rank or a system call hangs: the others wait in vain.
        universe.world().abort(ended.code.into());
    }
    ExitCode::from(ended.code)
}
