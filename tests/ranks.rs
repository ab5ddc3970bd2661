//! Several processes that measure together, started by `mpirun`.

use crate::common::{stderr_of, stdout_of};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::common::{Home, assert_valid, is_root, skip};
use nix::sys::signal::Signal;
use serde_json::Value;

/// The launcher: that of the library which the program was built with.
fn launcher() -> Command {
    let name = std::env::var("IOTUI_MPIRUN").unwrap_or_else(|_| "mpirun".into());
    let mut command = Command::new(&name);
    if !name.contains("mpich") {
        // Open MPI refuses root, and more ranks than CPUs.
        command.args(["--allow-run-as-root", "--oversubscribe"]);
    }
    command
}

/// Returns the launcher with this many ranks of each named machine, with these
/// options.
fn launch(home: &Home, nodes: &[(&str, u32)], line: &str) -> Command {
    let mut command = launcher();
    for (at, (node, ranks)) in nodes.iter().enumerate() {
        if at > 0 {
            command.arg(":");
        }
        command.args(["-n", &ranks.to_string(), "env", &format!("IOTUI_NODE={node}")]);
        command.arg(env!("CARGO_BIN_EXE_iotui-mpi")).args(line.split_whitespace());
    }
    home.bring_in(&mut command);
    command
}

/// Runs this many ranks of one machine with these options.
fn start(home: &Home, ranks: u32, line: &str) -> Option<Output> {
    start_on(home, &[("", ranks)], line)
}

fn start_on(home: &Home, nodes: &[(&str, u32)], line: &str) -> Option<Output> {
    match launch(home, nodes, line).output() {
        Ok(output) => Some(output),
        Err(error) => {
            skip(&format!("mpirun is not installed: {error}"));
            None
        }
    }
}

/// A short run that reads from memory.
const SHORT: &str = "--batch -b pread -s 4k,64k -c warm --size 1m --trials 5 --trial-time 5ms \
                     --budget 1m --ceilings never --quiet";

