//! The shell around the model: terminal, keys, signals, threads; all side effects are here.

pub mod app;
mod appearance;
mod blocked;
mod clipboard;
mod effects;
mod input;
mod look_up;
mod remember;
mod run;
mod share;
mod terminal;
mod themes;

use std::io::IsTerminal;
use std::mem::ManuallyDrop;
use std::path::PathBuf;

use anyhow::Context;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

pub use appearance::look;
pub use themes::list as list_themes;

use crate::output::{DisplayArgs, When, print_message};
use crate::plan::{Op, Preset, Presets, Settings};
use crate::report::Graph;
use crate::runner;
use crate::text::clean_text;
use crate::tui::lab;
use crate::tui::model::Model;
use crate::tui::msg::{Effect, Msg, Query, Replayed, Speed};
use crate::tui::popup::Popup;
use crate::tui::remember::Remembered;
use crate::tui::setup::Setup;
use crate::tui::theme::DEFAULT;
use crate::tui::update::{begin_replay, go};

/// The options of the full screen.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Screen {
    /// Do not capture the mouse
    #[arg(long)]
    pub no_mouse: bool,
    /// Do not ring the bell at the end of a long run
    #[arg(long)]
    pub no_bell: bool,
    /// Color theme: terminal, night, paper, ember, contrast, or one of yours
    #[arg(long, value_name = "NAME", value_parser = themes::parse_id)]
    pub theme: Option<String>,
    /// Replay the run of a saved session, without measuring: its id, name, `last` or path
    #[arg(long, value_name = "SESSION", conflicts_with = "demo")]
    pub replay: Option<String>,
    /// Replay an example; reads and writes no file
    #[arg(long)]
    pub demo: bool,
    /// Speed of a replay, 1 to 100 times that of the run [default: 10]
    #[arg(long, value_name = "TIMES", value_parser = speeds())]
    pub speed: Option<u32>,
}

impl Screen {
    /// Returns the session to replay, and how fast.
    fn replayed(&self, asked: &Asked) -> anyhow::Result<Option<(Replayed, Speed)>> {
        let of = match &self.replay {
            Some(text) => Replayed::Kept(text.clone()),
            None if self.demo => Replayed::Demo,
            None if self.speed.is_some() => anyhow::bail!("--speed is for --replay and --demo"),
            None => return Ok(None),
        };
        let is_run = asked.preset.is_some() || asked.settings != Settings::default();
        if is_run || asked.dir.is_some() || !asked.files.is_empty() {
            let option = if self.demo { "--demo" } else { "--replay" };
            anyhow::bail!("{option} measures nothing: it takes no file and no option of a run");
        }
        Ok(Some((of, self.speed.map_or_else(Speed::default, Speed::new))))
    }
}

fn speeds() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(Speed::MAX))
}

/// One of the symbols of `--graph octant`, which few terminals know.
const OCTANT: char = '\u{1cd00}';

/// The options from the command line.
pub struct Asked {
    pub files: Vec<PathBuf>,
    /// The files, and all files of folders among them, are read as one.
    pub as_one: bool,
    pub dir: Option<PathBuf>,
    /// Whether it was given on the command line.
    pub preset: Option<Preset>,
    pub settings: Settings,
    /// Whether to write session files.
    pub save: bool,
    pub color: When,
    pub ascii: bool,
    /// The unit of throughput and the scale of plots.
    pub shown: DisplayArgs,
    pub presets: Presets,
}

/// Runs the full screen and returns the exit code.
///
/// # Errors
/// There is no terminal, or it cannot be used; the options are wrong.
pub fn run(args: &Screen, asked: Asked) -> anyhow::Result<u8> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        anyhow::bail!("no terminal: use iotui --batch [FILE]");
    }
    if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        anyhow::bail!("a dumb terminal cannot show the screen: use iotui --batch [FILE]");
    }
    let save = asked.save;
    let replayed = args.replayed(&asked)?;
    let remembers = !args.demo;
    let (mut model, mut first) = begin(args, asked)?;
    if let Some((of, speed)) = replayed {
        let input = look_up::record(of, speed).map_err(anyhow::Error::msg)?;
        // Nothing is looked up for Setup before it is shown.
        first = begin_replay(&mut model, input);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start")?;
    let code = runtime.block_on(on_terminal(args, &mut model, first, (save, remembers)));
    // A thread may still be blocked by a file system that hangs.
    runtime.shutdown_background();
    let columns = crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
    model.farewell().wrap(columns.max(40)).into_iter().for_each(print_message);
    code
}

fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn begin(args: &Screen, asked: Asked) -> anyhow::Result<(Model, Vec<Effect>)> {
    let Asked { files, as_one, dir, preset, settings, color, ascii, shown, presets, .. } = asked;
    let mut remembered = if args.demo { Remembered::default() } else { remember::load() };
    let look = look(color, ascii, shown, &env);
    // Settings of the command line are used alone; without any, the last ones are restored.
    let fresh = preset.is_none() && settings == Settings::default();
    let base = match preset {
        Some(preset) => preset,
        None => presets
            .get(if settings.probe.is_some() { Presets::LAB } else { Presets::DEFAULT })?
            .clone(),
    };
    // A plan of probes only starts on Lab; Setup stays as it was.
    let probes = lab::is_probe_preset(&base).then(|| (base.clone(), settings.clone()));
    let (base, settings, fresh) = match &probes {
        Some(_) => (presets.get(Presets::DEFAULT)?.clone(), Settings::default(), true),
        None => (base, settings, fresh),
    };
    let (base, lost) = if fresh {
        last_preset(&remembered, &presets, base, !files.is_empty())
    } else {
        (base, None)
    };
    if lost.is_some() {
        remembered.preset = None;
    }
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let (files, folder) = if as_one { (files, None) } else { split_folder(files) };
    // A user who names a target needs no questions.
    let names_target = folder.is_some() || !files.is_empty();
    let is_watching = args.demo || args.replay.is_some();
    let guides = fresh && !names_target && probes.is_none() && !is_watching;
    let dir = dir.or_else(|| folder.clone().filter(|folder| look_up::is_writable(folder)));
    let mut files = files.into_iter();
    let mut setup = Setup::new(files.next(), dir, base, settings)
        .with_remembered(&remembered, &here, fresh)
        .with_others(files.collect())
        .reading_as_one(as_one);
    if let Some(folder) = folder {
        setup = setup.with_folder(here.join(folder).components().collect());
    }
    let mut model = Model::new(look, presets.iter().cloned().collect(), setup);
    model.rings = !args.no_bell;
    // Changed settings are what the user came back for.
    if guides && !model.setup.is_changed() {
        let popup = Popup::start(&model.presets, remembered.preset.as_deref().unwrap_or_default());
        model.popups.push(popup);
    }
    for why in lost.into_iter().chain(runner::describe_unrestored()) {
        model.toasts.fail(model.now, why);
    }
    show_theme(&mut model, args.theme.as_deref().or(remembered.theme.as_deref()));
    let mut first = vec![Effect::Ask(Query::Host)];
    first.extend(model.setup.start());
    if let Some((preset, said)) = probes {
        model.lab.choose(preset, said);
        first.extend(go(&mut model, crate::tui::screen::Screen::Lab));
    }
    Ok((model, first))
}

/// Splits off the folder to open, which is named in place of a file.
fn split_folder(files: Vec<PathBuf>) -> (Vec<PathBuf>, Option<PathBuf>) {
    match files.as_slice() {
        [only] if only.is_dir() => (Vec::new(), files.into_iter().next()),
        _ => (files, None),
    }
}

/// Shows the chosen theme, and what is wrong with files of themes.
fn show_theme(model: &mut Model, chosen: Option<&str>) {
    model.themes = themes::load();
    model.use_theme(chosen.unwrap_or(DEFAULT));
    for broken in &model.themes.broken {
        model.toasts.fail(model.now, broken.why.as_str());
    }
}

