//! One chart as inline SVG that a stylesheet stretches: positions are percentages, while text and
//! marks keep their size.

use std::io::{self, Write};

use crate::report::figure::{Fill, MARKS, Mark, ROUND};
use crate::report::text::xml;

/// A vertical position in percent of the chart: on the chart's scale, and on the alternative one.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    pub own: f64,
    pub other: Option<f64>,
}

impl Position {
    /// Returns an attribute with the position on the alternative scale.
    fn other_attribute(self, name: &str) -> String {
        self.other.map_or_else(String::new, |other| format!(" data-{name}=\"{other:.2}%\""))
    }
}

/// The expected values of a series: a closed shape.
pub struct Band {
    pub points: Vec<(f64, Position)>,
    /// Its opacity, 0 to 1.
    pub haze: f64,
}

/// The alternative scale, shown after a click.
pub struct OtherScale {
    pub about: String,
    pub up: Vec<Tick>,
    pub log: bool,
}

/// A point, in percent of the chart's width and height.
pub struct Dot {
    pub x: f64,
    pub y: Position,
    /// The ends of its interval, if it has one.
    pub whisker: Option<(Position, Position)>,
    /// It is struck through: wrong, or cut short.
    pub struck: bool,
    /// The read-out, one fact per line.
    pub says: Vec<String>,
}

/// A series: one colour, one mark, one entry of the legend.
pub struct Series<'a> {
    /// Its index in the legend.
    pub index: usize,
    pub name: &'a str,
    pub color: &'static str,
    pub mark: Mark,
    pub line: Style,
    /// Whether a line connects its dots.
    pub joined: bool,
    pub band: Option<Band>,
    pub dots: Vec<Dot>,
}

/// A line of the grid with its label.
pub struct Tick {
    pub at: f64,
    pub label: String,
    /// It stands out from the others.
    pub strong: bool,
}

pub struct Chart<'a> {
    pub id: String,
    pub title: String,
    /// Quantity, unit and scale.
    pub about: String,
    pub across: Vec<Tick>,
    pub up: Vec<Tick>,
    pub other: Option<OtherScale>,
    pub series: Vec<Series<'a>>,
    /// It takes the whole width of the page.
    pub wide: bool,
}

/// Returns the outline of the mark with this shape.
pub fn outline(shape: usize) -> String {
    match MARKS[shape % MARKS.len()] {
        [] => format!(
            "M-{ROUND} 0a{ROUND} {ROUND} 0 1 0 {0} 0a{ROUND} {ROUND} 0 1 0-{0} 0z",
            2.0 * ROUND
        ),
        corners => {
            let corners: Vec<String> = corners.iter().map(|(x, y)| format!("{x} {y}")).collect();
            format!("M{}z", corners.join("L"))
        }
    }
}

/// Returns the class of a mark's fill, behind another class.
pub fn fill_class(fill: Fill) -> &'static str {
    match fill {
        Fill::Full => "",
        Fill::Hollow => " hollow",
        Fill::Pale => " hollow pale",
    }
}

/// How the line of a series is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Solid,
    /// A cold curve.
    Dashed,
    /// Expected values, not measured: without marks.
    Dotted,
    /// Values reported by others: without a line.
    Marks,
}

impl Style {
    pub fn class(self) -> &'static str {
        match self {
            Style::Solid => "",
            Style::Dashed => " dashed",
            Style::Dotted => " dotted",
            Style::Marks => " marks",
        }
    }
}

/// Horizontal labels that fit a narrow page.
const MAX_NARROW_LABELS: usize = 4;

/// Horizontal labels that fit a chart beside another one.
const MAX_HALF_LABELS: usize = 6;