/// Returns the document of a run that succeeded.
fn document(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr_of(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_valid(&document);
    document
}

fn assert_sums(document: &Value, ranks: usize) {
    for result in document["results"].as_array().unwrap() {
        for trial in result["trials"].as_array().unwrap() {
            let each = trial["ranks"].as_array().unwrap();
            let sum = |key: &str| each.iter().map(|rank| rank[key].as_u64().unwrap()).sum::<u64>();
            assert_eq!(each.len(), ranks);
            assert_eq!(
                (sum("bytes"), sum("ops")),
                (trial["bytes"].as_u64().unwrap(), trial["ops"].as_u64().unwrap())
            );
        }
    }
}

#[test]
fn four_ranks_make_one_session() {
    let home = Home::new();
    let line = format!("{SHORT} --format json --save four");
    let Some(output) = start(&home, 4, &line) else { return };
    let document = document(&output);
    let results = document["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(|result| result["ranks"]["ranks"] == 4));
    assert!(results.iter().all(|result| result["ranks"]["by_time"] == true));
    assert_sums(&document, 4);
    assert_eq!(home.sessions().len(), 1, "one session of all ranks");
    let shown = home.stdout("sessions show four --details");
    assert!(shown.contains("4, each with a file of its own: 4 on "), "{shown}");
    assert!(shown.contains("MPI") || shown.contains("MPICH"), "{shown}");
    let csv = home.stdout("sessions show four --format csv");
    let row = |line: &str| line.split(',').map(String::from).collect::<Vec<String>>();
    let mut lines = csv.lines();
    let head = row(lines.next().unwrap());
    let at = |name: &str| head.iter().position(|of| of == name).unwrap();
    let rows: Vec<Vec<String>> = lines.map(row).collect();
    // Each cell, its machine, and its ranks.
    assert_eq!(rows.len(), 2 * (1 + 1 + 4), "{csv}");
    let ranks: Vec<&str> = rows.iter().map(|row| row[at("rank")].as_str()).collect();
    assert_eq!(ranks[..6], ["", "", "0", "1", "2", "3"]);
    assert!(
        rows.iter().skip(1).take(5).all(|row| !row[at("rank_rate_median_per_second")].is_empty())
    );
    assert!(rows[0][at("node")].is_empty() && !rows[1][at("node")].is_empty());
}

#[test]
fn ranks_read_another_ranks_blocks() {
    let home = Home::new();
    for layout in ["segmented", "strided", "per-rank"] {
        let line = format!("{SHORT} --format json --layout {layout}");
        let Some(output) = start_on(&home, &[("a", 2), ("b", 2)], &line) else { return };
        let document = document(&output);
        assert_sums(&document, 4);
        for result in document["results"].as_array().unwrap() {
            let nodes = result["ranks"]["nodes"].as_array().unwrap();
            let names: Vec<&str> = nodes.iter().map(|of| of["node"].as_str().unwrap()).collect();
            assert_eq!(names, ["a", "b"], "{layout}");
        }
        assert_eq!(document["plan"]["shift"], true, "{layout}");
    }
    let line = format!("{SHORT} --layout segmented");
    let output = start_on(&home, &[("a", 2), ("b", 2)], &line).unwrap();
    let printed = stdout_of(&output);
    assert!(printed.contains("reading what another"), "{printed}");
}

#[test]
fn ranks_are_an_axis() {
    let home = Home::new();
    let line = "--batch -b pread -s 64k --op write --sync end --verify --layout strided \
                --ranks 1,2,4 --size 1m --trials 5 --trial-time 2ms --budget 1m --ceilings never \
                --quiet --format json --save scaling";
    let Some(output) = start(&home, 4, line) else { return };
    let document = document(&output);
    let results = document["results"].as_array().unwrap();
    let ranks: Vec<u64> = results.iter().map(|of| of["cell"]["ranks"].as_u64().unwrap()).collect();
    assert_eq!(ranks, [1, 2, 4]);
    for result in results {
        assert_eq!(result["verified"]["bad"]["blocks"].as_u64().unwrap_or(0), 0, "{result}");
        assert!(result["verified"]["blocks"].as_u64().unwrap() > 0, "{result}");
    }
    let shown = home.stdout("sessions show scaling");
    assert!(shown.contains("ranks"), "{shown}");
}

#[test]
fn single_process_options_are_refused() {
    let home = Home::new();
    home.file("data.bin", 65536);
    home.file("tiny.bin", 4096);
    home.std(&format!("{SHORT} --save alone")).output().unwrap();
    for (line, why) in [
        ("--batch data.bin --layout per-rank", "iotui creates a file for each rank"),
        ("--batch tiny.bin -b pread -s 4k", "there are more ranks than blocks of 4 KiB"),
        ("--batch --probe clock", "probes measure one machine"),
        ("--batch --ranks 3", "only 2 were started"),
        ("--batch -p fast", "tries its methods in one process"),
        ("--batch --layout strided --keep", "leave out --keep"),
        ("--batch -b dd --layout strided -s 4k", "use --layout per-rank"),
        ("--batch --op write new.bin", "name a folder"),
        ("--batch --op write new.bin --layout strided", "goes with the run"),
        ("--batch --plan alone", "this plan is for one process"),
        ("sessions list", "add --batch"),
        ("--batch --bogus", "--bogus"),
    ] {
        let Some(output) = start(&home, 2, line) else { return };
        let printed = stderr_of(&output);
        let own: Vec<&str> = printed.lines().filter(|line| line.starts_with("iotui: ")).collect();
        assert!(own.len() == 1 && own[0].contains(why), "{line}: {printed}");
        assert_eq!(output.status.code(), Some(2), "{line}: {printed}");
    }
}

#[test]
fn ranks_share_a_named_file() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let line = "--batch data.bin -b pread -s 4k -c warm --trials 5 --trial-time 1ms --budget 1m \
                --ceilings never --quiet --format json --save pieces";
    let Some(output) = start(&home, 3, line) else { return };
    let document = document(&output);
    let cell = &document["results"][0]["cell"];
    assert_eq!((cell["ranks"].as_u64(), cell["layout"].as_str()), (Some(3), Some("segmented")));
    assert_eq!(cell["span"].as_u64(), Some((1 << 20) / 3 / 4096 * 4096));
    assert_sums(&document, 3);
    for (line, why) in [
        ("--batch --plan pieces", "this plan is for 3 ranks: start it with mpirun -n 3"),
        ("--batch --refine pieces", "3 ranks measured that session"),
        ("--batch --layout strided", "--layout is for the ranks of iotui-mpi"),
    ] {
        let output = home.std(line).output().unwrap();
        let printed = stderr_of(&output);
        assert!(output.status.code() == Some(2) && printed.contains(why), "{line}: {printed}");
    }
    let again = start(&home, 3, "--batch --plan pieces --quiet --no-save").unwrap();
    assert!(again.status.success(), "{}", stderr_of(&again));
}

#[test]
fn mismatched_ranks_are_refused() {
    let home = Home::new();
    let mut command = launch(&home, &[("a", 1)], &format!("{SHORT} --no-save"));
    command.args([":", "-n", "1", "env", "IOTUI_NODE=b", env!("CARGO_BIN_EXE_iotui-mpi")]);
    command.args(format!("{SHORT} --no-save --seed 5").split_whitespace());
    let Ok(output) = command.output() else { return };
    let printed = stderr_of(&output);
    assert!(printed.contains("rank 1 on b: it was started with --batch"), "{printed}");
    assert!(!output.status.success());
}

/// Returns how two ranks of two machines end, where the second runs `before` in its own view of the
/// file system; `None` where that is impossible.
fn start_apart(home: &Home, before: &str, line: &str) -> Option<Output> {
    if !is_root() {
        skip("only root can give a rank a file system of its own");
        return None;
    }
    let mut command = launch(home, &[("a", 1)], line);
    let program = env!("CARGO_BIN_EXE_iotui-mpi");
    let script = format!("{before} && exec env IOTUI_NODE=b {program} {line}");
    command.args([":", "-n", "1", "unshare", "-m", "sh", "-c", &script]);
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            skip(&format!("mpirun is not installed: {error}"));
            None
        }
    }
}

