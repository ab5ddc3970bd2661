//! Estimates made before anything is measured.

use super::*;

#[test]
fn an_estimate_is_made_from_facts() {
    fn rate(job: &Job, bounds: &Bounds) -> Option<f64> {
        estimate(job, bounds).map(|estimate| estimate.rate)
    }
    let warm = |block| rate(&job("pread", block, Cache::Warm), &bounds()).unwrap();
    assert!((warm(1) - 1.0 / (100.0 + 1.0 / 13.0) * SECOND).abs() < 1e3, "{}", warm(1));
    assert!((warm(1 << 30) / 13e9 - 1.0).abs() < 1e-3);
    let of = |job: &Job| {
        estimate(job, &bounds()).map(|estimate| (estimate.rate.round(), estimate.basis))
    };
    assert_eq!(of(&job("mmap", 4096, Cache::Warm)), Some((15e9, Basis::Memory)));
    // Filled by one call for many blocks, or by none: no call per block limits these.
    assert_eq!(of(&job("stdio", 1, Cache::Warm)), Some((13e9, Basis::Copy)));
    assert_eq!(
        of(&Job { depth: 32, ..job("uring", 4096, Cache::Warm) }).map(|(rate, _)| rate > 12.8e9),
        Some(true)
    );
    // No data reaches the program, so the kernel's work on it is unknown.
    assert_eq!(of(&job("splice", 4096, Cache::Warm)), None);
    assert_eq!(rate(&job("pread", 4096, Cache::Cold), &bounds()), None);
    let device = Bounds { link: Some(2e9), rated: Some(1e9), ..bounds() };
    assert_eq!(
        estimate(&job("pread", 4096, Cache::Cold), &device),
        Some(Estimate { rate: 1e9, basis: Basis::Rated })
    );
    let write = |sync| Job { op: Op::Write, sync, ..job("pread", 1 << 20, Cache::AsIs) };
    assert_eq!(estimate(&write(Sync::End), &device).map(|e| e.basis), Some(Basis::Rated));
    assert_eq!(
        estimate(&write(Sync::None), &device).map(|e| e.basis),
        Some(Basis::CallAndCopy),
        "the page cache takes it"
    );
    assert_eq!(rate(&job("null", 1, Cache::AsIs), &device), None);
    // Every measured point of the curve above is below it.
    for result in super::tests::warm("pread") {
        assert!(
            result.throughput.unwrap().summary.median <= rate(&result.cell, &bounds()).unwrap()
        );
    }
}

#[test]
fn equal_jobs_share_a_dotted_line() {
    let bounds = Bounds { rated: Some(1e9), ..bounds() };
    let blocks = [4096, 65536];
    let jobs: Vec<Job> = ["read", "pread", "mmap"]
        .into_iter()
        .flat_map(|backend| {
            blocks.into_iter().flat_map(move |block| {
                [Cache::Cold, Cache::Warm].map(|cache| job(backend, block, cache))
            })
        })
        .collect();
    let lines = estimate_lines(jobs.iter(), Axis::Block, &bounds);
    let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["estimate: call and copy", "estimate: memory", "estimate: rated speed"]);
    assert!(
        lines.iter().all(|line| line.points.iter().map(|point| point.0).eq([4096.0, 65536.0])),
        "{lines:?}"
    );
    let text = describe_lines(&lines);
    assert!(
        text.starts_with("Dotted: estimates from the cheapest system call, 100 ns,")
            && text.contains("954 MiB/s"),
        "{text}"
    );
    let threads: Vec<Job> = [1, 2]
        .into_iter()
        .map(|threads| Job { threads, ..job("mmap", 4096, Cache::Warm) })
        .collect();
    let lines = estimate_lines(threads.iter().chain(&jobs), Axis::Block, &bounds);
    let names: Vec<&str> = lines
        .iter()
        .map(|line| line.name.as_str())
        .filter(|name| name.contains("memory"))
        .collect();
    assert_eq!(names, ["estimate: memory, 1 thread", "estimate: memory, 2 threads"]);
    assert_eq!(estimate_lines(jobs.iter(), Axis::Block, &Bounds::default()), []);
    assert_eq!(describe_lines(&[]), "");
}

#[test]
fn plans_are_estimated_in_a_sentence() {
    let cells = [
        job("pread", 4096, Cache::Warm),
        job("pread", 1 << 20, Cache::Warm),
        job("pread", 4096, Cache::Cold),
    ]
    .to_vec();
    let plan = Plan { cells, rated: Some(1 << 30), ..crate::session::testing::plan(0) };
    let bounds = Bounds { rated: Some(1073741824.0), ..bounds() };
    let text = describe_within(&plan, &bounds);
    let wanted = "expected: 9.19 to 12.1 GiB/s (the cheapest system call, 100 ns, for each block, and copying at 12.1 GiB/s); \
                  1.00 GiB/s (the disk's rated 1.00 GiB/s)";
    assert_eq!(text, wanted);
    assert_eq!(describe_within(&plan, &Bounds::default()), "");
}

/// Bare loops measured at a moment when the machine ran at half its speed.
#[test]
fn contradicted_estimates_name_the_result() {
    let cells = vec![job("pread", 4096, Cache::Warm), job("pread", 1 << 20, Cache::Warm)];
    let mut session = crate::session::testing::session(2);
    session.plan.cells = cells.clone();
    let machine =
        crate::record::MachineEvidence { ceilings: Some(bounds().ceilings), ..Default::default() };
    session.grounds = Some(crate::record::Grounds { machine, ..Default::default() });
    let results = |nanos: [f64; 2]| -> Vec<CellResult> {
        cells
            .iter()
            .zip(nanos)
            .map(|(job, nanos)| cell(job.clone(), Op1 { nanos, ..MEMORY }, 0.01))
            .collect()
    };
    let said = |results: &[CellResult]| describe_expected(&session, results.iter());
    let plain = said(&results([500.0, 90e3]));
    assert!(plain.starts_with("expected: 9.19 to 12.1 GiB/s (the cheapest system call"), "{plain}");
    let faster = said(&results([500.0, 40e3]));
    let but = ". pread 1 MiB warm reached 2.0 times as much: the machine was slower when the bare loops ran, so the estimate is too low";
    assert_eq!(faster, plain + but);
}

#[test]
fn estimates_name_thread_counts_and_assumptions() {
    let mapped = |threads| Job { threads, ..job("mmap", 1 << 20, Cache::Warm) };
    fn expected(cells: Vec<Job>) -> String {
        describe_within(&Plan { cells, ..crate::session::testing::plan(0) }, &bounds())
    }
    assert_eq!(
        expected(vec![mapped(1), mapped(20)]),
        "expected: 14.0 to 23.3 GiB/s (reading memory at 14.0 GiB/s by one thread, 23.3 GiB/s by 2)"
    );
    assert_eq!(
        expected(vec![Job { cache: Cache::AsIs, ..mapped(1) }]),
        "expected: if the file is in memory, 14.0 GiB/s (reading memory at 14.0 GiB/s)"
    );
}
