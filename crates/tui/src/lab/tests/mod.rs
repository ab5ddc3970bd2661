//! Lab as a user meets it: keys in, pictures and effects out. The tests have their own probes, as
//! iotui's change.

mod keys;
mod pictures;
mod sessions;

use std::time::Duration;

use super::choice::ProbeSelection;
use super::data::{LocalProbes, MarkedSession};
use super::state::Lab;
use crate::experiment::Offer;
use crate::msg::Msg;
use crate::plan::{Group, Plan, ProbeCell, ProbeInfo, Settings, Skipped, TargetSpec, preset};
use crate::record::{End, Estimate, ProbeFindings, ProbeTrial, Severity, Unit};
use crate::session::{self, Session, testing};
use crate::session_view::SessionView;
use crate::testing::{Stage, warning};

const fn info(id: &'static str, group: Group, title: &'static str) -> ProbeInfo {
    ProbeInfo {
        id,
        group,
        title,
        about: "one line about it",
        doc: "A paragraph: what it does and why, what is subtracted, and how the number is to be \
              read next to the others.",
        makes_files: false,
        params: &[],
    }
}

/// Probes of all groups.
pub const INFOS: &[&ProbeInfo] = &[
    &info("clock", Group::Cpu, "clock reading"),
    &info("loop", Group::Cpu, "empty loop"),
    &info("call", Group::Cpu, "function call"),
    &info("syscall", Group::Cpu, "system call"),
    &info("fork", Group::Cpu, "making a process"),
    &info("latency", Group::Memory, "memory latency"),
    &info("bandwidth", Group::Memory, "memory bandwidth"),
    &info("rtt", Group::Network, "round trip"),
    &info("connect", Group::Network, "connection"),
    &info("file-read", Group::Files, "reading a file"),
    &info("fsync", Group::Files, "flushing a file"),
];

/// A lab with these probes.
pub fn lab() -> Lab {
    Lab::with_choice(
        INFOS.to_vec(),
        ProbeSelection::new(preset("lab").unwrap(), Settings::default(), INFOS),
    )
}

/// Cells with their units and values, some of each kind.
fn figures() -> Vec<(ProbeCell, Unit, f64)> {
    let mut all = vec![
        (ProbeCell::new("clock", [("source", "counter".into())]), Unit::Nanos, 9.2),
        (
            ProbeCell::new("clock", [("source", "coarse".into()), ("part", "resolution".into())]),
            Unit::Nanos,
            4e6,
        ),
        (ProbeCell::new("loop", []), Unit::Nanos, 0.41),
        (
            ProbeCell::new("syscall", [("call", "getpid".into()), ("path", "libc".into())]),
            Unit::Nanos,
            93.0,
        ),
        (ProbeCell::new("fork", [("way", "fork".into())]), Unit::Nanos, 151_000.0),
    ];
    all.extend((0..4u64).map(|n| {
        (ProbeCell::new("call", [("arguments", n.into())]), Unit::Nanos, 1.5 + n as f64 / 4.0)
    }));
    for stride in [64u64, 4096] {
        for power in 12..=26u32 {
            let nanos = match power {
                ..=15 => 1.4,
                16..=20 => 4.5,
                21..=24 => 18.0,
                _ => 85.0,
            };
            let cell = ProbeCell::new(
                "latency",
                [("bytes", (1u64 << power).into()), ("stride", stride.into())],
            );
            all.push((
                cell,
                Unit::Nanos,
                nanos * if stride > 64 && power > 20 { 1.4 } else { 1.0 },
            ));
        }
    }
    all.push((ProbeCell::new("bandwidth", [("op", "read".into())]), Unit::BytesPerSecond, 11e9));
    all.push((
        ProbeCell::new(
            "rtt",
            [("bytes", 56.into()), ("by", "tcp".into()), ("to", "loopback".into())],
        ),
        Unit::Nanos,
        21_000.0,
    ));
    all
}

