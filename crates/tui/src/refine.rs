//! Adding rounds to a session that is shown: the ways to do it, and what is asked of the shell.

use crate::analysis::{Aim, FirstLook, Refinement, refine_cell, refinements};
use crate::export::What;
use crate::plan::{Plan, Settings, Until};
use crate::session::Session;
use crate::session_view::SessionView;
use crate::units::{self, show_about};

/// The measurement to plan.
#[derive(Debug, Clone, PartialEq)]
pub struct RefineRequest {
    pub what: What,
    pub settings: Settings,
    /// The only cell that gets trials, an index into the plan.
    pub cell: Option<u32>,
}

/// The ways to add rounds to a session, one of which is chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct RefineForm {
    what: What,
    pub ways: Vec<Refinement>,
    pub cursor: usize,
}

impl RefineForm {
    /// Creates the form for a session of which this cell is opened, if one is.
    ///
    /// # Errors
    /// Why no rounds can be added to it, in one line.
    pub fn new(view: &SessionView, open: Option<u32>) -> Result<RefineForm, &'static str> {
        let mut ways = refinements(&view.session, &view.results);
        if ways.is_empty() {
            return Err(describe_refusal(&view.session));
        }
        ways.splice(..0, open.map(|cell| refine_cell(&view.session, cell)));
        let what = if view.path.is_some() {
            What::Kept(view.session.id.clone())
        } else {
            What::Shown(view.session.clone().into())
        };
        Ok(RefineForm { what, ways, cursor: 0 })
    }

    /// Returns what the chosen way asks for.
    pub fn request(&self) -> Option<RefineRequest> {
        let way = self.ways.get(self.cursor)?;
        let settings = match way.aim {
            Aim::Trials(rounds) | Aim::Double(rounds) | Aim::Cell(_, rounds) => Settings {
                trials: Some(rounds),
                // The estimate is not to cut the rounds that were asked for.
                budget: Some(way.time.map_or(Plan::UNTIL_BUDGET, |time| {
                    (time * 4).max(Plan::BUDGET).min(time + Plan::UNTIL_BUDGET)
                })),
                ..Settings::default()
            },
            Aim::Interval(precision) => {
                Settings { until: Some(Until::Within(precision)), ..Settings::default() }
            }
        };
        let cell = if let Aim::Cell(cell, _) = way.aim { Some(cell) } else { None };
        Some(RefineRequest { what: self.what.clone(), settings, cell })
    }

    /// Returns the rows: what is reached, and about how long it takes.
    pub fn rows(&self) -> Vec<(String, String)> {
        let row = |way: &Refinement| {
            let aim = match way.aim {
                Aim::Cell(_, rounds) => {
                    format!("{} more trials of this cell alone", rounds)
                }
                Aim::Trials(_) => {
                    format!("{} of each cell", units::show_trials(Plan::ROUNDS as usize))
                }
                // A cell whose interval is narrow sits out some rounds.
                Aim::Double(rounds) => units::counted(2 * rounds as usize, "round"),
                Aim::Interval(precision) => {
                    format!("every interval \u{b1}{}", units::show_goal(f64::from(precision) / 1e4))
                }
            };
            let time = way.time.map_or_else(
                || "known after 5 trials of each".into(),
                |time| format!("about {}", show_about(time)),
            );
            (aim, time)
        };
        self.ways.iter().map(row).collect()
    }
}

/// Returns why no rounds can be added.
fn describe_refusal(session: &Session) -> &'static str {
    if session.reference.is_some() {
        "these figures are from a report: no rounds can be added"
    } else if session.trials.is_empty() {
        "this session has no trials of a file to add to"
    } else if session.plan.pick {
        "this run tried methods and measured one: run it again instead"
    } else if !session.plan.probes.is_empty() {
        "probes are measured in batches, not in rounds: run them again instead"
    } else {
        "this run used commands between its rounds, which are never run from a session"
    }
}

/// Describes the progress of a measurement: `first look: 2 trials of each`.
pub fn describe_first_look(look: &FirstLook) -> String {
    let trials = if look.least == look.most {
        units::show_trials(look.least)
    } else {
        format!("{} to {}", look.least, units::show_trials(look.most))
    };
    let missing = match look.missing {
        0 => String::new(),
        missing => {
            format!(", {missing} of {} not measured yet", units::counted(look.cells, "cell"))
        }
    };
    let few = if look.most < Plan::ROUNDS as usize || look.unfinished == look.missing {
        String::new()
    } else {
        format!(", {} under {}", units::counted(look.unfinished, "cell"), Plan::ROUNDS)
    };
    format!("first look: {trials} of each{few}{missing}")
}

/// Describes what the first way to go on reaches: `+70 s to 5 trials`.
pub fn describe_refinement(ways: &[Refinement]) -> Option<String> {
    let way = ways.first().filter(|way| matches!(way.aim, Aim::Trials(_)))?;
    let to = format!("to {}", units::show_trials(Plan::ROUNDS as usize));
    Some(match way.time {
        Some(time) => format!("+{} {to}", show_about(time)),
        None => to,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_reads_as_a_sentence() {
        let look =
            FirstLook { least: 2, most: 2, unfinished: 24, cells: 24, missing: 0, share: 0.4 };
        assert_eq!(describe_first_look(&look), "first look: 2 trials of each");
        let one = FirstLook { least: 1, most: 1, missing: 3, ..look };
        assert_eq!(
            describe_first_look(&one),
            "first look: 1 trial of each, 3 of 24 cells not measured yet"
        );
        let mixed = FirstLook { least: 1, most: 7, unfinished: 1, ..look };
        assert_eq!(
            describe_first_look(&mixed),
            "first look: 1 to 7 trials of each, 1 cell under 5"
        );
    }
}
