//! A pseudo-terminal that runs the binary and parses its output into a screen.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::Home;

/// Limit of every wait; a test that hangs fails and prints the screen.
pub const PATIENCE: Duration = Duration::from_secs(60);

struct Shown {
    parser: vt100::Parser,
    /// The program has closed its end.
    closed: bool,
    /// Bytes received.
    bytes: u64,
}

/// Keys as a terminal sends them.
pub const CTRL_C: &str = "\x03";
pub const CTRL_Z: &str = "\x1a";
pub const ESC: &str = "\x1b";

/// Returns whether `c` is a Braille pattern with at least one dot.
pub fn is_braille(c: char) -> bool {
    ('\u{2801}'..='\u{28ff}').contains(&c)
}

pub struct Terminal {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    shown: Arc<(Mutex<Shown>, Condvar)>,
}

/// Builds an iotui command with these arguments, as in a shell of `home` on a colour terminal.
pub fn command(home: &Home, line: &str) -> CommandBuilder {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_iotui"));
    command.args(line.split_whitespace());
    command.cwd(home.path(""));
    command.env_clear();
    for (name, value) in home.std("").get_envs().filter_map(|(name, value)| Some((name, value?))) {
        command.env(name, value);
    }
    command.env("TERM", "xterm-256color");
    command
}

impl Terminal {
    /// Starts iotui with these arguments in a terminal of the given columns and rows.
    pub fn start(
        home: &Home,
        line: &str,
        (columns, rows): (u16, u16),
        env: &[(&str, &str)],
    ) -> Terminal {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = command(home, line);
        for (name, value) in env {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let shown = Arc::new((
            Mutex::new(Shown {
                parser: vt100::Parser::new(above_zero(rows), above_zero(columns), 0),
                closed: false,
                bytes: 0,
            }),
            Condvar::new(),
        ));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let to = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                let read = reader.read(&mut buffer).unwrap_or(0);
                let mut shown = to.0.lock().unwrap();
                shown.parser.process(&buffer[..read]);
                shown.bytes += read as u64;
                shown.closed = read == 0;
                to.1.notify_all();
                if read == 0 {
                    break;
                }
            }
        });
        let writer = pair.master.take_writer().unwrap();
        Terminal { master: pair.master, child, writer, shown }
    }

    /// Presses keys: text as it is, control keys as their bytes.
    pub fn press(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    /// Returns the screen as text.
    pub fn text(&self) -> String {
        self.shown.0.lock().unwrap().parser.screen().contents()
    }

    /// Passes the parsed screen to `at`.
    pub fn look<T>(&self, at: impl FnOnce(&vt100::Screen) -> T) -> T {
        at(self.shown.0.lock().unwrap().parser.screen())
    }

    /// Waits until the screen satisfies `wanted`; returns its text.
    pub fn until(&self, what: &str, mut wanted: impl FnMut(&vt100::Screen) -> bool) -> String {
        let begin = Instant::now();
        let mut shown = self.shown.0.lock().unwrap();
        loop {
            if wanted(shown.parser.screen()) {
                return shown.parser.screen().contents();
            }
            let left = PATIENCE.saturating_sub(begin.elapsed());
            let text = shown.parser.screen().contents();
            assert!(!shown.closed && !left.is_zero(), "{what} never came; the screen:\n{text}");
            shown = self.shown.1.wait_timeout(shown, left).unwrap().0;
        }
    }

    /// Waits until the screen contains a text.
    pub fn shows(&self, text: &str) -> String {
        self.until(text, |screen| screen.contents().contains(text))
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        self.shown
            .0
            .lock()
            .unwrap()
            .parser
            .screen_mut()
            .set_size(above_zero(rows), above_zero(columns));
        self.master
            .resize(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 })
            .unwrap();
    }

    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.process_id().unwrap() as i32)
    }

    pub fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).unwrap();
    }

    /// Waits until the program has stopped itself.
    pub fn until_stopped(&self) {
        let status = waitpid(self.pid(), Some(WaitPidFlag::WUNTRACED)).unwrap();
        assert!(matches!(status, WaitStatus::Stopped(..)), "{status:?}");
    }

    /// Enables line mode and echo, as a shell does.
    pub fn cook(&self) {
        let name = self.master.tty_name().unwrap();
        let done = std::process::Command::new("stty")
            .arg("-F")
            .arg(name)
            .args(["icanon", "echo"])
            .status()
            .unwrap();
        assert!(done.success());
    }

    /// Suspends the program's output, as Ctrl-S does.
    pub fn hold(&self) {
        let tty = File::options()
            .read(true)
            .custom_flags(libc::O_NOCTTY)
            .open(self.master.tty_name().unwrap())
            .unwrap();
        // SAFETY: tcflow(3) takes a number and no pointer; the descriptor is open while `tty`
        // lives.
        let held = unsafe { libc::tcflow(tty.as_raw_fd(), libc::TCOOFF) };
        assert_eq!(held, 0, "{}", std::io::Error::last_os_error());
    }

    /// Sends a signal repeatedly until the program ends; returns its exit code.
    pub fn signal_until_end(&mut self, signal: Signal) -> u32 {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            assert!(begin.elapsed() < PATIENCE, "it goes on after {signal}");
            self.signal(signal);
            std::thread::yield_now();
        }
    }

    /// Waits until the terminal delivers keys one by one.
    pub fn until_raw(&self) {
        let begin = Instant::now();
        while self.master.get_termios().unwrap().local_flags.bits() & libc::ICANON != 0 {
            assert!(begin.elapsed() < PATIENCE, "the terminal still takes lines");
            std::thread::yield_now();
        }
    }

    /// Waits for the end; returns the exit code and the text of the normal screen.
    pub fn end(mut self) -> (u32, String) {
        {
            let begin = Instant::now();
            let mut shown = self.shown.0.lock().unwrap();
            while !shown.closed {
                let left = PATIENCE.saturating_sub(begin.elapsed());
                let text = shown.parser.screen().contents();
                assert!(!left.is_zero(), "it does not end; the screen:\n{text}");
                shown = self.shown.1.wait_timeout(shown, left).unwrap().0;
            }
        }
        let code = self.child.wait().unwrap().exit_code();
        self.assert_sane();
        (code, self.text())
    }

    /// Asserts that the terminal is in the state a shell expects.
    fn assert_sane(&self) {
        self.look(|screen| {
            assert!(!screen.alternate_screen(), "the alternate screen is still on");
            assert!(!screen.hide_cursor(), "the cursor is still hidden");
            assert!(!screen.bracketed_paste(), "pastes are still bracketed");
            assert_eq!(
                screen.mouse_protocol_mode(),
                vt100::MouseProtocolMode::None,
                "the mouse is still taken"
            );
        });
    }
}

fn above_zero(n: u16) -> NonZero<u16> {
    NonZero::new(n).unwrap()
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A failed test leaves nothing running.
        let _ = self.child.kill();
    }
}