fn estimate(unit: Unit, value: f64) -> Estimate {
    let reason = match unit {
        Unit::Nanos => "24-40 cycles at 2.60 GHz: one instruction that is made of many inside",
        _ => "one channel of memory",
    };
    Estimate { low: value * 0.5, high: value * 0.9, reason: reason.into() }
}

pub fn plan() -> Plan {
    let probes = figures()
        .into_iter()
        .map(|(cell, ..)| cell)
        .chain([ProbeCell::new("fsync", [("file", "own".into())])])
        .collect();
    let skipped_probes = vec![Skipped {
        cell: ProbeCell::new("rtt", [("to", "remote".into())]),
        reason: "no far end was named".into(),
    }];
    let budget = Duration::from_secs(20);
    let presets = vec!["lab".to_string()];
    Plan {
        experiment: "lab".into(),
        presets,
        target: TargetSpec::None,
        probes,
        skipped_probes,
        budget,
        ..testing::plan(0)
    }
}

pub fn trial(cell: u32, round: u32) -> ProbeTrial {
    let (_, unit, value) = figures().into_iter().nth(cell as usize).unwrap();
    let value = value * (1.0 + f64::from(round % 5) / 50.0);
    ProbeTrial {
        cell,
        round,
        value,
        unit,
        cycles: (unit == Unit::Nanos).then_some(value * 2.6),
        short: false,
    }
}

pub fn findings(cell: u32) -> ProbeFindings {
    let Some((_, unit, value)) = figures().into_iter().nth(cell as usize) else {
        return ProbeFindings {
            error: Some("no folder for files of its own".into()),
            ..ProbeFindings::default()
        };
    };
    let evidence = vec![
        "on CPU 1, 12.0 k in a batch, taken out: a clock reading of 24.1 ns per batch".into(),
        "1.00 minor faults each".into(),
    ];
    let warnings = if cell == 0 { vec![warning("few", Severity::Misleading)] } else { Vec::new() };
    ProbeFindings {
        estimate: Some(estimate(unit, value)),
        warnings,
        evidence,
        ..ProbeFindings::default()
    }
}

/// A session in which every cell was measured but the last, which failed.
pub fn session() -> Session {
    let plan = plan();
    let cells = plan.probes.len() as u32;
    let mut session = Session::new(
        "20261121-093011-lab".into(),
        "mine".into(),
        "2026-11-21T09:30:11Z".into(),
        Default::default(),
        plan,
    );
    session.probe_trials =
        (1..=11).flat_map(|round| (0..cells - 1).map(move |cell| trial(cell, round))).collect();
    session.probe_findings = (0..cells).map(findings).collect();
    session.end = Some(End::Finished);
    session
}

pub fn lab_session() -> SessionView {
    SessionView::new(
        session(),
        Some("/home/me/.local/share/iotui/sessions/20261121-093011-lab.jsonl".into()),
    )
}

/// Probes of this machine, except the cells that need another host; and the references.
pub fn here() -> LocalProbes {
    let offer = |(cell, unit, value)| Offer {
        estimate: Some(estimate(unit, value)),
        cell,
        unit,
        refused: None,
    };
    let remote = |cell| Offer {
        cell,
        unit: Unit::Nanos,
        estimate: None,
        refused: Some("no far end was named".into()),
    };
    let parts =
        ["setup", "teardown"].map(|part| ProbeCell::new("connect", [("part", part.into())]));
    let cells = figures().into_iter().map(offer).chain(parts.map(remote)).collect();
    LocalProbes { cells, others: MarkedSession::from_references(session::references()) }
}

/// Lab on the screen, with the available probes.
fn stage() -> Stage {
    let mut stage = Stage::new();
    stage.keys("5").tell(Msg::Lab(Box::new(here())));
    stage.take();
    stage
}

/// An opened session of probes.
fn opened() -> Stage {
    let mut stage = stage();
    stage.tell(Msg::Opened(Ok(Box::new(lab_session()))));
    stage.take();
    stage
}
