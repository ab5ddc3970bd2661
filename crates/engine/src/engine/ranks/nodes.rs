//! The machines that the ranks run on.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::link::{Link, boot_id};
use super::messages::{pack, unpack};
use crate::plan::shifted;
use crate::sys::threads::{run_unbound, usable_cpus};
use crate::text::clean_text;
use crate::units::show_rank;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The machine of each rank, the same on all ranks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Nodes {
    names: Vec<String>,
    /// By rank: the number of its machine, in the order of their first ranks.
    of_rank: Vec<u32>,
    /// By rank: the number of its kernel. All ranks of a kernel share its counters.
    kernels: Vec<u32>,
    /// By machine: its first rank.
    firsts: Vec<u32>,
    /// The fewest CPUs that a rank is bound to; `None` = each may use all of its machine.
    bound: Option<u32>,
}

/// A machine as a rank on it sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RankMachine {
    name: String,
    machine: String,
    kernel: String,
    /// CPUs that it may use, bound and unbound.
    #[serde(default)]
    cpus: (u32, u32),
    /// The version of iotui.
    version: String,
    /// The command line, without the program.
    arguments: Vec<String>,
}

impl RankMachine {
    /// Describes how the version or command line of a rank differs from the first.
    fn differs_from(&self, first: &RankMachine) -> Option<String> {
        if self.version != first.version {
            return Some(format!("it is iotui {}, but rank 0 is {}", self.version, first.version));
        }
        (self.arguments != first.arguments).then(|| {
            let line = |seen: &RankMachine| seen.arguments.join(" ");
            format!("it was started with {}, but rank 0 with {}", line(self), line(first))
        })
    }
}

impl Nodes {
    /// Asks all ranks, which call it together.
    ///
    /// # Errors
    /// Not all are of one version, or were started alike.
    pub fn find(link: &dyn Link) -> Result<Nodes, String> {
        let arguments = std::env::args_os().skip(1);
        let seen = RankMachine {
            name: clean_text(&link.node()),
            machine: link.machine(),
            kernel: boot_id(),
            cpus: (usable_cpus(), run_unbound(usable_cpus)),
            version: VERSION.into(),
            arguments: arguments.map(|of| of.to_string_lossy().into_owned()).collect(),
        };
        let all = link.gather(pack(&seen));
        let all: Vec<RankMachine> = all.iter().filter_map(|message| unpack(message).ok()).collect();
        let all: Vec<RankMachine> = unpack(&link.broadcast(pack(&all))).unwrap_or_default();
        let nodes = Nodes::from_ranks(&all);
        let differs = |seen: &RankMachine| seen.differs_from(all.first()?);
        let other = all.iter().enumerate().find_map(|(rank, seen)| Some((rank, differs(seen)?)));
        match other {
            None => Ok(nodes),
            Some((rank, why)) => Err(nodes.blame(rank, &why)),
        }
    }

