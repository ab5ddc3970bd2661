//! Setup: which file, what to do with it, and the plan that comes of it.

use std::path::PathBuf;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use tui_input::Input;

use super::keymap::Action;
use super::model::Model;
use super::msg::{Effect, Msg};
use super::remember::Remembered;
use super::theme::Role;
use super::update;
use super::view::pane;
use crate::engine::Proposed;
use crate::host::TargetFacts;
use crate::plan::{Preset, Settings};
use crate::record::Warning;

/// What a folder holds.
#[derive(Debug)]
pub struct Listing {
    pub dir: PathBuf,
    pub result: Result<Vec<Entry>, String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub path: PathBuf,
    pub name: String,
    pub folder: bool,
    pub size: u64,
}

/// What was found out about a file.
#[derive(Debug)]
pub struct Seen {
    pub path: PathBuf,
    pub result: Result<Box<TargetFacts>, String>,
}

/// What a plan is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Answers to older questions are of no use.
    pub number: u64,
    /// `None`: a scratch file.
    pub file: Option<PathBuf>,
    pub dir: Option<PathBuf>,
    pub preset: Preset,
    pub settings: Settings,
}

#[derive(Debug)]
pub struct Setup {
    pub file: Option<PathBuf>,
    pub dir: Option<PathBuf>,
    pub settings: Settings,
    pub preset: Preset,
    number: u64,
    proposed: Option<Result<Box<Proposed>, String>>,
    findings: Option<Vec<Warning>>,
    /// `r` was pressed before the plan was there.
    eager: bool,
}

impl Setup {
    pub fn new(file: Option<PathBuf>, dir: Option<PathBuf>, preset: Preset, settings: Settings) -> Setup {
        Setup { file, dir, settings, preset, number: 0, proposed: None, findings: None, eager: false }
    }

    pub fn findings(&self) -> Option<&[Warning]> {
        self.findings.as_deref()
    }

    /// What is known about the chosen target.
    pub fn facts(&self) -> Option<&TargetFacts> {
        self.proposed.as_ref()?.as_ref().ok().map(|proposed| &proposed.facts)
    }

    /// Asks for the plan of what is chosen now.
    pub fn ask(&mut self) -> Effect {
        self.number += 1;
        Effect::Propose(Box::new(self.question()))
    }

    fn question(&self) -> Question {
        Question {
            number: self.number,
            file: self.file.clone(),
            dir: self.dir.clone(),
            preset: self.preset.clone(),
            settings: self.settings.clone(),
        }
    }
}

/// The target for the first line.
pub fn target(model: &Model) -> String {
    match &model.setup.file {
        Some(path) => path.display().to_string(),
        None => "scratch file".into(),
    }
}

pub fn remember(model: &Model) -> Effect {
    Effect::Remember(Box::new(Remembered {
        settings: model.setup.settings.clone(),
        theme: Some(model.look.theme.id.into()),
        ..Remembered::default()
    }))
}

pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    match action {
        Action::Run => run(model),
        _ => Vec::new(),
    }
}

fn run(model: &mut Model) -> Vec<Effect> {
    match &model.setup.proposed {
        Some(Ok(proposed)) => {
            let plan = proposed.plan.clone();
            update::run::start(model, plan.into())
        }
        Some(Err(why)) => {
            let why = why.clone();
            model.toasts.failed(model.now, why);
            Vec::new()
        }
        None => {
            model.setup.eager = true;
            Vec::new()
        }
    }
}

pub fn told(model: &mut Model, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Proposed { number, result, findings } if number == model.setup.number => {
            model.setup.proposed = Some(result);
            model.setup.findings = Some(findings);
            if std::mem::take(&mut model.setup.eager) { run(model) } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}

pub fn field(_: &mut Setup) -> Option<&mut Input> {
    None
}

pub fn typed(_: &mut Model) -> Vec<Effect> {
    Vec::new()
}

pub fn back(_: &mut Model) -> bool {
    false
}

pub fn clicked(_: &mut Model, _: Rect, _: Position) -> Vec<Effect> {
    Vec::new()
}

pub fn preset(model: &mut Model, index: usize) -> Vec<Effect> {
    if let Some(preset) = model.presets.get(index) {
        model.setup.preset = preset.clone();
        return vec![model.setup.ask()];
    }
    Vec::new()
}

pub fn save_preset(model: &mut Model, id: &str) -> Result<Vec<Effect>, String> {
    Ok(vec![Effect::SavePreset { id: id.into(), question: Box::new(model.setup.question()) }])
}

pub fn set_text(model: &mut Model, name: &str, text: &str) -> Result<Vec<Effect>, String> {
    model.setup.settings.set(name, text).map_err(|e| e.to_string())?;
    Ok(vec![model.setup.ask()])
}

pub fn draw(model: &Model, area: Rect, buf: &mut Buffer) {
    let inner = pane::frame(&model.look, "Plan", "", true, area, buf);
    let text = match &model.setup.proposed {
        None => "...".into(),
        Some(Err(why)) => why.clone(),
        Some(Ok(proposed)) => format!("{} cells", proposed.plan.cells.len()),
    };
    pane::line(ratatui::text::Line::styled(text, model.look.style(Role::Text)), 0, inner, buf);
}
