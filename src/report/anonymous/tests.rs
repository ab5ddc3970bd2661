use super::*;
use crate::plan::ProbeCell;
use crate::record::{HostSummary, Severity};
use crate::report::{FORMATS, Look, sample};

/// Returns a session that reveals its host, user, folders and file wherever it can.
fn telling() -> Session {
    let mut session = sample::troubled();
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
    sample::warn(&mut session, 1, "told", Severity::Wrong, [text, text, text]);
    let trial = Arc::make_mut(&mut session.trials[0]);
    trial.evidence.preparation =
        Some(Preparation::Cold { left: 1, mapped_by: vec!["secretprogram (12)".into()] });
    trial.evidence.notes.push(Note::FileChanged(text.into()));
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
fn no_format_tells_whose_session_it_is() {
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
        assert_ne!(show(&session), text, "{}", format.id);
    }
    assert_eq!(anonymize(&hidden), hidden);
    assert!(hidden.notes.last().unwrap().contains("see /proc/self/io"));
    assert_eq!(hidden.id, "20261121-093011");
    // The destination of a probe is not a private name, and the other machine's hardware stays.
    assert_eq!(hidden.plan.probes.last(), session.plan.probes.last());
    assert_eq!(hidden.far().map(|far| (far.name.as_str(), far.kernel.as_str())), Some(("", "6.1")));
}

#[test]
fn what_was_measured_stays() {
    let session = sample::quick();
    let hidden = anonymize(&session);
    assert_eq!(
        (&hidden.plan.cells, &hidden.trials, &hidden.verdicts),
        (&session.plan.cells, &session.trials, &session.verdicts)
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
