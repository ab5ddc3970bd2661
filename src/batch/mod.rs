//! The headless front end: data on stdout, progress on stderr.

mod args;
mod bar;
mod dry;
mod gate;
mod make;
mod metrics;
mod ranks;
mod watch;

pub use args::Args;

use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use anyhow::Context;
use gate::{Gate, GateResult};
use make::Task;
use metrics::MetricsFile;
use watch::{Kept, Outcome};

use crate::analysis;
use crate::catalog::infos;
use crate::doctor::{self, Planned};
use crate::engine::{self, Control, OpenTarget, Started, check_filling, locate};
use crate::facts::{Host, TargetFacts};
use crate::host::SharedHost;
use crate::output::{self, print_message};
use crate::plan::{Plan, Presets, Settings};
use crate::record::{End, Event, Severity, Throttle};
use crate::report::{self, Format, Look};
use crate::runner::{self, Measuring, Ranks};
use crate::session::{Recorder, Session};
use crate::sys::{scratch, signals};
use crate::text;
use crate::text::show_path;

/// Plans, runs and reports; returns the exit code (docs/reference.md lists them).
pub fn run(
    args: &Args,
    settings: &Settings,
    presets: &Presets,
    ranks: Option<Ranks>,
) -> anyhow::Result<u8> {
    let format = args.out.format()?;
    args.out.refuse_terminal(format)?;
    args.out.check()?;
    metrics::check(args)?;
    if args.out.output.is_some() {
        print_leftovers(args);
    }
    if !args.quiet {
        print_what_is_amiss(&args.preset, presets);
    }
    // On another thread than the plan: both read many small files of the kernel.
    let host = match ranks {
        Some(_) => SharedHost::collect_of_ranks(),
        None => SharedHost::collect(),
    };
    let budget = settings.budget.unwrap_or(Plan::BUDGET);
    let started = ranks.as_ref().map(|ranks| Started { ranks: ranks.size(), here: ranks.here() });
    let Task { plan, earlier, gate } =
        make::within(budget, || make::task(args, settings, presets, started))?;
    ranks::check(args, &plan, started)?;
    let how = match ranks {
        Some(ranks) => Measuring::Together(ranks),
        None => Measuring::Alone(earlier),
    };
    let plan = Arc::new(plan);
    for (path, option) in [(&args.out.output, "--output"), (&args.metrics, "--metrics")] {
        let is_target = |path: &&PathBuf| plan.targets().any(|of| locate::is_target(of, path));
        if let Some(path) = path.as_ref().filter(is_target) {
            anyhow::bail!(
                "{} is the file being measured: choose another {option}",
                show_path(path)
            );
        }
    }
    if args.dry_run {
        // A run adds it when it starts.
        return dry_run(args, &runner::add_visited(plan), host.get());
    }
    signals::install().context("cannot handle signals")?;
    let recorder = recorder(args, &host, &plan)?.map(|r| Arc::new(Mutex::new(r)));
    let metrics = args.metrics.as_ref().map(|path| {
        let session = make_session(&plan, host.get(), recorder.as_ref());
        MetricsFile::share(path, args.anonymous, session)
    });
    let kept = Kept { recorder: recorder.as_ref(), metrics: metrics.as_ref() };
    let outcome = measure(args, format, (&plan, how, &host), kept, gate.as_ref());
    let unopened = ranks::could_not_open(&outcome, started);
    let together = started.is_some();
    let finished = finish(args, format, kept, outcome, gate.as_ref(), together);
    finished.map_err(|error| if unopened { anyhow::Error::msg(error.to_string()) } else { error })
}

/// Prints which variant an earlier run may have left set, and which presets cannot be read.
fn print_what_is_amiss(asked: &[String], presets: &Presets) {
    if let Some(text) = runner::describe_unrestored() {
        print_message(format!("iotui: {text}"));
    }
    // A requested one is an error of the plan.
    for broken in presets.broken().iter().filter(|broken| !asked.contains(&broken.id)) {
        print_message(format!("iotui: your preset {} is ignored: {}", broken.id, broken.why));
    }
}

/// Returns the facts of the first target, and what each lies on; empty where that is not known.
fn find_places(plan: &Plan, is_anonymous: bool) -> (Option<TargetFacts>, Vec<String>) {
    let find = |target| OpenTarget::probe(target).ok().map(|opened| opened.facts);
    let all: Vec<Option<TargetFacts>> = plan.targets().map(find).collect();
    let describe = |mut facts: TargetFacts| {
        if is_anonymous {
            facts.ground.hide_paths();
            facts.source = None;
        }
        facts.describe_place()
    };
    let places = all.iter().map(|facts| facts.clone().map(describe).unwrap_or_default());
    let places = places.collect();
    (all.into_iter().next().flatten(), places)
}

