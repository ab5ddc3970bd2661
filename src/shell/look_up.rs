//! Lookups on disk and on the machine; each runs on its own thread and may be slow.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use crate::catalog::infos;
use crate::doctor::{Planned, examine};
use crate::engine::locate::{PlaceError, describe_unreadable, show_free};
use crate::engine::{Proposal, ProposeError, list_offers, propose as plan_for};
use crate::facts::{Host, TargetKind};
use crate::host;
use crate::plan::{Plan, Preset, ProbeSet, Remote, Settings};
use crate::runner::{self, ReplanError};
use crate::session::{self, Listed, Session, SessionError};
use crate::sys::{fd, mounts};
use crate::text::time::to_minute;
use crate::text::{describe_io_error, show_path};
use crate::tui::export::What;
use crate::tui::lab::{LocalProbes, MarkedSession};
use crate::tui::msg::{Msg, NewRun, Outlook, Question, Refusal, ReplayInput, Replayed, Speed};
use crate::tui::refine::RefineRequest;
use crate::tui::session_view::{Preview, SessionView};
use crate::tui::setup::{EntryKind, FileSystem, FolderEntry, Inspection, Listing};
use crate::tui::spoken::speak;
use crate::units::show_bytes;
use crate::{analysis, userdata};

/// The largest session that is compared for the list, bytes.
const MAX_CHANGE_BYTES: u64 = 16 << 20;

/// Lists a folder: folders first, then by name.
pub fn list(dir: PathBuf) -> Listing {
    let result = fs::read_dir(&dir).map(|found| {
        let mut entries: Vec<FolderEntry> =
            found.flatten().filter_map(|entry| classify(entry.path())).collect();
        entries.sort_by_cached_key(|entry| {
            (entry.kind != EntryKind::Folder, entry.name.to_lowercase())
        });
        entries
    });
    let result =
        result.map_err(|error| format!("{}: {}", show_path(&dir), describe_io_error(&error)));
    let folder = fs::File::open(&dir).ok();
    let fs = folder
        .as_ref()
        .and_then(|folder| mounts::mount_of(folder).ok())
        .map(|mount| mount.fs)
        .unwrap_or_default();
    let space = folder
        .as_ref()
        .and_then(|folder| mounts::space(folder).ok())
        .filter(|space| space.total > 0);
    Listing { dir, file_system: FileSystem { fs, space }, result }
}

/// Returns the paths at which no file exists.
pub fn find_gone(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let is_gone = |path: &PathBuf| {
        fs::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    };
    paths.into_iter().filter(is_gone).collect()
}

/// Returns whether this user can create files in a folder.
pub fn is_writable(folder: &Path) -> bool {
    access(folder, AccessFlags::W_OK | AccessFlags::X_OK).is_ok()
}

fn classify(path: PathBuf) -> Option<FolderEntry> {
    // Follows links; a broken link is not a target.
    let meta = fs::metadata(&path).ok()?;
    let sort = meta.file_type();
    let kind = if sort.is_dir() {
        EntryKind::Folder
    } else if sort.is_file() {
        EntryKind::File
    } else if sort.is_block_device() {
        EntryKind::Device
    } else {
        EntryKind::Other
    };
    let readable = access(&path, AccessFlags::R_OK).is_ok();
    Some(FolderEntry {
        name: file_name(&path).replace(crate::text::is_unsafe_char, "?"),
        kind,
        size: meta.len(),
        readable,
        path,
    })
}

/// Loads the samples of a cell's trials; none if the file is no longer readable.
pub fn course(path: PathBuf, cell: u32) -> Msg {
    let samples = session::samples(&path, cell).unwrap_or_default();
    Msg::Course { path, cell, samples }
}

/// Inspects a file: size, file system, cached and allocated bytes.
pub fn facts(path: PathBuf) -> Inspection {
    let result = fd::open_named(&path)
        .map(|file| {
            let mut facts = host::inspect(&file, &path, TargetKind::File);
            host::add_health(&mut facts.devices);
            Box::new(facts)
        })
        .map_err(|error| describe_unreadable(&path, &error));
    Inspection { path, result }
}

fn proposal(question: &Question) -> Proposal<'_> {
    Proposal {
        file: question.file.as_deref(),
        others: &question.others,
        as_one: question.as_one,
        dir: question.dir.as_deref(),
        survey: true,
        ..Proposal::new(std::slice::from_ref(&question.preset), &question.settings)
    }
}

