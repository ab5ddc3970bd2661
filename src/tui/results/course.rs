//! The course of a cell's trials, interval by interval: a session in memory does not hold it, so it
//! is read when a cell is opened.

use std::path::{Path, PathBuf};

use crate::record::Sample;
use crate::session::Samples;
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::screen::Screen;

/// More intervals than this are not drawn: neighbours become one.
const MOST: usize = 2000;

/// What was done of a result, trial by trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    pub result: usize,
    /// Of each trial that has any.
    pub trials: Vec<Vec<Sample>>,
}

impl Course {
    fn of(result: usize, samples: Vec<Samples>) -> Course {
        let trials: Vec<Vec<Sample>> = samples
            .into_iter()
            .map(|(.., samples)| samples)
            .filter(|own| !own.is_empty())
            .collect();
        let each = (MOST / trials.len().max(1)).max(1);
        let merged = |own: Vec<Sample>| {
            let together = own.len().div_ceil(each).max(1);
            own.chunks(together)
                .filter_map(|some| some.iter().copied().reduce(|a, b| a.with(&b)))
                .collect()
        };
        Course { result, trials: trials.into_iter().map(merged).collect() }
    }
}

/// The cell of a session's file, and the result that is of it.
#[derive(Debug)]
struct Asked {
    path: PathBuf,
    cell: u32,
    result: usize,
}

/// What is known of the courses, and asked.
#[derive(Debug, Default)]
pub struct Courses {
    last: Option<Course>,
    /// What was asked for, until the answer comes.
    asked: Option<Asked>,
}

impl Courses {
    pub fn of(&self, result: usize) -> Option<&Course> {
        self.last.as_ref().filter(|course| course.result == result)
    }
}

/// Asks for the course of the opened cell. One at a time, and never beside a run: reading files
/// would be measured with it.
pub fn ask(model: &mut Model) -> Option<Effect> {
    if model.screen != Screen::Results || model.running() {
        return None;
    }
    let results = &mut model.results;
    let (data, open) = (results.data.as_ref()?, results.open?);
    if results.courses.asked.is_some() || results.courses.of(open.result).is_some() {
        return None;
    }
    let (path, cell) = (data.shown.path.clone()?, data.cell_of(open.result)?);
    results.courses.asked = Some(Asked { path: path.clone(), cell, result: open.result });
    Some(Effect::Course { path, cell })
}

/// The course of what was asked for. Where it cannot be read nothing is shown: all else of the cell
/// is there.
pub fn told(model: &mut Model, path: &Path, cell: u32, samples: Vec<Samples>) {
    let courses = &mut model.results.courses;
    // Another session may be shown by now.
    if let Some(asked) = courses.asked.take_if(|asked| asked.path == path && asked.cell == cell) {
        courses.last = Some(Course::of(asked.result, samples));
    }
}
