//! The verdict: what is known to keep commits from the medium comes first, then what cannot be
//! seen, then what was counted.

use super::counts::Counts;
use super::reach::Reach;
use crate::plan::{Sync, Writes};
use crate::record::verdict::CellEvidence;
use crate::record::verdict::evidence::{CommitDevice, CommitPath};
use crate::record::verdict::facts::{falls_short, size};
use crate::record::{CommitTimes, Medium};
use crate::text::clean_text;
use crate::units::show_nanos;

/// Fewer flushes per commit than this, and not each commit had one; counters are read while others
/// may be in flight.
const MIN_FLUSHES: f64 = 0.95;
/// Commits that took less than this share of a flush did not wait for one.
const MIN_SHARE_OF_FLUSH: f64 = 0.5;
/// Commits that took less than this share of the fastest write did not wait for one. That was
/// measured before them, on a machine that may have been busier.
const MIN_SHARE_OF_WRITE: f64 = 0.25;
/// A flush that takes less time than this many writes into the cache may have stored nothing. An
/// emulated disk that ignores flushes took up to 2.3 of them for one.
const MIN_WRITES_PER_FLUSH: u64 = 5;

type Found = (Reach, String);

/// The grounds of a verdict.
#[derive(Clone, Copy)]
pub(super) struct Judge<'a> {
    pub evidence: &'a CellEvidence<'a>,
    pub commits: &'a CommitTimes,
    pub path: &'a CommitPath,
    pub counts: &'a Counts,
}

impl<'a> Judge<'a> {
    pub fn judge(self) -> Found {
        self.without_disk()
            .or_else(|| self.written_through())
            .or_else(|| self.kept_back())
            .or_else(|| self.without_cache())
            .unwrap_or_else(|| self.with_cache())
    }

