//! `iotui host`: the machine, the target, the doctor.

use std::path::Path;

use crate::backend::fold;
use crate::doctor::examine;
use crate::engine::OpenTarget;
use crate::host;
use crate::output::Out;
use crate::plan::TargetSpec;
use crate::report::host::{HostReport, text};
use crate::runner;

pub fn run(file: Option<&Path>, out: &Out) -> anyhow::Result<u8> {
    let host = host::collect_for_doctor();
    let bench = file
        .map(|path| OpenTarget::probe(&TargetSpec::File { path: path.into(), size: 0 }))
        .transpose()?;
    let mut target = bench.map(|b| b.facts);
    target.iter_mut().for_each(|facts| host::add_health(&mut facts.devices));
    let findings = examine(&host, target.as_ref(), None);
    runner::choose_saved_xor_loop();
    let report = HostReport {
        host: &host,
        target: target.as_ref(),
        findings: &findings,
        xor_loop: Some(fold::comparison()),
    };
    out.text_or_json(|| text(&report), &report)?;
    Ok(0)
}
