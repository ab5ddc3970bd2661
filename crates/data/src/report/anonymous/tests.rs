use serde_json::Value;

use super::*;
use crate::plan::ProbeCell;
use crate::record::{
    AroundStep, CommitDevice, CommitPath, Ground, HostSummary, Layer, LayerKind, Note,
    OtherProcess, Others, Severity, StateChange, Surroundings,
};
use crate::report::{FORMATS, Look, testing};

/// Returns a session that reveals its host, user, folders and file wherever it can.
fn telling() -> Session {
    let mut session = testing::troubled();
    (session.id, session.name) = ("20261121-093011-secretfile".into(), "secretname".into());
    session.host.name = "secrethost.example".into();
    session.host.boot_id = "secretboot".into();
    session.host.kernel = "6.18-secrethost".into();
    session.plan.target = TargetSpec::File {
        path: "/home/secretuser/secret folder/secretfile.img".into(),
        size: 512 << 20,
    };
    session.plan.presets = vec!["secretpreset".into()];
    let text = "cannot read /home/secretuser/secret folder/secretfile.img on secrethost, nor /srv/secretother; see /proc/self/io";
    session.errors[11] = Some(text.into());
    session.notes.push(text.into());
    session.plan.skipped[0].reason = text.into();
    testing::warn(&mut session, 1, "planted", Severity::Wrong, [text, text, text]);
    let trial = Arc::make_mut(&mut session.trials[0]);
    trial.evidence.preparation =
        Some(Preparation::Cold { left: 1, mapped_by: vec!["secretprogram (12)".into()] });
    let other = OtherProcess { name: "secret daemon".into(), pid: 13, read: 5, written: 6 };
    let processes = vec![other];
    trial.evidence.others = Some(Box::new(Others { processes, ..Others::default() }));
    let other = OtherProcess { name: "secret backup".into(), pid: 14, read: 5, written: 6 };
    let others = Some(Box::new(Others { processes: vec![other], ..Others::default() }));
    let mut around = Surroundings::default();
    around.push(AroundStep { others, ..AroundStep::default() });
    let of = "io.max of /secret.slice".into();
    around.push_change(StateChange { of, ..StateChange::default() });
    trial.evidence.surroundings = Some(Box::new(around));
    let [message, evidence] = [
        "other processes moved 11 B on the same disk: secret daemon (13) 11 B",
        "mapped by secretprogram (12)",
    ];
    trial.evidence.notes.push(Note::FileChanged(text.into()));
    testing::warn(&mut session, 2, "disturbed", Severity::Note, [message, evidence, ""]);
    let far = Some(HostSummary {
        name: "secretfar".into(),
        kernel: "6.1".into(),
        ..HostSummary::default()
    });
    let (error, evidence) = (Some("secretpeer:80: refused".into()), vec![text.into()]);
    session.plan.remote = Some("secretpeer:80".parse().unwrap());
    session.plan.probes.push(ProbeCell::new("rtt", [("to", "remote".into())]));
    session.probe_findings.push(ProbeFindings { far, error, evidence, ..ProbeFindings::default() });
    session
}

