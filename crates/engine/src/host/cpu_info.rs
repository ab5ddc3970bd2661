//! /proc/cpuinfo.

use std::collections::BTreeSet;

use super::root::Root;
use crate::facts::clean;

/// The paragraph of the first CPU in /proc/cpuinfo, and the number of CPUs.
pub(super) struct Info {
    fields: Vec<(String, String)>,
    pub processors: usize,
}

impl Info {
    pub(super) fn read(root: &Root) -> Info {
        Info::parse(&root.text("/proc/cpuinfo").unwrap_or_default())
    }

    pub(super) fn parse(text: &str) -> Info {
        let processors = text.lines().filter(|line| line.starts_with("processor")).count();
        fn pair(line: &str) -> Option<(String, String)> {
            line.split_once(':')
                .map(|(name, value)| (name.trim().to_string(), value.trim().to_string()))
        }
        let fields = text
            .trim_start()
            .lines()
            .take_while(|line| !line.trim().is_empty())
            .filter_map(pair)
            .collect();
        Info { fields, processors }
    }

    fn raw(&self, name: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(known, value)| known.eq_ignore_ascii_case(name) && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }

    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.raw(name).map(clean)
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.raw(name)?.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0)
    }

    /// Returns the CPU flags: `flags` on x86, `Features` on Arm.
    pub(super) fn flags(&self) -> BTreeSet<&str> {
        self.raw("flags")
            .or_else(|| self.raw("features"))
            .unwrap_or_default()
            .split_ascii_whitespace()
            .collect()
    }
}
