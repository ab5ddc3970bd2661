//! The open targets of a run: one, or several whose cells are measured in the same rounds.

use super::error::EngineError;
use super::target::OpenTarget;
use crate::plan::{Job, Plan, TargetSpec};
use crate::record::TargetEvidence;
use crate::sys::fill::Progress;

/// The targets of a plan, of which at least one is open.
#[derive(Debug)]
pub(super) struct Targets {
    /// The first that is open.
    main: OpenTarget,
    main_index: usize,
    /// The others with their indexes, or why they are not open.
    others: Vec<(usize, Result<OpenTarget, String>)>,
}

impl Targets {
    /// Opens or creates the targets of `plan`. `progress` receives the bytes written so far and may
    /// end the filling early; `stop` aborts it.
    ///
    /// # Errors
    /// It was stopped, or no target could be opened.
    pub fn open(
        plan: &Plan,
        stop: &dyn Fn() -> bool,
        progress: Progress,
    ) -> Result<Targets, EngineError> {
        let (mut main, mut others, mut first_error) = (None, Vec::new(), None);
        let mut filled_before = 0;
        for (index, spec) in plan.targets().enumerate() {
            let opened =
                OpenTarget::open(plan, spec, stop, &mut |bytes| progress(filled_before + bytes));
            filled_before += if spec.is_ours() { spec.size() } else { 0 };
            match opened {
                Err(EngineError::Stopped) => return Err(EngineError::Stopped),
                Ok(open_target) if main.is_none() => main = Some((index, open_target)),
                Ok(open_target) => others.push((index, Ok(open_target))),
                Err(error) => {
                    others.push((index, Err(error.to_string())));
                    first_error.get_or_insert(error);
                }
            }
        }
        match main {
            Some((main_index, main)) => Ok(Targets { main, main_index, others }),
            None => Err(first_error.unwrap_or(EngineError::NoFile)),
        }
    }

    /// Returns the first target that is open.
    pub fn main(&self) -> &OpenTarget {
        &self.main
    }

    /// Returns the target of a job; the main one where that is not open.
    pub fn of(&self, job: &Job) -> &OpenTarget {
        let other = self.find(job).and_then(|found| found.as_ref().ok());
        other.unwrap_or(&self.main)
    }

    /// Returns why the target of a job is not open.
    pub fn error_of(&self, job: &Job) -> Option<&str> {
        self.find(job)?.as_ref().err().map(String::as_str)
    }

    fn find(&self, job: &Job) -> Option<&Result<OpenTarget, String>> {
        let index = job.target_index();
        self.others.iter().find(|(other, _)| *other == index).map(|(_, found)| found)
    }

    /// Returns the facts about each target of the plan, of which `span` bytes are used; nothing is
    /// known of those that are not open.
    pub fn evidence(&self, plan: &Plan, span: u64) -> Vec<TargetEvidence> {
        let mut all: Vec<Option<&OpenTarget>> =
            self.others.iter().map(|(_, found)| found.as_ref().ok()).collect();
        all.insert(self.main_index.min(all.len()), Some(&self.main));
        let evidence = |(open_target, spec): (Option<&OpenTarget>, &TargetSpec)| {
            open_target.map_or_else(TargetEvidence::default, |open_target| TargetEvidence {
                ours: spec.is_ours(),
                device_counted: open_target.device_counted,
                ..open_target.facts.evidence(span, open_target.extents.as_ref())
            })
        };
        all.into_iter().zip(plan.targets()).map(evidence).collect()
    }

    /// Returns the targets that are open.
    pub fn iter(&self) -> impl Iterator<Item = &OpenTarget> {
        let others = self.others.iter().filter_map(|(_, found)| found.as_ref().ok());
        std::iter::once(&self.main).chain(others)
    }

    /// Applies `change` to each open target.
    pub fn for_each_mut(&mut self, mut change: impl FnMut(&mut OpenTarget)) {
        let others = self.others.iter_mut().filter_map(|(_, found)| found.as_mut().ok());
        std::iter::once(&mut self.main).chain(others).for_each(&mut change);
    }
}

#[cfg(test)]
impl From<OpenTarget> for Targets {
    fn from(main: OpenTarget) -> Targets {
        Targets { main, main_index: 0, others: Vec::new() }
    }
}
