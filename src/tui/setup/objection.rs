//! Reasons why a choice conflicts with the others, for greying items and for refusing keys. Pure.

use crate::facts::DirectSupport;
use crate::plan::{Cache, Choice, FilePer, Info, Moves, Op, Pattern, Settings, Sync, Writes};
use crate::units::show_bytes;

/// The choices and facts that a choice is checked against.
#[derive(Debug, Clone)]
pub struct Constraints<'a> {
    /// The effective settings, with all gaps filled as the plan will fill them.
    pub settings: &'a Settings,
    /// Whether backends were chosen; otherwise they follow the operation.
    pub explicit_backends: bool,
    pub infos: &'a [&'static Info],
    /// Backends that are unavailable on this machine, and why.
    pub unavailable: &'a [(&'static str, String)],
    /// Whether the target is an existing file, which iotui never writes.
    pub exists: bool,
    /// Size of the target in bytes, if known.
    pub size: Option<u64>,
    pub direct: Option<DirectSupport>,
}

impl Constraints<'_> {
    /// Returns the records of the selected backends.
    pub fn selected_backends(&self) -> Vec<&'static Info> {
        let choices = self
            .settings
            .backend
            .as_ref()
            .map_or(Vec::new(), |backends| backends.choices(self.infos));
        choices.iter().filter_map(|choice| self.info(choice)).collect()
    }

    fn info(&self, choice: &Choice) -> Option<&'static Info> {
        self.infos.iter().find(|info| info.id == choice.id).map(|info| info.of(choice))
    }

    fn op(&self) -> Op {
        self.settings.op.unwrap_or(Op::Read)
    }

    fn is_direct(&self) -> bool {
        self.settings.direct == Some(true)
    }

    /// Returns the names of the selected backends, shortened to fit a reason.
    fn backend_names(&self) -> String {
        let names: Vec<&str> = self.selected_backends().iter().map(|info| info.id).collect();
        match names.len() {
            0..=3 => names.join(", "),
            more => format!("{}, {} and {} more", names[0], names[1], more - 2),
        }
    }

    /// Returns whether no selected backend transfers data.
    fn transfers_nothing(&self) -> bool {
        let chosen = self.selected_backends();
        self.op() == Op::Seek
            || (!chosen.is_empty() && chosen.iter().all(|info| info.moves() == Moves::Nothing))
    }

    /// Returns whether no selected backend makes the data visible to the program.
    fn hides_data(&self) -> bool {
        let chosen = self.selected_backends();
        !chosen.is_empty() && chosen.iter().all(|info| info.moves() != Moves::Data)
    }

    /// Returns the largest number of bytes of the target that are accessed.
    pub fn span(&self) -> Option<u64> {
        let requested =
            self.settings.size.as_ref().and_then(|range| range.values.iter().copied().max());
        match (self.size, requested) {
            (Some(size), Some(requested)) if self.exists => Some(size.min(requested)),
            (size, requested) => requested.or(size),
        }
    }
}

/// Returns why a backend conflicts with the other choices.
pub fn check_backend(info: &Info, constraints: &Constraints) -> Option<String> {
    let op = constraints.op();
    if !info.ops.contains(&op) && info.ops != [Op::Seek] {
        return Some(format!("{} cannot {op}", info.id));
    }
    if let Some((_, why)) = constraints.unavailable.iter().find(|(id, _)| *id == info.id) {
        return Some(format!("unavailable: {why}"));
    }
    if constraints.is_direct() && !info.direct && info.moves_bytes() {
        return Some(format!("{} does not support direct I/O: turn Direct I/O off", info.id));
    }
    let min = constraints
        .settings
        .depth
        .as_ref()
        .and_then(|range| range.values.iter().copied().min())
        .unwrap_or(1);
    (min > u64::from(info.max_depth())).then(|| match info.max_depth() {
        1 => format!("{} is synchronous, one operation at a time: set Queue depth to 1", info.id),
        max => format!("{} supports a queue depth of at most {max}", info.id),
    })
}

/// Why a file that exists is not written.
const NOT_OURS: &str = "iotui writes only to files it creates: choose the scratch file";

/// Returns whether a value of `sync` or `sync-every` asks for writes.
fn asks_for_writes(name: &str, text: &str) -> bool {
    if name == "sync" { text != Sync::None.name() } else { text != "1" }
}

