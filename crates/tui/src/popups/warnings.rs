//! The warnings by kind, with what helps against the selected one.

use std::borrow::Cow;

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;

use super::window::Window;
use super::{After, KeyNames, Layer};
use crate::analysis::name_cells;
use crate::keymap::Action;
use crate::model::Model;
use crate::popup::{Popup, WarningList};
use crate::screen::Screen;
use crate::spoken::speak;
use crate::theme::{Look, Role};
use crate::update::act::act;
use crate::update::navigate::go;
use crate::update::screens::with_screens;
use crate::view::list::List;
use crate::view::{findings, pane};
use crate::vocabulary::{APPROXIMATE, FINE};
use crate::warning_groups::{Fix, WarningGroup};
use crate::{setup, units};

impl Layer for WarningList {
    fn footer(&self, model: &Model) -> KeyNames {
        if model.warnings().get(self.cursor).is_some_and(|group| group.fix().is_some()) {
            &[("enter", "remedy"), ("down", "next"), ("esc", "close")]
        } else {
            &[("down", "next"), ("esc", "close")]
        }
    }

    fn opened_by(&self) -> Option<Action> {
        Some(Action::Warnings)
    }

    fn row(&mut self) -> Option<&mut usize> {
        Some(&mut self.cursor)
    }

    /// Adds rounds, or shows the setting on Setup.
    fn choose(&mut self, model: &mut Model) -> After {
        let Some(fix) = model.warnings().get(self.cursor).and_then(WarningGroup::fix) else {
            return After::Stay(Vec::new());
        };
        let effects = match fix {
            Fix::Rounds => act(model, Action::Refine),
            Fix::Setting(name) => {
                let plan = model.warned_plan().cloned();
                let mut effects = go(model, Screen::Setup);
                if let Some(plan) = plan {
                    effects.extend(with_screens(model, |screens, ctx| {
                        setup::open_plan(screens.setup, ctx, &plan)
                    }));
                }
                setup::show_setting(&mut model.setup, name);
                effects
            }
        };
        After::Close(effects)
    }

    fn window(&self, model: &Model, body: Rect) -> Option<Window> {
        let (look, groups) = (&model.look, model.warnings());
        let columns = body.width.saturating_sub(4).min(96);
        let width = usize::from(columns.saturating_sub(4));
        let text = groups
            .get(self.cursor)
            .map_or_else(Vec::new, |group| warning_lines(model, group, width));
        let rows = (groups.len().max(1) + text.len()) as u16 + 3;
        let area = pane::middle(body, columns, rows);
        let inner = pane::inside(area);
        let below = (text.len() as u16).min(inner.height.saturating_sub(2));
        let [list, _, notes] = Layout::vertical([
            Constraint::Min(1),
            Constraint::Length(1),
            Constraint::Length(below),
        ])
        .areas(inner);
        let line = |group| summary_line(look, group, usize::from(list.width));
        let lines = groups.iter().map(line).collect();
        let list = List::around(self.cursor, groups.len(), list);
        Some(Window {
            empty: look.line(Role::Good, format!(" {} no warnings", FINE.on(look))),
            notes: (text, notes),
            ..Window::new("Warnings", area, list, Some(self.cursor), lines)
        })
    }
}

fn summary_line(look: &Look, group: &WarningGroup, width: usize) -> Line<'static> {
    let (role, sign) = match group.example.is_unfinished() {
        true => (Role::Dim, APPROXIMATE.on(look)),
        false => findings::severity(look, group.example.severity),
    };
    let count = match group.counted().len() {
        _ if group.is_everywhere() => "all cells".to_string(),
        count => units::counted(count, "cell"),
    };
    Line::from(vec![
        look.span(role, format!(" {sign} ")),
        look.span(Role::Dim, format!("{count:<10}")),
        look.span(Role::Text, pane::fit(&group.words, width.saturating_sub(14))),
    ])
}

/// Builds which cells have it, the finding, its evidence, and the remedy with the key that does it.
fn warning_lines(model: &Model, group: &WarningGroup, width: usize) -> Vec<Line<'static>> {
    let (look, warning) = (&model.look, &group.example);
    let mut lines = Vec::new();
    let texts = [
        (warning.message.clone(), Role::Text),
        (warning.evidence.clone(), Role::Dim),
        (speak(&warning.remedy.text), Role::Text),
    ];
    for (text, role) in texts.into_iter().filter(|(text, _)| !text.is_empty()) {
        lines.extend(pane::paragraph(look, role, " ", &text, width));
    }
    if !group.is_everywhere() {
        let cells = model.warned_session().map_or(&[][..], |session| &session.plan.cells);
        let names = name_cells(cells, group.counted()).join("; ");
        let names = pane::fit_words(&names, width.saturating_sub(1));
        lines.insert(0, look.line(Role::Title, format!(" {names}")));
    }
    let action = match group.fix() {
        Some(Fix::Rounds) => "adds rounds to this session".to_string(),
        Some(Fix::Setting(name)) => {
            let with = match model.warned_plan() {
                Some(_) => "with the plan of this session",
                None => "for the next run",
            };
            format!("shows {} on Setup, {with}", speak(&format!("--{name}")))
        }
        None => return lines,
    };
    lines.push(Line::from(vec![
        look.span(Role::Key, " enter "),
        look.span(Role::Text, pane::fit(&action, width.saturating_sub(7))),
    ]));
    lines
}

/// Returns the kind of warning under the cursor, if they are on top.
pub fn warning_in_view(model: &Model) -> Option<Cow<'static, str>> {
    let Some(Popup::Warnings(WarningList { cursor })) = model.popups.last() else { return None };
    model.warnings().into_iter().nth(*cursor).map(|group| group.example.id)
}

/// Keeps the cursor on a kind of warning: during a run their order changes.
pub fn stay_on_warning(model: &mut Model, id: &str) {
    let place = model.warnings().iter().position(|group| group.example.id == id);
    if let (Some(place), Some(Popup::Warnings(WarningList { cursor }))) =
        (place, model.popups.last_mut())
    {
        *cursor = place;
    }
}