/// Prints the plan, what it should reach, and what would disturb or falsify it.
fn dry_run(args: &Args, plan: &Plan, host: &Host) -> anyhow::Result<u8> {
    let names = args.anonymous.then(|| report::PrivateNames::new(host, plan));
    let shown = names.as_ref().map_or_else(|| plan.clone(), |names| names.anonymize_plan(plan));
    let (facts, places) = find_places(plan, args.anonymous);
    let link = facts.as_ref().and_then(|facts| facts.link()).map(|link| link.bytes_per_second);
    let text = || {
        let known = runner::saved_experience(host, facts.as_ref());
        let planned = Planned { plan, infos: &infos() };
        let mut found = doctor::examine(host, facts.as_ref(), Some(planned));
        found.retain(|finding| finding.severity >= Severity::Misleading);
        names.iter().for_each(|of| found.iter_mut().for_each(|one| of.anonymize_warning(one)));
        dry::text(
            &shown,
            &dry::Outlook {
                places: places.clone(),
                expected: analysis::describe_estimates(plan, runner::saved_ceilings(), link),
                forecast: analysis::describe_forecast(plan, &known.noise),
                disk: known.disk,
                unfillable: check_filling(plan).err(),
                found,
            },
        )
    };
    args.out.text_or_json(text, &shown)?;
    Ok(0)
}

/// Prints which leftovers of killed runs were removed.
fn print_leftovers(args: &Args) {
    scratch::take_leftover_notes()
        .iter()
        .filter(|_| !args.quiet)
        .for_each(|line| print_message(format!("iotui: {}", text::clean_text(line))));
}

/// Runs the engine on another thread and watches it, so that a system call that never returns
/// blocks nothing here.
fn measure(
    args: &Args,
    format: &Format,
    (plan, how, host): (&Arc<Plan>, Measuring, &SharedHost),
    kept: Kept,
    gate: Option<&Gate>,
) -> Outcome {
    let (to, events) = channel();
    // The watcher may have left.
    let send = move |message| drop(to.send(message));
    let control = Arc::new(Control::new(signals::stop_flag()));
    let shared = host.clone();
    let get_host = move || shared.get().clone();
    let (plan_of_engine, control_of_engine) = (Arc::clone(plan), Arc::clone(&control));
    let keepers = kept.keepers();
    let started = runner::start(plan_of_engine, how, get_host, control_of_engine, keepers, send);
    let session = make_session(plan, host.get(), kept.recorder);
    if let Some(gate) = gate {
        gate.warn(args, &session);
    }
    match started {
        Ok(_) => {
            let mut outcome = watch::until_over(args, format, &events, session, kept, &control);
            // An engine that hangs has not.
            if let Some(text) = engine::set_back(plan, &control) {
                for event in [Event::Note { text }, Event::Unrestored] {
                    kept.recorder
                        .and_then(|r| r.try_lock().ok())
                        .iter_mut()
                        .for_each(|r| r.record(&event));
                    outcome.session.apply(&event);
                }
            }
            outcome
        }
        Err(error) => Outcome {
            session,
            error: Some(format!("cannot start a thread: {error}")),
            signal: None,
        },
    }
}

/// Makes the session in memory that the events of the run are applied to.
fn make_session(plan: &Plan, host: &Host, recorder: Option<&Arc<Mutex<Recorder>>>) -> Session {
    let header = recorder.map(|r| {
        locked(r, |r| (r.id().to_string(), r.name().to_string(), r.created().to_string()))
    });
    let (id, name, created) =
        header.unwrap_or_else(|| (String::new(), String::new(), text::utc(SystemTime::now())));
    Session::new(id, name, created, host.clone(), plan.clone())
}

fn recorder(args: &Args, host: &SharedHost, plan: &Plan) -> anyhow::Result<Option<Recorder>> {
    if args.no_save {
        return Ok(None);
    }
    let names = args.anonymous.then(|| report::PrivateNames::new(host.get(), plan));
    let hidden =
        names.as_ref().map(|names| (names.anonymize_host(host.get()), names.anonymize_plan(plan)));
    let (host, plan) = hidden.as_ref().map_or((host.get(), plan), |(host, plan)| (host, plan));
    let make = || runner::create_recorder(args.save.as_deref(), host, plan);
    match output::report_if_slow("creating the session's file", make) {
        Ok(mut recorder) => {
            if let Some(mut names) = names {
                recorder.rewrite(Box::new(move |event| names.anonymize_event(event)));
            }
            if recorder.renamed() && !args.quiet {
                print_message(format!(
                    "iotui: that name is in use: this session is named {}",
                    recorder.name()
                ));
            }
            Ok(Some(recorder))
        }
        // A session with --save must be saved; otherwise the run matters more than its file.
        Err(error) if args.save.is_some() => Err(error.into()),
        Err(error) => {
            print_message(format!("iotui: this run is not saved: {error}"));
            Ok(None)
        }
    }
}

