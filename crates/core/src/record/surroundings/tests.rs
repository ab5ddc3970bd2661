//! Tests of what happened around a trial.

use super::*;
use crate::record::OtherProcess;

const SECOND: u64 = Surroundings::WIDTH;
const MIB: u64 = 1 << 20;

fn backup(written: u64) -> Option<Box<Others>> {
    let processes = vec![OtherProcess { name: "backup".into(), pid: 4711, read: 0, written }];
    Some(Box::new(Others { processes, ..Others::default() }))
}

fn wrote(second: u64, bytes: u64) -> AroundStep {
    AroundStep {
        from: second * SECOND,
        nanos: SECOND,
        written: bytes,
        others: backup(bytes),
        ..AroundStep::default()
    }
}

fn around(steps: impl IntoIterator<Item = AroundStep>) -> Surroundings {
    let mut all = Surroundings::default();
    steps.into_iter().for_each(|step| all.push(step));
    all
}

#[test]
fn quiet_steps_are_not_kept() {
    let quiet = AroundStep { from: SECOND, nanos: SECOND, ..AroundStep::default() };
    let all = around([quiet]);
    assert!(all.is_empty() && all.describe().is_none() && all.total().is_none());
    assert_eq!(around([wrote(3, MIB)]).steps, [wrote(3, MIB)]);
}

#[test]
fn windows_have_what_touches_them() {
    let mut all = around([wrote(3, 100 * MIB), wrote(4, 100 * MIB), wrote(9, 7 * MIB)]);
    let of = "io.max of /system.slice".to_string();
    let (from, to) = ("max".to_string(), "wbps=33554432".to_string());
    all.push_change(StateChange { at: 5 * SECOND, of, from, to });
    let said = |from: u64, to: u64| all.between(from * SECOND, to * SECOND).describe();
    assert_eq!(said(2, 5).as_deref(), Some("backup (4711) wrote 200 MiB"));
    assert_eq!(said(4, 5).as_deref(), Some("backup (4711) wrote 100 MiB"));
    assert_eq!(
        said(5, 9).as_deref(),
        Some("io.max of /system.slice changed from max to wbps=33554432")
    );
    assert_eq!((said(6, 9), said(0, 3), said(9, 5)), (None, None, None));
}

#[test]
fn all_kinds_are_described() {
    let step = |change: fn(&mut AroundStep)| {
        let mut step = AroundStep { nanos: SECOND, ..AroundStep::default() };
        change(&mut step);
        around([step]).describe().unwrap_or_default()
    };
    let group = |group: &str, read| GroupBytes { group: group.into(), read, written: 0 };
    assert_eq!(step(|s| s.stolen = SECOND / 8), "stolen time 12.5 % of 1.00 s");
    assert_eq!(step(|s| s.stalled = SECOND / 2), "io.pressure 50 % of 1.00 s");
    assert_eq!(step(|s| s.throttled = 3), "CPUs throttled for heat 3 times");
    assert_eq!(
        step(|s| s.heat = Some(Heat { sensor: "nvme0".into(), celsius: 71 })),
        "nvme0 at 71 C"
    );
    assert_eq!(
        step(|s| s.dirty = Some(Dirty { bytes: 900 * MIB, limit: 800 * MIB })),
        "the kernel holds writers back: 900 MiB of dirty memory, its limit 800 MiB"
    );
    fn count(of: DriveCounter, times: u64, nanos: u64) -> Vec<DriveCount> {
        vec![DriveCount { device: "nvme0n1".into(), counter: of, times, nanos }]
    }
    assert_eq!(
        step(|s| s.drives = count(DriveCounter::InstanceIops, 0, 2 * SECOND)),
        "nvme0n1 was over the instance's limit of IOPS for 1.00 s of 1.00 s"
    );
    assert_eq!(
        step(|s| s.drives = count(DriveCounter::Throttled, 2, 0)),
        "nvme0n1 was slowed down by its heat 2 times"
    );
    assert_eq!(
        step(|s| s.drives = count(DriveCounter::MediaErrors, 1, 0)),
        "nvme0n1 counted 1 media error"
    );
    assert_eq!(step(|s| s.read = 9 * MIB), "others moved 9 MiB on the disk, and who is unknown");
    let mut both = AroundStep { nanos: SECOND, read: 300 * MIB, ..wrote(0, 10 * MIB) };
    both.groups = vec![group("/docker/db", 290 * MIB)];
    assert_eq!(
        around([both]).describe().unwrap(),
        "backup (4711) wrote 10 MiB, control group /docker/db read 290 MiB"
    );
}

#[test]
fn steps_that_follow_are_one_line() {
    let late = AroundStep { from: 8 * SECOND + SECOND / 100, ..wrote(8, MIB) };
    let mut all = around([wrote(2, MIB), wrote(7, 99 * MIB), late, wrote(20, 7 * MIB)]);
    let of = "io.max of /a".to_string();
    let (from, to) = ("max".to_string(), "wbps=5".to_string());
    all.push_change(StateChange { at: 12 * SECOND, of, from, to });
    assert_eq!(
        all.lines(),
        [
            "2 s to 3 s: backup (4711) wrote 1 MiB",
            "7 s to 9 s: backup (4711) wrote 100 MiB",
            "12 s: io.max of /a changed from max to wbps=5",
            "20 s to 21 s: backup (4711) wrote 7 MiB",
        ]
    );
}

