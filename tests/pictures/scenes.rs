//! Scenes of the pictures: screens of the real program, driven by keys and a clock of their
//! own. Nothing is read from this machine.

use std::path::{Path, PathBuf};
use std::time::Duration;

use iotui::catalog::infos;
use iotui::doctor::{Planned, examine};
use iotui::experiment::{Offer, Proposed};
use iotui::facts::TargetFacts;
use iotui::plan::{Plan, Presets, Settings};
use iotui::session::{self, Session};
use iotui::tui::keys;
use iotui::tui::lab::{LocalProbes, MarkedSession};
use iotui::tui::model::Model;
use iotui::tui::msg::{Effect, Msg, ReplayInput, Replayed, Speed};
use iotui::tui::remember::Remembered;
use iotui::tui::session_view::SessionView;
use iotui::tui::setup::{EntryKind, FileSystem, FolderEntry, Listing, Setup};
use iotui::tui::theme::{Colours, Look};
use iotui::tui::update::update;
use iotui::tui::view;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;

/// Columns and rows of all pictures.
const SIZE: (u16, u16) = (110, 32);
const AREA: Rect = Rect::new(0, 0, SIZE.0, SIZE.1);
/// How many times as fast the film shows the example.
pub const SPEED: u32 = 8;
/// Milliseconds of a frame of the screen.
const FRAME: u32 = 100;
const XOR_LOOP: iotui::facts::XorLoops = iotui::facts::XorLoops {
    is_doubtful: false,
    fastest: "avx2",
    speeds: &[
        iotui::facts::XorSpeed { name: "64 bit", bytes_per_second: 15e9 },
        iotui::facts::XorSpeed { name: "avx2", bytes_per_second: 31e9 },
    ],
};
const FOLDER: &str = "/home/me/pictures";

/// The full screen with a clock that a test moves.
pub struct Stage {
    pub model: Model,
    now: Duration,
}

impl Stage {
    fn new() -> Stage {
        // The colours of the terminal, which the pictures have their own of.
        let look = Look { colours: Colours::Sixteen, ..Look::default() };
        let presets = Presets::built_in();
        let preset = presets.get(Presets::DEFAULT).expect("the default").clone();
        let file = PathBuf::from(FOLDER).join("photos.tar");
        let setup = Setup::new(Some(file), None, preset, Settings::default()).with_remembered(
            &Remembered::default(),
            Path::new(FOLDER),
            false,
        );
        let model = Model::new(look, presets.iter().cloned().collect(), setup);
        let mut stage = Stage { model, now: Duration::ZERO };
        stage.tell(Msg::Resize(SIZE.0, SIZE.1));
        stage
    }

    fn tell(&mut self, msg: Msg) -> Vec<Effect> {
        self.model.hits = view::draw(&self.model, &mut Buffer::empty(AREA));
        update(&mut self.model, self.now, msg)
    }

    fn keys(&mut self, script: &str) {
        for key in keys::script(script) {
            self.tell(Msg::Key(key));
        }
    }

    fn wait(&mut self, millis: u32) {
        self.now += Duration::from_millis(millis.into());
        self.tell(Msg::Tick);
    }

    fn frame(&self) -> Buffer {
        let mut buffer = Buffer::empty(AREA);
        view::draw(&self.model, &mut buffer);
        buffer
    }
}

fn demo() -> (Session, session::Timeline) {
    session::demo().expect("the session that ships with iotui")
}

/// The example, replayed until its results are there and a cell is open: each frame with its
/// milliseconds.
pub struct Film {
    pub frames: Vec<(Buffer, u32)>,
    /// The frame that shows most of the run.
    pub poster: usize,
}

pub fn film() -> Film {
    let mut stage = Stage::new();
    let (session, timeline) = demo();
    let speed = Speed::new(SPEED);
    let shown = SessionView::new(session, None);
    let input = ReplayInput { of: Replayed::Demo, speed, shown, timeline };
    stage.tell(Msg::Replay(Ok(Box::new(input))));
    let mut frames = Vec::new();
    while stage.model.live.replay.is_some() {
        frames.push((stage.frame(), FRAME));
        stage.wait(FRAME);
    }
    let poster = frames.len() * 9 / 10;
    // The message about the example goes away.
    stage.wait(60_000);
    for (keys, millis) in [("", 4000), ("<enter>", 4000)] {
        stage.keys(keys);
        frames.push((stage.frame(), millis));
    }
    Film { frames, poster }
}

