//! Reads a session as a person would: each sentence next to the points that it is about, and next
//! to the other sentences. The figures are computed again from the trials, by other means than
//! the functions behind the sentences: plain medians, and counted pairs of trials.
//!
//! `IOTUI_SESSIONS=FOLDER cargo test -p iotui-data sentences::` also reads the sessions of a
//! folder.

mod figures;

use std::path::Path;

use self::figures::{first_number, first_rate, is_sound, last_rate, pairs, rate, times};

use super::table;
use super::{Look, testing};
use crate::analysis::{
    Answer, Bounds, CellResult, Glance, Knee, Limit, LimitCause, answer_with, explain_limits,
    glance, probes, results,
};
use crate::plan::Job;
use crate::record::Trial;
use crate::session::{self, Session};
use crate::stats::median;

/// Close to the peak, as sentences mean it.
const PEAK_SHARE: f64 = 0.95;

/// A session with its sentences.
struct Reading {
    results: Vec<CellResult>,
    answer: Answer,
    glance: Glance,
    limits: Vec<Option<LimitCause>>,
    /// The report in text, a paragraph in each line.
    page: String,
    complaints: Vec<String>,
}

/// Returns every disagreement of the sentences of a session with its points, or with each other.
fn read(session: &Session) -> Vec<String> {
    let results = results(session);
    let probes = probes(session);
    let answer = answer_with(session, &results, &probes);
    let glance = glance(session, &results, &probes, &answer);
    let limits = explain_limits(&results, |job| Bounds::of_job(session, job)).limits;
    let mut page = Vec::new();
    let look = Look { width: 1 << 20, ..Look::default() };
    (table::FORMAT.write)(session, &look, &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let complaints = Vec::new();
    let mut reading = Reading { results, answer, glance, limits, page, complaints };
    reading.check_best();
    reading.check_knees();
    reading.check_cold();
    reading.check_glance();
    reading.check_limits();
    reading.check_warnings();
    reading.check_sources();
    reading.check_counts();
    reading.check_factors();
    reading.complaints
}

impl Reading {
    fn complain(&mut self, what: impl Into<String>) {
        self.complaints.push(what.into());
    }

    fn find(&self, job: &Job) -> Option<&CellResult> {
        self.results.iter().find(|result| result.cell == *job)
    }

    /// The figure of the fastest cell is its own, what is named as equal is, and what is left out
    /// is slower.
    fn check_best(&mut self) {
        let bests: Vec<_> = self.answer.best.iter().chain(&self.answer.also).cloned().collect();
        for best in bests.iter().filter(|best| best.wrong.is_none()) {
            let name = best.cell.label();
            let Some(top) = self.find(&best.cell).cloned() else { continue };
            let Some(figure) = rate(&top) else { continue };
            let shown = match best.throughput {
                Some(_) => best.precision().rate(figure),
                None => best.precision().count(figure),
            };
            let is_stated = self.answer.text.contains("Fastest") || self.results.len() == 1;
            let stepped = top.level_change.as_ref().is_some_and(|change| change.is_large());
            if is_stated && !stepped && !self.answer.text.contains(&shown) {
                self.complain(format!("{name}: the median {shown} is not in the answer"));
            }
            for job in &best.alike {
                let by = self.find(job).and_then(|other| times(other, &top));
                if by.is_some_and(|by| !(0.95..=1.0527).contains(&by)) {
                    self.complain(format!(
                        "{}: {by:?} of {name} counts as no difference",
                        job.label()
                    ));
                }
            }
            for job in &best.no_difference {
                let of_pairs = self.find(job).map(|other| pairs(other, &top)).unwrap_or_default();
                let far = of_pairs.iter().all(|by| *by < PEAK_SHARE);
                if of_pairs.len() >= 8 && far {
                    self.complain(format!("{}: slower than {name} in each pair", job.label()));
                }
            }
            let kind = |job: &Job| (job.op, best.throughput.is_some());
            let others = self.results.iter().filter(|other| {
                kind(&other.cell) == kind(&top.cell)
                    && other.throughput.is_some() == top.throughput.is_some()
                    && is_sound(other)
                    && other.counted_trials().len().min(top.counted_trials().len()) >= 5
                    && other.cell != top.cell
                    && Job { count: None, ..other.cell.clone() }
                        != Job { count: None, ..top.cell.clone() }
                    && !best.no_difference.contains(&other.cell)
            });
            // Cells that differ in their counts alone are one.
            let counted = |other: &&CellResult| {
                top.cell.count.is_none() || other.cell.count == top.cell.count
            };
            let faster: Vec<String> = others
                .filter(counted)
                .filter(|other| !best.provisional && times(other, &top).is_some_and(|by| by > 1.0))
                .map(|other| {
                    format!("{} is left out and not slower than {name}", other.cell.label())
                })
                .collect();
            self.complaints.extend(faster);
        }
    }

    fn curve(&self, knee: &Knee) -> Vec<(u64, CellResult)> {
        let own = self.results.iter().filter(|result| {
            knee.axis.without(&result.cell) == knee.axis.without(&knee.cell)
                && is_sound(result)
                && result.throughput.is_some()
        });
        let mut curve: Vec<(u64, CellResult)> =
            own.filter_map(|of| Some((knee.axis.place(&of.cell)?, of.clone()))).collect();
        curve.sort_by_key(|(value, _)| *value);
        curve
    }

    /// Checks that every value smaller than a curve needs is below the peak, that the needed one is
    /// enough, and that no sentence calls a smaller one as fast as the peak.
    fn check_knees(&mut self) {
        let knees = self.answer.knees.clone();
        for knee in &knees {
            let curve = self.curve(knee);
            let name = knee.axis.without(&knee.cell).label();
            let peak = curve.iter().find(|(value, _)| *value == knee.peak_at);
            let Some((_, peak)) = peak.cloned() else { continue };
            let share = |result: &CellResult| times(result, &peak).unwrap_or(f64::NAN);
            let needs = knee.least.filter(|least| *least > knee.smallest && !knee.rising);
            for (value, result) in &curve {
                let shown = knee.axis.show(*value);
                if needs.is_some_and(|least| *value < least) && share(result) >= PEAK_SHARE {
                    self.complain(format!(
                        "{name}: {shown} reaches {} of the peak and is not needed",
                        share(result)
                    ));
                }
                if knee.most == Some(*value) && share(result) < PEAK_SHARE {
                    self.complain(format!(
                        "{name}: {shown} is said to be enough at {}",
                        share(result)
                    ));
                }
                let tied = self.answer.best.as_ref().is_some_and(|best| {
                    best.cell == peak.cell && best.no_difference.contains(&result.cell)
                });
                if tied && needs.is_some_and(|least| *value < least) {
                    self.complain(format!("{name}: {shown} is tied with the peak and not enough"));
                }
            }
            if knee.rising && knee.peak_at != knee.largest {
                self.complain(format!("{name}: still gains, but its peak is not the last"));
            }
        }
        let stated = self.answer.text.matches("o more than 5 % to gain").count();
        if stated > 0 && knees.iter().all(|knee| knee.least.is_none()) {
            self.complain("a need where no curve has intervals");
        }
    }

    fn check_cold(&mut self) {
        let Some(cost) = self.answer.cold_cost.clone() else { return };
        let (Some(warm), Some(cold)) =
            (self.find(&cost.warm).cloned(), self.find(&cost.cold).cloned())
        else {
            return;
        };
        let (by, figure) = (times(&warm, &cold), rate(&cold).map(|of| cost.precision.rate(of)));
        if by.is_some_and(|by| !(0.8..1.25).contains(&(by / cost.ratio))) {
            self.complain(format!("warm is {by:?} times as fast as cold, not {}", cost.ratio));
        }
        let reaches = self.answer.text.contains("the disk delivers");
        let source = cold.source.map_or(0.0, |source| source.device);
        if reaches && source < 0.9 {
            self.complain(format!("the disk delivers, and {source} came from it"));
        }
        let is_stated =
            ["the disk delivers", "cold reaches"].map(|text| self.answer.text.contains(text));
        if is_stated.contains(&true)
            && !figure.as_ref().is_some_and(|rate| self.answer.text.contains(rate))
        {
            self.complain(format!("{figure:?}: the cold rate is not in the answer"));
        }
    }

    /// The bars and the answer say the same of the same cells.
    fn check_glance(&mut self) {
        let Some(best) = self.answer.best.clone().filter(|best| best.wrong.is_none()) else {
            return;
        };
        for column in self.glance.columns.clone() {
            let job = |bar: &crate::analysis::GlanceBar| self.results[bar.result].cell.clone();
            let bars: Vec<_> = column.bars.iter().flatten().map(|bar| (job(bar), bar)).collect();
            if !column.bytes || !bars.iter().any(|(job, _)| *job == best.cell) {
                continue;
            }
            let first = column.best_bar().map(job);
            if first.as_ref() != Some(&best.cell) && !best.provisional {
                let first = first.map(|job| job.label());
                self.complain(format!("{first:?} leads its column, and {} all", best.cell.label()));
            }
            for (job, bar) in bars {
                let tied = best.no_difference.contains(&job) || job == best.cell;
                if bar.figure.is_firm() && !bar.figure.reported && bar.no_difference != tied {
                    self.complain(format!("{}: tied in one place only", job.label()));
                }
            }
        }
    }

    fn check_limits(&mut self) {
        let limits: Vec<_> = self.results.iter().cloned().zip(self.limits.clone()).collect();
        for (result, limit) in limits {
            let Some(LimitCause { by, text }) = limit else { continue };
            let name = result.cell.label();
            let source = result.source.map_or(0.0, |source| source.device);
            if by == Limit::Device && source < 0.9 && result.cell.op != crate::plan::Op::Write {
                self.complain(format!("{name}: limited by the device that gave {source}"));
            }
            for (begin, most) in [(" of the rated ", 1.1), (" that the control group allows", 1.25)]
            {
                let Some((before, after)) = text.split_once(" of the ") else { continue };
                let (Some(got), Some(most_allowed)) =
                    (last_rate(before), first_rate(after.trim_start_matches("rated ")))
                else {
                    continue;
                };
                if text.contains(begin) && got > most_allowed * most {
                    self.complain(format!("{name}: exceeds its limit: {text}"));
                }
            }
            let busy = text.split_once("busy for ").and_then(|(_, rest)| first_number(rest));
            if busy.is_some_and(|percent| percent > 100.5) {
                self.complain(format!("{name}: {text}"));
            }
        }
    }

    fn check_warnings(&mut self) {
        for result in self.results.clone() {
            let name = result.cell.label();
            let trials = result.trials.len();
            for warning in &result.warnings {
                let text = format!("{} {}", warning.message, warning.evidence);
                let words: Vec<&str> = text.split_whitespace().collect();
                for part in
                    words.windows(4).filter(|part| part[1] == "of" && part[3].starts_with("trial"))
                {
                    let (Ok(some), Ok(all)) = (part[0].parse::<usize>(), part[2].parse::<usize>())
                    else {
                        continue;
                    };
                    if some > all || all > trials {
                        self.complain(format!("{name}: {} of {trials} trials: {text}", warning.id));
                    }
                }
                let device = result.source.map(|source| source.device);
                let claims = ["readahead fetched", "from the device repeatedly", "the device read"];
                if claims.iter().any(|claim| text.contains(claim))
                    && device.is_some_and(|device| device < 0.001)
                {
                    self.complain(format!("{name}: {text}, and nothing came from the device"));
                }
                if warning.id == "few" && result.counted_trials().len() >= 5 {
                    self.complain(format!("{name}: {text}, of {trials} trials"));
                }
            }
        }
    }

    /// Shares add up, and no thread uses more than its CPU.
    fn check_sources(&mut self) {
        for result in self.results.clone() {
            let name = result.cell.label();
            if let Some(source) = result.source {
                let shares = [source.device, source.page_cache, source.hole, source.unknown];
                let known: f64 = shares.iter().sum();
                if shares.iter().any(|share| !(-0.001..=1.001).contains(share)) || known > 1.01 {
                    self.complain(format!("{name}: {source:?}"));
                }
            }
            let threads = f64::from(result.cell.all_threads());
            let used = |trial: &std::sync::Arc<Trial>| {
                (trial.user_nanos + trial.system_nanos) as f64 / trial.nanos.max(1) as f64
            };
            let share = median(&result.trials.iter().map(used).collect::<Vec<_>>()).unwrap_or(0.0);
            if result.cell.backend.peer && share > threads * 1.05 {
                self.complain(format!("{name}: {:.0} % CPU in {threads} threads", 100.0 * share));
            }
        }
    }

    fn check_counts(&mut self) {
        let text = self.answer.text.clone();
        let few = |result: &&CellResult| {
            (result.throughput.is_some() || result.operations.is_some())
                && result.counted_trials().len() < 5
        };
        let few = self.results.iter().filter(few).count();
        for (at, words) in
            [(" cells have fewer than 5 trials", true), (" cell has fewer than 5 trials", false)]
        {
            let stated =
                text.find(at).and_then(|end| text[..end].rsplit(' ').next()?.parse::<usize>().ok());
            if stated.is_some_and(|stated| stated != few || (stated > 1) != words) {
                self.complain(format!("{stated:?} cells of few trials, not {few}"));
            }
        }
        if text.contains("Fewer than 5 trials each")
            && few != self.results.iter().filter(|r| r.operations.is_some()).count()
        {
            self.complain(format!("all have few trials, and {few} do"));
        }
        let failed = self.results.iter().filter(|result| result.error.is_some()).count();
        if let Some(end) = text.find(" cells failed") {
            let stated =
                text[..end].rsplit(' ').next().and_then(|count| count.parse::<usize>().ok());
            if stated.is_some_and(|stated| stated != failed) {
                self.complain(format!("{stated:?} cells failed, not {failed}"));
            }
        }
        // The intervals of the answer of one cell.
        if let ([one], Some((_, rest))) = (&self.results[..], text.split_once(" from ")) {
            let stated = first_number(rest).filter(|_| text.contains("95 % interval"));
            if stated.is_some_and(|stated| stated as usize != one.counted_trials().len()) {
                self.complain(format!("{stated:?} trials: {text}"));
            }
        }
    }

    /// `2.1x [1.9-2.3]`: the factor lies in its interval, and the interval beyond 1.
    fn check_factors(&mut self) {
        let texts: Vec<String> =
            self.page.lines().chain([self.answer.text.as_str()]).map(str::to_string).collect();
        for text in texts {
            for (at, _) in text.match_indices("x [") {
                let factor =
                    text[..at].rsplit([' ', '(']).next().and_then(|of| of.parse::<f64>().ok());
                let inside = text[at + 3..].split(']').next().unwrap_or("");
                let ends = inside.split_once('-').and_then(|(low, high)| {
                    Some((low.parse::<f64>().ok()?, high.parse::<f64>().ok()?))
                });
                let (Some(factor), Some((low, high))) = (factor, ends) else { continue };
                let is_claim = text[at..]
                    .split([',', ';'])
                    .next()
                    .is_some_and(|rest| rest.contains("as fast as"));
                if !(low..=high).contains(&factor) || (is_claim && low < 0.995) {
                    self.complain(format!("{factor} in {low} to {high}: {text}"));
                }
            }
            if text.contains("NaN") || text.contains(" inf") {
                self.complain(format!("no figure: {text}"));
            }
        }
    }
}

/// Returns the sessions of a folder with their names.
fn sessions_in(folder: &Path) -> Vec<(String, Session)> {
    let entries = std::fs::read_dir(folder).expect("a folder of sessions").flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    paths.sort();
    let load = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, session::load(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    };
    paths.iter().map(load).collect()
}

#[test]
fn sentences_agree_with_their_points() {
    let mut sessions: Vec<(String, Session)> =
        testing::all().into_iter().map(|(name, session)| (name.to_string(), session)).collect();
    sessions.push(("demo".into(), session::demo().expect("the example").0));
    if let Some(folder) = std::env::var_os("IOTUI_SESSIONS") {
        sessions.extend(sessions_in(Path::new(&folder)));
    }
    let mut found = Vec::new();
    for (name, session) in &sessions {
        found.extend(read(session).into_iter().map(|complaint| format!("{name}: {complaint}")));
    }
    println!("{} sessions read, {} disagreements", sessions.len(), found.len());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A reader that finds nothing would show nothing.
#[test]
fn sentences_that_disagree_are_found() {
    let complaints = |change: fn(&mut Reading)| {
        let session = testing::quick();
        let results = results(&session);
        let answer = answer_with(&session, &results, &[]);
        let glance = glance(&session, &results, &[], &answer);
        let mut reading = Reading {
            limits: vec![None; results.len()],
            results,
            answer,
            glance,
            page: String::new(),
            complaints: Vec::new(),
        };
        change(&mut reading);
        reading.complaints
    };
    assert_eq!(
        complaints(|reading| {
            reading.check_best();
            reading.check_knees()
        }),
        [""; 0]
    );
    let another = complaints(|reading| {
        let last = reading.results.last().unwrap().cell.clone();
        reading.answer.best.as_mut().unwrap().cell = last;
        reading.check_best();
    });
    assert!(!another.is_empty());
    let factor = complaints(|reading| {
        reading.page =
            "B reads 1.3x [1.4-1.9] as fast as A.\nB is 1.2x [0.9-1.5] as fast as A.".into();
        reading.check_factors();
    });
    assert_eq!(factor.len(), 2, "{factor:?}");
    let cpu = complaints(|reading| {
        let result = &mut reading.results[0];
        result.cell.backend.peer = true;
        for trial in &mut result.trials {
            let trial = std::sync::Arc::make_mut(trial);
            trial.user_nanos = 7 * trial.nanos;
        }
        reading.check_sources();
    });
    assert!(cpu.len() == 1 && cpu[0].contains(" % CPU in 1 threads"), "{cpu:?}");
    let limit = complaints(|reading| {
        let text = "device: 1.05 GiB/s of the rated 95.4 MiB/s".into();
        reading.limits[0] = Some(LimitCause { by: Limit::RateLimit, text });
        reading.check_limits();
    });
    assert!(limit.iter().any(|found| found.contains("exceeds its limit")), "{limit:?}");
    let few = complaints(|reading| {
        reading.answer.text = "3 cells have fewer than 5 trials. 2 cells failed; x".into();
        reading.check_counts();
    });
    assert_eq!(few.len(), 2, "{few:?}");
}
