//! Keys of the target pane: browse folders, choose a file or the scratch file.

use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::keymap::Action;
use crate::msg::{Effect, Query};
use crate::plan::Plan;
use crate::setup::browser::{Browser, BrowserRow};
use crate::setup::state::{Setup, SetupPane};
use crate::view::Part;
use crate::view::list::move_cursor;

pub fn act(setup: &mut Setup, ctx: &mut Context, action: Action) -> Vec<Effect> {
    let page = ctx.hits.drawn(Part::Setup(SetupPane::Target)).page();
    let browser = &mut setup.browser;
    match action {
        _ if action.moves_rows() => {
            browser.cursor = move_cursor(browser.cursor, browser.rows.len(), action, page);
        }
        Action::Left => return open_parent(setup),
        Action::Right => return open(setup, ctx, false),
        Action::Enter => return open(setup, ctx, true),
        Action::Toggle => return choose(setup, ctx),
        Action::Mark => return mark(setup, ctx),
        Action::AsOne => return add_to_list(setup, ctx),
        _ => return Vec::new(),
    }
    inspect_cursor(setup)
}

/// Requests facts about the file under the cursor.
pub fn inspect_cursor(setup: &mut Setup) -> Vec<Effect> {
    setup.browser.next_inspection().map(|path| Effect::Ask(Query::Look(path))).into_iter().collect()
}

/// Requests the contents of a folder.
fn open_folder(setup: &mut Setup, dir: PathBuf) -> Vec<Effect> {
    let browser = &mut setup.browser;
    browser.filter = None;
    browser.typing = false;
    browser.error = None;
    browser.loading = Some(dir.clone());
    browser.build_rows();
    vec![Effect::Ask(Query::List(dir))]
}

fn open_parent(setup: &mut Setup) -> Vec<Effect> {
    match setup.browser.dir.parent().map(Path::to_path_buf) {
        Some(parent) => open_folder(setup, parent),
        None => Vec::new(),
    }
}

/// Opens the folder under the cursor; chooses a file only if `pick` is set.
fn open(setup: &mut Setup, ctx: &mut Context, pick: bool) -> Vec<Effect> {
    let browser = &setup.browser;
    let folder = browser.row().and_then(|row| browser.folder(row)).map(Path::to_path_buf);
    match folder {
        Some(dir) => open_folder(setup, dir),
        None if pick => choose(setup, ctx),
        None => Vec::new(),
    }
}

/// Chooses the row under the cursor as the target; on a folder, the scratch file in it.
fn choose(setup: &mut Setup, ctx: &mut Context) -> Vec<Effect> {
    let browser = &setup.browser;
    let Some(row) = browser.row() else { return Vec::new() };
    if let Some(why) = browser.objection() {
        ctx.fail(why);
        return Vec::new();
    }
    let path = browser.path(row).map(Path::to_path_buf);
    let is_folder = browser.folder(row).is_some();
    match path {
        Some(dir) if is_folder => {
            if !setup.picks {
                let shown = crate::text::show_path(&dir);
                ctx.note(format!("the scratch file will be created in {shown}"));
            }
            set_target(setup, ctx, None, Some(dir))
        }
        None => {
            let dir = setup.dir.clone();
            set_target(setup, ctx, None, dir)
        }
        file => set_target(setup, ctx, file, None),
    }
}

/// Returns the path under the cursor; without one, or if it cannot be a target, says why.
fn path_at_cursor(browser: &Browser, ctx: &mut Context, usage: &str) -> Option<PathBuf> {
    if let Some(why) = browser.objection() {
        ctx.fail(why);
        return None;
    }
    let path = browser.path(browser.row()?);
    if path.is_none() {
        ctx.note(usage);
    }
    path.map(Path::to_path_buf)
}

