//! A picture: throughput over block size with its intervals, and a small panel of latencies below.
//!
//! The picture paints its own background and turns with the reader's colour scheme; the colours of curves are told from both.

pub(super) mod curves;
mod panel;
pub(super) mod scale;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) use tests::contrast;

use std::io::{self, Write};

use self::curves::{Curve, curves};
use self::panel::{EXPECTED, Panel, Place};
use super::{Format, Look, text};
use crate::session::{self, Axis, Bounds, CellResult, Estimated, Session};
use crate::units::{self, column::TIME};

pub const FORMAT: Format = Format { id: "svg", about: "a picture: throughput by block size, latencies below", extension: "svg", write };

const WIDTH: f64 = 960.0;
const LEFT: f64 = 70.0;
const PLOT: f64 = 620.0;
/// Curves that are drawn; more could not be told apart.
const MOST: usize = 24;

/// Background, text, lines; in the light and in the dark.
const STYLE: &str = "<style>.bg{fill:#ffffff}.t{fill:#24292f}.s{fill:#57606a}.g{stroke:#d0d7de}\
@media(prefers-color-scheme:dark){.bg{fill:#16191d}.t{fill:#e6edf3}.s{fill:#9ba5b0}.g{stroke:#3a4149}}</style>";

fn write(session: &Session, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    let (results, probes) = (session::results(session), session::probes(session));
    let (axis, mut all) = curves(&results);
    let more = all.len().saturating_sub(MOST);
    all.truncate(MOST);
    let bytes = all.iter().all(|curve| curve.bytes);
    let mut below = text::wrap(&text::clean(&session::answer_with(session, &results, &probes).text), 140);
    below.extend((more > 0).then(|| format!("{more} more curves are left out.")));
    below.extend(
        (!probes.is_empty()).then(|| format!("{} of probes, which the picture leaves out: the table has them.", counted(probes.len()))),
    );
    below.extend(all.iter().any(Curve::wrong).then(|| "A hollow point is warned to be wrong.".into()));
    let expected = if bytes && !all.is_empty() { expected(session, &results, axis) } else { Vec::new() };
    below.extend(text::wrap(&session::estimate_reasons(&expected), 140).into_iter().filter(|line| !line.is_empty()));
    let end = 460.0_f64.max(64.0 + 18.0 * (all.len() + expected.len()) as f64);
    let height = end + 24.0 + 18.0 * below.len() as f64;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"system-ui,sans-serif\" font-size=\"12\">"
    )?;
    writeln!(out, "{STYLE}\n<rect class=\"bg\" width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>")?;
    let name = if session.name.is_empty() { "iotui" } else { &session.name };
    words(out, "t", LEFT, 22.0, &format!("{name}: {} by {}", if bytes { "throughput" } else { "operations" }, axis.title()))?;
    let unit = if bytes { units::column::RATE } else { units::column::PER_SECOND };
    let main =
        Panel { curves: &all, expected: &expected, axis, unit, value: |point| point.rate, place: Place { top: 46.0, height: 240.0 } };
    main.draw(out, "median, 95 % interval")?;
    let small = Panel { expected: &[], unit: TIME, value: |point| point.latency, place: Place { top: 336.0, height: 90.0 }, ..main };
    small.draw(out, "latency p50 to p99")?;
    let curves = all.iter().map(|curve| (curve.stroke(), curve.name.as_str()));
    let legend = curves.chain(expected.iter().map(|line| (EXPECTED.to_string(), line.name.as_str())));
    for (index, (stroke, name)) in legend.enumerate() {
        let y = 54.0 + 18.0 * index as f64;
        let x = LEFT + PLOT + 20.0;
        writeln!(out, "<line x1=\"{x}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" {stroke}/>", x + 24.0)?;
        words(out, "t", x + 32.0, y + 4.0, &name.chars().take(34).collect::<String>())?;
    }
    for (index, line) in below.iter().enumerate() {
        words(out, "s", LEFT, end + 16.0 + 18.0 * index as f64, line)?;
    }
    writeln!(out, "</svg>")
}

/// What the jobs of these results were expected to give, along the axis of the picture.
pub(super) fn expected(session: &Session, results: &[CellResult], axis: Axis) -> Vec<Estimated> {
    session::estimated(results.iter().map(|result| &result.cell), axis, &Bounds::of(session))
}

fn counted(cells: usize) -> String {
    if cells == 1 { "1 cell".into() } else { format!("{cells} cells") }
}

fn words(out: &mut dyn Write, class: &str, x: f64, y: f64, body: &str) -> io::Result<()> {
    let fill = if class == "t" { "#24292f" } else { "#57606a" };
    writeln!(out, "<text class=\"{class}\" fill=\"{fill}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", text::xml(body))
}