/// Returns why a value of a setting conflicts with the other choices.
pub fn check_value(name: &str, text: &str, constraints: &Constraints) -> Option<String> {
    match name {
        "op" => check_op(text.parse().ok()?, constraints),
        "cache" => check_cache(text.parse().ok()?, constraints),
        "direct" if text == "true" => check_direct(constraints),
        "xor" if text == "true" && constraints.transfers_nothing() => {
            Some("no data is transferred: there is nothing to XOR".into())
        }
        "xor" if text == "true" && constraints.hides_data() => Some(format!(
            "{}: no data reaches the program, so there is nothing to XOR",
            constraints.backend_names()
        )),
        "sync" | "sync-every" if asks_for_writes(name, text) && constraints.op() != Op::Write => {
            Some("Sync applies only to writes: set Operation to write".into())
        }
        "verify" if text == "true" => check_verify(constraints),
        "fresh" if text == "true" => check_fresh(constraints),
        "mix" | "writes" if constraints.exists => Some(NOT_OURS.into()),
        "writes" if text == Writes::Append.name() => check_append(constraints),
        "writes" if text == Writes::Preallocated.name() && constraints.settings.mix.is_some() => {
            Some("a file without data has nothing to read: clear Read share first".into())
        }
        "file-per" if text == FilePer::Thread.name() => check_own_files(constraints),
        "depth" => check_depth(text, constraints),
        "size" => check_size(text, constraints),
        "count" => check_count(text, constraints),
        _ => None,
    }
}

/// Returns why the current value of a setting conflicts with the other choices. A list of values
/// conflicts only if all of them do.
pub fn check_current(name: &str, constraints: &Constraints) -> Option<String> {
    let text = constraints.settings.text(name)?;
    let parts: Vec<&str> = if matches!(name, "cache" | "writes" | "file-per") {
        text.split(',').collect()
    } else {
        vec![&text]
    };
    let mut reasons: Vec<Option<String>> =
        parts.into_iter().map(|part| check_value(name, part, constraints)).collect();
    if reasons.iter().all(Option::is_some) { reasons.pop().flatten() } else { None }
}

/// Returns why a block size conflicts with the other choices.
pub fn check_block(bytes: u64, constraints: &Constraints) -> Option<String> {
    if bytes > crate::plan::Job::MAX_BLOCK {
        return Some(format!(
            "one call transfers at most {}",
            show_bytes(crate::plan::Job::MAX_BLOCK)
        ));
    }
    if let Some(span) = constraints.span().filter(|span| bytes > *span) {
        return Some(format!(
            "a block of {} is larger than the {} in use",
            show_bytes(bytes),
            show_bytes(span)
        ));
    }
    let Some(DirectSupport::Known(align)) = constraints.direct else { return None };
    if !constraints.is_direct() {
        return None;
    }
    let align = u64::from(align.offset.max(align.mem)).max(1);
    (!bytes.is_multiple_of(align))
        .then(|| format!("direct I/O requires multiples of {} here", show_bytes(align)))
}

fn check_op(op: Op, constraints: &Constraints) -> Option<String> {
    if op == Op::Write && constraints.exists {
        return Some(NOT_OURS.into());
    }
    let chosen = constraints.selected_backends();
    let able = chosen.iter().any(|info| info.ops.contains(&op))
        || chosen.is_empty()
        || !constraints.explicit_backends;
    (!able)
        .then(|| format!("{} cannot {op}: choose a backend that can", constraints.backend_names()))
}

fn check_cache(cache: Cache, constraints: &Constraints) -> Option<String> {
    if cache == Cache::Warm && constraints.is_direct() {
        return Some("direct I/O bypasses the page cache: warm has no effect".into());
    }
    (cache != Cache::AsIs && constraints.transfers_nothing())
        .then(|| "no data is transferred: the page cache has no effect".into())
}

fn check_direct(constraints: &Constraints) -> Option<String> {
    let chosen = constraints.selected_backends();
    if constraints.direct == Some(DirectSupport::Refused) {
        return Some("the target's file system does not support direct I/O".into());
    }
    if constraints.settings.cache.as_deref() == Some(&[Cache::Warm]) {
        return Some("direct I/O bypasses the page cache: deselect warm first".into());
    }
    let able = chosen.is_empty() || chosen.iter().any(|info| info.direct);
    (!able).then(|| {
        let who = with_verb(&constraints.backend_names(), "does", "do");
        format!("{who} not support direct I/O")
    })
}

