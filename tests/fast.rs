//! The preset `fast` through the whole program: on cached, cold, tiny and sparse files, and where
//! methods are unavailable.

use crate::common::stderr_of;
use std::fs;

use crate::common::{self, Home, data};
use serde_json::Value;

/// Runs `fast` and checks what holds for any result: one method read the whole file, once or as
/// often as an interval needs, and its XOR is right.
fn fast(home: &Home, line: &str, content: &[u8]) -> Value {
    let result = home.json(&format!("--batch --quiet -p fast {line}"));
    let (results, picked) =
        (result["results"].as_array().unwrap(), result["answer"]["picked"].as_array().unwrap());
    assert_eq!((results.len(), picked.len()), (1, 1), "{line}");
    let trials = results[0]["trials"].as_array().unwrap();
    assert!(matches!(trials.len(), 1 | 5), "{line}: {} trials", trials.len());
    assert!(!line.contains("-c warm") || trials.len() == 5, "{line}");
    for trial in trials {
        let passes = trial["passes"].as_u64().unwrap();
        assert_eq!(trial["bytes"], passes * content.len() as u64, "{line}");
        // A file that is not in memory is read once.
        assert!(if trials.len() == 1 { passes == 1 } else { passes >= 1 }, "{line}: {passes}");
    }
    let few = |warning: &&Value| warning["id"] == "few";
    let few = results[0]["warnings"].as_array().unwrap().iter().find(few);
    let severity = few.map_or("none", |warning| warning["severity"].as_str().unwrap());
    assert_eq!(severity, if trials.len() == 1 { "note" } else { "none" }, "{line}: {few:?}");
    assert_eq!(
        (&trials[0]["xor"], &picked[0]["xor"]),
        (&Value::from(data::xor(content)), &Value::from(data::xor(content))),
        "{line}"
    );
    assert_eq!(picked[0]["cell"], results[0]["cell"]);
    let text = result["answer"]["text"].as_str().unwrap();
    assert!(
        text.starts_with(&format!("XOR {}", data::xor(content))) && text.contains("Picked: "),
        "{text}"
    );
    let tried = picked[0]["tried"].as_array().unwrap();
    let rates: Vec<f64> = tried.iter().map(|tried| tried["throughput"].as_f64().unwrap()).collect();
    assert!(
        rates.is_sorted_by(|a, b| a >= b)
            && (tried.is_empty() || tried[0]["cell"] == picked[0]["cell"]),
        "{line}: {tried:?}"
    );
    for method in tried {
        let of = |name: &str| method[name].as_f64();
        let (low, high) = (of("low").or(of("min")).unwrap(), of("high").or(of("max")).unwrap());
        assert!(low <= high && of("min") <= of("max"), "{line}: {method}");
        assert_eq!(of("low").is_some(), of("tries") >= Some(5.0), "{line}: {method}");
        assert!(method["cell"] != picked[0]["cell"] || method["no_difference"] == false, "{line}");
    }
    result
}

fn skipped<'a>(result: &'a Value, backend: &str) -> Vec<&'a str> {
    let all = result["skipped"].as_array().unwrap().iter();
    all.filter(|s| s["cell"]["backend"].as_str().unwrap().starts_with(backend))
        .map(|s| s["reason"].as_str().unwrap())
        .collect()
}

#[test]
fn cached_file_is_read_from_memory() {
    let home = Home::new();
    for (name, len) in
        [("one", 1), ("tiny", 333), ("page", 4096), ("odd", 5_000_001), ("some", 24 << 20)]
    {
        home.file(name, len);
        let result = fast(&home, &format!("-c warm {name}"), &data::random(len, len as u64));
        assert_eq!(result["results"][0]["cell"]["direct"], false);
        assert!(!result["answer"]["picked"][0]["tried"].as_array().unwrap().is_empty(), "{name}");
    }
}

