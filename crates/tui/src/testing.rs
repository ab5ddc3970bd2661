//! The full screen without a terminal: keys in, a picture out.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::model::Model;
use super::msg::{Effect, Msg, ReplayInput, Replayed, Speed};
use super::session_view::SessionView;
use super::setup::Setup;
use super::theme::{Colours, Look};
use super::update::update;
use super::{keys, live, view};
use crate::facts::{Host, TargetFacts};
use crate::plan::{Cache, Plan, Presets, Settings};
use crate::record::{Ceilings, Grounds, Latency, Severity, Source, Trial, Verdict, Warning};
use crate::session::{Session, Timeline, testing};

/// A model with a clock that only the test moves.
pub struct Stage {
    pub model: Model,
    pub now: Duration,
    /// All that was to be done since the last look.
    pub effects: Vec<Effect>,
}

impl Default for Stage {
    fn default() -> Stage {
        Stage::new()
    }
}

impl Stage {
    pub fn new() -> Stage {
        Stage::looking(Look { colours: Colours::Sixteen, ..Look::default() })
    }

    /// On a terminal that looks like this.
    pub fn looking(look: Look) -> Stage {
        let presets = Presets::built_in();
        let quick = presets.get("quick").unwrap().clone();
        let setup = Setup::new(Some("/data/ubuntu.iso".into()), None, quick, Settings::default());
        #[cfg_attr(not(test), expect(unused_mut))]
        let mut model = Model::new(look, presets.iter().cloned().collect(), setup);
        // The tests of this crate have probes of their own.
        #[cfg(test)]
        {
            model.lab = crate::lab::tests::lab();
        }
        Stage { model, now: Duration::ZERO, effects: Vec::new() }
    }

    pub fn tell(&mut self, msg: Msg) -> &mut Self {
        self.now += Duration::from_millis(10);
        self.effects.extend(tell(&mut self.model, self.now, msg));
        self
    }

    /// Presses the keys of a script.
    pub fn keys(&mut self, script: &str) -> &mut Self {
        for key in keys::script(script) {
            self.tell(Msg::Key(key));
        }
        self
    }

    pub fn wait(&mut self, time: Duration) -> &mut Self {
        self.now += time;
        self.tell(Msg::Tick)
    }

    pub fn take(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    pub fn drawn(&self, columns: u16, rows: u16) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
        view::draw(&self.model, &mut buffer);
        buffer
    }