/// Fewer frames, for a picture: one of `every`, and all that stay for long.
pub fn thin(film: &Film, every: usize) -> Film {
    let mut frames: Vec<(Buffer, u32)> = Vec::new();
    let mut poster = 0;
    for (at, (frame, millis)) in film.frames.iter().enumerate() {
        match frames.last_mut() {
            Some((_, before)) if at % every != 0 && *millis == FRAME => *before += millis,
            _ => frames.push((frame.clone(), *millis)),
        }
        if at <= film.poster {
            poster = frames.len() - 1;
        }
    }
    Film { frames, poster }
}

pub fn results() -> Buffer {
    let mut stage = Stage::new();
    stage.tell(Msg::Opened(Ok(Box::new(SessionView::new(demo().0, None)))));
    stage.frame()
}

/// Setup with a file that is like the one of the example.
pub fn setup() -> Buffer {
    let mut stage = Stage::new();
    let (session, _) = demo();
    stage.model.setup.start();
    let file = |name: &str, kind, size| FolderEntry {
        path: Path::new(FOLDER).join(name),
        name: name.into(),
        kind,
        size,
        readable: true,
    };
    let entries = vec![
        file("2024", EntryKind::Folder, 0),
        file("2025", EntryKind::Folder, 0),
        file("index.db", EntryKind::File, 41 << 20),
        file("photos.tar", EntryKind::File, session.plan.target.size()),
        file("raw.img", EntryKind::File, 8 << 30),
    ];
    let space = iotui::facts::Space { total: 250 << 30, free: 90 << 30, available: 80 << 30 };
    let file_system = FileSystem { fs: "ext4".into(), space: Some(space) };
    stage.tell(Msg::Listed(Listing { dir: FOLDER.into(), file_system, result: Ok(entries) }));
    let plan = session.plan.clone();
    let facts = facts(&plan);
    // Warnings about the machine have a picture of their own.
    let mut host = session.host.clone();
    (host.conditions, host.memory.kdamond) = Default::default();
    let findings = examine(&host, Some(&facts), Some(Planned { plan: &plan, infos: &infos() }));
    let number = stage.model.setup.planning.number;
    let proposed =
        Proposed { plan, facts, unavailable: Vec::new(), instead: None, common_span: None };
    stage.tell(Msg::Host(Box::new(host), XOR_LOOP));
    stage.tell(Msg::Proposed {
        number,
        result: Ok(Box::new(proposed)),
        findings,
        outlook: Box::default(),
    });
    stage.frame()
}

fn facts(plan: &Plan) -> TargetFacts {
    let size = plan.target.size();
    let facts = json!({
        "path": Path::new(FOLDER).join("photos.tar"), "kind": "file", "size": size, "fs": "ext4",
        "mount_point": "/", "options": ["rw", "relatime"], "source": "/dev/vda1",
        "space": { "total": 250u64 << 30, "free": 90u64 << 30, "available": 80u64 << 30 },
        "devices": [{
            "name": "vda", "kind": "disk", "major": 254, "minor": 0, "depth": 0,
            "size": 256u64 << 30, "rotational": false, "scheduler": "none", "read_ahead_kb": 128,
            "nr_requests": 256, "logical_block": 512, "physical_block": 4096,
        }],
        "direct": { "known": { "mem": 4, "offset": 512 } },
        "resident": { "share": 0.0, "method": "cachestat" },
        "stored": { "hole_bytes": 0, "extents": 3, "method": "fiemap" }, "entropy": 7.998,
    });
    serde_json::from_value(facts).expect("facts")
}

/// Lab with the figures of a run of the cheap probes, next to a reference.
pub fn lab() -> Buffer {
    let mut stage = Stage::new();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures/lab.jsonl");
    let session = session::load(&path).expect("a session of probes");
    let offers = session.plan.probes.iter().enumerate().map(|(at, cell)| Offer {
        cell: cell.clone(),
        unit: session
            .probe_trials
            .iter()
            .find(|trial| trial.cell as usize == at)
            .map_or(iotui::record::Unit::Nanos, |trial| trial.unit),
        estimate: session.probe_findings[at].estimate.clone(),
        refused: None,
    });
    let local = LocalProbes {
        cells: offers.collect(),
        others: MarkedSession::from_references(session::references()),
    };
    stage.tell(Msg::Lab(Box::new(local)));
    stage.tell(Msg::Host(Box::default(), XOR_LOOP));
    stage.tell(Msg::Opened(Ok(Box::new(SessionView::new(session, None)))));
    stage.keys("/syscall<enter><tab>gj");
    stage.keys("<esc>");
    stage.frame()
}
