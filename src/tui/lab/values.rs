//! The values of a probe's parameters, typed as `--set` takes them.

use super::shown;
use crate::plan::{ProbeSet, check_sets, set_of};
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::popup::{Popup, Purpose};

/// Asks for the values of the probe under the cursor.
pub fn ask(model: &mut Model) {
    let lab = &model.lab;
    let Some(info) = lab.probe().and_then(|id| lab.info(id)) else {
        return model.toasts.note(model.now, "put the cursor on a probe to choose its values");
    };
    if info.params.is_empty() {
        return model.toasts.note(model.now, format!("{} has no values to choose", info.id));
    }
    let ranges: Vec<String> =
        info.params.iter().map(|param| format!("{} {}", param.name, param.range())).collect();
    let hint = format!(
        "as {0}=FROM..TO or {0}=A,B; {1}; empty: the usual",
        info.params[0].name,
        ranges.join(", ")
    );
    let sets = lab.choice.sets().unwrap_or_default();
    let said = info.params.iter().filter_map(|param| set_of(&sets, info.id, param.name));
    let known: Vec<String> = said.map(|set| format!("{}={}", set.name, set.values)).collect();
    model.popups.push(Popup::line(
        format!("Values of {}", info.id),
        hint,
        known.join(" "),
        Purpose::Values(info.id),
    ));
}

/// Takes the values of a probe; what was said of it before is gone.
///
/// # Errors
/// The text names no parameter of the probe, or a value that it does not have.
pub fn choose(model: &mut Model, id: &str, text: &str) -> Result<Vec<Effect>, String> {
    let Some(info) = model.lab.info(id) else { return Err(format!("there is no probe {id}")) };
    let parse = |word: &str| {
        word.parse::<ProbeSet>()
            .map(|set| ProbeSet { probe: set.probe.or_else(|| Some(id.into())), ..set })
    };
    let said: Vec<ProbeSet> = text
        .split_whitespace()
        .map(parse)
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    check_sets(&said, &[info]).map_err(|error| error.to_string())?;
    model.lab.choice.put_values(info, said);
    model.lab.arrange();
    Ok(shown(model))
}