    fn disks(self) -> impl Iterator<Item = &'a CommitDevice> {
        self.path.devices.iter().filter(|device| device.lowest)
    }

    fn disk_names(self) -> Vec<&'a str> {
        let mut names: Vec<&str> = self.disks().map(CommitDevice::disk).collect();
        names.dedup();
        names
    }

    /// Returns the names of the disks: `sda and sdb`.
    fn names(self) -> String {
        self.disk_names().join(" and ")
    }

    /// Returns them with the verb for one or for several.
    fn with_verb(self, one: &str, several: &str) -> String {
        let verb = if self.disk_names().len() == 1 { one } else { several };
        format!("{} {verb}", self.names())
    }

    /// Judges targets that are not on a disk of this kernel.
    fn without_disk(self) -> Option<Found> {
        let fs = self.evidence.fs();
        for disk in self.disks() {
            if let Some(backing) = disk.backing.as_ref().filter(|backing| backing.memory) {
                return not_reached(format!("{} is {}", disk.disk(), backing.what));
            }
        }
        let ground = self.evidence.target.ground.as_ref();
        let medium = ground.map(|ground| ground.medium);
        let why = ground.map(|ground| clean_text(&ground.reason)).filter(|why| !why.is_empty());
        if self.evidence.target.memory || medium == Some(Medium::Memory) {
            return not_reached(why.unwrap_or_else(|| format!("{fs} is memory")));
        }
        let leaves_out = |option: &&str| option.ends_with("volatile");
        if let Some(option) = self.path.no_barrier.as_deref().filter(leaves_out) {
            return not_reached(format!(
                "{fs} is mounted with {option}, which leaves out each sync"
            ));
        }
        let is_remote = self.evidence.target.remote;
        let who = match medium {
            Some(Medium::Program) => Some("a program"),
            Some(Medium::Server) => Some("another machine"),
            Some(Medium::Unknown) => {
                return unknown(why.unwrap_or_else(|| "the disk is not known".into()));
            }
            _ if is_remote && fs.starts_with("fuse") => Some("a program"),
            _ => is_remote.then_some("a server"),
        };
        if let Some(who) = who {
            return unknown(format!(
                "{}: {who} confirms each commit, and what it does is not visible here",
                why.as_deref().unwrap_or(fs)
            ));
        }
        self.disks()
            .next()
            .is_none()
            .then(|| (Reach::Unknown, format!("the disk under {fs} is not known")))
    }

    /// Judges direct writes that need no flush, whatever the mount options are. ext4 and XFS write
    /// allocated blocks through for O_DSYNC, but not for O_SYNC.
    fn written_through(self) -> Option<Found> {
        let job = self.evidence.job;
        let applies = matches!(job.sync, Sync::Dsync | Sync::RwfDsync)
            && job.direct
            && job.writes == Writes::Overwrite
            && matches!(self.evidence.target.fs.as_str(), "ext4" | "xfs")
            && !self.path.devices.iter().any(|device| device.overridden)
            && self.disks().all(|disk| disk.volatile_cache == Some(true) && disk.fua == Some(true))
            && self.counts.flushes.is_some_and(|flushes| flushes < self.needed())
            && self.counts.reached.is_some()
            && self.missing().is_none();
        applies.then(|| {
            let text = format!(
                "{}, and it can write through (FUA), as direct I/O with {} does",
                self.describe_flushes(),
                job.sync
            );
            self.certain(Reach::WrittenThrough, text)
        })
    }

    /// Judges commits that are known to leave something in a cache.
    fn kept_back(self) -> Option<Found> {
        let missing = self.missing();
        if let Some(cause) = self.cause() {
            let more = missing.map_or(String::new(), |text| format!("; {text}"));
            return not_reached(cause + &more);
        }
        if let Some(text) = missing {
            return match self.compresses() {
                Some(why) => unknown(format!("{text}, but it may be compressed ({why})")),
                None => not_reached(text),
            };
        }
        self.too_soon().filter(|_| self.counts.reached.is_none()).and_then(not_reached)
    }

    /// Returns the layer that may store fewer bytes than are written to it.
    fn compresses(self) -> Option<&'a str> {
        let target = self.evidence.target;
        let layers = target.ground.iter().flat_map(|ground| &ground.layers);
        let below = layers.into_iter().find(|layer| layer.transform.contains("compress"));
        target.compresses.as_deref().or(below.map(|layer| layer.name.as_str()))
    }

    /// Returns what keeps flushes from a cache.
    fn cause(self) -> Option<String> {
        let below = |at: usize| {
            self.path.devices[at + 1..].iter().find(|device| device.volatile_cache == Some(true))
        };
        let held = self.path.devices.iter().enumerate().find_map(|(at, device)| {
            Some((device, device.backing.as_ref()?.no_barrier.as_ref()?, below(at)?))
        });
        if let Some((device, option, disk)) = held {
            return Some(format!(
                "{} is a file on a file system mounted with {option}, so that no commit empties \
                 the cache of {}",
                device.device, disk.device
            ));
        }
        let keeps = |device: &&CommitDevice| {
            device.volatile_cache == Some(true) && (device.lowest || device.backing.is_some())
        };
        if let (Some(option), Some(device)) =
            (&self.path.no_barrier, self.path.devices.iter().find(keeps))
        {
            return Some(format!(
                "{} is mounted with {option}, so that no commit empties the cache of {}",
                self.evidence.fs(),
                device.device
            ));
        }
        let layer = self.path.devices.iter().find(|device| device.overridden && !device.lowest)?;
        Some(format!(
            "{} passes no flush on: it says that it has no volatile cache, but what is below has one",
            layer.device
        ))
    }

    /// Returns that fewer bytes reached the disks than were committed.
    fn missing(self) -> Option<String> {
        let due = self.counts.due;
        let reached = self.counts.reached.filter(|bytes| falls_short(*bytes, due))?;
        Some(format!("only {} of {} reached the disk", size(reached), size(due)))
    }

    /// Returns that commits took less time than a write.
    fn too_soon(self) -> Option<String> {
        let (fastest, median) = (self.path.fastest_write_nanos? as f64, self.commits.total.p50?);
        (median < fastest * MIN_SHARE_OF_WRITE).then(|| {
            format!(
                "half of them took less than {}, the fastest direct write here {}",
                show_nanos(median),
                show_nanos(fastest)
            )
        })
    }

    /// Judges disks by what they say of their caches.
    fn without_cache(self) -> Option<Found> {
        if let Some(disk) = self.disks().find(|disk| disk.overridden) {
            return unknown(format!(
                "{} says that it has a volatile cache, but the kernel was set to assume that \
                 it has no cache (queue/write_cache)",
                disk.disk()
            ));
        }
        if let Some(disk) = self.disks().find(|disk| disk.volatile_cache.is_none()) {
            return unknown(format!(
                "{} does not say whether it has a volatile cache",
                disk.disk()
            ));
        }
        self.disks().all(|disk| disk.volatile_cache == Some(false)).then(|| {
            let reached = match self.counts.amplification {
                Some(bytes) => format!("{} bytes reached it per byte committed", two_digits(bytes)),
                None => "what reached it is not counted".into(),
            };
            self.certain(
                Reach::NoCache,
                format!("{} write through: {reached}", self.with_verb("is", "are")),
            )
        })
    }

    /// Judges commits to disks of which at least one has a volatile cache.
    fn with_cache(self) -> Found {
        let Some(flushes) = self.counts.flushes else {
            return (Reach::Unknown, format!("flushes of {} are not counted here", self.names()));
        };
        let flushed = self.describe_flushes();
        if flushes < self.needed() {
            return self.too_few_flushes(&flushed);
        }
        let flush = self.counts.flush_nanos.unwrap_or(0.0);
        let mean = self.commits.total.mean;
        if mean > 0.0 && mean < flush * MIN_SHARE_OF_FLUSH {
            let text = format!(
                "{flushed}, but a commit took {} on average: other programs may have flushed",
                show_nanos(mean)
            );
            return (Reach::Unknown, text);
        }
        self.certain(Reach::Flushed, flushed)
    }

    fn too_few_flushes(self, flushed: &str) -> Found {
        let above = self.counts.above.as_ref();
        if let Some((above, of_above)) = above.filter(|(_, of)| *of >= self.needed()) {
            let text = format!(
                "{above} was flushed {} times per commit, but {flushed}",
                two_digits(*of_above)
            );
            return (Reach::NotReached, text);
        }
        if self.disks().all(|disk| disk.fua == Some(true)) {
            let text = format!("{flushed}; it can write through (FUA), which no counter shows");
            return (Reach::Unknown, text);
        }
        (Reach::NotReached, format!("{flushed}, and it has a volatile cache"))
    }

    /// Returns how many flushes each commit needs: one may serve the commits of all that wait.
    fn needed(self) -> f64 {
        MIN_FLUSHES / self.in_flight() as f64
    }

    /// Returns how many commits may wait at once, each for the writes of all others.
    fn in_flight(self) -> u64 {
        let job = self.evidence.job;
        u64::from(job.threads.max(1)) * u64::from(job.depth.max(1))
    }

    /// Returns the verdict where a disk of this machine made it, and took the time for it.
    fn certain(self, reach: Reach, reason: String) -> Found {
        let why = if let Some(hypervisor) = &self.evidence.machine.hypervisor {
            format!(
                "; but this machine is virtual ({hypervisor}), and what its host does then is not \
                 visible here"
            )
        } else if let Some((disk, backing)) =
            self.disks().find_map(|disk| Some((disk, disk.backing.as_ref()?)))
        {
            format!(
                "; but {} is {}, and what that does then is not visible here",
                disk.disk(),
                backing.what
            )
        } else if let Some(text) = self.too_soon() {
            format!("; but {text}: what was counted may be of other programs")
        } else if let Some(layer) = self.file_above().filter(|_| reach == Reach::Flushed) {
            format!(
                "; but {} is a file, so that writes to it do not show how long the disk takes for \
                 one, and whether a flush takes longer",
                layer.device
            )
        } else if let Some(text) = self.at_once(reach) {
            format!(
                "; but {text}: either the cache survives a power loss, or the disk does not empty it"
            )
        } else {
            return (reach, reason);
        };
        (Reach::Unknown, reason + &why)
    }

    /// Returns a device above the disks that is a file: the page cache takes what is written to it.
    fn file_above(self) -> Option<&'a CommitDevice> {
        self.path.devices.iter().find(|device| !device.lowest && device.backing.is_some())
    }

    /// Returns that what should empty the cache took less than a few writes into it. A layer above
    /// the disk makes writes slower, not flushes, so there fewer flushes are believed.
    fn at_once(self, reach: Reach) -> Option<String> {
        // The time of a flush is a mean: the fastest write would be an unfair measure.
        let write = self.path.median_write_nanos.or(self.path.fastest_write_nanos)? as f64;
        let (what, took) = match reach {
            Reach::Flushed => ("a flush", self.counts.flush_nanos_at_most?),
            Reach::WrittenThrough => ("a commit", self.commits.total.p50?),
            _ => return None,
        };
        // It may wait for the writes of all others.
        let writes = MIN_WRITES_PER_FLUSH.max(self.in_flight().saturating_mul(3).div_ceil(2));
        (took < write * writes as f64).then(|| {
            format!(
                "{what} takes less than {writes} writes into the cache ({} each)",
                show_nanos(write)
            )
        })
    }

    /// Returns `vda was flushed 1.00 times per commit, 0.3 ms each`.
    fn describe_flushes(self) -> String {
        let flushes = self.counts.flushes.unwrap_or(0.0);
        let counts = self.counts;
        let each = match (counts.flush_nanos, counts.flush_nanos_at_most) {
            _ if flushes < self.needed() => String::new(),
            // The counter has whole milliseconds: too few of them say only what was not reached.
            (Some(nanos), Some(most)) if nanos < most / 2.0 => {
                format!(", less than {} each", show_nanos(most))
            }
            (Some(nanos), _) => format!(", {} each", show_nanos(nanos)),
            _ => String::new(),
        };
        let disks = self.with_verb("was", "were each");
        format!("{disks} flushed {} times per commit{each}", two_digits(flushes))
    }
}

fn not_reached(reason: String) -> Option<Found> {
    Some((Reach::NotReached, reason))
}

fn unknown(reason: String) -> Option<Found> {
    Some((Reach::Unknown, reason))
}

fn two_digits(number: f64) -> String {
    format!("{number:.2}")
}
