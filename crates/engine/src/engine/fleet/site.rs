//! What a rank works on: its own file, that of another rank, or its part of one that all share.

use super::nodes::Nodes;
use crate::backend::access_pattern::Place;
use crate::engine::target::OpenTarget;
use crate::plan::{Job, Layout, Op, Plan};

/// Which data each rank uses.
#[derive(Debug, Clone, Default)]
pub struct Seats {
    rank: u32,
    nodes: Nodes,
    /// Ranks read what the ranks of another machine wrote.
    shift: bool,
}

impl Seats {
    pub fn new(rank: u32, nodes: &Nodes, plan: &Plan) -> Seats {
        Seats { rank, nodes: nodes.clone(), shift: plan.shift }
    }

    /// Returns the rank whose data this one uses in a job.
    pub fn source(&self, job: &Job) -> u32 {
        let reads = job.op == Op::Read && job.mix.is_none();
        match self.shift && reads {
            true => self.nodes.shifted(self.rank, job.processes()),
            false => self.rank,
        }
    }

    /// Returns the part of a shared file that this rank uses in a job.
    pub fn place(&self, job: &Job) -> Option<Place> {
        let strided = job.layout == Layout::Strided;
        let at = |index| Place { index, of: job.processes(), strided };
        job.shares_its_file().then(|| at(self.source(job)))
    }

    /// Returns whether a lower rank of this machine does what is done once for each.
    pub fn is_led(&self) -> bool {
        self.nodes.is_led(self.rank)
    }

    /// Returns the ranks whose files this one reads in the jobs of a plan; not itself.
    pub fn sources(&self, plan: &Plan) -> Vec<u32> {
        let jobs = plan.cells.iter().filter(|job| job.layout.is_per_rank());
        let takes_part = jobs.filter(|job| self.rank < job.processes());
        let mut sources: Vec<u32> = takes_part.map(|job| self.source(job)).collect();
        sources.sort_unstable();
        sources.dedup();
        sources.retain(|source| *source != self.rank);
        sources
    }
}

/// The seat of this rank, with the files of others that it reads.
#[derive(Debug, Default)]
pub struct Site {
    pub seats: Seats,
    pub others: Vec<(u32, OpenTarget)>,
}

impl Site {
    /// Returns the file that this rank uses in a job, where its own is `own`.
    pub fn target_of<'a>(&'a self, job: &Job, own: &'a OpenTarget) -> &'a OpenTarget {
        let source = self.seats.source(job);
        let other = self.others.iter().find(|(rank, _)| *rank == source && !job.shares_its_file());
        other.map_or(own, |(_, of_other)| of_other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Choice, TargetSpec};

    fn seats(rank: u32, nodes: &[&str], shift: bool) -> Seats {
        Seats { rank, nodes: Nodes::named(nodes), shift }
    }

    fn job(op: Op, ranks: u32, layout: Layout) -> Job {
        let plain = Job::plain(Choice::plain("pread"), op);
        Job { ranks: Some(ranks), layout, ..plain }
    }

    #[test]
    fn no_machine_reads_what_it_wrote_if_that_can_be() {
        let layouts: [&[&str]; 4] = [
            &["a", "b"],
            &["a", "a", "b", "b"],
            &["a", "b", "a", "b", "c", "c"],
            &["a", "b", "b", "c", "c", "c", "d"],
        ];
        for nodes in layouts {
            let ranks = nodes.len() as u32;
            let reads = job(Op::Read, ranks, Layout::PerRank);
            let sources: Vec<u32> =
                (0..ranks).map(|rank| seats(rank, nodes, true).source(&reads)).collect();
            let mut once = sources.clone();
            once.sort_unstable();
            assert_eq!(once, (0..ranks).collect::<Vec<u32>>(), "{nodes:?}: each is read once");
            for (rank, source) in sources.iter().enumerate() {
                assert_ne!(nodes[rank], nodes[*source as usize], "{nodes:?}: {sources:?}");
            }
            for rank in 0..ranks {
                let write = job(Op::Write, ranks, Layout::PerRank);
                assert_eq!(seats(rank, nodes, true).source(&write), rank);
                assert_eq!(seats(rank, nodes, false).source(&reads), rank);
            }
        }
    }

    #[test]
    fn the_part_of_a_shared_file_follows_from_the_layout_and_the_ranks_that_measure() {
        let seat = seats(1, &["a", "a", "b", "b"], true);
        let read = seat.place(&job(Op::Read, 4, Layout::Segmented)).unwrap();
        assert_eq!((read.index, read.of, read.window(100)), (3, 4, 300..400));
        let write = seat.place(&job(Op::Write, 4, Layout::Strided)).unwrap();
        assert_eq!((write.index, write.strided, write.window(100)), (1, true, 0..400));
        // Two ranks of one machine: there is no other.
        assert_eq!(seat.place(&job(Op::Read, 2, Layout::Segmented)).unwrap().index, 1);
        assert_eq!(seat.place(&job(Op::Read, 4, Layout::PerRank)), None);
        let mut plan = Plan::plain("sweep", TargetSpec::None);
        plan.cells = vec![job(Op::Read, 4, Layout::PerRank), job(Op::Read, 2, Layout::PerRank)];
        assert_eq!(seat.sources(&plan), [3]);
        assert_eq!(seats(2, &["a", "a", "b", "b"], true).sources(&plan), [0]);
    }
}
