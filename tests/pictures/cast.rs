//! Frames as an asciicast (version 2): a header, then what a terminal receives and when.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::{Terminal, TerminalOptions, Viewport};
use serde_json::json;

/// Milliseconds between the keys of the command.
const KEY: u32 = 60;

#[derive(Clone, Default)]
struct Sink(Rc<RefCell<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns a cast: `command` is typed, then the frames are shown, each for its milliseconds.
pub fn cast(command: &str, frames: &[(Buffer, u32)]) -> String {
    let area = frames[0].0.area;
    let header = json!({
        "version": 2, "width": area.width, "height": area.height, "title": command,
        "env": { "TERM": "xterm-256color" },
    });
    let mut cast = format!("{header}\n");
    let mut now = 0;
    let mut say = |now: u32, text: &str| {
        cast.push_str(&json!([f64::from(now) / 1000.0, "o", text]).to_string());
        cast.push('\n');
    };
    say(now, "\u{1b}[1;32m$\u{1b}[0m ");
    now += 600;
    for letter in command.chars() {
        say(now, &letter.to_string());
        now += KEY;
    }
    now += 400;
    say(now, "\r\n\u{1b}[?1049h\u{1b}[?25l");
    let sink = Sink::default();
    let options = TerminalOptions { viewport: Viewport::Fixed(area) };
    let mut terminal =
        Terminal::with_options(CrosstermBackend::new(sink.clone()), options).expect("a terminal");
    for (frame, millis) in frames {
        terminal
            .draw(|to| to.buffer_mut().content.clone_from(&frame.content))
            .expect("it is drawn in memory");
        let bytes = std::mem::take(&mut *sink.0.borrow_mut());
        say(now, &String::from_utf8(bytes).expect("a terminal receives text"));
        now += millis;
    }
    say(now, "\u{1b}[?1049l\u{1b}[?25h\u{1b}[1;32m$\u{1b}[0m ");
    say(now + 1500, "");
    cast
}
