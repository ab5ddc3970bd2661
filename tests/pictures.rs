//! The pictures of the README and the cast of the example: drawn by the real program from sessions
//! in this repository, the same on every machine. A test says whether they are current; with
//! IOTUI_PICTURES=draw it draws them.

mod cast;
mod example;
mod scenes;
mod svg;

use std::fs;
use std::path::{Path, PathBuf};

use iotui::text::show_path;

/// How to draw them, for whoever changed a screen.
const COMMAND: &str = "IOTUI_PICTURES=draw cargo test --test tests pictures::";

/// Largest picture, bytes: a README loads several.
const MAX_BYTES: usize = 400 << 10;
/// Largest cast, bytes.
const MAX_CAST: usize = 1 << 20;

fn assets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets")
}

/// Returns each file with its content.
fn drawn() -> Vec<(PathBuf, String)> {
    let film = scenes::film();
    let short = scenes::thin(&film, 14);
    let pictures = [
        ("pictures/demo.svg", svg::film(&short.frames, short.poster)),
        ("pictures/results.svg", svg::picture(&scenes::results())),
        ("pictures/setup.svg", svg::picture(&scenes::setup())),
        ("pictures/lab.svg", svg::picture(&scenes::lab())),
        ("demo.cast", cast::cast(&format!("iotui --demo --speed {}", scenes::SPEED), &film.frames)),
    ];
    pictures.map(|(name, content)| (assets().join(name), content)).into()
}

#[test]
fn the_pictures_are_current() {
    let draws = std::env::var_os("IOTUI_PICTURES").is_some_and(|value| value == "draw");
    let mut stale = Vec::new();
    for (path, content) in drawn() {
        let is_picture = path.extension().is_some_and(|extension| extension == "svg");
        let most = if is_picture { MAX_BYTES } else { MAX_CAST };
        assert!(content.len() <= most, "{}: {} bytes", show_path(&path), content.len());
        if draws {
            fs::write(&path, content).expect("write the picture");
        } else if fs::read_to_string(&path).ok().as_ref() != Some(&content) {
            stale.push(show_path(&path));
        }
    }
    assert!(
        stale.is_empty(),
        "{} show other screens than the program: draw them again with\n    {COMMAND}\nand look at them",
        stale.join(", ")
    );
    // Here, as no other test may read what this one draws.
    check_pictures_and_cast();
}

/// Pictures are XML, and the cast is in order.
fn check_pictures_and_cast() {
    for entry in fs::read_dir(assets().join("pictures")).expect("the pictures") {
        let path = entry.expect("a picture").path();
        let text = fs::read_to_string(&path).expect("it can be read");
        roxmltree::Document::parse(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    }
    let cast = fs::read_to_string(assets().join("demo.cast")).expect("the cast");
    let mut lines = cast.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let header: serde_json::Value = lines.next().expect("a header");
    assert_eq!((&header["version"], &header["width"]), (&2.into(), &110.into()));
    let times: Vec<f64> = lines.map(|event| event[0].as_f64().expect("a time")).collect();
    assert!(times.is_sorted() && times.len() > 20);
}

/// Documents name every picture, and the command that draws them.
#[test]
fn documents_know_the_pictures() {
    let read = |name: &str| {
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("a document")
    };
    let readme = read("README.md");
    for entry in fs::read_dir(assets().join("pictures")).expect("the pictures") {
        let name = entry.expect("a picture").file_name().into_string().expect("a name");
        assert!(readme.contains(&format!("assets/pictures/{name}")), "README.md lacks {name}");
    }
    assert!(read("CONTRIBUTING.md").contains(COMMAND));
}
