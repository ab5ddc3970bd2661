//! The machines that the ranks run on.

use serde::{Deserialize, Serialize};

use super::link::{Link, boot_id};
use super::order::{pack, unpack};
use crate::text::clean_text;
use crate::units::show_rank;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The machine of each rank, the same on all ranks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Nodes {
    names: Vec<String>,
    /// By rank: the number of its machine, in the order of their first ranks.
    of_rank: Vec<u32>,
    /// By rank: the number of its kernel, whose counters are those of all its ranks.
    kernels: Vec<u32>,
}

/// A machine as a rank on it sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Seen {
    name: String,
    machine: String,
    kernel: String,
    /// The version of iotui.
    version: String,
    /// The command line, without the program.
    arguments: Vec<String>,
}

impl Seen {
    /// Returns how a rank differs from the first in what all must have alike.
    fn differs_from(&self, first: &Seen) -> Option<String> {
        if self.version != first.version {
            return Some(format!("it is iotui {}, but rank 0 is {}", self.version, first.version));
        }
        (self.arguments != first.arguments).then(|| {
            let line = |seen: &Seen| seen.arguments.join(" ");
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
        let seen = Seen {
            name: clean_text(&link.node()),
            machine: link.machine(),
            kernel: boot_id(),
            version: VERSION.into(),
            arguments: arguments.map(|of| of.to_string_lossy().into_owned()).collect(),
        };
        let all = link.gather(pack(&seen));
        let all: Vec<Seen> = all.iter().filter_map(|message| unpack(message).ok()).collect();
        let all: Vec<Seen> = unpack(&link.broadcast(pack(&all))).unwrap_or_default();
        let nodes = Nodes::from_seen(&all);
        let differs = |seen: &Seen| seen.differs_from(all.first()?);
        let other = all.iter().enumerate().find_map(|(rank, seen)| Some((rank, differs(seen)?)));
        match other {
            None => Ok(nodes),
            Some((rank, why)) => Err(nodes.blame(rank, &why)),
        }
    }

    fn from_seen(all: &[Seen]) -> Nodes {
        fn number<'a>(known: &mut Vec<&'a str>, id: &'a str) -> u32 {
            let place = known.iter().position(|known| *known == id);
            place.unwrap_or_else(|| {
                known.push(id);
                known.len() - 1
            }) as u32
        }
        let (mut machines, mut kernels) = (Vec::new(), Vec::new());
        let mut nodes = Nodes::default();
        for seen in all {
            let node = number(&mut machines, &seen.machine);
            nodes.kernels.push(number(&mut kernels, &seen.kernel));
            let before = nodes.of_rank.iter().zip(&nodes.names);
            let other = |(of, name): (&u32, &String)| *of != node && *name == seen.name;
            // Two machines of one name.
            let name = match before.into_iter().any(other) {
                true => format!("{}-{}", seen.name, node + 1),
                false => seen.name.clone(),
            };
            nodes.of_rank.push(node);
            nodes.names.push(name);
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

    /// Returns how many kernels there are, at least 1.
    pub fn kernels(&self) -> u32 {
        self.kernels.iter().max().map_or(1, |last| last + 1)
    }

    /// Returns the number of the kernel of a rank.
    pub fn kernel_of(&self, rank: usize) -> u32 {
        self.kernels.get(rank).copied().unwrap_or(0)
    }

    /// Returns whether a lower rank is on the same machine.
    pub fn is_led(&self, rank: u32) -> bool {
        self.of_rank.iter().take(rank as usize).any(|of| *of == self.of(rank as usize))
    }

    /// Returns the rank whose data `rank` reads, where the first `ranks` measure and read what
    /// those of another machine wrote: each what one wrote that is as many places further on as
    /// the largest machine has ranks. A machine with more than half of them reads some of its own.
    pub fn shifted(&self, rank: u32, ranks: u32) -> u32 {
        let ranks = ranks.clamp(1, (self.of_rank.len() as u32).max(1));
        let mut order: Vec<u32> = (0..ranks).collect();
        order.sort_by_key(|rank| self.of(*rank as usize));
        let on = |node: u32| order.iter().filter(|rank| self.of(**rank as usize) == node).count();
        let most = (0..self.count() as u32).map(on).max().unwrap_or(0);
        let place = order.iter().position(|of| *of == rank);
        place.map_or(rank, |place| order[(place + most) % order.len()])
    }

    /// Returns those of ranks on machines of these names.
    #[cfg(test)]
    pub fn named(names: &[&str]) -> Nodes {
        let seen = |name: &&str| Seen {
            name: (*name).into(),
            machine: (*name).into(),
            kernel: (*name).into(),
            version: VERSION.into(),
            arguments: Vec::new(),
        };
        Nodes::from_seen(&names.iter().map(seen).collect::<Vec<Seen>>())
    }

    /// Returns which ranks are on another machine than rank 0.
    pub fn elsewhere(&self) -> Vec<bool> {
        self.of_rank.iter().map(|node| *node != self.of(0)).collect()
    }

    /// Returns whose fault something is: `rank 3 on node7: ...`
    pub fn blame(&self, rank: usize, why: &str) -> String {
        let node = self.names.get(rank).map_or("", String::as_str);
        format!("{}: {why}", show_rank(rank as u32, node))
    }
}