/// Returns the probes available on this machine and the references with probe results.
pub fn lab(
    file: Option<&Path>,
    dir: Option<&Path>,
    remote: Option<&Remote>,
    sets: Option<&[ProbeSet]>,
) -> LocalProbes {
    LocalProbes {
        cells: list_offers(file, dir, remote, sets),
        others: MarkedSession::from_references(session::references()),
    }
}

/// Plans the selected probes.
pub fn plan_lab(question: &Question) -> Msg {
    let result = plan_for(&proposal(question))
        .map(|proposed| Box::new(new_run(proposed.plan)))
        .map_err(|error| describe_refusal(&error, false));
    Msg::LabPlanned { number: question.number, result }
}

/// Loads the values of a session for its marks on the bars.
pub fn load_other(id: &str) -> Result<MarkedSession, String> {
    load(id).map(|session| {
        MarkedSession::from_session(&session, format!("{} UTC", to_minute(&session.created)))
    })
}

/// Returns why there is no plan, in the words of a screen; `on_setup`: with what can be done there.
/// Only texts that name no path are translated.
fn describe_refusal(error: &ProposeError, on_setup: bool) -> String {
    match error {
        ProposeError::Place(error) => describe_place(error, on_setup),
        ProposeError::Plan(_) | ProposeError::Cold(_) => speak(&error.to_string()),
        other => other.to_string(),
    }
}

fn describe_place(error: &PlaceError, on_setup: bool) -> String {
    let with = |what: String, remedy: &str| {
        format!("{what}; {}", if on_setup { remedy } else { "choose another target on Setup" })
    };
    match error {
        PlaceError::Missing(path) => with(
            format!("{}: no such file", show_path(path)),
            "choose another target, or set Operation to write to create it",
        ),
        PlaceError::Directory(path) => with(
            format!("{} is a directory", show_path(path)),
            "choose a file in it, or press space on it to create a scratch file there",
        ),
        PlaceError::Nowhere => with(
            "no folder for a scratch file: none of the current folder, TMPDIR, /var/tmp and HOME \
             is a writable folder on a disk"
                .into(),
            "choose one with space, or a file",
        ),
        PlaceError::Folder { dir, error } => {
            format!("{}: {}; choose another folder", show_path(dir), describe_io_error(error))
        }
        PlaceError::Full { dir, need, free, by_quota, .. } => format!(
            "not enough space in {}: {} needed, {}; use a smaller Size or another folder",
            show_path(dir),
            show_bytes(*need),
            show_free(*free, *by_quota)
        ),
        other => other.to_string(),
    }
}

fn refusal(question: &Question, error: &ProposeError) -> Refusal {
    let is_missing = match error {
        ProposeError::Place(PlaceError::Missing(path)) => question.file.as_ref() == Some(path),
        _ => false,
    };
    Refusal { why: describe_refusal(error, true), is_missing }
}

/// Finds another run on a disk of this plan.
pub fn other_run(plan: &Plan) -> Msg {
    Msg::OtherRun(runner::find_other_run(plan).map(|found| found.message))
}

/// Returns a run of this plan, with any other run on its disk.
pub fn new_run(plan: Plan) -> NewRun {
    let other_run = runner::find_other_run(&plan).map(|found| found.message);
    NewRun { other_run, ..plan.into() }
}

/// Plans the current selection and runs the doctor's checks on it.
pub fn propose(question: &Question, host: &Host) -> Msg {
    match plan_for(&proposal(question)) {
        Ok(mut proposed) => {
            let (settings, presets) = (&question.settings, std::slice::from_ref(&question.preset));
            if let Err(error) = runner::expect(&mut proposed.plan, settings, presets) {
                return refused(
                    question,
                    host,
                    Refusal { why: speak(&error.to_string()), is_missing: false },
                );
            }
            let mut findings = examine(
                host,
                Some(&proposed.facts),
                Some(Planned { plan: &proposed.plan, infos: &infos() }),
            );
            findings.splice(0..0, runner::find_other_run(&proposed.plan));
            let link = proposed.facts.link().map(|link| link.bytes_per_second);
            let plan = &proposed.plan;
            let expected = analysis::describe_estimates(plan, runner::saved_ceilings(), link);
            let known = runner::saved_experience(host, Some(&proposed.facts));
            let forecast = analysis::describe_forecast(plan, &known.noise);
            let forecast = forecast.unwrap_or_default();
            let outlook = Outlook { expected, forecast, disk: known.disk }.into();
            Msg::Proposed {
                number: question.number,
                result: Ok(Box::new(proposed)),
                findings,
                outlook,
            }
        }
        Err(error) => refused(question, host, refusal(question, &error)),
    }
}

