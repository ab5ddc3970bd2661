//! Every action with its keys, once: update, help, footer and palette are made from this table.

mod action;

use std::sync::LazyLock;

use super::keys::Key;
use super::screen::Screen;
pub use action::Action;

/// Where an action is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Everywhere,
    On(&'static [Screen]),
    /// Everywhere but there, where it would do nothing.
    But(&'static [Screen]),
}

/// One row of the table.
#[derive(Debug)]
pub struct Binding {
    pub action: Action,
    /// The first is shown.
    pub keys: &'static [&'static str],
    pub place: Place,
    /// One or two words, for the footer; empty: not in the footer.
    pub short: &'static str,
    /// Its description, for the help and the palette.
    pub help: &'static str,
}

const fn bind(
    action: Action,
    keys: &'static [&'static str],
    place: Place,
    short: &'static str,
    help: &'static str,
) -> Binding {
    Binding { action, keys, place, short, help }
}

use Place::{But, Everywhere, On};
use Screen::{Compare, Host, Lab, Live, Results, Sessions, Setup};

/// The table, in the order of help and footer; of two rows with one key the more specific place
/// comes first.
pub static KEYMAP: &[Binding] = &[
    bind(Action::Run, &["r"], On(&[Setup]), "run", "run the plan"),
    bind(Action::Toggle, &["space"], On(&[Setup]), "toggle", "switch the selected item"),
    bind(Action::Run, &["r"], On(&[Lab]), "run", "measure the selected probes"),
    bind(
        Action::Toggle,
        &["space"],
        On(&[Lab]),
        "on/off",
        "switch a probe or a group on or off; during a run: pause or resume",
    ),
    bind(Action::Table, &["v"], On(&[Results]), "table", "view the chart or the table"),
    bind(Action::LogAxis, &["L"], On(&[Results]), "log", "linear or logarithmic axis"),
    bind(
        Action::Export,
        &["e"],
        On(&[Results]),
        "export",
        "write it to a file in one of several formats",
    ),
    bind(
        Action::Pause,
        &["space"],
        On(&[Live]),
        "pause",
        "pause or resume the run, or a replay; a pause is never measured",
    ),
    bind(
        Action::Skip,
        &["s"],
        On(&[Live, Lab]),
        "skip cell",
        "skip the current cell for the rest of the run",
    ),
    bind(
        Action::Stop,
        &["x"],
        On(&[Live, Lab]),
        "stop",
        "stop the run, or a replay, and show what was measured",
    ),
    bind(
        Action::Freeze,
        &["f"],
        On(&[Live]),
        "freeze",
        "freeze the picture while the run continues",
    ),
    bind(
        Action::Table,
        &["v"],
        On(&[Live]),
        "latencies",
        "view the latencies of the running cell over time, or the trials",
    ),
    bind(Action::Slower, &["<"], On(&[Live]), "slower", "play the replay slower"),
    bind(
        Action::Faster,
        &[">"],
        On(&[Live]),
        "faster",
        "play the replay faster; left and right move in it, esc leaves it",
    ),
    bind(
        Action::Table,
        &["v", "tab"],
        On(&[Compare]),
        "chart",
        "view overlaid curves or the cells",
    ),
    bind(Action::LogAxis, &["L"], On(&[Compare]), "log", "linear or logarithmic axis"),
    bind(
        Action::Toggle,
        &["space"],
        On(&[Compare]),
        "in words",
        "show all differences in words, or the cells",
    ),
    bind(
        Action::Baseline,
        &["B"],
        On(&[Compare]),
        "baseline",
        "make this session the baseline of the others",
    ),
    bind(Action::Export, &["e"], On(&[Compare]), "export", "write the comparison to a file"),
    bind(Action::Copy, &["y"], On(&[Compare]), "copy", "copy the whole comparison"),
    bind(
        Action::Enter,
        &["enter"],
        On(&[Compare]),
        "open",
        "open the compared session, or the session of the selected curve",
    ),
    bind(
        Action::Enter,
        &["enter"],
        On(&[Lab]),
        "curve",
        "show the curves of the selected probe, or the bars",
    ),
    bind(
        Action::Enter,
        &["enter"],
        But(&[Live, Lab, Host, Compare]),
        "open",
        "open or change the selected item",
    ),
    bind(
        Action::RunAgain,
        &["r"],
        On(&[Results, Sessions]),
        "run again",
        "run the plan of this session again",
    ),
    bind(
        Action::Refine,
        &["R"],
        On(&[Results, Live, Sessions]),
        "refine",
        "add rounds to the session, until its intervals are as narrow as you need; or trials to the \
         opened cell",
    ),
    bind(
        Action::Replay,
        &["P"],
        On(&[Results, Sessions]),
        "replay",
        "play the run of this session again, without measuring",
    ),
    bind(
        Action::Copy,
        &["y"],
        On(&[Results]),
        "copy",
        "copy the selected result as one line; in the table, all of it",
    ),
    bind(Action::Toggle, &["space"], On(&[Results]), "toggle", "switch the selected item"),
    bind(Action::NextPane, &["tab"], On(&[Setup, Lab, Host]), "next pane", "go to the next pane"),
    bind(Action::NextPane, &["tab", "]"], On(&[Results]), "next tab", "go to the next tab"),
    bind(Action::PreviousPane, &["shift-tab", "["], On(&[Results]), "", "go to the previous tab"),
    bind(Action::Glance, &["A"], On(&[Results]), "", "show the answer: the session at a glance"),
    bind(
        Action::PreviousPane,
        &["shift-tab"],
        But(&[Live, Results, Sessions, Compare]),
        "",
        "go to the previous pane",
    ),
    bind(Action::Preset, &["p"], On(&[Setup, Lab]), "preset", "choose a preset"),
    bind(Action::Edit, &["i"], On(&[Setup]), "type", "type the selected value as text"),
    bind(
        Action::Edit,
        &["i"],
        On(&[Lab]),
        "values",
        "type the values of the probe's parameters: sizes, strides, processes ..",
    ),
    bind(
        Action::Mark,
        &["m"],
        On(&[Setup]),
        "",
        "mark a file or folder: several are compared in one run",
    ),
    bind(Action::AsOne, &["&"], On(&[Setup]), "", "read files, and all files of folders, as one"),
    bind(Action::Hidden, &["."], On(&[Setup]), "", "show or hide hidden files"),
    bind(Action::Throughput, &["b"], On(&[Results, Compare]), "", "plot throughput"),
    bind(Action::Operations, &["o"], On(&[Results, Compare]), "", "plot operations per second"),
    bind(Action::Commits, &["C"], On(&[Results, Compare]), "", "plot commits per second"),
    bind(
        Action::SystemCalls,
        &["n"],
        On(&[Results, Compare]),
        "",
        "plot the number of system calls per second",
    ),
    bind(Action::Latency, &["i"], On(&[Results, Compare]), "", "plot the latency of an operation"),
    bind(Action::Cpu, &["u"], On(&[Results, Compare]), "", "plot the CPU time per byte"),
    bind(
        Action::Mean,
        &["a"],
        On(&[Results]),
        "",
        "show or hide the mean (average) next to the median",
    ),
    bind(Action::Sort, &["S"], On(&[Results, Sessions]), "", "sort by the next column"),
    bind(
        Action::Across,
        &["X"],
        On(&[Results]),
        "",
        "plot over the next axis: count, threads, size ..",
    ),
    bind(Action::LogAxis, &["L"], On(&[Live]), "log axis", "linear or logarithmic axis"),
    bind(Action::ZoomReset, &["0"], On(&[Live, Results, Compare]), "all", "show all of the axis"),
    bind(
        Action::ZoomIn,
        &["+", "="],
        On(&[Live, Results, Compare]),
        "zoom",
        "zoom in; the wheel zooms at the pointer",
    ),
    bind(Action::ZoomOut, &["-"], On(&[Live, Results, Compare]), "", "zoom out"),
    bind(
        Action::PanLeft,
        &["{", "shift-left"],
        On(&[Live, Results, Compare]),
        "",
        "show what is further left",
    ),
    bind(
        Action::PanRight,
        &["}", "shift-right"],
        On(&[Live, Results, Compare]),
        "",
        "show what is further right",
    ),
    bind(
        Action::Mark,
        &["m", "space"],
        On(&[Sessions]),
        "mark",
        "mark the session, to compare it with others",
    ),
    bind(
        Action::Mark,
        &["m"],
        On(&[Results, Lab]),
        "mark",
        "mark the session, to compare it with others",
    ),
    bind(
        Action::Compare,
        &["c"],
        On(&[Sessions]),
        "compare",
        "compare the marked sessions with the oldest of them",
    ),
    bind(
        Action::Compare,
        &["c"],
        On(&[Lab]),
        "others",
        "show other sessions and reference machines on the bars",
    ),
    bind(Action::Compare, &["c"], On(&[Compare]), "", "back to the sessions"),
    bind(
        Action::Export,
        &["e"],
        On(&[Sessions, Lab]),
        "export",
        "write it to a file in one of several formats",
    ),
    bind(
        Action::Filter,
        &["/"],
        On(&[Setup, Results, Sessions, Lab]),
        "filter",
        "show only entries that contain a text",
    ),
    bind(Action::Import, &["i"], On(&[Sessions]), "import", "import a session from a file"),
    bind(
        Action::Warnings,
        &["!"],
        On(&[Results, Live]),
        "",
        "list the warnings by kind, with what helps against each",
    ),
    bind(Action::Rename, &["w", "f2"], On(&[Sessions]), "name", "rename the session"),
    bind(
        Action::Delete,
        &["D", "delete"],
        On(&[Sessions]),
        "delete",
        "delete the session, after confirmation",
    ),
    bind(
        Action::Reset,
        &["0"],
        On(&[Setup]),
        "reset",
        "undo the changes; without any, take the default preset",
    ),
    bind(
        Action::Budget,
        &["b"],
        On(&[Setup]),
        "",
        "set the budget that the plan needs, or type one",
    ),
    bind(Action::SaveAs, &["w", "f2"], On(&[Setup]), "save as", "name the settings: a preset"),
    bind(Action::SaveAs, &["w", "f2"], On(&[Results, Lab]), "name", "name the session"),
    bind(Action::Copy, &["y"], On(&[Setup, Lab]), "copy", "copy the command line"),
    bind(Action::Copy, &["y"], On(&[Sessions]), "copy", "copy the command that shows the session"),
    bind(Action::Copy, &["y"], On(&[Host]), "copy report", "copy the report"),
    bind(
        Action::Doctor,
        &["d"],
        Everywhere,
        "doctor",
        "show what would disturb a measurement here, and the remedy",
    ),
    bind(Action::Up, &["up", "k"], Everywhere, "", "up"),
    bind(Action::Down, &["down", "j"], Everywhere, "", "down"),
    bind(Action::Left, &["left", "h"], Everywhere, "", "left, or a smaller value"),
    bind(Action::Right, &["right", "l"], Everywhere, "", "right, or a larger value"),
    bind(Action::Top, &["g", "home"], Everywhere, "", "to the first"),
    bind(Action::Bottom, &["G", "end"], Everywhere, "", "to the last"),
    bind(Action::PageUp, &["pgup"], Everywhere, "", "a page up"),
    bind(Action::PageDown, &["pgdn"], Everywhere, "", "a page down"),
    bind(Action::HalfUp, &["ctrl-u"], Everywhere, "", "half a page up"),
    bind(Action::HalfDown, &["ctrl-d"], Everywhere, "", "half a page down"),
    bind(Action::Go(Setup), &["1"], Everywhere, "", "go to Setup"),
    bind(Action::Go(Live), &["2"], Everywhere, "", "go to Live"),
    bind(Action::Go(Results), &["3"], Everywhere, "", "go to Results"),
    bind(Action::Go(Sessions), &["4"], Everywhere, "", "go to Sessions"),
    bind(Action::Go(Lab), &["5"], Everywhere, "", "go to Lab"),
    bind(Action::Go(Host), &["6"], Everywhere, "", "go to Host"),
    bind(Action::Theme, &["t"], Everywhere, "", "choose a theme"),
    bind(Action::Messages, &["M"], Everywhere, "", "show the last messages, the newest first"),
    bind(Action::Palette, &[":", "ctrl-p"], Everywhere, "", "find any action by its name"),
    bind(Action::Redraw, &["ctrl-l"], Everywhere, "", "redraw the screen"),
    bind(Action::Suspend, &["ctrl-z"], Everywhere, "", "suspend iotui; a run is paused"),
    bind(
        Action::Interrupt,
        &["ctrl-c"],
        Everywhere,
        "",
        "stop the run and save its results; without a run, quit",
    ),
    bind(Action::Back, &["esc"], Everywhere, "", "close, or go back one level"),
    bind(Action::Help, &["?", "f1"], Everywhere, "help", "show this help"),
    bind(Action::Quit, &["q"], Everywhere, "quit", "quit; inside a popup, close it"),
];

