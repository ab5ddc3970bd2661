//! The report of `iotui host` for people, and its data for programs.

mod devices;
mod layout;

use serde::Serialize;

pub use crate::report::host::devices::{DeviceText, describe_device};
pub use crate::report::host::layout::{Align, HostItem, widths};

use crate::facts::{
    CacheLevel, Cpu, DirectSupport, ExtentMethod, Host, Memory, NetworkCard, ResidencyMethod,
    Resident, Stored, TargetFacts, TargetKind, method_name,
};
use crate::record::{Ground, Warning};
use crate::report::host::layout::{HostItems, HostText};
use crate::units::{counted, show_bytes, show_rate, show_share, three_digits};

/// The output of `iotui host --format json`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct HostReport<'a> {
    pub host: &'a Host,
    pub target: Option<&'a TargetFacts>,
    pub findings: &'a [Warning],
    /// The loops for XORs as they were compared on this CPU; `None` if not determined.
    pub xor_loop: Option<crate::facts::XorLoops>,
}

/// Returns the report in 80 columns, ended by a newline, without trailing spaces.
pub fn text(report: &HostReport) -> String {
    let mut page = HostText::default();
    page.items(&host_items(report.host, report.xor_loop));
    if let Some(target) = report.target {
        page.items(&target_items(target));
        devices::tree(&mut page, &target.devices);
    }
    add_findings(&mut page, report.findings);
    page.text()
}

/// Returns the facts of a machine, and the loops for XORs on it if these are known.
pub fn host_items(host: &Host, xor_loop: Option<crate::facts::XorLoops>) -> Vec<HostItem> {
    let mut items = HostItems::default();
    add_machine(&mut items, host);
    add_cpu(&mut items, host, xor_loop);
    add_caches(&mut items, &host.caches);
    add_memory(&mut items, &host.memory);
    add_network(&mut items, &host.network);
    items.list()
}

/// Returns the facts of a target, without the devices below it.
pub fn target_items(facts: &TargetFacts) -> Vec<HostItem> {
    let mut items = HostItems::default();
    add_target(&mut items, facts);
    items.list()
}

fn add_machine(items: &mut HostItems, host: &Host) {
    items.section("Machine");
    items.row("name", host.name.clone());
    items.row("system", host.os.clone());
    items.row("kernel", format!("Linux {} on {}", host.kernel, host.architecture));
    items.row("hypervisor", host.virtualisation.clone().unwrap_or("none detected".into()));
    items.row("container", host.container.as_ref().map(|name| format!("{name} (inferred)")));
    let now = &host.conditions;
    let parts = [
        now.load.map(|load| format!("load {load:.2}")),
        now.io_pressure.map(|share| format!("I/O pressure {}", show_share(share))),
        now.steal.map(|share| format!("steal time {} since boot", show_share(share))),
        now.on_battery.map(|on| if on { "on battery".into() } else { "on AC power".into() }),
    ];
    items.row("now", parts.into_iter().flatten().collect::<Vec<_>>().join(", "));
}

/// Returns `avx2; from memory: 64 bit 14.0 GiB/s, avx2 37.3 GiB/s`.
fn describe_xor_loop(found: crate::facts::XorLoops) -> String {
    fn plain(name: &str) -> String {
        name.replace(',', "")
    }
    let speed = |of: &crate::facts::XorSpeed| {
        format!("{} {}", plain(of.name), show_rate(of.bytes_per_second))
    };
    let speeds: Vec<String> = found.speeds.iter().map(speed).collect();
    let of = if speeds.is_empty() { "" } else { "; from memory: " };
    format!("{}{of}{}", plain(found.fastest), speeds.join(", "))
}