#[test]
fn file_missing_elsewhere_is_reported() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    fs::create_dir(home.path("shared")).unwrap();
    let cover = "mount -t tmpfs -o size=1m none shared";
    let other =
        "mount -t tmpfs none \"$PWD\" && cd \"$PWD\" && head -c 1048576 /dev/zero > data.bin";
    for (before, line, why) in [
        (
            cover,
            "--dir shared --size 64k",
            "each machine must see the files of the others, or use --shift=no",
        ),
        (cover, "shared --size 64k --layout strided", "rank 1 on b: cannot open "),
        (cover, "--dir shared --size 8m --shift=no", "/shared: 8 MiB needed, 1 MiB free"),
        (other, "data.bin --size 64k", "data.bin is another file here"),
    ] {
        let line = format!("--batch -b pread -s 4k --quiet --no-save --trials 5 {line}");
        let Some(output) = start_apart(&home, before, &line) else { return };
        let printed = stderr_of(&output);
        let own: Vec<&str> = printed.lines().filter(|line| line.starts_with("iotui: ")).collect();
        assert!(own.len() == 1 && own[0].contains(why), "{line}: {printed}");
        assert_eq!(output.status.code(), Some(2), "{line}: {printed}");
    }
    assert_eq!(fs::read_dir(home.path("shared")).unwrap().count(), 0);
}

/// A run of two ranks in which something happens to the second.
struct Stricken {
    child: Child,
    lines: Box<dyn Iterator<Item = String>>,
    second: nix::unistd::Pid,
}

impl Stricken {
    /// Starts it, and waits for this many trials; `None` without a launcher.
    fn start(home: &Home, line: &str, trials: usize) -> Option<Stricken> {
        // A name that no other process or test has.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let second = format!("b{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed));
        let line = format!(
            "--batch -b pread -s 4k -c warm --size 64k --trial-time 1ms \
                            --until 0.01% --ceilings never --format jsonl {line}"
        );
        let mut command = launch(home, &[("a", 1), (&second, 1)], &line);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().ok()?;
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut lines: Box<dyn Iterator<Item = String>> = Box::new(lines);
        let found = lines.by_ref().filter(|line| line.contains("\"trial\"")).take(trials);
        assert_eq!(found.count(), trials);
        let wanted = format!("IOTUI_NODE={second}");
        let victim = fs::read_dir("/proc").unwrap().filter_map(Result::ok).find_map(|entry| {
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let own = environment.split(|byte| *byte == 0).any(|word| word == wanted.as_bytes());
            own.then(|| entry.file_name().to_str()?.parse::<i32>().ok())?
        });
        let second = nix::unistd::Pid::from_raw(victim.expect("the second rank"));
        Some(Stricken { child, lines, second })
    }

