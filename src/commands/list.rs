//! `iotui --list`: the registries, and what of them this machine does not offer.

use anyhow::Context;
use serde::Serialize;

use super::Lists;
use crate::backend::Target;
use crate::engine::{Executor, OpenTarget, locate};
use crate::experiment::EXPERIMENTS;
use crate::output::Out;
use crate::plan::{
    Choice, Condition, Job, Presets, ProbeInfo, ProbeParam, Profile, Profiles, TargetSpec,
};
use crate::probe::{PROBES, Probe, ProbeContext};
use crate::runner;
use crate::session::{self, Reference};
use crate::text::table::{Cell, lay_out};

/// One entry of a registry.
#[derive(Serialize)]
pub struct Entry {
    id: String,
    title: String,
    about: String,
    /// How to read it; only in JSON.
    #[serde(skip_serializing_if = "String::is_empty")]
    doc: String,
    /// Why it is unavailable here; null if it is available.
    unavailable: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    options: Vec<Entry>,
}

/// Returns the entry of a theme; `broken`: what is wrong with its file.
pub fn theme(id: &str, about: &str, is_own: bool, broken: Option<String>) -> Entry {
    Entry { unavailable: broken, ..plain(id, title(!is_own), about) }
}

/// Says whose an entry is.
fn title(is_built_in: bool) -> &'static str {
    if is_built_in { "" } else { "yours" }
}

pub fn run(
    what: Lists,
    presets: &Presets,
    themes: &dyn Fn() -> Vec<Entry>,
    out: &Out,
) -> anyhow::Result<u8> {
    let entries = match what {
        Lists::Backends => executors(|way| !way.info().is_peer())?,
        Lists::Peers => executors(|way| way.info().is_peer())?,
        Lists::Probes => probes(),
        Lists::Presets => all(presets),
        Lists::Themes => themes(),
        Lists::Profiles => return list_profiles(out),
        Lists::References => return references(out),
        Lists::Experiments => EXPERIMENTS.iter().map(|e| plain(e.id, "", e.about)).collect(),
    };
    out.text_or_json(|| text(&entries), &entries)?;
    Ok(0)
}

/// A machine of a report, as a session that comes with iotui.
#[derive(Serialize)]
struct Machine {
    id: &'static str,
    about: &'static str,
    source: &'static str,
    cells: u64,
}

fn references(out: &Out) -> anyhow::Result<u8> {
    let one = |of: &'static Reference| Machine {
        id: of.id,
        about: &of.about,
        source: &of.source,
        cells: of.to_listed().cells,
    };
    let all: Vec<Machine> = session::references().iter().map(one).collect();
    let mut rows = Vec::new();
    for machine in &all {
        rows.push([machine.id.into(), format!("{}; {} cells", machine.about, machine.cells)]);
        rows.push([String::new(), machine.source.into()]);
    }
    out.text_or_json(|| lines(&rows), &all)?;
    Ok(0)
}

/// A profile of `--expect`.
#[derive(Serialize)]
struct ListedProfile<'a> {
    #[serde(flatten)]
    entry: Entry,
    source: &'a str,
    published: &'a str,
    conditions: &'a [Condition],
}

fn list_profiles(out: &Out) -> anyhow::Result<u8> {
    let profiles = runner::profiles();
    let good = profiles.iter().map(|one: &Profile| ListedProfile {
        entry: plain(&one.id, title(Profiles::is_built_in(&one.id)), &one.about),
        source: &one.source,
        published: &one.published,
        conditions: &one.conditions,
    });
    let broken = profiles.broken().iter().map(|broken| ListedProfile {
        entry: Entry {
            unavailable: Some(broken.why.clone()),
            ..plain(&broken.id, title(false), "not a valid profile file")
        },
        source: "",
        published: "",
        conditions: &[],
    });
    let all: Vec<ListedProfile> = good.chain(broken).collect();
    let rows = all.iter().flat_map(|one| one.entry.rows(&[one.published, one.source]));
    out.text_or_json(|| lines(&rows.collect::<Vec<_>>()), &all)?;
    Ok(0)
}

fn plain(id: &str, title: &str, about: &str) -> Entry {
    Entry {
        id: id.into(),
        title: title.into(),
        about: about.into(),
        doc: String::new(),
        unavailable: None,
        options: Vec::new(),
    }
}

/// Lists built-in presets, the user's, and the user's files that are not valid.
fn all(presets: &Presets) -> Vec<Entry> {
    let good = presets.iter().map(|p| Entry {
        doc: p.doc.clone(),
        ..plain(&p.id, title(Presets::is_built_in(&p.id)), &p.about)
    });
    let broken = presets.broken().iter().map(|b| Entry {
        unavailable: Some(b.why.clone()),
        ..plain(&b.id, "yours", "not a valid preset file")
    });
    good.chain(broken).collect()
}