fn add_cpu(items: &mut HostItems, host: &Host, xor_loop: Option<crate::facts::XorLoops>) {
    let cpu = &host.cpu;
    items.section("CPU");
    let vendor = if cpu.vendor.is_empty() { String::new() } else { format!(" ({})", cpu.vendor) };
    let model = if cpu.model.is_empty() { "unknown" } else { &cpu.model };
    items.row("model", format!("{model}{vendor}"));
    let by = if host.virtualisation.is_some() { " (as reported by the hypervisor)" } else { "" };
    items.row("CPUs", format!("{}{by}", describe_cpus(cpu)));
    let cycle = cpu.cycle_nanos.map(|nanos| {
        format!("{nanos:.3} ns = {} GHz ({})", three_digits(1.0 / nanos), cpu.cycle_source)
    });
    items.row("one cycle", cycle.unwrap_or("unknown".into()));
    let fixed = "none: this system does not control the frequency";
    items.row("governor", cpu.governor.clone().unwrap_or(fixed.into()));
    items.row("instructions", cpu.simd.join(" "));
    items.row("XOR loop", xor_loop.map(describe_xor_loop));
    let clocks = [std::slice::from_ref(&host.clock.current), cpu.tsc.as_slice()].concat();
    items.row("clock", clocks.join(" "));
    let slow = host.mitigations.iter().filter(|m| m.slows_calls()).map(|m| m.name.as_str());
    let slow = Some(slow.collect::<Vec<_>>().join(", ")).filter(|names| !names.is_empty());
    items.row("mitigations", slow.map(|names| format!("slowing system calls: {names}")));
    let uring = match host.io_uring_disabled {
        None | Some(0) => "allowed",
        Some(1) => "restricted to privileged users and one group",
        Some(_) => "disabled",
    };
    items.row("io_uring", uring.to_string());
}

fn describe_cpus(cpu: &Cpu) -> String {
    let mut text = format!(
        "{} online, {}, {}",
        cpu.online,
        counted(cpu.cores as usize, "core"),
        counted(cpu.sockets as usize, "socket")
    );
    if let Some(smt) = cpu.smt {
        text += if smt { ", SMT on" } else { ", SMT off" };
    }
    if cpu.allowed != cpu.online {
        text += &format!(", {} allowed", cpu.allowed);
    }
    if let Some(quota) = cpu.quota {
        text += &format!(", quota {quota:.2} CPUs");
    }
    text
}

fn add_caches(items: &mut HostItems, caches: &[CacheLevel]) {
    if caches.is_empty() {
        return;
    }
    items.section("CPU caches");
    fn number(value: Option<u32>) -> String {
        value.map_or("-".into(), |n| n.to_string())
    }
    let rows = caches.iter().map(|cache| {
        let size = if cache.size == 0 { "-".into() } else { show_bytes(cache.size) };
        let shared = match cache.sharers() {
            1 => "one per CPU".to_string(),
            n => format!("by {n} CPUs ({})", cache.shared_with),
        };
        vec![cache.name(), size, number(cache.ways), number(cache.sets), number(cache.line), shared]
    });
    use Align::{Left, Right};
    items.table(
        &["cache", "size", "ways", "sets", "line B", "shared"],
        &[Left, Right, Right, Right, Right, Left],
        rows,
    );
}

fn add_memory(items: &mut HostItems, memory: &Memory) {
    items.section("Memory");
    let (total, available) = (show_bytes(memory.total), show_bytes(memory.available));
    items.row("size", format!("{total}, {available} available"));
    let limit = memory.limit.map(|limit| format!("{} (control group)", show_bytes(limit)));
    items.row("limit", limit);
    let huge = match (&memory.huge_pages, memory.huge_page) {
        (Some(setting), Some(size)) => format!("huge {} ({setting})", show_bytes(size)),
        (Some(setting), None) => format!("huge ({setting})"),
        (None, _) => "no huge pages".into(),
    };
    items.row("pages", format!("{}, {huge}", show_bytes(memory.page_size)));
    items.row("NUMA nodes", memory.nodes.to_string());
    let used = show_bytes(memory.swap_total.saturating_sub(memory.swap_free));
    let swap = match memory.swap_total {
        0 => "none".into(),
        total => format!("{used} used of {}", show_bytes(total)),
    };
    items.row("swap", swap);
    let evictor = memory.kdamond.as_ref().map(|name| format!("{name} may evict idle cached files"));
    items.row("evictor", evictor);
}

fn add_network(items: &mut HostItems, cards: &[NetworkCard]) {
    if cards.is_empty() {
        return;
    }
    items.section("Network interfaces");
    let rows = cards.iter().map(|card| {
        let driver = card.driver.clone().or(card.is_virtual.then(|| "virtual".into()));
        let (name, state) = (card.name.clone(), card.state.clone());
        let known = [
            card.speed.map(|speed| speed.to_string()),
            card.duplex.clone(),
            card.mtu.map(|mtu| mtu.to_string()),
            driver,
        ];
        [name, state].into_iter().chain(known.map(|text| text.unwrap_or("-".into()))).collect()
    });
    use Align::{Left, Right};
    items.table(
        &["interface", "state", "Mbit/s", "duplex", "MTU B", "driver"],
        &[Left, Left, Right, Left, Right, Left],
        rows,
    );
}

