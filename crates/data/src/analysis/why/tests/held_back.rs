//! Limits of a cell other than the device: its own depth, a quota, other programs.

use super::*;

/// Alone, with one operation in flight, a cell shows how long that takes, and not what the device
/// can do; readahead keeps more in flight.
#[test]
fn single_operations_do_not_show_saturation() {
    let random = Pattern::Random;
    let direct = Job { direct: true, pattern: random, ..job("pread", 4096, Cache::AsIs) };
    let told = |job: Job| {
        let op = Op1 { nanos: 96_700.0, ..DISK };
        explain_limits(&[cell(job, op, 0.03)], &bounds()).limits[0].clone().unwrap()
    };
    assert_eq!(told(direct.clone()).text, "latency: one operation at a time, 96.7 µs each");
    assert_eq!(
        told(Job { direct: false, cache: Cache::Cold, ..direct.clone() }).by,
        Limit::Latency
    );
    assert_eq!(told(Job { depth: 8, ..direct }).by, Limit::Device);
    assert_eq!(told(job("read", 4096, Cache::Cold)).by, Limit::Device);
}

#[test]
fn only_disks_are_called_devices() {
    let direct = Job { direct: true, depth: 8, ..job("uring", 1 << 20, Cache::AsIs) };
    let results = [cell(direct, Op1 { nanos: 4e5, ..DISK }, 0.01)];
    assert_eq!(limits(&results, &bounds()), [Some(Limit::Device)]);
    assert_eq!(limits(&results, &Bounds { off_disk: true, ..bounds() }), [None]);
    let rated = Bounds { off_disk: true, rated: Some(21e9), ..bounds() };
    assert_eq!(limits(&results, &rated), [None]);
}

#[test]
fn exhausted_cpu_quotas_are_named_first() {
    let limited = |busy: f64, quota| {
        let read = cell(job("pread", 4096, Cache::Warm), Op1 { nanos: 5e3, busy, ..MEMORY }, 0.01);
        let direct = Job { direct: true, ..job("pread", 4096, Cache::AsIs) };
        let direct = cell(direct, Op1 { nanos: 5e5, busy, ..DISK }, 0.01);
        let bounds = Bounds { cpu_quota: Some(quota), ..bounds() };
        explain_limits(&[read, direct], &bounds).limits
    };
    for limit in limited(0.19, 0.2) {
        let text =
            "CPU quota: the threads kept 0.19 CPUs busy of the 0.20 that the control group allows";
        assert_eq!(limit.unwrap().text, text);
    }
    assert!(limited(0.19, 0.5).into_iter().flatten().all(|limit| limit.by != Limit::CpuQuota));
}

#[test]
fn threads_waiting_for_cpusets_are_named() {
    let mut warm = cell(
        Job { threads: 4, ..job("pread", 4096, Cache::Warm) },
        Op1 { nanos: 5e3, busy: 0.5, ..MEMORY },
        0.01,
    );
    for trial in &mut warm.trials {
        let trial = std::sync::Arc::make_mut(trial);
        trial.evidence.queued_nanos = (trial.nanos * 2).into();
    }
    let told = |cpus| {
        let bounds = Bounds { cpus, ..Bounds::default() };
        explain_limits(std::slice::from_ref(&warm), &bounds).limits[0].clone().unwrap().text
    };
    assert_eq!(
        told([2, 64]),
        "CPU: busy for 50 % of the time; 4 threads waited for 2 CPUs of 64 (cpuset) for another \
         50 %"
    );
    assert_eq!(told([8, 8]), "CPU: busy for 50 % of the time; others held it for another 50 %");
}

#[test]
fn low_priority_limits_on_busy_disks() {
    let direct = Job { direct: true, depth: 8, ..job("uring", 1 << 20, Cache::AsIs) };
    let mut result = cell(direct, Op1 { nanos: 4e7, ..DISK }, 0.01);
    let bounds = Bounds { yields: Some("I/O class idle (ionice)".into()), ..bounds() };
    let told = |result: &CellResult| {
        explain_limits(std::slice::from_ref(result), &bounds).limits[0].clone().unwrap()
    };
    assert_eq!(told(&result).by, Limit::Device);
    let message = "other processes moved 3 GiB on the same disk in all 7 trials";
    result.warnings.push(warning("disturbed", message, ""));
    let told = told(&result);
    assert_eq!(told.text, format!("I/O priority: I/O class idle (ionice), and {message}"));
}