/// Opens a small unnamed file for the checks, where a scratch file would be; on a machine without a
/// place for one, on this program.
fn bench() -> anyhow::Result<OpenTarget> {
    let scratch = locate::scratch_dir(None)
        .map(|dir| OpenTarget::probe(&TargetSpec::Scratch { dir, size: 4096, keep: false }));
    if let Ok(Ok(bench)) = scratch {
        return Ok(bench);
    }
    let path = std::env::current_exe().context("cannot find this program's executable")?;
    Ok(OpenTarget::probe(&TargetSpec::File { path, size: 0 })?)
}

/// Lists backends or peers, with their options.
fn executors(is_listed: fn(&Executor) -> bool) -> anyhow::Result<Vec<Entry>> {
    let bench = bench()?;
    let mut entries = Vec::new();
    for way in Executor::all().filter(is_listed) {
        let info = way.info();
        let check = |name: &str| match Choice::parse(name) {
            Ok(choice) => {
                let op = info.of(&choice).ops[0];
                unavailable(way, &bench.target, Job::plain(choice.normalize(info), op))
            }
            Err(error) => Some(error.to_string()),
        };
        let mut entry = Entry {
            unavailable: check(info.id),
            doc: info.doc.into(),
            ..plain(info.id, info.title, info.about)
        };
        for option in info.options {
            let value = option.value.map(|v| format!("={}", v.word)).unwrap_or_default();
            // 8 is a size as well as a number.
            let asked = if option.value.is_some() { "=8" } else { "" };
            let unavailable = check(&format!("{}+{}{asked}", info.id, option.name));
            entry.options.push(Entry {
                unavailable,
                ..plain(&format!("{}+{}{value}", info.id, option.name), "", option.about)
            });
        }
        entries.push(entry);
    }
    Ok(entries)
}

/// Returns why a job cannot be done here, with direct I/O either: some options need it.
fn unavailable(way: Executor, target: &Target, job: Job) -> Option<String> {
    let why = way.check(target, &job).err()?;
    if !way.info().direct || target.direct_refused.is_some() {
        return Some(why);
    }
    way.check(target, &Job { direct: true, ..job }).err()
}

/// Lists the probes; a probe is available if any of its cells is.
fn probes() -> Vec<Entry> {
    let site = ProbeContext::collect(locate::scratch_dir(None).ok(), None);
    let option = |info: &ProbeInfo, param: &ProbeParam| {
        let about = format!("{}, {} [default: {}]", param.about, param.range(), param.usual);
        plain(&format!("--set {}.{}=", info.id, param.name), "", &about)
    };
    let entry = |probe: &Probe| {
        let info = probe.info();
        let checked: Vec<Result<(), String>> =
            probe.cells(&site).iter().map(|cell| probe.check(cell, &site)).collect();
        let had = checked.iter().any(Result::is_ok);
        let unavailable = if had { None } else { checked.into_iter().find_map(Result::err) };
        let options = info.params.iter().map(|param| option(info, param)).collect();
        Entry {
            doc: info.doc.into(),
            unavailable,
            options,
            ..plain(info.id, &format!("{}, {}", info.group, info.title), info.about)
        }
    };
    PROBES.iter().map(entry).collect()
}

fn text(entries: &[Entry]) -> String {
    let all = entries.iter().flat_map(|e| std::iter::once(e).chain(&e.options));
    lines(&all.flat_map(|entry| entry.rows(&[])).collect::<Vec<_>>())
}

impl Entry {
    /// Returns its rows, with `more` below what it is.
    fn rows(&self, more: &[&str]) -> Vec<[String; 2]> {
        let title = if self.title.is_empty() { String::new() } else { format!("{}: ", self.title) };
        let mut rows = vec![[self.id.clone(), format!("{title}{}", self.about)]];
        let more = more.iter().filter(|text| !text.is_empty()).map(|text| text.to_string());
        let why = self.unavailable.iter().map(|why| format!("unavailable: {why}"));
        rows.extend(more.chain(why).map(|text| [String::new(), text]));
        rows
    }
}

fn lines(rows: &[[String; 2]]) -> String {
    let cells: Vec<Vec<Cell>> =
        rows.iter().map(|row| row.iter().map(Cell::new).collect()).collect();
    lay_out(&cells, &[], 2).into_iter().map(|line| line + "\n").collect()
}
