//! The stacks, the allowed verdicts of each, and a check of the verdicts given.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

const TABLE: &str = include_str!("stacks.txt");
const SETUP: &str = include_str!("stacks.sh");
/// Options of each run: short, and the same everywhere.
const COMMON: &str = "--batch --no-save --ceilings never --quiet --strict --format json \
                      -b pread --trial-time 10ms --budget 30s";
/// Bytes that disks read ahead, or for others, that do not prove anything.
const SLACK: f64 = (8 << 20) as f64;
/// Shares of the bytes from this on count as all bytes.
const ALL: f64 = 0.9;
/// A share of the bytes below this counts as zero.
const NONE: f64 = 0.05;

/// The operations, in the order of the columns, with the options of iotui and where they work: `T`
/// is read, `D` is written to.
const OPERATIONS: [(&str, &str); 8] = [
    ("cold", "--trials 2 -n 0 -s 64k -c cold --size 8m \"$T\""),
    ("warm", "--trials 2 -n 0 -s 64k -c warm --size 8m \"$T\""),
    ("direct", "--trials 2 -n 0 -s 64k --direct --size 8m \"$T\""),
    ("write", "--trials 2 --op write -s 64k --size 8m --sync end -n 0 --dir \"$D\""),
    (
        "direct write",
        "--trials 2 --op write -s 64k --size 8m --sync none --direct -n 0 --dir \"$D\"",
    ),
    ("commit", "--trials 2 --op write -s 4k --size 1m --sync fdatasync --dir \"$D\""),
    ("verify", "--trials 2 --op write -s 64k --size 32m --sync end --verify -n 0 --dir \"$D\""),
    (
        "expect",
        "--op write -s 4k --size 1m --sync fdatasync --expect commits>=1 --trials 5 \
                --dir \"$D\"",
    ),
];

/// A stack of the table.
#[derive(Debug, Clone)]
pub struct Stack {
    pub name: &'static str,
    setup: &'static str,
    /// Allowed verdicts, by operation.
    right: [&'static str; OPERATIONS.len()],
}

/// The verdict about one operation.
#[derive(Debug)]
pub struct Found {
    pub stack: &'static str,
    pub operation: &'static str,
    pub right: &'static str,
    /// A summary of its output.
    pub said: String,
    /// Its faults; empty if it is right.
    pub faults: Vec<Fault>,
}

/// A false claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Bytes came from the device that did not.
    Device,
    /// Commits are durable that are not.
    Durable,
    /// An expectation passes that nothing proves.
    Pass,
    /// Data was read back from a device that was not.
    ReadBack,
    /// Lost data holds.
    Holds,
    /// A sound cell is wrong.
    CalledWrong,
    /// A wrong figure is not called wrong.
    Unsaid,
    /// It did not run.
    Failed,
}

impl Fault {
    pub const ALL: [Fault; 8] = [
        Fault::Device,
        Fault::Durable,
        Fault::Pass,
        Fault::ReadBack,
        Fault::Holds,
        Fault::CalledWrong,
        Fault::Unsaid,
        Fault::Failed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Fault::Device => "false device",
            Fault::Durable => "false durable",
            Fault::Pass => "false pass",
            Fault::ReadBack => "false read back",
            Fault::Holds => "false holds",
            Fault::CalledWrong => "sound called wrong",
            Fault::Unsaid => "wrong, not called",
            Fault::Failed => "not measured",
        }
    }
}

/// Returns the stacks of the table.
pub fn all() -> Vec<Stack> {
    let rows = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|line| {
        let [name, setup, right]: [&str; 3] =
            line.split(" | ").map(str::trim).collect::<Vec<_>>().try_into().expect("three columns");
        let right: Vec<&str> = right.split_whitespace().collect();
        Stack { name, setup, right: right.try_into().expect("a word for each operation") }
    })
    .collect()
}

impl Stack {
    /// Returns whether it can be made without being root: in a name space of the user.
    pub fn needs_root(&self) -> bool {
        const OWN: [&str; 14] = [
            "plain",
            "symlinked",
            "linked",
            "bound",
            "bound_read_only",
            "with_holes",
            "overlay",
            "overlay_on_disk",
            "overlay_in_tmpfs",
            "overlay_written_in_tmpfs",
            "overlay_of_tmpfs",
            "in_memory",
            "bound_memory",
            "bound_memory_file",
        ];
        let makes = |word: &&str| OWN.contains(word);
        !self.setup.split([' ', ';']).any(|word| makes(&word))
    }

    /// Returns whether each operation is sound, so that nothing may be called wrong.
    pub fn is_sound(&self) -> bool {
        self.right.iter().all(|right| matches!(*right, "ok" | "D" | "C" | "-"))
    }