#[test]
fn cold_file_is_tried_in_parts() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let len = 48 << 20;
    home.file("file", len);
    let content = data::random(len, len as u64);
    let result = fast(&home, "-c cold file", &content);
    let picked = &result["answer"]["picked"][0];
    assert!(picked["tried"].as_array().unwrap().len() > 3, "{picked}");
    let trial = &result["results"][0]["trials"][0];
    if picked["why"].as_str().unwrap().starts_with("0 % of") {
        assert_eq!(result["results"][0]["trials"].as_array().unwrap().len(), 1);
    }
    // The pages read by the tries do not affect the read that counts.
    if let Some(device) = trial["device_bytes"]
        .as_u64()
        .filter(|_| picked["why"].as_str().unwrap().contains("the device gave"))
    {
        assert!(device >= len as u64 * 98 / 100, "{trial}");
    }
    // Too small to divide into parts.
    home.file("small", 1 << 20);
    let small = fast(&home, "-c cold small", &data::random(1 << 20, 1 << 20));
    assert!(small["answer"]["picked"][0]["tried"].as_array().unwrap().is_empty());
}

#[test]
fn fast_session_reloads_and_runs_again() {
    let home = Home::new();
    home.file("file", 3 << 20);
    let result = fast(&home, "-c warm --save once file", &data::random(3 << 20, 3 << 20));
    let shown: Value =
        serde_json::from_str(&home.stdout("sessions show once --format json")).unwrap();
    assert_eq!((&shown["answer"], &shown["skipped"]), (&result["answer"], &result["skipped"]));
    for format in ["table", "markdown", "html"] {
        let text = home.stdout(&match format {
            "table" => "sessions show once --details".into(),
            format => format!("sessions export once --format {format}"),
        });
        assert!(
            text.contains("Picked: ")
                && text.contains("was picked")
                && text.contains(&data::xor(&data::random(3 << 20, 3 << 20))),
            "{format}"
        );
    }
    let baseline = home.json("--batch --quiet -p fast --baseline once -c warm");
    assert_eq!(
        baseline["plan"]["cells"].as_array().unwrap().len(),
        1,
        "the way that was picked, held against itself"
    );
    let again = home.json("--batch --quiet --plan once");
    assert_eq!(again["answer"]["picked"][0]["xor"], result["answer"]["picked"][0]["xor"]);
    assert_eq!(again["results"].as_array().unwrap().len(), 1);
}

#[test]
fn fast_reads_sparse_and_memory_files() {
    let home = Home::new();
    fs::File::create(home.path("sparse")).unwrap().set_len(40 << 20).unwrap();
    fast(&home, "-c warm sparse", &vec![0; 40 << 20]);
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else { return common::skip("no /dev/shm") };
    let content = data::random(9 << 20, 9);
    fs::write(memory.path().join("file"), &content).unwrap();
    let result = fast(&home, &memory.path().join("file").display().to_string(), &content);
    assert!(skipped(&result, "uring").iter().all(|why| !why.is_empty()));
}

#[test]
fn each_cache_state_has_its_pick() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    home.file("file", 8 << 20);
    let result = home.json("--batch --quiet -p fast -c cold,warm --trials 3 file");
    let picked = result["answer"]["picked"].as_array().unwrap();
    assert_eq!(
        picked.iter().map(|p| p["cell"]["cache"].as_str().unwrap()).collect::<Vec<_>>(),
        ["cold", "warm"]
    );
    assert!(
        result["results"]
            .as_array()
            .unwrap()
            .iter()
            .all(|r| r["trials"].as_array().unwrap().len() == 3)
    );
    // Settings narrow the choice of methods: here to one.
    let one = home.json("--batch --quiet -p fast -c warm -b stdio -s 128k -t 1 file");
    assert_eq!(one["results"][0]["cell"]["backend"], "stdio");
    assert!(one["answer"]["text"].as_str().unwrap().contains("is the only method available"));
}

#[test]
fn unreadable_fast_target_is_refused() {
    let home = Home::new();
    fs::write(home.path("empty"), "").unwrap();
    fs::write(home.path("file"), "abc").unwrap();
    for (line, wanted) in [
        ("-p fast empty", "is empty; there is nothing to measure"),
        ("-p fast,quick file", "run it alone"),
        ("-p fast --op write new", "fast only reads"),
        ("-p fast --mix 50 new", "fast only reads"),
        ("-p fast missing", "no such file"),
        ("-p fast -b null,getpid file", "it passes no data to the program"),
    ] {
        let done = home.std(&format!("--batch {line}")).output().unwrap();
        let stderr = stderr_of(&done);
        assert!(
            done.status.code() == Some(2) && stderr.contains(wanted) && stderr.lines().count() == 1,
            "{line}: {stderr}"
        );
    }
}
