//! The CPUs that threads are pinned to (`--cpus`).

use std::fmt;
use std::str::FromStr;

use super::setting_text::bad;
use super::{Job, SettingError};

/// CPUs in the order in which threads get them: `0,2-3`. At least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuList(Vec<u32>);

impl CpuList {
    /// No kernel has more.
    const MAX_CPU: u32 = 1 << 16;

    /// Returns a list of these CPUs; `None` for an empty one.
    pub fn from_cpus(cpus: impl Iterator<Item = u32>) -> Option<CpuList> {
        Some(CpuList(cpus.collect())).filter(|list| !list.0.is_empty())
    }

    /// Returns the CPU of a lane; lanes after the last CPU begin with the first again.
    pub fn of_lane(&self, lane: u32) -> u32 {
        self.0[lane as usize % self.0.len()]
    }

    /// Returns each CPU once, ascending.
    pub fn distinct(&self) -> Vec<u32> {
        let mut cpus = self.0.clone();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }
}

impl FromStr for CpuList {
    type Err = SettingError;
    fn from_str(text: &str) -> Result<CpuList, SettingError> {
        match parse(text) {
            Some(cpus) => Ok(CpuList(cpus)),
            None => bad(text, "a list of CPUs, such as 0,2-3"),
        }
    }
}

fn parse(text: &str) -> Option<Vec<u32>> {
    let number = |text: &str| {
        let cpu = text.trim().parse::<u32>().ok();
        cpu.filter(|cpu| *cpu < CpuList::MAX_CPU)
    };
    let mut cpus = Vec::new();
    for item in text.split(',') {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last) = (number(first)?, number(last)?);
        cpus.extend(first..=last);
        if first > last || cpus.len() > Job::MAX_THREADS as usize {
            return None;
        }
    }
    Some(cpus)
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let runs = self.0.chunk_by(|cpu, next| *next == cpu + 1);
        for (at, run) in runs.enumerate() {
            let comma = if at > 0 { "," } else { "" };
            match run {
                [first, .., last] => write!(f, "{comma}{first}-{last}")?,
                _ => write!(f, "{comma}{}", run[0])?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> CpuList {
        text.parse().unwrap()
    }

    #[test]
    fn lists_parse_and_print_alike() {
        for (text, shown, cpus) in [
            ("0", "0", &[0][..]),
            ("0,2-4", "0,2-4", &[0, 2, 3, 4]),
            (" 3 , 1 ", "3,1", &[3, 1]),
            ("0,1,2", "0-2", &[0, 1, 2]),
            ("1,1,0", "1,1,0", &[1, 1, 0]),
            ("65535", "65535", &[65_535]),
        ] {
            assert_eq!(list(text).0, cpus, "{text}");
            assert_eq!(list(text).to_string(), shown);
            assert_eq!(list(shown), list(text));
            let json = serde_json::to_string(&list(text)).unwrap();
            assert_eq!(serde_json::from_str::<CpuList>(&json).unwrap(), list(text));
        }
    }

    #[test]
    fn other_lists_are_refused() {
        for text in [
            "",
            ",",
            "0,",
            "x",
            "-1",
            "1-",
            "3-1",
            "1-2-3",
            "0.5",
            "65536",
            "99999999999",
            "0-65535",
            "0-4294967295",
            "all",
        ] {
            let error = text.parse::<CpuList>().unwrap_err().to_string();
            assert!(error.contains("a list of CPUs, such as 0,2-3"), "{text}: {error}");
        }
        assert_eq!(list("0-1023").distinct().len(), 1024);
    }

    #[test]
    fn lanes_take_turns() {
        let cpus = list("3,0-1");
        let of_lanes: Vec<u32> = (0..7).map(|lane| cpus.of_lane(lane)).collect();
        assert_eq!(of_lanes, [3, 0, 1, 3, 0, 1, 3]);
        assert_eq!(list("3,0-1,3").distinct(), [0, 1, 3]);
    }
}
