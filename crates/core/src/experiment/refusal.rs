//! Why a combination of axes is skipped.

use super::kind::PlanRequest;
use crate::plan::{Cache, Info, Job, Moves, Op, Pattern, TargetSpec};
use crate::units::{show_bytes, show_count};

/// Returns why this combination is meaningless or not supported here.
pub fn refusal(info: &Info, job: &Job, request: &PlanRequest) -> Option<String> {
    let id = info.id;
    if job.mix.is_some() && !info.mixes {
        let able = able(request, |info| info.mixes);
        return Some(format!("{id} cannot mix reads and writes; --backend {able} can"));
    }
    if !info.ops.contains(&job.op) {
        let moves = |info: &Info| job.op == Op::Seek || info.moves_bytes();
        let able = able(request, |i| !i.is_peer() && i.ops.contains(&job.op) && moves(i));
        return Some(format!("{id} cannot {}; --backend {able} can", job.op));
    }
    if job.depth > info.max_depth() {
        let why = if info.max_depth() == 1 {
            "is synchronous".into()
        } else {
            format!("supports a depth of at most {}", info.max_depth())
        };
        return Some(format!("{id} {why}; use --depth {} or -b uring", info.max_depth()));
    }
    if info.is_peer() && request.resolved.whole.cpus.is_some() {
        return Some(format!(
            "{id} is another program, whose threads iotui cannot pin; leave out --cpus, or start \
             iotui by taskset"
        ));
    }
    if let Some(why) = paces(info, job).or_else(|| reads_list(info, job, request)) {
        return Some(why);
    }
    if job.direct && !info.direct {
        return Some(format!("{id} does not support direct I/O; leave out --direct"));
    }
    if let Some(why) = appends(info, job, request)
        .or_else(|| starts_fresh(job))
        .or_else(|| own_files(job, request))
    {
        return Some(why);
    }
    if let Some(why) = folds(info, job).or_else(|| syncs(info, job, request)) {
        return Some(why);
    }
    if job.direct && job.cache == Cache::Warm {
        return Some(
            "direct I/O bypasses the page cache, so warm has no effect; leave out --direct or \
             --cache warm"
                .into(),
        );
    }
    fits(job, request)
        .or_else(|| writes(job, request))
        .or_else(|| verifies(info, job, request))
        .or_else(|| memory(info, job, request.memory))
        .or_else(|| (request.check)(job).err())
}

/// Returns why a list of files cannot be read as one.
fn reads_list(info: &Info, job: &Job, request: &PlanRequest) -> Option<String> {
    if request.target.listed().is_empty() {
        return None;
    }
    let (id, whole) = (info.id, &request.resolved.whole);
    let paced = [
        (whole.watch.is_some(), "--watch"),
        (whole.latency_target.is_some(), "--latency-target"),
        (job.rate.is_some(), "--rate"),
        (job.think > 0, "--think"),
    ];
    if let Some((_, option)) = paced.into_iter().find(|(is_asked, _)| *is_asked) {
        return Some(format!("{option} starts operations on one file; leave out --as-one"));
    }
    match () {
        () if info.is_peer() => {
            Some(format!("{id} is another program, which reads one file; leave out --as-one"))
        }
        () if job.op == Op::Write => {
            Some("files that are named are only read; leave out --as-one".into())
        }
        () if job.backend.has("shared") => {
            Some("+shared hands out the blocks of one file; leave it out with --as-one".into())
        }
        () => None,
    }
}

/// Returns why operations cannot keep a pace.
fn paces(info: &Info, job: &Job) -> Option<String> {
    let option = if job.rate.is_some() { "--rate" } else { "--think" };
    if !job.is_paced() {
        return None;
    }
    if info.is_peer() {
        return Some(format!(
            "{} is another program, whose operations iotui does not start; leave out {option}, or \
             use pread",
            info.id
        ));
    }
    let reads_ahead = ["populate", "willneed"].into_iter().find(|name| job.backend.has(name))?;
    Some(format!(
        "+{reads_ahead} reads the file before the first operation; leave it out with {option}"
    ))
}

/// Returns why the XOR of the data is unavailable.
fn folds(info: &Info, job: &Job) -> Option<String> {
    if job.mix.is_some() && job.xor {
        return Some(
            "the mix overwrites the data that the XOR covers; leave out --xor or --mix".into(),
        );
    }
    if job.xor && job.pattern.is_drawn() {
        return Some(format!(
            "{} visits some blocks again and others never, so the XOR would be of no file; leave \
             out --xor, or use --pattern random",
            job.pattern
        ));
    }
    if job.xor && info.moves() != Moves::Data {
        let why = if info.is_peer() {
            "is another program, whose data iotui does not see"
        } else {
            "passes no data to the program"
        };
        return Some(format!(
            "{} {why}, so there is no XOR; leave out --xor, or use pread",
            info.id
        ));
    }
    None
}

/// Returns why writes cannot be made durable in this way.
fn syncs(info: &Info, job: &Job, request: &PlanRequest) -> Option<String> {
    if job.op != Op::Write {
        return None;
    }
    if !info.syncs.contains(&job.sync) {
        let syncs = |i: &Info| i.ops.contains(&Op::Write) && i.syncs.contains(&job.sync);
        let able = able(request, syncs);
        return Some(format!("{} cannot --sync {}; --backend {able} can", info.id, job.sync));
    }
    if job.xor && job.sync.follows_writes() {
        return Some(format!(
            "commits would include the XOR; leave out --xor, or use --sync dsync instead of {}",
            job.sync
        ));
    }
    (job.mix.is_some() && job.sync.follows_writes()).then(|| {
        format!("a mix cannot sync after its writes; use --sync dsync instead of {}", job.sync)
    })
}

