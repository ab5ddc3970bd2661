//! What a machine counts for all its processes: each of its ranks sees the same, from its own start
//! to its own end.

use std::collections::BTreeMap;

use crate::record::{Evidence, OptU64};

/// The most that the ranks of one machine have seen so far: the last to end has seen all.
#[derive(Debug, Default)]
pub struct Counted {
    disk_read: u64,
    disk_write: u64,
    requests: u64,
    steal: u64,
    /// By name: bytes written, flushes and their time.
    devices: BTreeMap<String, [u64; 3]>,
}

impl Counted {
    /// Leaves in the evidence of a rank only what no other of this machine has seen.
    pub fn keep_rest(&mut self, evidence: &mut Evidence) {
        evidence.disk_read_bytes = rest(&mut self.disk_read, evidence.disk_read_bytes);
        evidence.disk_write_bytes = rest(&mut self.disk_write, evidence.disk_write_bytes);
        evidence.disk_requests = rest_of(&mut self.requests, evidence.disk_requests);
        evidence.steal_nanos = rest_of(&mut self.steal, evidence.steal_nanos);
        for own in &mut evidence.devices {
            let most = self.devices.entry(own.device.clone()).or_default();
            let counters = [&mut own.written, &mut own.flushes, &mut own.flush_nanos];
            for (most, own) in most.iter_mut().zip(counters) {
                *own = rest_of(most, *own);
            }
        }
    }
}

/// Returns by how much a counter is above the most that was seen, and keeps it as that.
fn rest(most: &mut u64, own: Option<u64>) -> Option<u64> {
    let own = own?;
    let more = own.saturating_sub(*most);
    *most = own.max(*most);
    Some(more)
}

fn rest_of(most: &mut u64, own: OptU64) -> OptU64 {
    rest(most, own.get()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::DeviceCounts;

    #[test]
    fn the_rank_that_ends_last_has_seen_all() {
        let mut counted = Counted::default();
        let mut seen = Vec::new();
        for (bytes, flushes) in [(100, 3), (250, 2), (180, 9)] {
            let mut evidence = Evidence::default();
            let device = DeviceCounts {
                device: "vda".into(),
                written: bytes.into(),
                flushes: flushes.into(),
                ..DeviceCounts::default()
            };
            evidence.disk_write_bytes = Some(bytes);
            evidence.devices = vec![device];
            counted.keep_rest(&mut evidence);
            seen.push((evidence.disk_write_bytes, evidence.devices[0].flushes.get()));
            assert_eq!(evidence.disk_read_bytes, None, "unknown stays unknown");
        }
        assert_eq!(seen, [(Some(100), Some(3)), (Some(150), Some(0)), (Some(0), Some(6))]);
    }
}
