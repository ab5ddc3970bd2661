use super::*;
use crate::plan::{
    Arrival, Cache, Choice, CpuCache, FilePer, Layout, Op, Opened, Pattern, Rate, Sync, Writes,
};

fn job(backend: &str, block: u64, cache: Cache) -> Job {
    Job { block, cache, count: None, span: 1 << 20, ..Job::plain(Choice::plain(backend), Op::Read) }
}

fn best(jobs: &[Job]) -> Option<Axis> {
    Axis::best(jobs.iter())
}

/// Returns every combination of these values.
fn grid(blocks: &[u64], counts: &[Option<u64>], threads: &[u32]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for block in blocks {
        for count in counts {
            jobs.extend(threads.iter().map(|n| Job {
                count: *count,
                threads: *n,
                ..job("read", *block, Cache::Warm)
            }));
        }
    }
    jobs
}

/// Returns two jobs that differ in everything.
fn opposites() -> [Job; 2] {
    let one = Job {
        block: 8,
        depth: 3,
        threads: 5,
        count: Some(7),
        span: 100,
        mix: Some(30),
        ..Job::plain(Choice::plain("pread"), Op::Write)
    };
    let other = Job {
        op: Op::Seek,
        pattern: Pattern::Random,
        block: 4,
        count: Some(0),
        span: 99,
        threads: 9,
        depth: 2,
        cache: Cache::Warm,
        direct: true,
        xor: true,
        sync: Sync::Dsync,
        sync_every: 4,
        mix: None,
        cpu_cache: CpuCache::Flush,
        writes: Writes::Append,
        file_per: FilePer::Thread,
        opened: Opened::Timed,
        target: Some(1),
        variant: Some("mq".parse().unwrap()),
        ranks: Some(4),
        layout: Layout::Strided,
        rate: Some(Rate::Operations(1000)),
        arrival: Arrival::Poisson,
        think: 5_000_000,
        backend: Choice::plain("seek"),
    };
    [one, other]
}

#[test]
fn each_axis_clears_its_value() {
    let jobs = opposites();
    for axis in Axis::ALL {
        assert_eq!(serde_json::to_string(&axis).unwrap(), format!("\"{}\"", axis.id()));
        assert!(axis.differs(jobs.iter()), "{axis:?}");
        let cleared = jobs.each_ref().map(|job| axis.without(job));
        // Without a mix, the share of reads follows from the operation.
        assert!(!axis.differs(cleared.iter()), "{axis:?} is still there");
        assert_eq!(axis.is_number(), Axis::NUMBERS.contains(&axis), "{axis:?}");
    }
    let bare = Axis::ALL.into_iter().fold(jobs[0].clone(), |job, axis| axis.without(&job));
    let other = Axis::ALL.into_iter().fold(jobs[1].clone(), |job, axis| axis.without(&job));
    assert_eq!(bare, other, "a part of the job has no axis");
    let places: Vec<u8> = Axis::columns().iter().map(|axis| axis.row().place).collect();
    assert_eq!(places, (0..24).collect::<Vec<u8>>());
}

#[test]
fn numbers_have_places() {
    let jobs = opposites();
    assert_eq!(Axis::NUMBERS.map(|axis| axis.value_of(&jobs[0])), [0, 8, 3, 5, 0, 1, 7, 100, 30]);
    let write = Job { op: Op::Write, ..jobs[1].clone() };
    assert_eq!(
        (Axis::Count.value_of(&write), Axis::Mix.value_of(&write)),
        (25, 0),
        "one pass has as many operations as blocks"
    );
    assert_eq!(Axis::Cache.place(&write), None);
}

