use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::view::diagram;
use crate::facts::{Host, TargetFacts};
use crate::keys::script;
use crate::model::Model;
use crate::msg::{Effect, Msg, Query};
use crate::plan::Settings;
use crate::record::{Severity, Warning};
use crate::screen::Screen;
use crate::setup::Setup;
use crate::testing::XOR_LOOP;
use crate::theme::{Glyphs, Look};
use crate::view;

fn model(findings: usize) -> Model {
    let preset = crate::plan::preset("quick").unwrap();
    let mut model = Model::new(
        Look::default(),
        Vec::new(),
        Setup::new(None, None, preset, Settings::default()),
    );
    model.size = (80, 24);
    let host = Host {
        name: "bench".into(),
        os: "Debian".into(),
        kernel: "6.12.4".into(),
        ..Host::default()
    };
    tell(&mut model, Msg::Host(Box::new(host), XOR_LOOP));
    fn finding(n: usize) -> Warning {
        Warning {
            id: "x".into(),
            severity: Severity::Note,
            message: format!("message {n}"),
            evidence: format!("evidence {n}"),
            remedy: format!("remedy {n}").into(),
        }
    }
    tell(&mut model, Msg::Doctor((0..findings).map(finding).collect()));
    model.screen = Screen::Host;
    model
}

fn tell(model: &mut Model, msg: Msg) -> Vec<Effect> {
    crate::testing::tell(model, Duration::ZERO, msg)
}

fn keys(model: &mut Model, text: &str) -> Vec<Effect> {
    script(text).into_iter().flat_map(|key| tell(model, Msg::Key(key))).collect()
}

fn screen(model: &Model) -> String {
    let (columns, rows) = model.size;
    let mut buf = Buffer::empty(Rect::new(0, 0, columns, rows));
    view::draw(model, &mut buf);
    (0..rows)
        .map(|y| {
            (0..columns).map(|x| buf[(x, y)].symbol()).collect::<String>().trim_end().to_string()
                + "\n"
        })
        .collect()
}

fn target(devices: serde_json::Value) -> TargetFacts {
    let facts = serde_json::json!({
        "path": "/home/user/file.iso",
        "kind": "file",
        "size": 1 << 30,
        "fs": "ext4",
        "mount_point": "/home",
        "devices": devices,
    });
    serde_json::from_value(facts).unwrap()
}

fn device(name: &str, depth: usize, kind: &str) -> serde_json::Value {
    let queued = (kind == "disk").then_some("mq-deadline");
    serde_json::json!({
        "name": name,
        "kind": kind,
        "major": 8,
        "minor": 0,
        "depth": depth,
        "size": 1u64 << 30,
        "scheduler": queued,
        "rotational": queued.map(|_| false),
    })
}

fn draw_diagram(look: &Look, devices: serde_json::Value) -> String {
    diagram::draw_lines(look, &target(devices), 60)
        .iter()
        .map(|line| line.to_string()[1..].trim_end().to_string() + "\n")
        .collect()
}