    /// Sends the second rank a signal; returns the exit code and stderr.
    fn strike(self, signal: Signal) -> (Option<i32>, String) {
        nix::sys::signal::kill(self.second, signal).unwrap();
        self.lines.for_each(drop);
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), stderr_of(&output))
    }
}

#[test]
fn killed_rank_keeps_finished_rounds() {
    let home = Home::new();
    let Some(run) = Stricken::start(&home, "--budget 2m --save killed", 20) else { return };
    let (code, _) = run.strike(Signal::SIGKILL);
    assert_ne!(code, Some(0));
    let document = home.json("sessions show killed");
    assert!(document["results"][0]["trials"].as_array().unwrap().len() >= 20);
}

#[test]
fn frozen_rank_fails_the_run() {
    let home = Home::new();
    let Some(run) = Stricken::start(&home, "--budget 8s --save frozen", 5) else { return };
    let (code, printed) = run.strike(Signal::SIGSTOP);
    let line = printed.lines().find(|line| line.starts_with("iotui: the budget ended while "));
    let line = line.unwrap_or_else(|| panic!("{printed}"));
    assert!(line.contains(": rank 1 on b") && line.contains(" has not answered for "), "{line}");
    assert_eq!(code, Some(1), "{printed}");
    let document = home.json("sessions show frozen");
    assert!(document["results"][0]["trials"].as_array().unwrap().len() >= 5);
}

#[test]
fn signal_to_a_rank_is_reported() {
    let home = Home::new();
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130)] {
        let Some(run) = Stricken::start(&home, "--budget 2m --no-save", 5) else { return };
        let (found, printed) = run.strike(signal);
        let named = printed
            .lines()
            .any(|line| line.starts_with("iotui: rank 1 on b") && line.ends_with(signal.as_str()));
        assert!(named, "{printed}");
        assert_eq!(found, Some(code), "{printed}");
    }
}

/// A file system of 64 MiB, removed at the end.
struct Small<'a>(&'a Home);

impl Small<'_> {
    fn mount(home: &Home) -> Option<Small<'_>> {
        fs::create_dir(home.path("small")).unwrap();
        let mount = ["-t", "tmpfs", "-o", "size=64m", "none"];
        let done = Command::new("mount").args(mount).arg(home.path("small")).status();
        if !is_root() || !done.is_ok_and(|status| status.success()) {
            skip("a small file system cannot be mounted");
            return None;
        }
        Some(Small(home))
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path("small")).status();
    }
}

#[test]
fn space_of_all_ranks_is_checked() {
    let home = Home::new();
    let Some(_small) = Small::mount(&home) else { return };
    for layout in ["per-rank", "strided"] {
        for more in ["", "--dry-run"] {
            let line =
                format!("--batch -b pread -s 64k --dir small --size 30m --layout {layout} {more}");
            let Some(output) = start(&home, 4, &line) else { return };
            let printed = stderr_of(&output);
            let why = "not enough space in small: 120 MiB needed for 4 ranks, 64 MiB free";
            assert!(printed.contains(why), "{line}: {printed}");
            assert_eq!(output.status.code(), Some(2), "{line}: {printed}");
        }
    }
    // Each rank reads the plan by itself.
    let line = format!("{} --dir small --save plan", SHORT.replace("--size 1m", "--size 12m"));
    let made = start(&home, 4, &line).unwrap();
    assert!(made.status.success(), "{}", stderr_of(&made));
    home.file("small/other", 30 << 20);
    let again = start(&home, 4, "--batch --plan plan --no-save").unwrap();
    let printed = stderr_of(&again);
    let free = "iotui: rank 0 on ";
    assert!(
        printed.contains(free) && printed.contains("48 MiB needed for 4 ranks, 34 MiB free"),
        "{printed}"
    );
    assert_eq!(again.status.code(), Some(2), "{printed}");
    let dry = start(&home, 4, "--batch --dry-run --dir . --size 2m").unwrap();
    let printed = stdout_of(&dry);
    assert!(printed.contains("4 scratch files of 2 MiB, one of each rank, in "), "{printed}");
    assert!(printed.contains("writes  8 MiB to make the files"), "{printed}");
    let dry = start(&home, 4, "--batch --dry-run --dir . --size 2m --layout strided").unwrap();
    let printed = stdout_of(&dry);
    assert!(
        printed.contains("a scratch file of 8 MiB, 2 MiB of each of 4 ranks, in "),
        "{printed}"
    );
}