static PARSED: LazyLock<Vec<(Key, &'static Binding)>> = LazyLock::new(|| {
    KEYMAP
        .iter()
        .flat_map(|b| b.keys.iter().filter_map(move |k| Some((Key::parse(k)?, b))))
        .collect()
});

impl Action {
    /// Moves a cursor or scrolls.
    pub fn moves(self) -> bool {
        use Action::{Bottom, Down, HalfDown, HalfUp, Left, PageDown, PageUp, Right, Top, Up};
        matches!(
            self,
            Up | Down | Left | Right | Top | Bottom | PageUp | PageDown | HalfUp | HalfDown
        )
    }

    /// Returns whether it moves a cursor among rows.
    pub fn moves_rows(self) -> bool {
        self.moves() && !matches!(self, Action::Left | Action::Right)
    }
}

impl Binding {
    pub fn is_on(&self, screen: Screen) -> bool {
        match self.place {
            Everywhere => true,
            On(screens) => screens.contains(&screen),
            But(screens) => !screens.contains(&screen),
        }
    }
}

/// Returns what a key means on a screen.
pub fn action(key: Key, screen: Screen) -> Option<Action> {
    PARSED
        .iter()
        .find(|(own, binding)| *own == key && binding.is_on(screen))
        .map(|(_, binding)| binding.action)
}

/// Returns the bindings offered on a screen.
pub fn on(screen: Screen) -> impl Iterator<Item = &'static Binding> {
    KEYMAP.iter().filter(move |binding| binding.is_on(screen))
}

/// Returns the bindings that help lists: where there is nothing to move through, no moves.
pub fn listed_bindings(screen: Screen) -> impl Iterator<Item = &'static Binding> {
    on(screen).filter(move |binding| screen != Live || !binding.action.moves())
}

/// Returns the bindings that help lists and that have the text in what they do or as a key.
pub fn find_listed(screen: Screen, text: &str) -> Vec<&'static Binding> {
    let wanted = text.to_lowercase();
    let matches = |binding: &&Binding| {
        binding.help.to_lowercase().contains(&wanted) || binding.keys.contains(&text)
    };
    listed_bindings(screen).filter(matches).collect()
}

/// Returns the first key of an action on a screen, for texts that name it.
pub fn key_of(action: Action, screen: Screen) -> &'static str {
    on(screen).find(|b| b.action == action).and_then(|b| b.keys.first()).copied().unwrap_or("")
}

#[cfg(test)]
mod tests;