    /// Makes it in `folder`, has `program` measure it, and removes it; `helper` is a program that
    /// makes what no tool can. Returns why it could not be made.
    pub fn measure(
        &self,
        folder: &Path,
        program: &Path,
        helper: &Path,
    ) -> Result<Vec<Found>, String> {
        let out = folder.join("out");
        fs::create_dir_all(&out).map_err(|error| error.to_string())?;
        let errors = File::create(out.join("errors")).map_err(|error| error.to_string())?;
        // Mounts end with their name space, whatever happens; without root it is the user's own.
        let root = nix::unistd::geteuid().is_root();
        let mut command = Command::new("unshare");
        command.arg(if root { "-m" } else { "-mUr" }).args([
            "--propagation",
            "private",
            "sh",
            "-c",
        ]);
        let status = command
            .arg(self.script())
            .env("W", folder.join("stack"))
            .env("OUT", &out)
            .env("IOTUI", program)
            .env("K", helper)
            .env("HOME", folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            .status()
            .map_err(|error| format!("unshare: {error}"))?;
        let found = self.operations().map(|at| self.read(at, &out)).collect();
        let made = status.success() && out.join("made").exists();
        let why = fs::read_to_string(out.join("errors")).unwrap_or_default();
        let _ = fs::remove_dir_all(&out);
        if made { Ok(found) } else { Err(last_line(&why)) }
    }

    fn operations(&self) -> impl Iterator<Item = usize> + '_ {
        (0..OPERATIONS.len()).filter(|at| self.right[*at] != "-")
    }

    /// Returns the script that makes it and measures it.
    fn script(&self) -> String {
        let mut script = format!("mkdir -p \"$W\"\n{SETUP}\n{}\n: >\"$OUT/made\"\n", self.setup);
        // The caches below are full of it: they must be empty, or named.
        let fill = "sync; cat \"$W/img\" \"$F/img\" >/dev/null 2>&1 || :";
        for at in self.operations() {
            let (_, options) = OPERATIONS[at];
            script += &format!(
                "{fill}\ncat /proc/diskstats >\"$OUT/{at}.before\"\ncode=0\n\
                 \"$IOTUI\" {COMMON} {options} >\"$OUT/{at}.json\" 2>\"$OUT/{at}.err\" || code=$?\n\
                 cat /proc/diskstats >\"$OUT/{at}.after\"\necho $code >\"$OUT/{at}.code\"\n"
            );
        }
        script.replace("commits>=1", "'commits>=1'")
    }

    /// Reads the verdict about an operation, and judges it.
    fn read(&self, at: usize, out: &Path) -> Found {
        let text =
            |end: &str| fs::read_to_string(out.join(format!("{at}.{end}"))).unwrap_or_default();
        let (operation, right) = (OPERATIONS[at].0, self.right[at]);
        let document: Value = serde_json::from_str(&text("json")).unwrap_or_default();
        let said = Said {
            document: &document,
            code: text("code").trim().parse().unwrap_or(1),
            disk_bytes: disk_bytes(&text("after")) - disk_bytes(&text("before")),
        };
        let (mut faults, mut words) = (said.judge(operation, right), said.describe(operation));
        if said.result().is_null() || said.result()["trials"].as_array().is_none_or(Vec::is_empty) {
            (faults, words) = (vec![Fault::Failed], last_line(&text("err")));
        }
        Found { stack: self.name, operation, right, said: words, faults }
    }
}

/// iotui's verdict.
struct Said<'a> {
    document: &'a Value,
    code: i32,
    /// Bytes that the disks of this machine read in the same time.
    disk_bytes: f64,
}

