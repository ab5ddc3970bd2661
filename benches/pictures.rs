//! Draws the pictures of the README from the real program in a pseudo-terminal: `cargo bench
//! --bench pictures -- FILE`.
//!
//! FILE is measured, read-only; without one only the picture of Lab is drawn, which needs none. The
//! pictures go to `assets/pictures/*.svg`. Lines, blocks and Braille dots are drawn as shapes, so
//! that they look the same with any font.

#[path = "../tests/common/mod.rs"]
mod program;
#[path = "pictures/svg.rs"]
mod svg;

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use program::Home;
use program::pty::Terminal;

const SIZE: (u16, u16) = (110, 34);
const COLOURS: [(&str, &str); 2] = [("COLORTERM", "truecolor"), ("TERM", "xterm-256color")];

fn main() {
    let home = Home::beneath(Path::new("/var/tmp"));
    lab(&home);
    match std::env::args_os()
        .skip(1)
        .find(|argument| !argument.as_encoded_bytes().starts_with(b"--"))
    {
        Some(file) => files(&home, &file),
        None => println!("pictures: that of Lab is made; name a file to measure for the others"),
    }
}

/// The cheap probes, measured.
fn lab(home: &Home) {
    let mut terminal = Terminal::start(home, "-p lab/cpu", SIZE, &COLOURS);
    terminal.shows("function call");
    terminal.press("t");
    terminal.until("a theme", |screen| !screen.contents().contains("theme:"));
    terminal.press("r");
    terminal.shows("saved ");
    terminal.until("no more messages", |screen| !screen.contents().contains("saved "));
    // Moves to the first system call, for its explanation.
    terminal.press("/syscall\r\tgj");
    terminal.until("some bars", |screen| !screen.contents().contains("arguments 7"));
    terminal.press("\x1b");
    // A frame arrives in pieces: it is complete when its last row is there.
    let rows = ["arguments 7", "read, libc", "write, libc", "stat, inline"];
    terminal.until("all bars", |screen| rows.iter().all(|row| screen.contents().contains(row)));
    keep(&terminal, "lab");
    terminal.press("tt");
    terminal.press("q");
    terminal.end();
}

fn files(home: &Home, file: &OsStr) {
    // The pictures show only the file's name.
    let link = home.path(&Path::new(file).file_name().unwrap().to_string_lossy());
    std::os::unix::fs::symlink(fs::canonicalize(file).expect("the file is there"), &link)
        .expect("link it");
    let name = link.file_name().unwrap().to_string_lossy().into_owned();
    let line = format!(
        "{name} -b read,mmap,uring -s 4k..4m*4 -c cold,warm --trial-time 400ms --budget 80s"
    );
    let mut terminal = Terminal::start(home, &line, SIZE, &COLOURS);
    terminal.shows("q quit");
    terminal.press("t");
    let planned = |text: &str| {
        !text.contains("planning...")
            && !text.contains("theme:")
            && !text.contains("reading the folder")
    };
    terminal.until("the plan", |screen| planned(&screen.contents()));
    keep(&terminal, "setup");
    terminal.press("r");
    terminal.shows("round 2");
    keep(&terminal, "live");
    terminal.shows("Fastest");
    terminal.until("no more messages", |screen| !screen.contents().contains("saved "));
    keep(&terminal, "results");
    terminal.press("q");
    terminal.end();
}

fn keep(terminal: &Terminal, name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/pictures");
    fs::create_dir_all(&folder).expect("create the folder");
    let picture = terminal.look(|screen| svg::picture(screen, SIZE));
    fs::write(folder.join(format!("{name}.svg")), picture).expect("write the picture");
}