/// Returns why written data cannot be read back and compared.
fn check_verify(constraints: &Constraints) -> Option<String> {
    if constraints.exists {
        return Some(NOT_OURS.into());
    }
    if constraints.settings.dedupe.is_some() {
        return Some("each block is marked, so none repeats: clear Dedupe first".into());
    }
    (constraints.op() != Op::Write)
        .then(|| "Verify applies only to writes: set Operation to write".into())
}

/// Returns why blocks cannot be read once, and never before.
fn check_fresh(constraints: &Constraints) -> Option<String> {
    if !constraints.exists {
        return Some("iotui would have just written them: choose a file of yours".into());
    }
    let settings = constraints.settings;
    let cold = settings.cache.as_deref() == Some(&[Cache::Cold]);
    (!cold && settings.direct != Some(true))
        .then(|| "the page cache would serve them again: set Cache to cold, or Direct".into())
}

/// Returns why a file cannot be written by appending.
fn check_append(constraints: &Constraints) -> Option<String> {
    let chosen = constraints.selected_backends();
    let settings = constraints.settings;
    let reason = if constraints.explicit_backends
        && !chosen.is_empty()
        && !chosen.iter().any(|info| info.appends)
    {
        return Some(format!("{} cannot extend a file: choose pread", constraints.backend_names()));
    } else if settings.mix.is_some() {
        "an empty file has nothing to read: clear Read share first"
    } else if settings.pattern.is_some_and(|pattern| pattern != Pattern::Seq) {
        "appends are sequential: set Pattern to seq"
    } else if !allows_one(settings.depth.as_ref()) {
        "appends run one at a time: set Queue depth to 1"
    } else {
        return None;
    };
    Some(reason.into())
}

/// Returns why the threads cannot have a file each.
fn check_own_files(constraints: &Constraints) -> Option<String> {
    if constraints.op() != Op::Write {
        return Some("files of threads are only written: set Operation to write".into());
    }
    let threads = constraints.settings.threads.as_ref();
    let most = threads.and_then(|range| range.values.iter().copied().max()).unwrap_or(1);
    (most <= 1).then(|| "one thread has one file: set Threads to 2 or more".into())
}

fn allows_one(range: Option<&crate::plan::Range>) -> bool {
    range.is_none_or(|range| range.values.contains(&1))
}

fn check_depth(text: &str, constraints: &Constraints) -> Option<String> {
    let min = parse_counts(text).min()?;
    let max = constraints
        .selected_backends()
        .iter()
        .map(|info| u64::from(info.max_depth()))
        .max()
        .unwrap_or(u64::MAX);
    (min > max).then(|| match max {
        1 => {
            format!(
                "{} one operation at a time: choose uring",
                with_verb(&constraints.backend_names(), "runs", "run")
            )
        }
        _ => format!(
            "{} a queue depth of at most {max}",
            with_verb(&constraints.backend_names(), "supports", "support")
        ),
    })
}

fn check_size(text: &str, constraints: &Constraints) -> Option<String> {
    let file = if constraints.exists { constraints.size? } else { return None };
    let min = crate::plan::Range::parse(text, crate::plan::RangeOf::Bytes)
        .ok()?
        .values
        .into_iter()
        .min()?;
    (min > file).then(|| format!("{} exceeds the file size, {}", show_bytes(min), show_bytes(file)))
}

fn check_count(text: &str, constraints: &Constraints) -> Option<String> {
    let min = parse_counts(text).min()?;
    let span = constraints.span()?;
    let block = constraints.settings.block_size.as_ref()?.values.iter().copied().min()?.max(1);
    (min > span.div_ceil(block))
        .then(|| format!("that many blocks exceed the {} in use", show_bytes(span)))
}

fn parse_counts(text: &str) -> impl Iterator<Item = u64> {
    crate::plan::Range::parse(text, crate::plan::RangeOf::Count)
        .map(|range| range.values)
        .unwrap_or_default()
        .into_iter()
}