impl Said<'_> {
    fn result(&self) -> &Value {
        &self.document["results"][0]
    }

    fn share(&self, of: &str) -> f64 {
        self.result()["source"][of].as_f64().unwrap_or(0.0)
    }

    /// Returns the warnings that the figures are wrong.
    fn wrong(&self) -> Vec<&str> {
        let warnings = self.result()["warnings"].as_array().map_or(&[][..], Vec::as_slice);
        let wrong = warnings.iter().filter(|warning| warning["severity"] == "wrong");
        wrong.filter_map(|warning| warning["id"].as_str()).collect()
    }

    fn bytes(&self) -> f64 {
        let trials = self.result()["trials"].as_array().map_or(&[][..], Vec::as_slice);
        trials.iter().filter_map(|trial| trial["bytes"].as_f64()).sum()
    }

    fn judge(&self, operation: &str, right: &str) -> Vec<Fault> {
        let mut faults = match operation {
            "commit" => self.judge_commits(right),
            "verify" => self.judge_read_back(right),
            "expect" => self.judge_expected(right),
            _ => self.judge_bytes(right, operation.contains("write")),
        };
        let is_sound = matches!(right, "ok" | "D" | "C");
        let is_wrong = !self.wrong().is_empty();
        faults.extend((is_sound && (is_wrong || self.code == 4)).then_some(Fault::CalledWrong));
        // `--strict` says the same as the warnings.
        faults.extend((is_wrong && self.code == 0).then_some(Fault::Pass));
        faults.dedup();
        faults
    }

    fn judge_bytes(&self, right: &str, writes: bool) -> Vec<Fault> {
        let device = self.share("device");
        let more_than_read = !writes && device * self.bytes() > self.disk_bytes + SLACK;
        let is_wrong = !self.wrong().is_empty();
        // Where they are called wrong, it is not claimed that a device has them.
        let claims = device > NONE && !(writes && is_wrong);
        let says_limit = self.result()["limit"]["by"] == "device";
        let no_device = matches!(right, "x" | "h" | "?");
        let mut faults = Vec::new();
        let claims_device = if right == "x" { device > ALL && !is_wrong } else { claims };
        if more_than_read || no_device && (claims_device || says_limit) {
            faults.push(Fault::Device);
        }
        let is_said = match right {
            "x" => is_wrong,
            "h" => is_wrong && self.share("hole") > ALL,
            "D" => device > ALL,
            "C" => self.share("page_cache") > ALL,
            _ => true,
        };
        faults.extend((!is_said).then_some(Fault::Unsaid));
        faults
    }

    fn judge_commits(&self, right: &str) -> Vec<Fault> {
        let reach = self.result()["durability"]["reach"].as_str().unwrap_or("none");
        match (right, reach) {
            ("x" | "?", "flushed" | "written-through" | "no-cache") => vec![Fault::Durable],
            ("x", "unknown") | (_, "none") => vec![Fault::Unsaid],
            ("ok", "not-reached") => vec![Fault::CalledWrong],
            _ => Vec::new(),
        }
    }

    fn judge_read_back(&self, right: &str) -> Vec<Fault> {
        let verified = &self.result()["verified"];
        let is_device = verified["read_from"] == "device";
        let bytes = verified["bytes"].as_f64().unwrap_or(0.0);
        let bad: u64 =
            verified["bad"].as_object().map_or(0, |of| of.values().filter_map(Value::as_u64).sum());
        let mut faults = Vec::new();
        if is_device && (right == "?" || bytes > self.disk_bytes + SLACK) {
            faults.push(Fault::ReadBack);
        }
        match right {
            "b" if bad == 0 => faults.push(Fault::Holds),
            "ok" | "." if bad > 0 => faults.push(Fault::CalledWrong),
            _ => {}
        }
        // Read back through a cache: `--strict` does not pass.
        faults.extend((verified["read_from"] == "cache" && self.code == 0).then_some(Fault::Pass));
        faults
    }

    fn judge_expected(&self, right: &str) -> Vec<Fault> {
        let passes = self.document["expected"][0]["outcome"] == "pass";
        match right {
            "x" if passes || self.code == 0 => vec![Fault::Pass],
            "ok" if !passes => vec![Fault::CalledWrong],
            _ => Vec::new(),
        }
    }

    fn describe(&self, operation: &str) -> String {
        let result = self.result();
        let mut words: Vec<String> = ["device", "page_cache", "below", "hole", "unknown"]
            .into_iter()
            .filter(|of| self.share(of) > NONE)
            .map(|of| format!("{of} {:.0} %", 100.0 * self.share(of)))
            .collect();
        match operation {
            "commit" => {
                words = vec![format!(
                    "{}: {}",
                    result["durability"]["reach"].as_str().unwrap_or("none"),
                    result["durability"]["reason"].as_str().unwrap_or("")
                )]
            }
            "verify" => {
                words = vec![format!(
                    "{}, bad {}",
                    result["verified"]["read_from"], result["verified"]["bad"]
                )]
            }
            "expect" => words = vec![self.document["expected"][0]["outcome"].to_string()],
            _ => words.push(format!(
                "disks {:.1} of {:.1} MiB",
                self.disk_bytes / f64::from(1 << 20),
                self.bytes() / f64::from(1 << 20)
            )),
        }
        words.extend(result["limit"]["by"].as_str().map(|by| format!("limit {by}")));
        words.extend((!self.wrong().is_empty()).then(|| format!("x {}", self.wrong().join(" "))));
        words.push(format!("code {}", self.code));
        words.join("; ")
    }
}

/// Returns the bytes that disks read since the start, from the text of /proc/diskstats: no device
/// of it is made of something else.
fn disk_bytes(text: &str) -> f64 {
    const MADE: [&str; 5] = ["loop", "zram", "ram", "dm-", "md"];
    let sectors = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = words.get(2).filter(|name| !MADE.iter().any(|made| name.starts_with(made)))?;
        // A partition is read with its disk.
        let is_whole = PathBuf::from("/sys/block").join(name).exists();
        words.get(5).filter(|_| is_whole)?.parse::<f64>().ok()
    });
    sectors.sum::<f64>() * 512.0
}

fn last_line(text: &str) -> String {
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no reason").to_string()
}