fn refused(question: &Question, host: &Host, why: Refusal) -> Msg {
    Msg::Proposed {
        number: question.number,
        result: Err(why),
        findings: examine(host, None, None),
        outlook: Box::default(),
    }
}

pub fn sessions() -> Result<Vec<Listed>, String> {
    let kept = session::folder().and_then(|dir| session::list(&dir)).map_err(|e| e.to_string())?;
    // The user's presets come first and replace built-in ones of the same name.
    let own = |id: &str| kept.iter().any(|own| own.name == id || own.id == id);
    let references = session::references()
        .iter()
        .filter(|reference| !own(reference.id))
        .map(|reference| reference.to_listed());
    let references: Vec<Listed> = references.collect();
    Ok(kept.into_iter().chain(references).collect())
}

pub fn load(id: &str) -> Result<Session, String> {
    session::folder()
        .and_then(|dir| session::open(&dir, id))
        .map(|(session, _)| session)
        .map_err(|e| e.to_string())
}

pub fn open(id: &str) -> Result<SessionView, String> {
    let opened = session::folder().and_then(|dir| session::open(&dir, id));
    opened.map(|(session, path)| SessionView::new(session, path)).map_err(|e| e.to_string())
}

pub fn preview(id: String) -> Preview {
    let result = open(&id).map(Box::new);
    Preview { id, result }
}

pub fn again(id: &str) -> Result<NewRun, String> {
    let path = session::folder().and_then(|dir| session::find(&dir, id));
    let session = path.and_then(|path| session::load(&path)).map_err(|e| e.to_string())?;
    let ranks = session.plan.processes();
    if ranks > 1 {
        return Err(format!(
            "it was measured by {ranks} ranks: mpirun -n {ranks} iotui-mpi --batch --plan {id}"
        ));
    }
    let plan = runner::replan(&session, &[], &[], false, &Settings::default());
    plan.map(new_run).map_err(|error| match error {
        ReplanError::Place(error) => describe_place(&error, false),
        ReplanError::Plan(error) => speak(&error.to_string()),
        other => other.to_string(),
    })
}

/// Loads a session with the events of its run.
pub fn record(of: Replayed, speed: Speed) -> Result<ReplayInput, String> {
    let found = match &of {
        Replayed::Demo => session::demo().map(|(session, timeline)| (session, timeline, None)),
        Replayed::Kept(text) => session::folder()
            .and_then(|dir| session::find(&dir, text).map_err(SessionError::into_replay))
            .and_then(|path| {
                session::timeline(&path).map(|(session, timeline)| (session, timeline, Some(path)))
            }),
    };
    let (session, timeline, path) = found.map_err(|error| error.to_string())?;
    Ok(ReplayInput { of, speed, shown: SessionView::new(session, path), timeline })
}

pub fn rename(id: &str, name: &str) -> Msg {
    let done = session::folder().and_then(|dir| {
        session::find(&dir, id).and_then(|path| session::rename(&dir, &path, name))
    });
    match done {
        Ok(kept) => {
            let why = if kept == name { String::new() } else { format!(": {name} is in use") };
            Msg::Renamed { id: id.into(), text: format!("named {kept}{why}"), name: kept }
        }
        Err(error) => Msg::Failed(format!("not named: {error}")),
    }
}

pub fn delete(id: String) -> Msg {
    let done = session::folder()
        .and_then(|dir| session::find(&dir, &id).and_then(|path| session::delete(&dir, &path)));
    match done {
        Ok(()) => Msg::Deleted(id),
        Err(error) => Msg::Failed(format!("not deleted: {error}")),
    }
}

/// Compares a session with the run before it, unless one of them takes long to load.
pub fn change(id: String, before: String) -> Msg {
    let ratio = || {
        let dir = session::folder().ok()?;
        let paths = [&before, &id].map(|id| session::path_of(&dir, id));
        let is_small = |path| fs::metadata(path).is_ok_and(|file| file.len() <= MAX_CHANGE_BYTES);
        if !paths.iter().all(is_small) {
            return None;
        }
        let [a, b] = paths.map(|path| session::load(&path).ok());
        let (a, b) = (a?, b?);
        analysis::change(&a, &b, || runner::saved_runs(&dir, &[&a, &b]))
    };
    let ratio = ratio();
    Msg::Changed { id, before, ratio }
}