#[test]
fn labels_omit_implied_values() {
    let plain = job("read", 4096, Cache::AsIs);
    assert_eq!(plain.label(), "read 4 KiB");
    let [mixed, odd] = opposites();
    assert_eq!(mixed.label(), "pread 8 B 30 % reads 5 threads queue depth 3");
    assert_eq!(
        odd.label(),
        "seek 4 B warm random 9 threads queue depth 2 direct O_DSYNC after every 4 \
         writes whole files per thread with opening CPU caches flushed on B with mq 4 ranks at \
         1k/s at random times with pauses of 5.00 ms"
    );
    assert_eq!(odd.describe(&[Axis::Sync, Axis::Xor]), "O_DSYNC with XOR");
    assert_eq!(Axis::Direct.phrase_among(&plain, true).as_deref(), Some("buffered"));
    assert_eq!(Axis::Direct.phrase_among(&plain, false), None);
    let grouped = Job { op: Op::Write, sync: Sync::Fsync, sync_every: 8, ..plain.clone() };
    assert_eq!(grouped.label(), "write 4 KiB fsync after every 8 writes");
    assert_eq!(Axis::SyncEvery.show(8), "8 writes per sync");
    let unsized_job = Job { span: 0, count: None, ..plain.clone() };
    for axis in [Axis::Size, Axis::Count] {
        assert_eq!(axis.phrase_among(&unsized_job, true), None, "a report that names no size");
    }
    let sized = Job { span: 1 << 30, count: Some(0), ..plain };
    let phrases = |differ| [Axis::Size, Axis::Count].map(|axis| axis.phrase_among(&sized, differ));
    assert_eq!(phrases(false), [None, None]);
    assert_eq!(phrases(true), ["1 GiB of the file", "one pass"].map(|text| Some(text.into())));
}

#[test]
fn the_axis_with_fewest_curves_wins() {
    assert_eq!(best(&grid(&[1], &[None], &[1])), None);
    assert_eq!(best(&grid(&[1, 2, 4, 8], &[Some(1024), Some(8192)], &[1])), Some(Axis::Block));
    assert_eq!(
        best(&grid(&[1, 2], &[Some(1024), Some(8192), Some(65536)], &[1])),
        Some(Axis::Count)
    );
    assert_eq!(best(&grid(&[4096, 65536], &[None], &[1, 2, 4])), Some(Axis::Threads));
    let equal = grid(&[1, 2, 4, 8], &[1 << 10, 1 << 13, 1 << 16, 1 << 19].map(Some), &[1]);
    assert_eq!(best(&equal), Some(Axis::Count), "of equals the one with the wider range");
    assert_eq!(Axis::choices(equal.iter()), [Axis::Count, Axis::Block]);
}

#[test]
fn axes_without_places_are_not_drawn() {
    let mixed = grid(&[4096], &[None, Some(8), Some(16)], &[1]);
    assert_eq!(best(&mixed), None);
    assert_eq!(best(&mixed[1..]), Some(Axis::Count));
    let spans = [1 << 20, 3 << 20, 0].map(|span| Job { span, ..job("read", 4096, Cache::Warm) });
    assert_eq!((best(&spans), best(&spans[..2])), (None, Some(Axis::Size)));
}

#[test]
fn values_have_three_forms() {
    fn forms(axis: Axis, value: u64) -> [String; 3] {
        [axis.show(value), axis.tick(value as f64), axis.short(value as f64)]
    }
    assert_eq!(forms(Axis::Block, 4096), ["4 KiB", "4 KiB", "4k"]);
    assert_eq!(forms(Axis::Count, 8 << 20), ["8388608 operations", "8m", "8m"]);
    assert_eq!(forms(Axis::Size, 8 << 20), ["8 MiB of the file", "8 MiB", "8m"]);
    assert_eq!(forms(Axis::Size, 33_285_996_544), ["31 GiB of the file", "31 GiB", "31g"]);
    assert_eq!(forms(Axis::Size, 1_234_567_890), ["1.15 GiB of the file", "1.15 GiB", "1.15g"]);
    assert_eq!(forms(Axis::Mix, 30), ["30 % reads", "30 %", "30"]);
    assert_eq!(forms(Axis::Threads, 1), ["1 thread", "1", "1"]);
}