fn add_ground(items: &mut HostItems, ground: &Ground) {
    if ground.is_walked() {
        items.row("lies on", ground.stack());
        items.row("ground", ground.remark().unwrap_or("a disk".into()));
    }
}

fn add_target(items: &mut HostItems, target: &TargetFacts) {
    items.section("Target");
    items.row("path", target.path.clone());
    let kind = kind_name(target.kind);
    // A scratch file that does not exist yet has no size.
    let size = match target.size {
        0 if target.kind == TargetKind::Scratch => kind.into(),
        size => format!("{}, {kind}", show_bytes(size)),
    };
    items.row("size", size);
    if !target.fs.is_empty() {
        let on = target.source.as_ref().map(|source| format!(" on {source}")).unwrap_or_default();
        let at =
            target.mount_point.as_ref().map(|at| format!(", mounted at {at}")).unwrap_or_default();
        items.row("file system", format!("{}{on}{at}", target.fs));
        items.row("options", target.options.join(", "));
    }
    add_ground(items, &target.ground);
    if let (Some(space), Some(used)) = (target.space, target.used_share()) {
        let (free, total) = (show_bytes(space.available), show_bytes(space.total));
        items.row("space", format!("{free} free of {total}, {} used", show_share(used)));
    }
    items.row("direct I/O", describe_direct(target));
    let updates =
        |noatime| if noatime { "not updated by reads" } else { "updated by reads" }.to_string();
    items.row("access time", target.noatime.map(updates));
    let cached = target.resident.map(describe_residency).or(target.resident_error.clone());
    items.row("cached now", cached);
    items.row("stored", target.stored.map(|found| describe_extents(target, found)));
    items.row("compression", target.compresses.clone());
    items.row("entropy", target.entropy.map(|bits| format!("{bits:.2} bits per byte (sampled)")));
}

fn kind_name(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::File => "file",
        TargetKind::Device => "block device",
        TargetKind::Scratch => "scratch file",
    }
}

fn describe_direct(target: &TargetFacts) -> String {
    match target.direct {
        _ if target.direct_is_real() == Some(false) && target.memory => {
            "accepted and ignored: the file is in memory".into()
        }
        Some(DirectSupport::Known(align)) => {
            let read = align
                .read_offset
                .map(|read| format!(" ({read} B when reading)"))
                .unwrap_or_default();
            format!("yes; offsets aligned to {} B{read}, buffers to {} B", align.offset, align.mem)
        }
        Some(DirectSupport::Refused) => "not supported for this file".into(),
        Some(DirectSupport::Unknown) => "not reported by the file system".into(),
        None => String::new(),
    }
}

fn describe_residency(now: Resident) -> String {
    let how = match now.method {
        ResidencyMethod::Cachestat => "counted",
        ResidencyMethod::Mincore => "counted with mincore",
        ResidencyMethod::Sampled => "estimated from 256 pages",
    };
    format!("{} in the page cache ({how})", show_share(now.share))
}

fn describe_extents(target: &TargetFacts, found: Stored) -> String {
    if found.method == ExtentMethod::Assumed {
        return "not reported; assumed to be fully allocated".into();
    }
    let share = 1.0 - target.hole_share().unwrap_or(0.0);
    let extents = counted(found.extents as usize, "extent");
    format!("{} of the file, in {extents} ({})", show_share(share), method_name(found.method))
}

fn add_findings(page: &mut HostText, findings: &[Warning]) {
    page.section("Doctor");
    if findings.is_empty() {
        page.paragraph(2, 2, "nothing found that would disturb a measurement");
    }
    for finding in findings {
        page.paragraph(2, 4, &format!("{}: {}", finding.severity.name(), finding.id));
        page.paragraph(4, 4, &finding.message);
        page.paragraph(4, 13, &format!("evidence {}", finding.evidence));
        page.paragraph(4, 13, &format!("remedy   {}", finding.remedy.text));
    }
}

#[cfg(test)]
mod tests;
