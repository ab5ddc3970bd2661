//! `latency`: the time of one load by working-set size, from the L1 cache to memory.

use super::chase::{Ring, shuffled};
use super::map::Map;
use super::{BatchTime, Gauge, ParamSource, ProbeContext, ProbeError, ProbeKind};
use crate::catalog;
use crate::plan::ProbeInfo;
use crate::record::Estimate;
use crate::units::show_bytes;

pub(super) struct Latency;

/// Distance between slots without a stride: one slot per cache line.
const LINE: usize = 64;
impl ProbeKind for Latency {
    const INFO: &'static ProbeInfo = &catalog::LATENCY;
    /// The size of the working set, and the stride.
    type Params = (usize, Option<usize>);

    fn params(source: &mut ParamSource) -> Option<Self::Params> {
        let stride = usize::try_from(source.number_or("stride", 0)?).ok()?;
        let bytes = usize::try_from(source.number("bytes")?).ok()?;
        // One slot is not a ring.
        (stride <= bytes).then_some((bytes, Some(stride).filter(|stride| *stride > 0)))
    }

    fn check((bytes, _): &Self::Params, context: &ProbeContext) -> Result<(), String> {
        context.check_memory(*bytes as u64)
    }

    fn estimate((bytes, stride): &Self::Params, context: &ProbeContext) -> Option<Estimate> {
        let mut caches: Vec<_> =
            context.host.caches.iter().filter(|cache| cache.kind != "instruction").collect();
        caches.sort_by_key(|cache| cache.size);
        let (low, high) = match caches
            .iter()
            .find(|cache| cache.size >= *bytes as u64)
            .map(|cache| (cache.level, cache.size))
        {
            Some((1, size)) => {
                return context.estimate_cycles(
                    3.0,
                    6.0,
                    &format!("the L1 cache of {} holds it", show_bytes(size)),
                );
            }
            Some((2, size)) => {
                return context.estimate_cycles(
                    if stride.is_some() { 3.0 } else { 11.0 },
                    20.0,
                    &format!("the L2 cache of {} holds it", show_bytes(size)),
                );
            }
            Some((level, size)) => {
                let low = if stride.is_some() { 3.0 } else { 30.0 };
                return context.estimate_cycles(
                    low,
                    90.0,
                    &format!(
                        "the L{level} cache of {} holds it; page walks add to that",
                        show_bytes(size)
                    ),
                );
            }
            None if stride.is_some() => (1.0, 150.0),
            None => (60.0, 200.0),
        };
        let why = match stride {
            Some(_) => {
                "no cache holds it; a prefetcher that detects the stride hides much of the memory \
                 latency"
            }
            None => "no cache holds it: 60-150 ns of memory latency, and a page walk",
        };
        Some(Estimate { low, high, reason: why.into() })
    }

    fn open(
        (bytes, stride): &Self::Params,
        context: &ProbeContext,
    ) -> Result<Box<dyn Gauge>, ProbeError> {
        let map = Map::anonymous(*bytes, false)?;
        map.touch();
        context.check_stop()?;
        Ok(Box::new(match stride {
            Some(stride) => {
                Loads(Ring::through(map, (0..bytes / stride).map(|place| place * stride)))
            }
            None => Loads(Ring::through(
                map,
                shuffled(bytes / LINE, *bytes as u64)
                    .into_iter()
                    .map(|place| place as usize * LINE),
            )),
        }))
    }
}

struct Loads(Ring);

impl Gauge for Loads {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        Ok(self.0.run(count))
    }

    fn evidence(&self) -> Vec<String> {
        vec![format!(
            "{} in pages of {}",
            show_bytes(self.0.bytes() as u64),
            show_bytes(super::map::page() as u64)
        )]
    }
}