/// Returns the preset of the last start, or `base` with a note if that is gone; also `base` if it
/// would write to the `named` file.
fn last_preset(
    remembered: &Remembered,
    presets: &Presets,
    base: Preset,
    named: bool,
) -> (Preset, Option<String>) {
    let Some(id) = &remembered.preset else { return (base, None) };
    match presets.get(id) {
        Ok(preset) if lab::is_probe_preset(preset) => (base, None),
        Ok(preset)
            if named
                && preset
                    .parts()
                    .iter()
                    .any(|part| part.op == Some(Op::Write) || part.mix.is_some()) =>
        {
            (base, None)
        }
        Ok(preset) => (preset.clone(), None),
        Err(_) => {
            let why = format!(
                "the preset {} of the last start no longer exists: using {}",
                clean_text(id),
                base.id
            );
            (base, Some(why))
        }
    }
}

async fn on_terminal(
    args: &Screen,
    model: &mut Model,
    first: Vec<Effect>,
    (save, remembers): (bool, bool),
) -> anyhow::Result<u8> {
    let (sender, receiver) = unbounded_channel();
    let panicked = sender.clone();
    terminal::hook(move |text| drop(panicked.send(Msg::Panicked(text))));
    let guard = terminal::Guard::enter(!args.no_mouse).context("cannot use this terminal")?;
    signals(&sender)?;
    blocked::watch(Handle::current());
    if model.look.graph() == Graph::Octant && !terminal::knows(OCTANT) {
        model.look.graph = Graph::Braille;
        model.toasts.note(model.now, "this terminal has no octants: charts are drawn with Braille");
    }
    let input = input::input().context("cannot read from this terminal")?;
    // The guard shows the cursor again; ratatui's own drop would too, and panic where neither the
    // screen nor an error can be shown.
    let mut screen = ManuallyDrop::new(Terminal::new(CrosstermBackend::new(std::io::stdout()))?);
    let mut handler = effects::Shell::new(guard, sender, save, remembers);
    let code = app::App::new(&mut screen, model, &mut handler).run(first, input, receiver).await;
    handler.finish();
    drop(handler);
    // Drawing fails when the terminal is closed: treated as a hang-up.
    Ok(code.unwrap_or(129))
}

/// Signals become messages: INT is Ctrl-C, TSTP is Ctrl-Z, CONT draws again, and the others lead
/// out.
fn signals(sender: &UnboundedSender<Msg>) -> anyhow::Result<()> {
    let all: [(SignalKind, fn() -> Msg); 10] = [
        (SignalKind::terminate(), || Msg::Leave(143)),
        (SignalKind::hangup(), || Msg::Leave(129)),
        (SignalKind::quit(), || Msg::Leave(131)),
        (SignalKind::user_defined1(), || Msg::Leave(138)),
        (SignalKind::user_defined2(), || Msg::Leave(140)),
        (SignalKind::alarm(), || Msg::Leave(142)),
        (SignalKind::from_raw(libc::SIGXCPU), || Msg::Leave(152)),
        (SignalKind::interrupt(), || Msg::Interrupt),
        (SignalKind::from_raw(libc::SIGTSTP), || Msg::Suspend),
        (SignalKind::from_raw(libc::SIGCONT), || Msg::Resumed),
    ];
    for (kind, msg) in all {
        let mut arrived = signal(kind).context("cannot handle signals")?;
        let sender = sender.clone();
        tokio::spawn(async move {
            while arrived.recv().await.is_some() {
                if sender.send(msg()).is_err() {
                    break;
                }
            }
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(id: &str, named: bool) -> (String, Option<String>) {
        let presets = Presets::built_in();
        let base = presets.get(Presets::DEFAULT).unwrap().clone();
        let remembered = Remembered { preset: Some(id.into()), ..Remembered::default() };
        let (preset, lost) = last_preset(&remembered, &presets, base, named);
        (preset.id, lost)
    }

    #[test]
    fn last_preset_returns_or_is_reported() {
        for id in ["measure", "syscalls", "caching"] {
            assert_eq!(last(id, true), (id.to_string(), None));
        }
        assert_eq!(last("mixed", false), ("mixed".to_string(), None));
        assert_eq!(last("mixed", true).0, "quick", "a file that is named is not written");
        assert_eq!(last("lab/cpu", false), ("quick".to_string(), None), "probes are chosen on Lab");
        let (id, lost) = last("mine\u{1b}[31m", false);
        let lost = lost.unwrap();
        assert!(
            id == "quick" && lost.contains("no longer exists") && !lost.contains('\u{1b}'),
            "{lost}"
        );
    }
}