fn locked<T>(recorder: &Mutex<Recorder>, with: impl FnOnce(&mut Recorder) -> T) -> T {
    with(&mut recorder.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Finishes the session file; returns the line with its path, and whether a session with --save is
/// incomplete.
fn finish_recording(
    args: &Args,
    session: &mut Session,
    recorder: Option<&Arc<Mutex<Recorder>>>,
    reason: End,
) -> (Option<String>, bool) {
    let (mut saved, mut unsaved) = (None, false);
    // Not waited for: an engine that hangs in a system call may hold the lock.
    if let Some(mut recorder) = recorder.and_then(|r| r.try_lock().ok()) {
        let file = format!("writing {}", show_path(recorder.path()));
        output::report_if_slow(&file, || recorder.finish(reason));
        let path = show_path(recorder.path());
        session.id = if recorder.is_kept() { recorder.id().into() } else { String::new() };
        match recorder.unsaved() {
            Some(why) => {
                let what = if recorder.is_kept() {
                    "this run is saved only in part"
                } else {
                    "this run is not saved"
                };
                print_message(format!("iotui: {what}: {why}"));
                unsaved = args.save.is_some();
            }
            None if !args.quiet => saved = Some(format!("saved   {path}")),
            None => {}
        }
    }
    (saved, unsaved)
}

fn finish(
    args: &Args,
    format: &Format,
    kept: Kept,
    outcome: Outcome,
    gate: Option<&Gate>,
    together: bool,
) -> anyhow::Result<u8> {
    let Outcome { mut session, error, signal } = outcome;
    print_leftovers(args);
    let reason =
        session.end.unwrap_or(if signal.is_some() { End::Interrupted } else { End::Failed });
    session.end = Some(reason);
    let (saved, unsaved) = finish_recording(args, &mut session, kept.recorder, reason);
    kept.metrics.iter().for_each(|file| MetricsFile::finish(file, &session));
    if session.trials.is_empty() && session.probe_trials.is_empty() && error.is_some() {
        let code = signal.map_or(1, |s| 128 + s as u8);
        return Err(output::Failure(code, error.unwrap_or_default()).into());
    }
    error.iter().for_each(|error| print_message(format!("iotui: {error}")));
    let held = gate.map(|gate| gate.compare(args, &session));
    let session = if args.anonymous { report::anonymize(&session) } else { session };
    let table = format.id == report::FORMATS[0].id;
    // The table contains the notes; other formats have no place for them.
    if !table && !args.quiet {
        let print = |note: &String| print_message(format!("iotui: {}", text::clean_text(note)));
        session.notes.iter().for_each(print);
    }
    // A launcher passes on what a rank prints to stdout and stderr in any order.
    let below = saved.clone().filter(|_| table && together && args.out.output.is_none());
    write(args, format, &session, held.as_ref().filter(|_| table), below.as_deref())?;
    if let Some(held) = held.as_ref().filter(|_| !table) {
        held.print(args);
    }
    let expected = analysis::expected(&session);
    if !table {
        gate::print_expected(args, &expected);
    }
    // Last, so that it is in view when the run is over.
    if let Some(saved) = saved.filter(|_| below.is_none()) {
        print_message(saved);
    }
    // The remote host was requested, so a run without it has failed.
    let unmet = session.plan.unmet();
    if let Some(why) = unmet {
        print_message(format!("iotui: --remote: {}", text::clean_text(why)));
    }
    let failed = unsaved
        || is_empty(&session)
        || unmet.is_some()
        || error.is_some()
        || session.has_failed_cell()
        || session.has_bad_data()
        || session.unrestored;
    let wrong =
        args.strict && (session.worst() == Some(Severity::Wrong) || session.has_data_from_memory());
    let ruling = held.as_ref().and_then(|held| held.ruling.as_ref());
    Ok(gate::code(signal, failed, wrong, ruling, gate::outcome(&session, &expected)))
}

/// Returns whether no trial was completed although some were to be, and says why, with the limits
/// that are known.
fn is_empty(session: &Session) -> bool {
    let plan = &session.plan;
    let asked = !plan.cells.is_empty() || !plan.probes.is_empty();
    let complete = session.trials.iter().any(|trial| !trial.short)
        || session.probe_trials.iter().any(|trial| !trial.short);
    if complete || !session.levels.is_empty() || !asked {
        return false;
    }
    let why = match session.has_trials() {
        true => "no trial was completed".into(),
        false => format!("nothing was measured: {}", analysis::describe_end(session)),
    };
    let limits = session.grounds.iter().flat_map(|grounds| grounds.targets());
    let limits = limits.filter_map(|target| target.throttle.as_ref()).map(Throttle::describe);
    let message = match limits.collect::<Vec<_>>().join("; ") {
        none if none.is_empty() => format!("{why}; use a longer --budget"),
        limits => format!("{why}; {limits}: use a longer --budget"),
    };
    print_message(format!("iotui: {}", text::clean_text(&message)));
    true
}

/// Writes the results, with the comparison and a line below them where there are any.
fn write(
    args: &Args,
    format: &Format,
    session: &Session,
    held: Option<&GateResult>,
    below: Option<&str>,
) -> anyhow::Result<()> {
    let streamed = format.id == report::JSONL && args.out.output.is_none();
    let look = Look { details: args.details, ..args.out.look() };
    args.out.write(|to| {
        if streamed {
            report::jsonl::write_results(session, to)?
        } else {
            (format.write)(session, &look, to)?
        }
        held.map_or(Ok(()), |held| held.write(&look, to))?;
        below.map_or(Ok(()), |line| writeln!(to, "{}", text::clean_text(line)))
    })
}