impl Chart<'_> {
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let title = xml(&self.title);
        let wide = if self.wide { " wide" } else { "" };
        let (log, other) = self.other.as_ref().map_or(Default::default(), |other| {
            let own = if other.log { "linear" } else { "logarithmic" };
            let about = format!(" data-other=\"{}\"", xml(&other.about));
            (format!(" data-scale=\"{own}\""), about)
        });
        let (id, about) = (&self.id, xml(&self.about));
        writeln!(out, "<figure class=\"chart{wide}\" id=\"chart-{id}\"{log}>")?;
        writeln!(out, "<figcaption><h3>{title}</h3><p{other}>{about}</p></figcaption>")?;
        writeln!(
            out,
            "<div class=\"plot\" data-title=\"{title}\">\n<svg class=\"up\" aria-hidden=\"true\">"
        )?;
        self.write_ticks(out, |Tick { at, label, .. }| {
            let label = xml(label);
            format!("<text x=\"100%\" y=\"{at:.2}%\" dx=\"-8\" dy=\"4\">{label}</text>")
        })?;
        let names: Vec<&str> = self.series.iter().map(|series| series.name).collect();
        let names = names.join(", ");
        let label = xml(&format!("{}: {names}. The table below lists the figures.", self.title));
        writeln!(out, "</svg>\n<svg class=\"area\" role=\"img\" aria-label=\"{label}\">")?;
        self.write_grid(out)?;
        for series in &self.series {
            series.write(out)?;
        }
        writeln!(out, "</svg>\n</div>\n</figure>")
    }

    /// Returns the ticks of the scale, and those of the alternative one, hidden until it is
    /// selected.
    fn write_ticks(&self, out: &mut dyn Write, show: impl Fn(&Tick) -> String) -> io::Result<()> {
        let group = |ticks: &[Tick]| ticks.iter().map(&show).collect::<Vec<_>>().join("\n");
        writeln!(out, "<g class=\"ticks\">{}</g>", group(&self.up))?;
        self.other.iter().try_for_each(|other| {
            writeln!(out, "<g class=\"ticks other\">{}</g>", group(&other.up))
        })
    }

    fn write_grid(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_ticks(out, |tick| {
            let strong = if tick.strong { " strong" } else { "" };
            format!(
                "<line class=\"grid{strong}\" x1=\"0\" x2=\"100%\" y1=\"{0:.2}%\" y2=\"{0:.2}%\"/>",
                tick.at
            )
        })?;
        let every = |room: usize| self.across.len().div_ceil(room).max(1);
        for (index, tick) in self.across.iter().enumerate() {
            let more = if index % every(MAX_NARROW_LABELS) == 0 { "" } else { " more" };
            let most = if index % every(MAX_HALF_LABELS) == 0 { "" } else { " most" };
            let (class, at, label) = (format!("across{more}{most}"), tick.at, xml(&tick.label));
            writeln!(
                out,
                "<text class=\"{class}\" x=\"{at:.2}%\" y=\"100%\" dy=\"20\">{label}</text>"
            )?;
        }
        Ok(())
    }
}

/// Returns connected points, on the chart's scale and on the alternative one.
fn format_points(points: &[(f64, Position)]) -> String {
    let all = |y: &dyn Fn(&Position) -> Option<f64>| -> Option<String> {
        let places: Option<Vec<String>> =
            points.iter().map(|(x, at)| Some(format!("{x:.2},{:.2}", y(at)?))).collect();
        places.map(|places| places.join(" "))
    };
    let other =
        all(&|at| at.other).map_or_else(String::new, |other| format!(" data-points=\"{other}\""));
    format!("points=\"{}\"{other}", all(&|at| Some(at.own)).unwrap_or_default())
}

impl Series<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let (Series { index, color, .. }, class) = (self, self.line.class());
        writeln!(out, "<g class=\"series{class}\" data-series=\"{index}\" color=\"{color}\">")?;
        let stretched = "<svg viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" width=\"100%\" height=\"100%\">";
        if let Some(band) = &self.band {
            let (haze, points) = (band.haze, format_points(&band.points));
            writeln!(out, "{stretched}<polygon opacity=\"{haze:.3}\" {points}/></svg>")?;
        }
        if self.joined && self.dots.len() > 1 {
            let points: Vec<(f64, Position)> = self.dots.iter().map(|dot| (dot.x, dot.y)).collect();
            writeln!(out, "{stretched}<polyline {}/></svg>", format_points(&points))?;
        }
        for dot in &self.dots {
            let (x, y) = (dot.x, dot.y.own);
            if let Some((low, high)) = dot.whisker {
                writeln!(
                    out,
                    "<line class=\"whisker\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"{:.2}%\" y2=\"{:.2}%\"{}{}/>",
                    low.own,
                    high.own,
                    low.other_attribute("y1"),
                    high.other_attribute("y2")
                )?;
            }
            let fill = fill_class(self.mark.fill);
            let strike = if dot.struck { "<path class=\"strike\" d=\"M-6 6L6-6\"/>" } else { "" };
            let says: Vec<String> = dot.says.iter().map(|line| xml(line)).collect();
            writeln!(
                out,
                "<svg class=\"dot{fill}\" x=\"{x:.2}%\" y=\"{y:.2}%\"{} overflow=\"visible\">\
                 <title>{}</title><path d=\"{}\"/>{strike}</svg>",
                dot.y.other_attribute("y"),
                says.join("\n"),
                outline(self.mark.shape)
            )?;
        }
        writeln!(out, "</g>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beside_another_a_chart_has_room_for_half_of_the_labels() {
        let across = (0..12)
            .map(|n| Tick {
                at: f64::from(n) * 8.0,
                label: format!("{} KiB", 1 << n),
                strong: false,
            })
            .collect();
        let chart = Chart {
            id: "x".into(),
            title: String::new(),
            about: String::new(),
            across,
            up: Vec::new(),
            other: None,
            series: Vec::new(),
            wide: false,
        };
        let mut out = Vec::new();
        chart.write_grid(&mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let kept = |class: &str| {
            out.lines().filter(|line| line.contains("<text") && !line.contains(class)).count()
        };
        assert_eq!(
            (out.matches("<text").count(), kept(" most"), kept(" more")),
            (12, MAX_HALF_LABELS, MAX_NARROW_LABELS),
            "{out}"
        );
    }
}
