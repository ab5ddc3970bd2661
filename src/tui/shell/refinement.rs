//! Plans further rounds of a session.

use super::look_up;
use crate::host::Host;
use crate::runner;
use crate::tui::export::What;
use crate::tui::new_run::NewRun;
use crate::tui::refine::RefineRequest;
use crate::tui::spoken::speak;

/// Returns the plan that continues a session on this machine, or why it cannot be continued, in one
/// line.
pub fn plan(request: &RefineRequest) -> Result<NewRun, String> {
    let loaded;
    let session = match &request.what {
        What::Shown(session) => &**session,
        What::Kept(id) => {
            loaded = look_up::load(id)?;
            &loaded
        }
        What::LoadedComparison(_) => return Err("a comparison has no rounds".into()),
    };
    let planned = runner::refine(session, &request.settings, &Host::collect());
    let (plan, earlier) = planned.map_err(|error| speak(&error.to_string()))?;
    let name = Some(session.name.clone()).filter(|name| !name.is_empty());
    Ok(NewRun { name, earlier: earlier.into(), ..look_up::new_run(plan) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Settings;
    use crate::session::testing;

    #[test]
    fn a_refusal_names_keys_not_options() {
        let session = testing::session(1);
        let what = What::Shown(session.into());
        let refused = plan(&RefineRequest { what, settings: Settings::default() }).unwrap_err();
        assert!(refused.contains("press r") && !refused.contains("--"), "{refused}");
    }
}