/// Saves the current settings, on top of their base preset, as a user preset.
pub fn save_preset(id: &str, question: &Question) -> Result<Box<Preset>, String> {
    let base = &question.preset;
    let (about, doc) = describe_own_preset(base, &question.settings);
    let preset = Preset {
        id: id.into(),
        about,
        question: String::new(),
        needs_file: false,
        doc,
        ..base.over(&question.settings)
    };
    let kept =
        userdata::presets_folder().and_then(|dir| userdata::save_preset(&dir, &preset, false));
    kept.map(|(preset, _)| Box::new(preset)).map_err(|error| error.to_string())
}

/// Describes a preset that a user made; what its base measures may be true of it no longer.
fn describe_own_preset(base: &Preset, settings: &Settings) -> (String, String) {
    let changes = settings.argv().join(" ");
    let changes = if changes.is_empty() { "no changes".into() } else { changes };
    (format!("made from {}", base.id), format!("The preset {} with {changes}.", base.id))
}

/// Returns the name of a file for messages.
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Returns the plan that continues a session on this machine, or why it cannot be continued, in one
/// line.
pub fn plan_refinement(request: &RefineRequest) -> Result<NewRun, String> {
    let loaded;
    let session = match &request.what {
        What::Shown(session) => &**session,
        What::Kept(id) => {
            loaded = load(id)?;
            &loaded
        }
        What::LoadedComparison(_) => return Err("a comparison has no rounds".into()),
    };
    let planned = runner::refine(session, &request.settings, request.cell, &host::collect());
    let (plan, earlier) = planned.map_err(|error| speak(&error.to_string()))?;
    let name = Some(session.name.clone()).filter(|name| !name.is_empty());
    Ok(NewRun { name, earlier: earlier.into(), ..new_run(plan) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::PlanError;
    use crate::plan::Settings;
    use crate::plan::preset;
    use crate::session::testing;

    #[test]
    fn user_presets_are_described_by_changes() {
        let mut settings = Settings::default();
        settings.set("block-size", "64k").unwrap();
        assert_eq!(
            describe_own_preset(&preset("quick").unwrap(), &settings),
            ("made from quick".to_string(), "The preset quick with -s 64k.".to_string())
        );
    }

    #[test]
    fn refusals_use_words_of_the_screen() {
        let dir = || PathBuf::from("/a FILE --dir");
        let io = std::io::Error::from_raw_os_error(libc::EACCES);
        for (error, wanted) in [
            (PlanError::SyncRead.into(), "Sync applies only to writes; add Operation write"),
            (ProposeError::Cold("--cold all needs root".into()), "Cold drops all needs root"),
            (PlaceError::Missing(dir()).into(), "/a FILE --dir: no such file; choose another"),
            (PlaceError::Directory(dir()).into(), "/a FILE --dir is a directory; choose a file"),
            (PlaceError::Nowhere.into(), "on a disk; choose one with space, or a file"),
            (
                PlaceError::Folder { dir: dir(), error: io }.into(),
                "/a FILE --dir: permission denied; choose another folder",
            ),
            (
                PlaceError::Full { dir: dir(), need: 4096, files: 1, free: 1024, by_quota: false }
                    .into(),
                "in /a FILE --dir: 4 KiB needed, 1 KiB free; use a smaller Size or another folder",
            ),
            (PlaceError::Empty(dir()).into(), "/a FILE --dir is empty"),
        ] {
            let why = describe_refusal(&error, true);
            assert!(why.contains(wanted), "{why}");
            assert!(!why.replace("/a FILE --dir", "").contains("--"), "{why}");
        }
    }

    #[test]
    fn errors_of_files_omit_the_number() {
        let Err(why) = facts("/no/such/file".into()).result else { panic!() };
        assert_eq!(why, "/no/such/file: no such file or directory");
    }

    #[test]
    fn a_refusal_names_keys_not_options() {
        let session = testing::session(1);
        let what = What::Shown(session.into());
        let refused =
            plan_refinement(&RefineRequest { what, settings: Settings::default(), cell: None })
                .unwrap_err();
        assert!(refused.contains("press r") && !refused.contains("--"), "{refused}");
    }
}