    /// The glyphs.
    pub fn picture(&self, columns: u16, rows: u16) -> String {
        let buffer = self.drawn(columns, rows);
        let line = |y| {
            (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_string()
        };
        (0..rows).map(line).collect::<Vec<_>>().join("\n")
    }

    /// The glyphs, a letter for each style below them, and what the letters mean.
    pub fn snapshot(&mut self, columns: u16, rows: u16) -> String {
        self.tell(Msg::Resize(columns, rows));
        let buffer = self.drawn(columns, rows);
        let mut known: Vec<Style> = Vec::new();
        let mut map = String::new();
        for y in 0..rows {
            let mut row = String::new();
            for x in 0..columns {
                let cell = &buffer[(x, y)];
                let style = Style::new().fg(cell.fg).bg(cell.bg).add_modifier(cell.modifier);
                let at = known.iter().position(|own| *own == style).unwrap_or_else(|| {
                    known.push(style);
                    known.len() - 1
                });
                row.push(if plain(&style) { '.' } else { (b'a' + (at % 26) as u8) as char });
            }
            let _ = writeln!(map, "{}", row.trim_end_matches('.'));
        }
        let legend: Vec<String> = known
            .iter()
            .enumerate()
            .filter(|(_, style)| !plain(style))
            .map(|(at, style)| {
                format!("{} {}", (b'a' + (at % 26) as u8) as char, describe_style(style))
            })
            .collect();
        format!("{}\n---\n{}---\n{}\n", self.picture(columns, rows), map, legend.join("\n"))
    }

    /// Returns the colours of a picture with the number of cells that have them.
    pub fn styles(&mut self, columns: u16, rows: u16) -> String {
        self.tell(Msg::Resize(columns, rows));
        let mut counts = std::collections::BTreeMap::new();
        for cell in self.drawn(columns, rows).content() {
            let style = Style::new().fg(cell.fg).bg(cell.bg).add_modifier(cell.modifier);
            *counts.entry(describe_style(&style)).or_insert(0) += 1;
        }
        let line = |(style, count): (&String, &u32)| match style.as_str() {
            "" => format!("{count:>6} plain\n"),
            style => format!("{count:>6} {style}\n"),
        };
        counts.iter().map(line).collect()
    }
}

/// Updates a model as the shell does: what a key or a click finds was drawn before.
pub fn tell(model: &mut Model, now: Duration, msg: Msg) -> Vec<Effect> {
    if matches!(msg, Msg::Key(_) | Msg::Mouse(_)) {
        draw(model);
    }
    update(model, now, msg)
}

/// Draws a frame that nobody sees.
pub fn draw(model: &mut Model) {
    let (columns, rows) = model.size;
    model.hits = view::draw(model, &mut Buffer::empty(Rect::new(0, 0, columns, rows)));
}

fn plain(style: &Style) -> bool {
    *style == Style::new().fg(Color::Reset).bg(Color::Reset)
}

fn describe_style(style: &Style) -> String {
    let mut words = Vec::new();
    words.extend(style.fg.filter(|c| *c != Color::Reset).map(|c| c.to_string()));
    words.extend(style.bg.filter(|c| *c != Color::Reset).map(|c| format!("on {c}")));
    if style.add_modifier != Modifier::empty() {
        words.push(format!("{:?}", style.add_modifier));
    }
    words.join(" ")
}

/// A plan of two backends over six block sizes, cold and warm.
pub fn plan() -> Plan {
    let mut plan = testing::plan(0);
    for backend in ["read", "mmap"] {
        for cache in [Cache::Cold, Cache::Warm] {
            plan.cells.extend((0..6).map(|n| testing::job(backend, 4096 << (2 * n), cache)));
        }
    }
    plan
}

/// Trials of a cell that look like a disk and a page cache, always the same.
pub fn trial(plan: &Plan, cell: u32, round: u32) -> Trial {
    let job = &plan.cells[cell as usize];
    let per_call = if job.cache == Cache::Cold { 90_000.0 } else { 300.0 };
    let speed = match (job.cache, job.backend.id.as_str()) {
        (Cache::Cold, _) => 2.5e9,
        (_, "mmap") => 24e9,
        _ => 12e9,
    };
    let wobble = 1.0 + f64::from((round * 7 + cell * 3) % 5) / 100.0;
    let ops = 1000;
    let bytes = ops * job.block;
    let nanos = ((ops as f64 * per_call + bytes as f64 / speed * 1e9) * wobble) as u64;
    let device_bytes = Some(if job.cache == Cache::Cold { bytes } else { 0 });
    Trial {
        cell,
        round,
        bytes,
        ops,
        syscalls: if job.backend.id == "mmap" { 0 } else { ops }.into(),
        nanos,
        user_nanos: nanos / 10,
        system_nanos: nanos / 2,
        device_bytes,
        ..Trial::default()
    }
}

pub fn verdict(cache: Cache, cell: u32) -> Verdict {
    let device = if cache == Cache::Cold { 1.0 } else { 0.0 };
    let warnings = match cell {
        2 => vec![warning("noisy", Severity::Note), warning("not-cold", Severity::Misleading)],
        9 => vec![warning("holes", Severity::Wrong)],
        _ => Vec::new(),
    };
    let latency = Latency {
        count: 5000,
        unstarted: 0,
        every: 1,
        mean: 900.0,
        p50: Some(800.0),
        p90: Some(1200.0),
        p99: Some(3000.0),
        p999: None,
        max: 90_000.0,
        buckets: vec![(700, 1000), (800, 3000), (1200, 900), (3000, 99), (90_000, 1)],
    };
    Verdict {
        source: Some(Source {
            device,
            page_cache: 1.0 - device,
            hole: 0.0,
            unknown: 0.0,
            below: 0.0,
        }),
        source_reason: "counted".into(),
        amplification: Some(1.0),
        warnings,
        latency: Some(latency),
        service: None,
        commits: None,
        durability: None,
    }
}

pub fn warning(id: &'static str, severity: Severity) -> Warning {
    Warning {
        id: id.into(),
        severity,
        message: format!("{id}: what was seen"),
        evidence: "3 of 5 trials".into(),
        remedy: "use more {trials}".into(),
    }
}

/// A whole session of that plan: five trials of each cell, verdicts, one failed cell.
pub fn session() -> Session {
    let plan = plan();
    let mut session = Session::new(
        "20261121-093011-ubuntu-iso".into(),
        "first".into(),
        "2026-11-21T09:30:11Z".into(),
        Default::default(),
        plan,
    );
    let cells = session.plan.cells.len() as u32;
    for round in 1..=5 {
        for cell in 0..cells - 1 {
            session.trials.push(Arc::new(trial(&session.plan, cell, round)));
        }
    }
    for cell in 0..cells - 1 {
        session.verdicts[cell as usize] =
            Some(verdict(session.plan.cells[cell as usize].cache, cell).into());
    }
    session.errors[cells as usize - 1] = Some("pread(2): EIO at 4 KiB".into());
    session.grounds = Some(Grounds::default());
    session.end = Some(crate::record::End::Finished);
    session
}

/// The ceilings of a machine.
pub fn ceilings() -> Ceilings {
    Ceilings {
        syscall_nanos: Some(100.0),
        copy: Some(12e9),
        read: Some(15e9),
        threads: 1,
        over: 1 << 28,
        ..Ceilings::default()
    }
}

pub fn shown() -> SessionView {
    SessionView::new(
        session(),
        Some("/home/me/.local/share/iotui/sessions/20261121-093011-ubuntu-iso.jsonl".into()),
    )
}

/// That session, to be replayed.
pub fn replay_input() -> ReplayInput {
    let shown = shown();
    let timeline = Timeline::of(&shown.session);
    ReplayInput { of: Replayed::Kept("first".into()), speed: Speed::default(), shown, timeline }
}

/// Loops for XORs that were compared.
pub const XOR_LOOP: crate::facts::XorLoops = crate::facts::XorLoops {
    is_doubtful: false,
    fastest: "avx512f",
    speeds: &[
        crate::facts::XorSpeed { name: "64 bit", bytes_per_second: 15e9 },
        crate::facts::XorSpeed { name: "avx512f", bytes_per_second: 41e9 },
        crate::facts::XorSpeed { name: "avx512f, prefetching", bytes_per_second: 36e9 },
    ],
};

/// A machine with every fact known.
pub fn host() -> Host {
    fn cache(level: u8, kind: &str, size: u64, shared: &str) -> serde_json::Value {
        let sets = size / (8 * 64);
        serde_json::json!({ "level": level, "kind": kind, "size": size, "ways": 8, "line": 64, "sets": sets, "shared_with": shared })
    }
    let host = serde_json::json!({
        "name": "bench", "kernel": "6.12.4", "os": "Debian GNU/Linux 13 (trixie)", "architecture": "x86_64",
        "cpu": {
            "model": "AMD Ryzen 7 7840U", "vendor": "AuthenticAMD", "online": 16, "allowed": 16, "cores": 8, "sockets": 1, "smt": true,
            "cycle_nanos": 0.1955, "cycle_source": "cpufreq maximum", "governor": "powersave", "simd": ["avx512f", "avx2", "sse2"],
            "tsc": ["constant_tsc", "nonstop_tsc"],
        },
        "caches": [cache(1, "data", 32 << 10, "0,8"), cache(2, "unified", 1 << 20, "0,8"), cache(3, "unified", 16 << 20, "0-15")],
        "memory": {
            "total": 32u64 << 30, "available": 20u64 << 30, "page_size": 4096, "huge_page": 2 << 20, "huge_pages": "madvise", "nodes": 1,
            "swap_total": 8u64 << 30, "swap_free": 8u64 << 30,
        },
        "clock": { "current": "tsc", "available": ["tsc", "hpet"] },
        "network": [{ "name": "enp1s0", "speed": 2500, "duplex": "full", "mtu": 1500, "state": "up", "driver": "igc" }],
        "mitigations": [{ "name": "spectre_v2", "state": "Mitigation: Enhanced / Automatic IBRS" }],
        "can_drop_caches": true, "io_uring_disabled": 2,
        "conditions": { "io_pressure": 0.0, "load": 0.4, "steal": 0.0, "on_battery": false },
    });
    serde_json::from_value(host).unwrap()
}

/// The file that a [`Stage`] begins with, on a disk of that machine.
pub fn facts() -> TargetFacts {
    let size = 1u64 << 40;
    let facts = serde_json::json!({
        "path": "/data/ubuntu.iso", "kind": "file", "size": 1u64 << 30, "fs": "ext4", "mount_point": "/data",
        "options": ["rw", "relatime", "errors=remount-ro"], "source": "/dev/nvme0n1p2",
        "space": { "total": 1000u64 << 30, "free": 250u64 << 30, "available": 200u64 << 30 },
        "devices": [
            { "name": "nvme0n1p2", "kind": "partition", "major": 259, "minor": 2, "depth": 0, "size": size },
            {
                "name": "nvme0n1", "kind": "disk", "major": 259, "minor": 0, "depth": 1, "size": size, "model": "Samsung SSD 990 PRO",
                "rotational": false, "scheduler": "none", "read_ahead_kb": 128, "nr_requests": 1023, "logical_block": 512,
                "physical_block": 512, "link": { "transport": "pcie", "text": "PCIe 4.0 x4", "bytes_per_second": 7_876_923_076u64 },
            },
        ],
        "direct": { "known": { "mem": 4, "offset": 512 } }, "resident": { "share": 0.983, "method": "cachestat" },
        "stored": { "hole_bytes": 0, "extents": 3, "method": "fiemap" }, "entropy": 7.994,
    });
    serde_json::from_value(facts).unwrap()
}

/// A run of a plan of one cell begins.
pub fn begin(model: &mut Model) {
    live::begin(&mut model.live, model.now, Host::default(), &testing::plan(1).into());
}
