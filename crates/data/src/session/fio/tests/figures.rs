//! Compares each figure of every file with fio's own, which a second reader takes from the JSON.

use serde_json::Value;

use super::{CellResult, LatencyOf, golden, imported, results};

/// A file of fio's, and of each of its cells the parts: the number of the report and where in it.
type File = (&'static str, &'static [&'static [(usize, &'static str)]]);

const FILES: &[File] = &[
    ("fio-2.18.json", &[&[(0, "/jobs/0/read")]]),
    ("fio-3.1.json", &[&[(0, "/jobs/0/read")]]),
    ("fio-3.6.json", &[&[(0, "/jobs/0/read")]]),
    ("fio-3.14.json", &[&[(0, "/jobs/0/read")]]),
    ("fio-3.16-after-cr.txt", &[&[(0, "/jobs/0/read")]]),
    ("seq.json", &[&[(0, "/jobs/0/read")]]),
    ("noted.json", &[&[(0, "/jobs/0/read")]]),
    ("mixed.json", &[&[(0, "/jobs/0/read")], &[(0, "/jobs/0/write")]]),
    ("multi.json", &[&[(0, "/jobs/0/read")], &[(0, "/jobs/1/write")]]),
    ("two.json", &[&[(0, "/jobs/0/read"), (0, "/jobs/1/read")]]),
    ("bins.json", &[&[(0, "/jobs/0/read"), (0, "/jobs/1/read")]]),
    ("together.json", &[&[(0, "/jobs/0/read"), (0, "/jobs/1/read")]]),
    ("reported-together.json", &[&[(0, "/jobs/0/read")]]),
    ("side-by-side.json", &[&[(0, "/jobs/0/read")], &[(0, "/jobs/1/write")]]),
    ("reports.json", &[&[(4, "/jobs/0/read")], &[(4, "/jobs/1/write")]]),
    ("fdatasync.json", &[&[(0, "/jobs/0/write")]]),
    ("fsync-every-4.json", &[&[(0, "/jobs/0/write")]]),
    ("unified.json", &[&[(0, "/jobs/0/mixed")]]),
    ("one-server.json", &[&[(0, "/client_stats/2/read")]]),
    ("two-servers.json", &[&[(0, "/client_stats/4/read")]]),
    ("fio-3.34-signal.json", &[&[(0, "/jobs/0/read")]]),
    ("fio-3.42-normal.out", &[&[(0, "/jobs/0/write")]]),
    ("fio-3.42-reports.json", &[&[(1, "/jobs/0/write")]]),
    ("fio-3.43-servers.json", &[&[(0, "/client_stats/2/read")]]),
];

/// Returns fio's reports in a file.
fn reports(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(golden(name)).unwrap();
    let starts =
        text.match_indices("\"fio version\"").map(|(at, _)| text[..at].rfind('{').unwrap());
    let report = |at: usize| serde_json::Deserializer::from_str(&text[at..]).into_iter().next();
    starts.map(|at| report(at).unwrap().unwrap()).collect()
}

/// One figure of a cell.
struct Figure {
    name: &'static str,
    own: Option<f64>,
    fios: f64,
}

fn number(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or(0.0)
}

/// Returns fio's times of one part, and nanoseconds of their unit.
fn times(part: &Value) -> (&Value, f64) {
    match (&part["lat_ns"], &part["clat_ns"], &part["clat"]) {
        (whole, _, _) if whole.get("percentile").is_some() => (whole, 1.0),
        (_, completion, _) if !completion.is_null() => (completion, 1.0),
        (_, _, micros) => (micros, 1000.0),
    }
}

/// Returns the figures of a cell; `syncs`: of the calls that make its writes durable.
fn figures(found: &CellResult, parts: &[&Value], syncs: Option<&Value>) -> Vec<Figure> {
    let sum = |name: &str| parts.iter().map(|part| number(part, name)).sum::<f64>();
    let longest = parts.iter().map(|part| number(part, "runtime")).fold(0.0, f64::max);
    let [trial] = &found.trials[..] else { panic!("{:?}", found.trials) };
    let kibs = if parts[0].get("io_kbytes").is_some() { 1.0 } else { 1024.0 };
    let mut all = vec![
        Figure { name: "bytes", own: Some(trial.bytes as f64), fios: kibs * sum("io_bytes") },
        Figure { name: "operations", own: Some(trial.ops as f64), fios: sum("total_ios") },
        Figure { name: "time", own: Some(trial.nanos as f64), fios: longest * 1e6 },
    ];
    let operations = found.operations.as_ref().map(|of| of.summary.median);
    // fio divides the sum of a group by the time of its longest job.
    let rate = if parts.len() == 1 { sum("iops") } else { sum("total_ios") / longest * 1e3 };
    all.push(Figure { name: "operations a second", own: operations, fios: rate });
    // In whole KiB.
    if parts.len() == 1 && sum("bw") > 200.0 {
        let throughput = found.throughput.as_ref().map(|of| of.summary.median);
        all.push(Figure { name: "throughput", own: throughput, fios: sum("bw") * 1024.0 });
    }
    let latency = |name, of: fn(&LatencyOf) -> Option<f64>, fios| {
        let own = found.latency.as_ref();
        Figure { name, own: own.and_then(of), fios }
    };
    let mean = parts.iter().map(|part| {
        let (times, unit) = times(part);
        number(times, "mean") * unit * number(part, "total_ios")
    });
    let sync = syncs.map_or(0.0, |of| number(of, "mean") * number(of, "N"));
    all.push(latency("mean", |of| Some(of.mean), (mean.sum::<f64>() + sync) / sum("total_ios")));
    let maxima = parts.iter().map(|part| number(times(part).0, "max") * times(part).1);
    let max = maxima.chain(syncs.map(|of| number(of, "max"))).fold(0.0, f64::max);
    all.push(latency("max", |of| Some(of.max), max));
    if let [part] = parts {
        all.extend(distribution(found, part, syncs));
    }
    all
}