/// Returns why the blocks do not fit in the file.
fn fits(job: &Job, request: &PlanRequest) -> Option<String> {
    if job.span > request.target.size() {
        return Some(format!(
            "a span of {} exceeds the file's {}; use a smaller --size",
            show_bytes(job.span),
            show_bytes(request.target.size())
        ));
    }
    if let Some(ranks) = request.ranks.filter(|ranks| *ranks > 1 && job.block > job.span) {
        return Some(format!(
            "there are more ranks than blocks of {}: {} for each of {ranks}",
            show_bytes(job.block),
            show_bytes(job.span)
        ));
    }
    if job.block > job.span {
        return Some(format!(
            "a block of {} is larger than the measured span of {}",
            show_bytes(job.block),
            show_bytes(job.span)
        ));
    }
    let count = job.count?;
    (count > job.blocks()).then(|| {
        format!(
            "{} blocks of {} exceed the measured span of {}; use -n {} or less",
            count,
            show_bytes(job.block),
            show_bytes(job.span),
            job.blocks()
        )
    })
}

/// Returns why a job cannot append: the file starts out empty and grows in order.
fn appends(info: &Info, job: &Job, request: &PlanRequest) -> Option<String> {
    if !job.appends() {
        return None;
    }
    if !info.appends {
        let able = able(request, |info| info.appends);
        return Some(format!("{} cannot append; {able} can", info.id));
    }
    let why = match job {
        Job { pattern: Pattern::Seq, depth: 1, .. } => return None,
        Job { pattern: Pattern::Seq, .. } => {
            "blocks are written one after the other; use --depth 1"
        }
        _ => "blocks are written in order; use --pattern seq",
    };
    Some(format!("append starts with an empty file: {why}"))
}

/// Returns why a job cannot begin with a file that was never written.
fn starts_fresh(job: &Job) -> Option<String> {
    if !job.starts_fresh() {
        return None;
    }
    let why = match job.mix {
        Some(_) => "there is nothing to read; omit --mix",
        None if job.pattern.is_drawn() => "each block is written once; use --pattern random",
        None => return None,
    };
    Some(format!("{} starts with a file without data: {why}", job.writes))
}

/// Returns why the threads of a job cannot have a file each.
fn own_files(job: &Job, request: &PlanRequest) -> Option<String> {
    if !job.has_own_files() {
        return None;
    }
    if job.threads > Job::MAX_OWN_FILES {
        return Some(format!(
            "at most {} threads can have a file each; use --threads {} or less",
            Job::MAX_OWN_FILES,
            Job::MAX_OWN_FILES
        ));
    }
    if job.blocks() < job.threads.into() {
        return Some(format!(
            "there are only {} blocks for {} files; use a larger --size",
            job.blocks(),
            job.threads
        ));
    }
    matches!(request.target, TargetSpec::New { .. } | TargetSpec::Scratch { keep: true, .. })
        .then(|| "files of threads are always removed; omit --keep, and name no file".into())
}

/// Lists the backends that can do something.
fn able(request: &PlanRequest, can: impl Fn(&Info) -> bool) -> String {
    let able = request.infos.iter().filter(|info| can(info)).map(|info| info.id);
    able.collect::<Vec<_>>().join(", ")
}

fn writes(job: &Job, request: &PlanRequest) -> Option<String> {
    let existing = matches!(request.target, TargetSpec::File { .. });
    (job.op == Op::Write && existing).then(|| {
        "iotui writes only to files it creates; name a new file, or none for a scratch file".into()
    })
}

/// Returns why what the job writes cannot be read back and compared, if that is requested.
fn verifies(info: &Info, job: &Job, request: &PlanRequest) -> Option<String> {
    if request.resolved.whole.verify != Some(true) || job.op != Op::Write {
        return None;
    }
    if info.moves() != Moves::Data {
        let id = info.id;
        return Some(format!(
            "{id} does not write iotui's data, so --verify has nothing to compare; use pread"
        ));
    }
    if job.block < Job::STAMP {
        let least = Job::STAMP;
        return Some(format!(
            "--verify marks each block with {least} bytes; use -s {least} or more"
        ));
    }
    // In flight together, either of two writes of a block may be the last.
    if job.pattern.is_drawn() && job.depth > 1 {
        return Some(format!(
            "with {} two writes of a block may be in flight, and --verify cannot tell which is \
             the last; use --depth 1, or --pattern random",
            job.pattern
        ));
    }
    // Which pass wrote each block last.
    let list = job.blocks().saturating_mul(4);
    (list > request.memory).then(|| {
        format!(
            "--verify needs {} for a list of {} blocks, which exceeds the usable memory of {}; use \
             a smaller --size or larger blocks",
            show_bytes(list),
            show_count(job.blocks() as f64),
            show_bytes(request.memory)
        )
    })
}

fn memory(info: &Info, job: &Job, available: u64) -> Option<String> {
    let buffers = match info.moves() {
        Moves::Data | Moves::Elsewhere => {
            let each =
                job.block.saturating_mul(job.depth.into()).saturating_mul(job.threads.into());
            // Reads and writes have separate buffers.
            if job.mix.is_some() { each.saturating_mul(2) } else { each }
        }
        Moves::Inside | Moves::Nothing => 0,
    };
    (buffers > available).then(|| {
        format!(
            "buffers of {} ({} threads x depth {} x {}) exceed the usable memory of {}",
            show_bytes(buffers),
            show_count(job.threads.into()),
            job.depth,
            show_bytes(job.block),
            show_bytes(available)
        )
    })
}