    fn from_ranks(all: &[RankMachine]) -> Nodes {
        fn number<'a>(known: &mut HashMap<&'a str, u32>, id: &'a str) -> u32 {
            let next = known.len() as u32;
            *known.entry(id).or_insert(next)
        }
        let (mut machines, mut kernels) = (HashMap::new(), HashMap::new());
        let mut named: HashMap<String, u32> = HashMap::new();
        let mut nodes = Nodes::default();
        for (rank, seen) in (0..).zip(all) {
            let node = number(&mut machines, &seen.machine);
            nodes.kernels.push(number(&mut kernels, &seen.kernel));
            // Two machines of one name.
            let name = if named.get(&seen.name).is_some_and(|of| *of != node) {
                format!("{}-{}", seen.name, node + 1)
            } else {
                seen.name.clone()
            };
            named.entry(name.clone()).or_insert(node);
            if node as usize == nodes.firsts.len() {
                nodes.firsts.push(rank);
            }
            nodes.of_rank.push(node);
            nodes.names.push(name);
        }
        let bound = all.iter().filter(|seen| seen.cpus.0 < seen.cpus.1).map(|seen| seen.cpus.0);
        nodes.bound = bound.min();
        nodes
    }

    /// Returns the name of the machine of each rank.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the number of machines.
    pub fn count(&self) -> usize {
        self.firsts.len()
    }

    /// Returns the number of the machine of a rank.
    pub fn of(&self, rank: usize) -> u32 {
        self.of_rank.get(rank).copied().unwrap_or(0)
    }

    /// Returns the number of kernels, at least 1.
    pub fn kernels(&self) -> u32 {
        self.kernels.iter().max().map_or(1, |last| last + 1)
    }

    /// Returns the number of the kernel of a rank.
    pub fn kernel_of(&self, rank: usize) -> u32 {
        self.kernels.get(rank).copied().unwrap_or(0)
    }

    /// Returns the first rank of each machine.
    pub fn firsts(&self) -> &[u32] {
        &self.firsts
    }

    /// Returns the fewest CPUs that a rank is bound to; `None` = each may use all of its machine.
    pub fn bound(&self) -> Option<u32> {
        self.bound
    }

    /// Returns whether a lower rank is on the same machine.
    pub fn is_led(&self, rank: u32) -> bool {
        self.firsts.get(self.of(rank as usize) as usize).is_some_and(|first| *first < rank)
    }

    /// Returns the rank whose data `rank` reads, where the first `ranks` measure, and each reads
    /// data that a rank of another machine wrote.
    pub fn shifted(&self, rank: u32, ranks: u32) -> u32 {
        let count = (ranks.max(1) as usize).min(self.of_rank.len());
        shifted(&self.of_rank[..count]).get(rank as usize).copied().unwrap_or(rank)
    }

    /// Returns ranks on machines of these names.
    #[cfg(test)]
    pub fn named(names: &[&str]) -> Nodes {
        let seen = |name: &&str| RankMachine {
            name: (*name).into(),
            machine: (*name).into(),
            kernel: (*name).into(),
            cpus: (1, 1),
            version: VERSION.into(),
            arguments: Vec::new(),
        };
        Nodes::from_ranks(&names.iter().map(seen).collect::<Vec<RankMachine>>())
    }

    /// Names the rank that failed: `rank 3 on node7: ...`
    pub fn blame(&self, rank: usize, why: &str) -> String {
        let node = self.names.get(rank).map_or("", String::as_str);
        format!("{}: {why}", show_rank(rank as u32, node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_numbered_by_first_rank() {
        let seen = |name: &str, machine: &str, cpus| RankMachine {
            name: name.into(),
            machine: machine.into(),
            kernel: "k".into(),
            cpus,
            version: VERSION.into(),
            arguments: Vec::new(),
        };
        let all = [seen("n", "x", (4, 4)), seen("n", "y", (2, 4)), seen("n", "x", (1, 4))];
        let nodes = Nodes::from_ranks(&all);
        assert_eq!(nodes.names(), ["n", "n-2", "n"]);
        assert_eq!((nodes.firsts(), nodes.count(), nodes.kernels()), (&[0, 1][..], 2, 1));
        assert_eq!([0, 1, 2].map(|rank| nodes.is_led(rank)), [false, false, true]);
        assert_eq!((nodes.bound(), Nodes::from_ranks(&all[..1]).bound()), (Some(1), None));
    }

    /// More ranks than a quadratic loop finishes within minutes.
    #[test]
    fn hundred_thousand_ranks_are_found_fast() {
        let names: Vec<String> =
            (0..100_000).map(|rank| format!("node{}", rank % 50_000)).collect();
        let nodes = Nodes::named(&names.iter().map(String::as_str).collect::<Vec<&str>>());
        assert_eq!(nodes.count(), 50_000);
        let source = nodes.shifted(7, 100_000) as usize;
        assert_ne!(nodes.of(7), nodes.of(source));
    }
}
