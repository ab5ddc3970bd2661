//! The keys and the clock of a replay.

use std::time::Duration;

use super::replay::Replay;
use super::state::Live;
use crate::context::{Context, Request};
use crate::keymap::Action;
use crate::msg::{Effect, ReplayInput};
use crate::screen::Screen;
use crate::view::Target;

/// Begins a replay; the last picture of a run stays behind it.
pub fn begin_replay(
    live: &mut Live,
    now: Duration,
    input: ReplayInput,
    from: Screen,
) -> Vec<Effect> {
    let replay = Replay::new(input, from, now);
    let title = title(&replay);
    live.reset_view();
    live.shows_heat = replay.run().view.plan.watch;
    live.replay = Some(replay);
    vec![title]
}

/// Ends the replay.
pub fn end_replay(live: &mut Live) -> Option<Replay> {
    live.reset_view();
    live.replay.take()
}

/// Follows the clock while the replay is seen.
pub fn tick(live: &mut Live, ctx: &mut Context) -> Vec<Effect> {
    let Live { replay: Some(replay), .. } = live else { return Vec::new() };
    if ctx.screen != Screen::Live {
        replay.wait(ctx.now);
        return Vec::new();
    }
    replay.advance(ctx.now);
    end_played(replay, ctx);
    Vec::new()
}

/// Leads to the results once all is played; a pause at the end leaves the way back open.
fn end_played(replay: &Replay, ctx: &mut Context) {
    if replay.is_over() && !replay.is_paused {
        ctx.request(Request::EndReplay { shows_results: true });
    }
}

/// Does an action of a replay; `None`: it has no other meaning in a replay.
pub fn act(live: &mut Live, ctx: &mut Context, action: Action) -> Option<Vec<Effect>> {
    let Live { replay: Some(replay), .. } = live else { return None };
    // The time until the key counts at the speed before it.
    replay.advance(ctx.now);
    match action {
        Action::Pause => replay.is_paused = !replay.is_paused,
        Action::Slower => replay.speed = replay.speed.slower(),
        Action::Faster => replay.speed = replay.speed.faster(),
        Action::Left => replay.step(false),
        Action::Right => replay.step(true),
        Action::Top => replay.seek_share(0.0),
        Action::Bottom => replay.seek_share(1.0),
        Action::Stop => ctx.request(Request::EndReplay { shows_results: true }),
        Action::Back => ctx.request(Request::EndReplay { shows_results: false }),
        // They are for a run, or for the last one.
        Action::Skip | Action::Freeze | Action::Refine => {}
        _ => return None,
    }
    if !matches!(action, Action::Back | Action::Stop) {
        end_played(replay, ctx);
    }
    Some(vec![title(replay)])
}

/// Handles a click: on the bar of a replay it goes there.
pub fn click(live: &mut Live, ctx: &mut Context, target: Target) -> Vec<Effect> {
    if let (Some(replay), Target::Replay(column, last)) = (&mut live.replay, target) {
        replay.wait(ctx.now);
        replay.seek_share(f64::from(column) / f64::from(last));
        end_played(replay, ctx);
    }
    Vec::new()
}

fn title(replay: &Replay) -> Effect {
    Effect::Title(format!("iotui {}: {}", replay.describe(), replay.name()))
}