fn with_verb(names: &str, one: &str, many: &str) -> String {
    format!("{names} {}", if names.contains(", ") { many } else { one })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::infos;
    use crate::experiment::usual;
    use crate::facts::DirectAlign;

    /// Parses `name=text` pairs.
    fn settings(given: &str) -> Settings {
        let mut settings = Settings::default();
        for (name, text) in given.split_whitespace().filter_map(|pair| pair.split_once('=')) {
            settings.set(name, text).unwrap();
        }
        settings
    }

    fn objection_to(given: &str, exists: bool, what: &str) -> Option<String> {
        let infos = infos();
        let given = settings(given);
        let settings = usual(&given, &infos);
        let missing = "not installed: apt-get install fio";
        let unavailable = [
            ("uring", "EPERM, kernel.io_uring_disabled=2".to_string()),
            ("fio", missing.to_string()),
        ];
        let align = DirectAlign { mem: 4, offset: 512, read_offset: None };
        let constraints = Constraints {
            settings: &settings,
            explicit_backends: given.backend.is_some(),
            infos: &infos,
            unavailable: if exists { &[] } else { &unavailable },
            exists,
            size: Some(1 << 20),
            direct: Some(DirectSupport::Known(align)),
        };
        match what.split_once('=') {
            Some(("backend", id)) => {
                check_backend(infos.iter().find(|info| info.id == id).unwrap(), &constraints)
            }
            Some(("block", text)) => check_block(text.parse().unwrap(), &constraints),
            Some((name, text)) => check_value(name, text, &constraints),
            None => check_current(what, &constraints),
        }
    }

    #[test]
    fn conflicting_choices_have_a_reason() {
        for (given, exists, what, expected) in [
            ("", true, "op=write", "only to files it creates"),
            ("backend=sendfile", false, "op=write", "sendfile cannot write"),
            ("backend=read", false, "op=seek", "read cannot seek"),
            ("backend=read,pread", false, "depth=32", "read, pread run one operation at a time"),
            ("backend=read depth=8,32", true, "depth", "one operation at a time"),
            ("backend=uring", true, "depth=8192", "a queue depth of at most 4096"),
            ("direct=true", true, "cache=warm", "bypasses the page cache"),
            ("cache=warm", true, "direct=true", "deselect warm"),
            ("backend=mmap", true, "direct=true", "mmap does not support direct I/O"),
            ("", true, "sync=end", "only to writes"),
            ("sync=each", true, "sync", "only to writes"),
            ("", true, "verify=true", "choose the scratch file"),
            ("", false, "verify=true", "only to writes"),
            ("op=write dedupe=5", false, "verify=true", "clear Dedupe"),
            ("", false, "fresh=true", "choose a file of yours"),
            ("", true, "fresh=true", "set Cache to cold"),
            ("op=seek", true, "xor=true", "nothing to XOR"),
            ("backend=seek", true, "cache=cold", "has no effect"),
            ("", true, "size=2m", "exceeds the file size, 1 MiB"),
            ("block-size=4k", true, "count=257", "exceed the 1 MiB in use"),
            ("", true, "block=2097152", "larger than the 1 MiB"),
            ("size=4k", true, "block=8192", "larger than the 4 KiB"),
            ("direct=true", true, "block=100", "multiples of 512 B"),
            ("direct=true", true, "backend=mmap", "turn Direct I/O off"),
            ("depth=32", true, "backend=read", "synchronous"),
            ("op=write", false, "backend=sendfile", "sendfile cannot write"),
            ("", false, "backend=uring", "unavailable: EPERM"),
            ("", false, "backend=fio", "unavailable: not installed: apt-get install fio"),
            ("op=write", false, "backend=dd", "dd cannot write"),
            ("backend=dd,fio", true, "xor=true", "nothing to XOR"),
        ] {
            let reason = objection_to(given, exists, what)
                .unwrap_or_else(|| panic!("{given} {what}: no objection"));
            assert!(reason.contains(expected), "{given} {what}: {reason}");
        }
    }

    #[test]
    fn compatible_choices_have_no_reason() {
        for (given, exists, what) in [
            ("", false, "op=write"),
            ("", true, "op=seek"),
            ("", true, "depth=32"),
            ("backend=read,uring", true, "depth"),
            ("backend=read depth=1,8", true, "depth"),
            ("direct=true", true, "cache=cold"),
            ("cache=cold,warm direct=true", true, "cache"),
            ("cache=cold,warm", true, "direct=true"),
            ("op=write", false, "sync=end"),
            ("op=write", false, "verify=true"),
            ("", true, "verify=false"),
            ("cache=cold", true, "fresh=true"),
            ("direct=true", true, "fresh=true"),
            ("", true, "sync=none"),
            ("", true, "xor=true"),
            ("", true, "size=1m"),
            ("size=64m", false, "block=8388608"),
            ("block-size=4k", true, "count=256"),
            ("direct=true", true, "block=4096"),
            ("", true, "backend=seek"),
            ("", true, "backend=uring"),
            ("", true, "backend=fio"),
            ("backend=dd,pread", true, "xor=true"),
        ] {
            assert_eq!(objection_to(given, exists, what), None, "{given} {what}");
        }
    }
}