fn percentile(name: &str, (of, unit): (&Value, f64)) -> Option<f64> {
    of["percentile"][name].as_f64().filter(|own| *own > 0.0).map(|own| own * unit)
}

/// Returns the percentiles of a cell that is one part.
fn distribution(found: &CellResult, part: &Value, syncs: Option<&Value>) -> Vec<Figure> {
    let Some(syncs) = syncs else {
        // Ten operations must lie above a percentile.
        let carried = |share: f64| share == 0.0 || number(part, "total_ios") * share >= 10.0;
        type Of = fn(&LatencyOf) -> Option<f64>;
        let all: [(&'static str, Of, f64); 4] = [
            ("50.000000", |of| of.p50, 0.0),
            ("90.000000", |of| of.p90, 0.1),
            ("99.000000", |of| of.p99, 0.01),
            ("99.900000", |of| of.p999, 0.001),
        ];
        let figure = |(name, of, share): (&'static str, Of, f64)| {
            let fios = percentile(name, times(part)).filter(|_| carried(share))?;
            Some(Figure { name, own: found.latency.as_ref().and_then(of), fios })
        };
        return all.into_iter().filter_map(figure).collect();
    };
    let commits = found.commits.unwrap();
    let p50 = |of: Option<LatencyOf>| of.and_then(|of| of.p50);
    let fios = percentile("50.000000", (syncs, 1.0)).unwrap();
    let mut all = vec![Figure { name: "sync p50", own: p50(commits.sync), fios }];
    if found.cell.sync_every <= 1 {
        let fios = percentile("50.000000", times(part)).unwrap();
        all.push(Figure { name: "write p50", own: p50(commits.write), fios });
    }
    all
}

#[test]
fn every_figure_matches_fio() {
    let mut rows = String::from("version            cells  figures  largest difference\n");
    for (name, cells) in FILES {
        let (reports, found) = (reports(name), results(&imported(name)));
        assert_eq!(found.len(), cells.len(), "{name}");
        let (mut count, mut largest) = (0, 0.0f64);
        for (found, places) in found.iter().zip(*cells) {
            let at = |(report, place): &(usize, &str)| {
                reports[*report].pointer(place).unwrap_or_else(|| panic!("{name} {place}"))
            };
            let parts: Vec<&Value> = places.iter().map(at).collect();
            let (report, place) = places[0];
            let job = &place[..place.rfind('/').unwrap()];
            let syncs = reports[report].pointer(&format!("{job}/sync/lat_ns"));
            let syncs = syncs.filter(|of| found.cell.syncs_after_writes() && number(of, "N") > 0.0);
            for Figure { name: figure, own, fios } in figures(found, &parts, syncs) {
                let own = own.unwrap_or_else(|| panic!("{name}: {figure} is missing, not {fios}"));
                let differs = (own - fios).abs() / fios;
                assert!(differs < 0.01, "{name}: {figure} is {own}, not {fios}");
                (count, largest) = (count + 1, largest.max(differs));
            }
        }
        let version = reports[0]["fio version"].as_str().unwrap();
        rows += &format!(
            "{version:18} {:5}  {count:7}  {:.2} %  {name}\n",
            cells.len(),
            largest * 100.0
        );
    }
    insta::assert_snapshot!("figures", rows);
}

/// A file that is not compared would hide what is wrong with it.
#[test]
fn every_file_of_fio_is_compared() {
    let apart = ["repeat.json", "failed.json", "fio-3.33-nothing.json"];
    for file in std::fs::read_dir(golden("")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let is_output =
            name.ends_with(".json") || name.ends_with("cr.txt") || name.ends_with(".out");
        let known = FILES.iter().any(|(own, _)| *own == name) || apart.contains(&name.as_str());
        assert!(known || !is_output, "{name}");
    }
}
