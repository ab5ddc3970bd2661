//! How the sessions of the list compare with the runs before them: loaded and compared one at a
//! time, for the visible rows.

use std::collections::HashMap;

use crate::session::{Listed, State};

/// The comparisons that are known.
#[derive(Debug, Default)]
pub struct Changes {
    /// By the ids of a session and of the run before it.
    known: HashMap<(String, String), Option<f64>>,
    /// The one that is being made.
    asked: Option<(String, String)>,
}

impl Changes {
    /// Returns the ratio of the throughput of a session to that of the run before it; `None` where
    /// it is unknown or there is no difference.
    pub fn ratio(&self, id: &str, before: &str) -> Option<f64> {
        self.known.get(&(id.to_string(), before.to_string())).copied().flatten()
    }

    /// Chooses the next pair to compare; `None` while one is being compared.
    pub fn ask<'a>(
        &mut self,
        mut pairs: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Option<(String, String)> {
        if self.asked.is_some() {
            return None;
        }
        self.asked = pairs.find_map(|(id, before)| {
            let pair = (id.to_string(), before.to_string());
            (!self.known.contains_key(&pair)).then_some(pair)
        });
        self.asked.clone()
    }

    pub fn take(&mut self, id: String, before: String, ratio: Option<f64>) {
        self.asked = None;
        self.known.insert((id, before), ratio);
    }
}

/// Returns, for each session of a list with the newest first, the id of the run before it of the
/// same kind on the same target, with as many cells.
pub fn runs_before(all: &[Listed]) -> Vec<Option<String>> {
    let mut last: HashMap<(&str, &str, u64), &str> = HashMap::new();
    let mut before: Vec<Option<String>> = all
        .iter()
        .rev()
        .map(|listed| {
            let has_result = listed.measured.is_some_and(|measured| measured > 0);
            if listed.state == State::Reference || !has_result {
                return None;
            }
            let kind = (&*listed.target, &*listed.label, listed.cells);
            last.insert(kind, &listed.id).map(String::from)
        })
        .collect();
    before.reverse();
    before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::sessions::tests::four;

    #[test]
    fn the_run_before_has_the_same_target_and_label_and_as_many_cells() {
        let mut all = four();
        for at in [0, 2, 3] {
            (all[at].target, all[at].label) = ("/a/one.bin".into(), "one.bin · read".into());
            all[at].cells = 3;
        }
        let ids: Vec<String> = all.iter().map(|one| one.id.clone()).collect();
        assert_eq!(runs_before(&all), [Some(ids[2].clone()), None, Some(ids[3].clone()), None]);
        all[2].cells = 6;
        assert_eq!(runs_before(&all), [Some(ids[3].clone()), None, None, None]);
        all[2].cells = 3;
        all[2].measured = Some(0);
        assert_eq!(runs_before(&all)[0], Some(ids[3].clone()));
    }

    #[test]
    fn one_is_compared_at_a_time_and_each_once() {
        let mut changes = Changes::default();
        let pairs = [("b", "a"), ("c", "b")];
        assert_eq!(changes.ask(pairs.into_iter()), Some(("b".into(), "a".into())));
        assert_eq!(changes.ask(pairs.into_iter()), None);
        changes.take("b".into(), "a".into(), Some(0.5));
        assert_eq!(changes.ratio("b", "a"), Some(0.5));
        assert_eq!(changes.ask(pairs.into_iter()), Some(("c".into(), "b".into())));
        changes.take("c".into(), "b".into(), None);
        assert_eq!((changes.ask(pairs.into_iter()), changes.ratio("c", "b")), (None, None));
    }
}
