//! The machines that the ranks run on.

use std::fs;

use serde::{Deserialize, Serialize};

use super::link::Link;
use super::order::{pack, unpack};
use crate::text::clean_text;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The machine of each rank, the same on all ranks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Nodes {
    names: Vec<String>,
    /// By rank: the number of its machine, in the order of their first ranks.
    of_rank: Vec<u32>,
}

/// A machine as a rank on it sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Seen {
    name: String,
    /// Differs on each machine and after each start of it: two of one name are kept apart, and
    /// containers of one machine, which share its clock, are not.
    boot: String,
    /// The version of iotui.
    version: String,
}

impl Nodes {
    /// Asks all ranks, which call it together.
    ///
    /// # Errors
    /// Not all are of one version.
    pub fn find(link: &dyn Link) -> Result<Nodes, String> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let seen = Seen {
            name: clean_text(&link.node()),
            boot: boot.trim().into(),
            version: VERSION.into(),
        };
        let all = link.gather(pack(&seen));
        let all: Vec<Seen> = all.iter().filter_map(|message| unpack(message).ok()).collect();
        let all: Vec<Seen> = unpack(&link.broadcast(pack(&all))).unwrap_or_default();
        let nodes = Nodes::from_seen(&all);
        match all.iter().position(|seen| seen.version != VERSION) {
            None => Ok(nodes),
            Some(rank) => Err(nodes.blame(
                rank,
                &format!("it is iotui {}, but rank 0 is {VERSION}", all[rank].version),
            )),
        }
    }

    fn from_seen(all: &[Seen]) -> Nodes {
        let mut boots: Vec<&str> = Vec::new();
        let mut nodes = Nodes::default();
        for seen in all {
            let known = boots.iter().position(|boot| *boot == seen.boot);
            let node = known.unwrap_or_else(|| {
                boots.push(&seen.boot);
                boots.len() - 1
            });
            nodes.of_rank.push(node as u32);
            nodes.names.push(seen.name.clone());
        }
        nodes
    }

    /// Returns the name of the machine of each rank.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns how many machines there are.
    pub fn count(&self) -> usize {
        self.of_rank.iter().max().map_or(0, |last| *last as usize + 1)
    }

    /// Returns the number of the machine of a rank.
    pub fn of(&self, rank: usize) -> u32 {
        self.of_rank.get(rank).copied().unwrap_or(0)
    }

    /// Returns which ranks are on another machine than rank 0.
    pub fn elsewhere(&self) -> Vec<bool> {
        self.of_rank.iter().map(|node| *node != self.of(0)).collect()
    }

    /// Returns whose fault something is: `rank 3 on node7: ...`
    pub fn blame(&self, rank: usize, why: &str) -> String {
        match self.names.get(rank) {
            Some(name) => format!("rank {rank} on {name}: {why}"),
            None => format!("rank {rank}: {why}"),
        }
    }
}