#[test]
fn counts_of_disks_are_summed() {
    let count = |device: &str, counter, nanos| DriveCount {
        device: device.into(),
        counter,
        times: 0,
        nanos,
    };
    let over = |second: u64| AroundStep {
        from: second * SECOND,
        nanos: SECOND,
        drives: vec![
            count("nvme1n1", DriveCounter::VolumeThroughput, SECOND / 2),
            count("nvme2n1", DriveCounter::VolumeThroughput, SECOND / 4),
        ],
        ..AroundStep::default()
    };
    let all = around([wrote(1, MIB), over(2), over(3)]);
    assert_eq!(
        all.between(2 * SECOND, 4 * SECOND).lines(),
        ["2 s to 4 s: nvme1n1 was over the volume's limit of throughput for 1.00 s of 2.00 s; \
          nvme2n1 was over the volume's limit of throughput for 500 ms of 2.00 s"]
    );
    let text = serde_json::to_string(&all).unwrap();
    assert!(text.contains(
        "\"drives\":[{\"device\":\"nvme1n1\",\"counter\":\"volume-throughput\",\"nanos\":500000000}"
    ));
    assert_eq!(serde_json::from_str::<Surroundings>(&text).unwrap(), all);
}

#[test]
fn a_day_stays_below_a_mebibyte() {
    let name = "n".repeat(64);
    let processes = (0..8).map(|pid| OtherProcess {
        name: name.clone(),
        pid,
        read: u64::MAX / 1_000_000,
        written: u64::MAX / 1_000_000,
    });
    let processes: Vec<OtherProcess> = processes.collect();
    let groups: Vec<GroupBytes> = (0..8)
        .map(|at| GroupBytes { group: format!("/{at}{}", "g".repeat(120)), read: at, written: at })
        .collect();
    let busy = |second: u64| AroundStep {
        groups: groups.clone(),
        others: Some(Box::new(Others {
            processes: processes.clone(),
            kernel: vec![name.clone(); 8],
            hidden: 9,
        })),
        stolen: second,
        heat: Some(Heat { sensor: name.clone(), celsius: second as i64 }),
        ..wrote(second, MIB)
    };
    let all = around((0..86_400).map(busy));
    let text = serde_json::to_string(&all).unwrap();
    assert!(text.len() < 1 << 20 && all.steps.len() > 64, "{} {}", text.len(), all.steps.len());
    assert_eq!(all.total().unwrap().written, 86_400 * MIB, "nothing is lost");
    assert_eq!(all.steps.iter().map(|step| step.nanos).sum::<u64>(), 86_400 * SECOND);
    assert!(all.steps.iter().all(|step| step.from.is_multiple_of(all.width)));
}

#[test]
fn parts_follow_each_other() {
    let mut all = around([wrote(3, MIB)]);
    let mut more = around([wrote(1, 2 * MIB)]);
    more.push_change(StateChange { at: SECOND, of: "a".into(), ..StateChange::default() });
    all.join(more, 10 * SECOND);
    assert_eq!(all.steps, [wrote(3, MIB), wrote(11, 2 * MIB)]);
    assert_eq!(all.changes[0].at, 11 * SECOND);
}

#[test]
fn json_has_only_notable_things() {
    let all = around([wrote(3, 5)]);
    let text = serde_json::to_string(&all).unwrap();
    assert_eq!(
        text,
        "{\"width\":1000000000,\"steps\":[{\"from\":3000000000,\"nanos\":1000000000,\
         \"written\":5,\"others\":{\"processes\":[{\"name\":\"backup\",\"pid\":4711,\"read\":0,\
         \"written\":5}],\"kernel\":[]}}]}"
    );
    assert_eq!(serde_json::from_str::<Surroundings>(&text).unwrap(), all);
    // Times of no trial, as a file may have them.
    let mut wild: Surroundings =
        serde_json::from_str(&text.replace("3000000000", &u64::MAX.to_string())).unwrap();
    wild.width = 0;
    wild.join(all.clone(), u64::MAX);
    assert!(wild.between(0, u64::MAX).describe().is_none() && wild.describe().is_some());
}

#[test]
fn merged_steps_keep_their_end() {
    let mut all = Surroundings { width: 32 * SECOND, ..Surroundings::default() };
    [2, 24].into_iter().for_each(|second| all.append(wrote(second, MIB)));
    let [merged] = &all.steps[..] else { panic!("{all:?}") };
    assert_eq!((merged.from, merged.end(), merged.nanos), (2 * SECOND, 25 * SECOND, 2 * SECOND));
    assert_eq!(all.between(20 * SECOND, 26 * SECOND).steps.len(), 1);
}
