//! `latency`: the time of one load by the size of the memory that is used, from the first cache to
//! memory.

use super::chase::{Ring, shuffled};
use super::known::{has_only, number};
use super::map::Map;
use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo, ProbeParam, RangeOf};
use crate::record::Estimate;
use crate::units::show_bytes;

pub(super) struct Latency;

static INFO: ProbeInfo = ProbeInfo {
    id: "latency",
    group: Group::Memory,
    title: "memory latency",
    about: "the time of one load by the size of the memory that is used, 4 KiB to 1 GiB, in random order and by strides",
    doc: "Walks a ring in memory: every place holds the address of the next, so each load waits for the one before. Without a stride the \
          places are the cache lines in random order, which no prefetcher guesses; with one they are that far apart and in order, as \
          lmbench and the report had them. As long as the ring fits in a cache the time is that cache's; the curve over the size is \
          a staircase whose steps are the caches, and its last step is memory. Pages are small, so beyond the reach of the TLB each random \
          load also waits for a page walk: the probe tlb has that part alone.",
    makes_files: false,
    params: &[
        ProbeParam {
            name: "bytes",
            about: "memory that is used",
            of: RangeOf::Bytes,
            least: 512,
            most: 1 << 40,
            step: 8,
            usual: "4k..1g",
        },
        ProbeParam {
            name: "stride",
            about: "distance of the places, 0 for the random order of lines",
            of: RangeOf::Bytes,
            least: 0,
            most: 1 << 30,
            step: 8,
            usual: "0,64,256,1k",
        },
    ],
};

/// Places lie on lines of their own where no stride is said.
const LINE: usize = 64;
/// None first: random order.
const STRIDES: [u64; 4] = [0, 64, 256, 1024];
const SIZES: std::ops::RangeInclusive<u32> = 12..=30;

fn parts(cell: &ProbeCell) -> Option<(usize, Option<usize>)> {
    let bytes = number(cell, "bytes").filter(|bytes| (1 << 9..=1 << 40).contains(bytes))?;
    let stride = number(cell, "stride");
    let known = if stride.is_some() {
        has_only(cell, &["bytes", "stride"])
    } else {
        has_only(cell, &["bytes"])
    };
    let sound =
        stride.is_none_or(|stride| stride >= 8 && stride.is_multiple_of(8) && stride <= bytes);
    Some((usize::try_from(bytes).ok()?, stride.map(|stride| stride as usize)))
        .filter(|_| known && sound)
}

impl Probe for Latency {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    /// No more than one place is no ring: strides beyond the size are left out.
    fn cells(&self, site: &Site) -> Vec<ProbeCell> {
        let sizes =
            site.chosen(&INFO, "bytes").unwrap_or_else(|| SIZES.map(|power| 1 << power).collect());
        let strides = site.chosen(&INFO, "stride").unwrap_or_else(|| STRIDES.into());
        let pairs =
            strides.into_iter().flat_map(|stride| sizes.iter().map(move |size| (*size, stride)));
        let cell = |(size, stride): (u64, u64)| {
            ProbeCell::new(
                INFO.id,
                [("bytes", size.into())]
                    .into_iter()
                    .chain((stride > 0).then_some(("stride", stride.into()))),
            )
        };
        pairs.filter(|(size, stride)| stride <= size).map(cell).collect()
    }

    fn check(&self, cell: &ProbeCell, site: &Site) -> Result<(), String> {
        match parts(cell) {
            Some((bytes, _)) => site.has_memory(bytes as u64),
            None => Ok(()),
        }
    }

    fn estimate(&self, cell: &ProbeCell, site: &Site) -> Option<Estimate> {
        let (bytes, stride) = parts(cell)?;
        let mut caches: Vec<_> =
            site.host.caches.iter().filter(|cache| cache.kind != "instruction").collect();
        caches.sort_by_key(|cache| cache.size);
        let (low, high) = match caches
            .iter()
            .find(|cache| cache.size >= bytes as u64)
            .map(|cache| (cache.level, cache.size))
        {
            Some((1, size)) => {
                return site.cycles(
                    3.0,
                    6.0,
                    &format!("the L1 cache of {} holds it", show_bytes(size)),
                );
            }
            Some((2, size)) => {
                return site.cycles(
                    if stride.is_some() { 3.0 } else { 11.0 },
                    20.0,
                    &format!("the L2 cache of {} holds it", show_bytes(size)),
                );
            }
            Some((level, size)) => {
                let low = if stride.is_some() { 3.0 } else { 30.0 };
                return site.cycles(
                    low,
                    90.0,
                    &format!(
                        "the L{level} cache of {} holds it; page walks come on top",
                        show_bytes(size)
                    ),
                );
            }
            None if stride.is_some() => (1.0, 150.0),
            None => (60.0, 200.0),
        };
        let why = match stride {
            Some(_) => {
                "no cache holds it; a prefetcher that sees the stride hides much of memory's time"
            }
            None => "no cache holds it: 60-150 ns of memory, and a page walk",
        };
        Some(Estimate { low, high, reason: why.into() })
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let (bytes, stride) = parts(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        self.check(cell, site).map_err(ProbeError::Missing)?;
        let map = Map::anonymous(bytes, false)?;
        map.touch();
        site.go_on()?;
        Ok(Box::new(match stride {
            Some(stride) => {
                Loads(Ring::through(map, (0..bytes / stride).map(|place| place * stride)))
            }
            None => Loads(Ring::through(
                map,
                shuffled(bytes / LINE, bytes as u64).into_iter().map(|place| place as usize * LINE),
            )),
        }))
    }
}

struct Loads(Ring);

impl Gauge for Loads {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        Ok(self.0.run(count))
    }

    fn evidence(&self) -> Vec<String> {
        vec![format!(
            "{} of pages of {}",
            show_bytes(self.0.bytes() as u64),
            show_bytes(super::map::page() as u64)
        )]
    }
}
