//! Warnings in a few words with their figure, for where a sentence has no room: `2 of 5 trials`,
//! `±41 %`, `others moved 152 MiB`.

use crate::analysis::CellResult;
use crate::plan::Plan;
use crate::record::{Severity, Warning};

/// A kind of warning: its id, its words with `{}` for the first figure of the finding, and its
/// words without a figure.
struct Words(&'static str, &'static str, &'static str);

/// The words of every warning of a cell or probe, in the order of `docs/reference.md`.
static WORDS: &[Words] = &[
    Words("from-cache", "{} from the page cache", "from the page cache"),
    Words("holes", "only {} is stored, the rest holes", "holes, nothing stored"),
    Words("not-direct", "not direct: {} from memory", "not direct"),
    Words("memory", "", "no disk, memory"),
    Words("below-cache", "{} from memory below", "from memory below"),
    Words("shared-offsets", "threads read the same {}", "threads read the same bytes"),
    Words("wrapped", "read the file {}", "read the file again"),
    Words("not-cold", "not cold: {} stayed cached", "not cold"),
    Words("previous-trial", "{} cached by earlier work", "cached by earlier work"),
    Words("not-warm", "not warm: {}", "not warm"),
    Words("straggler", "", "a rank was slower"),
    Words("bound", "", "threads share bound CPUs"),
    Words("own-cache", "{} from own page cache", "read from own page cache"),
    Words("compressible", "", "compressible data"),
    Words("beyond-memory", "{} do not fit in memory", "larger than memory"),
    Words("first-visit", "first visit {}", "slower at first visit"),
    Words("read-ahead", "the device read {}", "readahead"),
    Words("populated-more", "mapped {}, read less", "mapped more than read"),
    Words("above-link", "{} is above the link", "above the link"),
    Words("above-memory", "", "from the CPU caches"),
    Words("not-flushed", "", "CPU caches not flushed"),
    Words("cloned", "", "blocks shared, not copied"),
    Words("not-on-device", "{} not on the device", "not on the device"),
    Words("not-read-back", "", "other data read back"),
    Words("not-durable", "", "commits not durable"),
    Words("not-ours", "", "not written: not iotui's file"),
    Words("large-folios", "", "large folios"),
    Words("nearly-full", "file system {} full", "file system nearly full"),
    Words("few", "", "fewer than 5 trials"),
    Words("cut", "", "a trial was cut short"),
    Words("short-trial", "trials of only {}", "short trials"),
    Words("few-operations", "", "few operations timed"),
    Words("few-for-percentile", "", "too few for a percentile"),
    Words("wide", "±{}", "wide interval"),
    Words("not-steady", "", "not steady"),
    Words("rate-missed", "only {}", "rate not kept"),
    Words("held-back", "{} began late", "late starts"),
    Words("timer-late", "woke {} late", "threads woke late"),
    Words("spinning", "spun {} of the time", "CPU busy waiting"),
    Words("clock-jumped", "", "the clock jumped"),
    Words("two-modes", "", "two groups of trials"),
    Words("level-change", "", "changed during the run"),
    Words("stalls", "stalls hold {} of the time", "stalls hold most of the time"),
    Words("depth-unused", "", "queue never full"),
    Words("cpu-bound", "CPU busy {} with the XOR", "CPU busy with the XOR"),
    Words("rate-limited", "limited to {} by a control group", "limited by a control group"),
    Words("layers", "", "layers above the disk"),
    Words("other-path", "", "ordinary buffers"),
    Words("timing-dominates", "loop overhead {}", "loop overhead"),
    Words("slow-clock", "", "slow clock"),
    Words("shared-descriptors", "", "shared open files"),
    Words("small-pages", "", "small pages"),
    Words("uneven-start", "threads began {} apart", "uneven start"),
    Words("helper-uncounted", "", "kernel threads not counted"),
    Words("calls-unknown", "", "system calls not counted"),
    Words("coarse-clock", "clock too coarse for {}", "coarse clock"),
    Words("unsteady-host", "", "CPU time lost to others"),
    Words("disturbed", "others moved {}", "others used the disk"),
    Words("file-changed", "", "the file changed"),
    Words("inconsistent", "", "bytes do not add up"),
    Words("inconsistent-time", "latencies off by {}", "latencies do not add up"),
    Words("preparation-timed", "", "preparation was timed"),
    Words("few-batches", "", "too few batches"),
    Words("beyond-estimate", "{} the estimate", "far from the estimate"),
    Words("at-least", "", "at least that much"),
    Words("fio-options", "", "options without equivalent"),
    Words("fio-together", "", "with other jobs"),
    Words("fio-commit", "", "write and sync apart"),
    Words("fio-completion", "", "latency without submission"),
    Words("reported", "", "from a report"),
    Words("approximate", "", "a rough figure"),
    Words("rounded", "", "rounded figure"),
    Words("slip", "", "a slip of the report"),
    Words("other-experiment", "", "another experiment"),
];

/// Returns a warning in a few words; its id if it is of a newer iotui.
pub fn brief_words(warning: &Warning) -> String {
    let id = warning.id.as_ref();
    let Some(Words(_, with, without)) = WORDS.iter().find(|words| words.0 == id) else {
        return id.replace('-', " ");
    };
    let with = match id {
        "read-ahead" if !warning.message.starts_with("the device read") => "read ahead up to {}",
        "wide" if warning.message.contains("response time") => "mean response ±{}",
        "unsteady-host" if warning.message.contains("steal time") => "the host took {} of the CPU",
        "unsteady-host" if warning.message.contains("other tasks") => "others took {} of the CPU",
        "unsteady-host" if warning.message.contains("battery") => return "on battery".into(),
        "unsteady-host" if warning.message.contains("powersave") => {
            return "powersave governor".into();
        }
        _ => with,
    };
    match first_figure(&warning.message).filter(|_| !with.is_empty()) {
        Some(figure) => with.replace("{}", &figure),
        None => (*without).into(),
    }
}

/// Returns the name of a warning that several results have, each with its own figure.
pub fn kind_words(id: &str) -> &str {
    WORDS.iter().find(|words| words.0 == id).map_or(id, |words| words.2)
}

/// Returns the first figure of a sentence with its unit: `152 MiB`, `31.3 %`, `2.5x`.
fn first_figure(text: &str) -> Option<String> {
    const UNITS: [&str; 15] = [
        "%", "B", "KiB", "MiB", "GiB", "TiB", "B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s", "ns",
        "µs", "ms", "s",
    ];
    let mut words =
        text.split_whitespace().map(|word| word.trim_matches([',', ':', ';', '(', ')']));
    let mut number = words.next()?;
    for unit in words {
        let digits = number.trim_start_matches(['±', '<', '>']);
        if digits.parse::<f64>().is_ok() {
            match unit {
                "times" => return Some(format!("{digits}x")),
                _ if UNITS.contains(&unit) => {
                    return Some(format!("{} {unit}", number.trim_start_matches('±')));
                }
                _ => {}
            }
        }
        number = unit;
    }
    None
}

impl CellResult {
    /// Returns whether it has fewer trials than an interval needs and more were meant to follow:
    /// an unfinished measurement, no faulty one.
    pub fn is_unfinished(&self) -> bool {
        self.warnings.iter().any(|w| w.is_unfinished() && w.severity > Severity::Note)
    }

    /// Returns `2 of 5 trials`.
    pub fn describe_progress(&self) -> String {
        format!("{} of {} trials", self.counted_trials().len(), Plan::ROUNDS)
    }

    /// Returns its warnings of a misleading or wrong figure, without the warning that it is
    /// unfinished.
    pub fn faults(&self) -> impl Iterator<Item = &Warning> {
        self.warnings.iter().filter(|w| w.severity > Severity::Note && !w.is_unfinished())
    }

    /// Returns the severity that its figure is shown with; `None`: it is sound, or unfinished.
    pub fn shown_severity(&self) -> Option<Severity> {
        let shown = |w: &&Warning| !w.is_unfinished() || w.severity == Severity::Note;
        self.warnings.iter().filter(shown).map(|warning| warning.severity).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::probe_rules;
    use crate::record::{CALLS_UNKNOWN, RULES};

    fn warning(id: &'static str, message: &str) -> Warning {
        Warning {
            id: id.into(),
            severity: Severity::Misleading,
            message: message.into(),
            evidence: String::new(),
            remedy: "".into(),
        }
    }

    #[test]
    fn every_warning_has_words_once() {
        let ids = RULES.iter().map(|rule| rule.id);
        let ids = ids.chain(probe_rules::RULES.iter().map(|rule| rule.id)).chain([CALLS_UNKNOWN]);
        for id in ids {
            let own = WORDS.iter().filter(|words| words.0 == id).count();
            assert_eq!(own, 1, "{id} has no words: add them to WORDS");
        }
        for Words(id, with, without) in WORDS {
            assert!(!without.is_empty() && without.len() <= 30, "{id}");
            assert!(with.is_empty() || with.matches("{}").count() == 1, "{id}: {with}");
        }
    }

    #[test]
    fn words_keep_the_figure() {
        for (id, message, wanted) in [
            ("wide", "the median is known only to within ±41 %", "±41 %"),
            ("wide", "the mean response time is known only to within ±41 %", "mean response ±41 %"),
            (
                "disturbed",
                "other processes moved 152 MiB on the same disk in 2 of 5 trials",
                "others moved 152 MiB",
            ),
            ("unsteady-host", "steal time was 3 %", "the host took 3 % of the CPU"),
            ("unsteady-host", "the machine runs on battery", "on battery"),
            ("read-ahead", "the device read 3.2 times the requested bytes", "the device read 3.2x"),
            (
                "not-cold",
                "12 MiB of the file stayed cached after the cache drop",
                "not cold: 12 MiB stayed cached",
            ),
            ("of-a-newer-one", "5 % of it", "of a newer one"),
        ] {
            assert_eq!(brief_words(&warning(id, message)), wanted, "{id}");
        }
    }
}