/// Adds the file or folder under the cursor to the targets of its kind, or removes it from them.
fn mark(setup: &mut Setup, ctx: &mut Context) -> Vec<Effect> {
    let browser = &setup.browser;
    let usage = "mark two files or more, or two folders, to compare them";
    let Some(path) = path_at_cursor(browser, ctx, usage) else { return Vec::new() };
    let is_folder = browser.row().and_then(|row| browser.folder(row)).is_some();
    let mut marked = match () {
        () if setup.as_one => Vec::new(),
        () if is_folder => setup.folders(),
        () => setup.files(),
    };
    match marked.iter().position(|own| browser.start.join(own) == path) {
        Some(index) => drop(marked.remove(index)),
        None if marked.len() == Plan::MAX_TARGETS => {
            ctx.note(format!("{} targets are the limit", Plan::MAX_TARGETS));
            return Vec::new();
        }
        None => marked.push(path),
    }
    if is_folder && marked.len() == 1 {
        ctx.note("mark a folder of another disk too: a scratch file in each is compared");
    }
    let mut marked = marked.into_iter();
    let first = marked.next();
    let (file, dir) = if is_folder { (None, first) } else { (first, setup.dir.clone()) };
    let chosen = ChosenTargets { file, others: marked.collect(), as_one: false, dir };
    set_targets(setup, ctx, chosen)
}

/// Adds the file or folder under the cursor to what is read as one, or removes it.
fn add_to_list(setup: &mut Setup, ctx: &mut Context) -> Vec<Effect> {
    let usage = "add files or folders: all of their files are read as one";
    let Some(path) = path_at_cursor(&setup.browser, ctx, usage) else { return Vec::new() };
    let mut listed = if setup.as_one { setup.files() } else { Vec::new() };
    match listed.iter().position(|own| setup.browser.start.join(own) == path) {
        Some(index) => drop(listed.remove(index)),
        None => listed.push(path),
    }
    setup.planning.run_when_ready |= std::mem::take(&mut setup.picks);
    set_targets(setup, ctx, ChosenTargets::as_one(listed))
}

/// Sets an existing file as the target, or the scratch file. If a question waits for a file, it is
/// measured at once; no other answers it.
pub fn set_target(
    setup: &mut Setup,
    ctx: &mut Context,
    file: Option<PathBuf>,
    dir: Option<PathBuf>,
) -> Vec<Effect> {
    if setup.picks && file.is_none() {
        ctx.note("pick a file");
        return Vec::new();
    }
    setup.planning.run_when_ready |= std::mem::take(&mut setup.picks);
    set_targets(setup, ctx, ChosenTargets { file, dir, ..ChosenTargets::default() })
}

/// The targets of a plan, as [`Setup`] has them.
#[derive(Debug, Default)]
pub struct ChosenTargets {
    pub file: Option<PathBuf>,
    pub others: Vec<PathBuf>,
    pub as_one: bool,
    pub dir: Option<PathBuf>,
}

impl ChosenTargets {
    /// Returns files and folders whose files are read as one; a scratch file without any.
    pub fn as_one(paths: Vec<PathBuf>) -> ChosenTargets {
        let as_one = !paths.is_empty();
        let mut paths = paths.into_iter();
        ChosenTargets { file: paths.next(), others: paths.collect(), as_one, dir: None }
    }
}

pub(super) fn set_targets(
    setup: &mut Setup,
    ctx: &mut Context,
    chosen: ChosenTargets,
) -> Vec<Effect> {
    setup.exists = chosen.file.is_some();
    setup.as_one = chosen.as_one;
    setup.file = chosen.file;
    setup.others = chosen.others;
    setup.dir = chosen.dir;
    setup.planning.pending.clear();
    let mut effects = setup.replan(ctx.now);
    effects.extend(inspect_cursor(setup));
    effects
}

/// Moves the cursor to the target if the list shows it, else, to pick a file, to the first entry.
pub fn find_target(setup: &mut Setup) {
    let rows = &setup.browser.rows;
    let is_entry = |row: &BrowserRow| matches!(row, BrowserRow::Entry(_));
    let is_target = |row: &BrowserRow| is_entry(row) && setup.target_index(*row).is_some();
    let first = || rows.iter().position(is_entry).filter(|_| setup.picks);
    let at = rows.iter().position(is_target).or_else(first);
    setup.browser.cursor = at.unwrap_or(setup.browser.cursor);
}