/// The launcher may give the first rank a terminal, and passes on what it prints to stdout and
/// stderr in any order.
#[test]
fn report_of_ranks_ends_with_saved() {
    let home = Home::new();
    let line = format!("{} --save shown", SHORT.replace(" --quiet", ""));
    let Some(output) = start(&home, 2, &line) else { return };
    let printed = stdout_of(&output);
    assert!(!printed.contains('\u{1b}'), "{printed}");
    let last = printed.lines().last().unwrap_or_default();
    assert!(last.starts_with("saved   ") && last.ends_with(".jsonl"), "{printed}");
    assert!(!stderr_of(&output).contains("saved   "));
}

/// Only Open MPI binds its ranks unless it is asked to.
#[test]
fn bound_ranks_know_their_machine() {
    let home = Home::new();
    let cpus = std::thread::available_parallelism().unwrap().get();
    if cpus < 2 {
        return skip("a rank of one CPU is not bound");
    }
    let line = format!("{SHORT} -t 2 --save bound --format json");
    let mut command = launcher();
    command.args(["-n", "1", "taskset", "-c", "0", env!("CARGO_BIN_EXE_iotui-mpi")]);
    command.args(line.split_whitespace());
    home.bring_in(&mut command);
    let Ok(output) = command.output() else { return skip("mpirun is not installed") };
    let document = document(&output);
    assert_eq!(document["host"]["cpu"]["allowed"].as_u64(), Some(cpus as u64));
    let shown = home.stdout("sessions show bound --details");
    assert!(shown.contains(&format!("{cpus} CPUs")), "{shown}");
    assert!(shown.contains("2 threads of a rank share 1 CPU"), "{shown}");
}

/// Open MPI refuses more ranks than CPUs without an option that allows it.
#[test]
fn documented_commands_start_on_two_cpus() {
    let home = Home::new();
    let guide = fs::read_to_string("docs/clusters.md").unwrap().replace("\\\n", "");
    let begins = guide.match_indices("mpirun ").map(|(at, _)| &guide[at..]);
    let ends = begins.map(|rest| rest.split(['`', '\n']).next().unwrap());
    let mut tried = 0;
    for line in ends.filter(|line| {
        line.contains("iotui-mpi --batch") && line.contains(" . ") || line.ends_with(" .")
    }) {
        if launcher().get_program() != "mpirun" {
            return skip("these are for Open MPI");
        }
        let program = env!("CARGO_BIN_EXE_iotui-mpi");
        let line = line.replace("iotui-mpi --batch", &format!("{program} --batch --dry-run"));
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().unwrap());
        command.args(words);
        home.bring_in(&mut command);
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
            command.env(name, "1");
        }
        let Ok(output) = command.output() else { return skip("mpirun is not installed") };
        let printed = stderr_of(&output);
        assert!(output.status.success(), "{line}: {printed}");
        tried += 1;
    }
    assert_eq!(tried, 2, "the commands for two CPUs");
}

#[test]
fn one_rank_measures_and_says_so() {
    let home = Home::new();
    let line = "--batch -b pread -s 4k -c warm --size 64k --trials 5 --trial-time 1ms --no-save";
    let Some(output) = start(&home, 1, line) else { return };
    let printed = stderr_of(&output);
    assert!(output.status.success() && printed.contains("iotui: one rank: "), "{printed}");
}