#[test]
fn no_format_reveals_private_names() {
    let session = telling();
    let hidden = anonymize(&session);
    for format in FORMATS.iter().filter(|format| !format.binary) {
        let show = |session: &Session| {
            let mut out = Vec::new();
            (format.write)(session, &Look::default(), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let text = show(&hidden);
        assert!(!text.to_lowercase().contains("secret"), "{}: {text}", format.id);
        // Logs over time name nothing.
        let is_log = ["hlog", "fio-bw", "fio-lat"].contains(&format.id);
        assert!(is_log || show(&session) != text, "{}", format.id);
    }
    assert_eq!(anonymize(&hidden), hidden);
    assert!(hidden.notes.last().unwrap().contains("see /proc/self/io"));
    assert_eq!(hidden.id, "20261121-093011");
    // The destination of a probe is not a private name, and the other machine's hardware stays.
    assert_eq!(hidden.plan.probes.last(), session.plan.probes.last());
    assert_eq!(hidden.far().map(|far| (far.name.as_str(), far.kernel.as_str())), Some(("", "6.1")));
}

/// Puts a text into every text of a record that may be any; the words of a registry stay.
fn fill<T: Serialize + DeserializeOwned>(record: &mut T, text: &str) -> usize {
    fn texts(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            // Cells are made of words of registries, though a backend may have any id.
            _ if at.ends_with("/cells") || at.ends_with("/cell") => {}
            Value::String(_) => found.push(at.into()),
            Value::Array(all) => (0..)
                .zip(all)
                .for_each(|(index, value)| texts(value, &format!("{at}/{index}"), found)),
            Value::Object(all) => {
                all.iter().for_each(|(key, value)| texts(value, &format!("{at}/{key}"), found));
            }
            _ => {}
        }
    }
    let (mut value, mut found) = (serde_json::to_value(&*record).unwrap(), Vec::new());
    texts(&value, "", &mut found);
    let mut filled = 0;
    for at in found {
        let mut with = value.clone();
        *with.pointer_mut(&at).unwrap() = text.into();
        if let Ok(read) = T::deserialize(&with) {
            *record = read;
            (value, filled) = (with, filled + 1);
        }
    }
    filled
}

/// Puts the names of a session into all its texts; returns how many these are.
fn tell_everywhere(session: &mut Session) -> usize {
    let text = "on secretnode.example, secretother (secrethost) in /home/secretuser/secretfile.img";
    session.reference = None;
    let mut filled = fill(&mut session.host, text) + fill(&mut session.plan, text);
    let grounds = session.grounds.get_or_insert_default();
    grounds.target.commit_path =
        Some(CommitPath { devices: vec![CommitDevice::default()], ..CommitPath::default() });
    filled += fill(grounds, text) + fill(&mut session.levels, text);
    let kind = LayerKind::Image;
    let image = Layer { name: "~/secretimage.img".into(), kind, ..Layer::default() };
    grounds.target.ground = Some(Ground { layers: vec![image], ..Ground::default() });
    let ranks = ["secretnode.example", "secretnode.example", "secretother"];
    grounds.ranks = ranks.map(String::from).to_vec();
    session.trials.iter_mut().for_each(|of| filled += fill(Arc::make_mut(of), text));
    let verdicts = session.verdicts.iter_mut().flatten();
    verdicts.for_each(|of| filled += fill(Arc::make_mut(of), text));
    session.probe_findings.iter_mut().for_each(|of| filled += fill(of, text));
    session.picks.iter_mut().for_each(|of| filled += fill(of, text));
    session.errors.iter_mut().for_each(|of| *of = Some(text.into()));
    session.notes = vec![text.into(), "95 % from the page cache of secretimage.img".into()];
    (session.id, session.name) = ("20261121-093011-secret".into(), text.into());
    session.host.name = "secrethost.example".into();
    session.plan.target =
        TargetSpec::File { path: "/home/secretuser/secretfile.img".into(), size: 512 << 20 };
    session.plan.others.clear();
    session.plan.variants.clear();
    session.plan.remote = None;
    filled
}

/// Returns the events that a session is made of.
fn events(session: Session) -> impl Iterator<Item = Event> {
    let grounds = Arc::new(session.grounds.unwrap());
    let notes = session.notes.into_iter().map(|text| Event::Note { text });
    let trials = session.trials.into_iter().map(|trial| Event::Trial {
        trial,
        samples: Vec::new(),
        latency: None,
    });
    let verdicts = (0..).zip(session.verdicts.into_iter().flatten());
    let findings = (0..).zip(session.probe_findings.into_iter().map(Arc::new));
    let picks = session.picks.into_iter().map(|pick| Event::Picked { pick: Arc::new(pick) });
    [Event::Grounds { grounds }, Event::Levels { levels: session.levels }]
        .into_iter()
        .chain(notes)
        .chain(trials)
        .chain(verdicts.map(|(cell, verdict)| Event::Verdict { cell, verdict }))
        .chain(findings.map(|(cell, findings)| Event::Findings { cell, findings }))
        .chain(picks)
}

#[test]
fn anonymizes_every_text_of_every_record() {
    let mut filled = 0;
    for (name, mut session) in testing::all() {
        filled += tell_everywhere(&mut session);
        let hidden = anonymize(&session);
        assert_eq!(anonymize(&hidden), hidden, "{name}");
        let ranks = &hidden.grounds.as_ref().unwrap().ranks;
        assert_eq!(ranks[..], ["machine 1", "machine 1", "machine 2"]);
        for format in FORMATS.iter().filter(|format| !format.binary) {
            let mut out = Vec::new();
            (format.write)(&hidden, &Look::default(), &mut out).unwrap();
            let shown = String::from_utf8(out).unwrap().to_lowercase();
            let at = shown.find("secret").map(|at| &shown[at.saturating_sub(200)..]);
            assert_eq!(at, None, "{name}, {}", format.id);
        }
        // The events in the file of an anonymous run.
        let mut names = PrivateNames::new(&session.host, &session.plan);
        for event in events(session) {
            let hidden = format!("{:?}", names.anonymize_event(&event));
            assert!(!hidden.contains("secret"), "{name}: {hidden}");
        }
    }
    assert!(filled > 200, "{filled}");
}

#[test]
fn measurements_stay() {
    let mut session = testing::quick();
    session.latencies = vec![crate::session::testing::latencies(0, 1)];
    let hidden = anonymize(&session);
    assert_eq!(
        (&hidden.plan.cells, &hidden.trials, &hidden.verdicts, &hidden.latencies),
        (&session.plan.cells, &session.trials, &session.verdicts, &session.latencies)
    );
    assert_eq!(
        (
            is_kernel_name("vda"),
            is_kernel_name("nvme0n1"),
            is_kernel_name("vg-anna"),
            is_kernel_name("nas:/x")
        ),
        (true, true, false, false)
    );
}
