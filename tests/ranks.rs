//! Several processes that measure together, started by `mpirun`.

use std::process::{Command, Output};

use crate::common::{Home, assert_valid, skip};
use serde_json::Value;

/// Starts so many ranks with these options.
fn start(home: &Home, ranks: u32, line: &str) -> Option<Output> {
    let mut command = Command::new("mpirun");
    command
        .args(["--allow-run-as-root", "--oversubscribe", "-n", &ranks.to_string()])
        .arg(env!("CARGO_BIN_EXE_iotui-mpi"))
        .args(line.split_whitespace());
    home.bring_in(&mut command);
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            skip(&format!("mpirun is not installed: {error}"));
            None
        }
    }
}

#[test]
fn four_ranks_make_one_session() {
    let home = Home::new();
    let line = "--batch -b pread -s 4k,64k -c warm --size 1m --trials 5 --trial-time 5ms \
                --budget 1m --ceilings never --format json --quiet --save four";
    let Some(output) = start(&home, 4, line) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_valid(&document);
    let results = document["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        assert_eq!(result["ranks"]["ranks"], 4, "{result}");
        for trial in result["trials"].as_array().unwrap() {
            let ranks = trial["ranks"].as_array().unwrap();
            let sum = |key: &str| ranks.iter().map(|rank| rank[key].as_u64().unwrap()).sum::<u64>();
            assert_eq!(ranks.len(), 4);
            assert_eq!(
                (sum("bytes"), sum("ops")),
                (trial["bytes"].as_u64().unwrap(), trial["ops"].as_u64().unwrap())
            );
        }
    }
    assert_eq!(home.sessions().len(), 1, "one session of all ranks");
    let shown = home.stdout("sessions show four");
    assert!(shown.contains("4, each with a file of its own: 4 on "), "{shown}");
}

#[test]
fn what_one_process_measures_is_refused_in_a_line() {
    let home = Home::new();
    home.file("data.bin", 65536);
    for (line, why) in [
        ("--batch data.bin", "each rank measures a file of its own"),
        ("--batch --probe clock", "probes measure one machine"),
        ("sessions list", "add --batch"),
        ("--batch --bogus", "--bogus"),
    ] {
        let Some(output) = start(&home, 2, line) else { return };
        let said = String::from_utf8_lossy(&output.stderr);
        let own: Vec<&str> = said.lines().filter(|line| line.starts_with("iotui: ")).collect();
        assert!(own.len() == 1 && own[0].contains(why), "{line}: {said}");
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
    }
}

#[test]
fn one_rank_measures_and_says_so() {
    let home = Home::new();
    let line = "--batch -b pread -s 4k -c warm --size 64k --trials 5 --trial-time 1ms --no-save";
    let Some(output) = start(&home, 1, line) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("iotui: one rank: "), "{said}");
}