#[test]
fn path_leads_from_file_to_disks() {
    let chain = serde_json::json!([
        device("dm-0", 0, "mapper"),
        device("sda2", 1, "partition"),
        device("sda", 2, "disk")
    ]);
    insta::assert_snapshot!(draw_diagram(&Look::default(), chain), @"
    ● file.iso  file, 1 GiB
    │
    ● ext4  file system, mounted at /home
    │
    ● dm-0  device mapper, 1 GiB
    │
    ● sda2  partition, 1 GiB
    │
    ● sda  disk, 1 GiB
      scheduler mq-deadline
      not rotational
    ");
    let mirror = serde_json::json!([
        device("md0", 0, "raid"),
        device("sda1", 1, "partition"),
        device("sda", 2, "disk"),
        device("sdb1", 1, "partition"),
        device("sdb", 2, "disk"),
    ]);
    let ascii = Look { glyphs: Glyphs::Ascii, ..Look::default() };
    insta::assert_snapshot!(draw_diagram(&ascii, mirror), @"
    o file.iso  file, 1 GiB
    |
    o ext4  file system, mounted at /home
    |
    o md0  software RAID, 1 GiB
    |
    |- o sda1  partition, 1 GiB
    |  |
    |  o sda  disk, 1 GiB
    |    scheduler mq-deadline
    |    not rotational
    `- o sdb1  partition, 1 GiB
       |
       o sdb  disk, 1 GiB
         scheduler mq-deadline
         not rotational
    ");
    let odd =
        serde_json::json!([device("a", 5, "disk"), device("b", 0, "loop"), device("c", 9, "disk")]);
    assert!(draw_diagram(&ascii, odd).contains("o c"));
}

#[test]
fn path_includes_files_between_devices() {
    let mut target = target(serde_json::json!([device("loop0", 0, "loop")]));
    let layer = |depth: u32, kind: &str, name: &str| serde_json::json!({ "depth": depth, "kind": kind, "name": name });
    target.ground = serde_json::from_value(serde_json::json!({
        "medium": "memory",
        "reason": "loop0 is a file in memory (tmpfs)",
        "layers": [
            layer(0, "file-system", "ext4"),
            layer(1, "loop", "loop0"),
            layer(2, "image", "~/disk.img"),
            layer(3, "memory", "tmpfs"),
        ],
    }))
    .unwrap();
    let lines = diagram::draw_lines(&Look::default(), &target, 60);
    let drawn: String =
        lines.iter().map(|line| line.to_string()[1..].trim_end().to_string() + "\n").collect();
    insta::assert_snapshot!(drawn, @"
    ● file.iso  file, 1 GiB
    │
    ● ext4  file system, mounted at /home
    │
    ● loop0  loop device, 1 GiB
    │
    ● ~/disk.img  file
    │
    ● tmpfs  in memory
    │
    ● ground  loop0 is a file in memory (tmpfs)
    ");
}

#[test]
fn narrow_screen_scrolls_by_section() {
    let mut model = model(12);
    assert!(screen(&model).contains("Machine") && screen(&model).contains("bench"));
    for (step, seen, gone) in [
        ("G", "remedy 11", "bench"),
        ("kkj", "evidence 11", "bench"),
        ("g", "bench", "remedy 11"),
        ("j", "bench", "Machine"),
        ("<pgdn><pgdn><pgdn><pgdn><pgdn><pgdn><ctrl-d><ctrl-d>", "remedy 11", "bench"),
        ("<pgup><pgup><pgup><pgup><pgup><pgup><ctrl-u><ctrl-u>", "Machine", "remedy 11"),
        ("<tab>", "no target yet", "bench"),
        ("<tab>", "message 0", "no target yet"),
        ("<shift-tab>", "no target yet", "bench"),
        ("<shift-tab>", "bench", "remedy 11"),
    ] {
        keys(&mut model, step);
        let screen = screen(&model);
        assert!(screen.contains(seen) && !screen.contains(gone), "{step}\n{screen}");
    }
}

#[test]
fn wide_screen_panes_scroll_separately() {
    let mut model = model(30);
    model.size = (120, 40);
    keys(&mut model, "<tab><tab>G");
    let all = screen(&model);
    assert!(
        all.contains("remedy 29") && all.contains("bench") && all.contains("30 findings"),
        "{all}"
    );
    keys(&mut model, "<tab>G");
    assert!(screen(&model).contains("remedy 29"));
    for columns in (0..210).step_by(13) {
        for rows in [0, 2, 16, 24, 60] {
            model.size = (columns, rows);
            screen(&model);
            keys(&mut model, "<tab>G<pgup>j");
        }
    }
}

#[test]
fn facts_are_not_requested_during_runs() {
    let mut model = model(1);
    let copied = keys(&mut model, "y");
    assert!(
        matches!(
            &copied[..],
            [Effect::Copy(text)] if text.contains("bench") && text.contains("remedy 0")
        ),
        "{copied:?}"
    );
    let asked = keys(&mut model, "26");
    assert!(
        matches!(&asked[..], [Effect::Ask(Query::Host), Effect::Ask(Query::Propose(_))]),
        "{asked:?}"
    );
    crate::testing::begin(&mut model);
    assert_eq!(keys(&mut model, "56"), []);
}

#[test]
fn opening_refreshes_and_dates_the_findings() {
    let mut stage = crate::testing::Stage::new();
    let at = |secs| Msg::Clock(std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(secs));
    stage.keys("6").tell(at(3600));
    let found = crate::testing::warning("load", Severity::Note);
    stage.tell(Msg::Doctor(vec![found.clone()]));
    let picture = stage.picture(120, 40);
    assert!(picture.contains("1 finding, at 01:00:00 UTC"), "{picture}");
    stage.take();
    stage.keys("1").wait(Duration::from_secs(125)).keys("6");
    assert!(stage.take().contains(&Effect::Ask(Query::Host)));
    stage.tell(Msg::Doctor(vec![found.clone()]));
    assert!(stage.picture(80, 24).contains("at 01:02:05 UTC"));
    // The time since the start stands still while the machine is suspended.
    stage.tell(at(36_000)).tell(Msg::Doctor(vec![found]));
    assert!(stage.picture(80, 24).contains("at 10:00:00 UTC"));
    stage.tell(at(72_000));
    assert!(stage.picture(80, 24).contains("at 10:00:00 UTC"));
}
