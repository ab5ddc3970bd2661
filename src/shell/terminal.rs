//! The terminal: set up completely and restored completely, whatever ends the program.

use std::io::{self, Write};
use std::panic;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, ThreadId};

use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::style::Print;
use crossterm::terminal::{
    self, BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen,
};
use crossterm::{cursor, execute, queue};

use crate::text::is_unsafe_char;

/// The full screen is on: what the panic hook and `drop` look at.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// Puts the terminal back when it goes out of scope.
pub struct Guard {
    mouse: bool,
}

impl Guard {
    pub fn enter(mouse: bool) -> io::Result<Guard> {
        let guard = Guard { mouse };
        guard.on()?;
        Ok(guard)
    }

    /// Enters the full screen, with raw keys, bracketed paste and mouse events.
    pub fn on(&self) -> io::Result<()> {
        ENTERED.store(true, Relaxed);
        // Saves the title of the window where the terminal can (XTWINOPS 22).
        io::stdout().write_all(b"\x1b[22;0t")?;
        self.modes()
    }

    /// Switches it on as `on` does, if it is on: after a SIGSTOP a shell has reset the terminal.
    pub fn again(&self) -> io::Result<()> {
        terminal::disable_raw_mode()?;
        self.modes()
    }

    fn modes(&self) -> io::Result<()> {
        terminal::enable_raw_mode()?;
        let mut out = io::stdout();
        queue!(out, EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)?;
        if self.mouse {
            queue!(out, EnableMouseCapture)?;
        }
        out.flush()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        off();
    }
}

/// Leaves the full screen, if it is on; errors have nowhere to go.
pub fn off() {
    if !ENTERED.swap(false, Relaxed) {
        return;
    }
    let mut out = io::stdout();
    let _ = queue!(
        out,
        EndSynchronizedUpdate,
        DisableMouseCapture,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = out.write_all(b"\x1b[23;0t");
    let _ = out.flush();
    let _ = terminal::disable_raw_mode();
}

/// Installs a panic hook: a panic of this thread leaves the full screen before it is printed; one
/// of a worker is passed to `report` instead, as a message over the screen would only spoil it.
pub fn hook(report: impl Fn(String) + Send + Sync + 'static) {
    let ui: ThreadId = thread::current().id();
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().id() == ui {
            off();
            before(info);
        } else if ENTERED.load(Relaxed) {
            report(info.to_string().replace('\n', " "));
        } else {
            before(info);
        }
    }));
}

/// Rings the bell, and notifies where the terminal knows how (OSC 9).
pub fn ring(text: &str) {
    let text: String = text.chars().filter(|c| !is_unsafe_char(*c)).take(200).collect();
    let mut out = io::stdout();
    let _ = write!(out, "\x1b]9;{text}\x1b\\\x07");
    let _ = out.flush();
}

/// Returns whether a symbol takes one column of this terminal: some drop what they do not know, and
/// all behind it would move. One that does not answer within two seconds is taken to know it.
pub fn knows(symbol: char) -> bool {
    let mut out = io::stdout();
    let asked = queue!(out, cursor::MoveTo(0, 0), Print(symbol)).and_then(|()| out.flush());
    let column = asked.and_then(|()| cursor::position()).map_or(1, |(column, _)| column);
    let _ = execute!(out, Clear(ClearType::All));
    column == 1
}

/// Draws between these show at once, where the terminal knows them.
pub fn begin_draw() {
    let _ = queue!(io::stdout(), BeginSynchronizedUpdate);
}

pub fn end_draw() {
    let _ = execute!(io::stdout(), EndSynchronizedUpdate);
}

/// Stops this program as Ctrl-Z does elsewhere, and comes back when it is continued.
pub fn suspend(guard: &Guard) -> io::Result<()> {
    off();
    // To the whole group, as the terminal would: iotui may be one of a pipe. SIGTSTP does not stop
    // an orphaned group.
    let stopped =
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(0), nix::sys::signal::Signal::SIGSTOP);
    guard.on()?;
    stopped.map_err(Into::into)
}
