//! One chart as inline SVG, which a stylesheet stretches: places are percentages, text and marks keep their size.

use std::io::{self, Write};

use super::super::text::xml;

/// A place across and down, in percent of the chart.
pub struct Dot {
    pub x: f64,
    pub y: f64,
    /// The ends of its interval, where it has one.
    pub whisker: Option<(f64, f64)>,
    pub hollow: bool,
    /// The read-out, a fact per line.
    pub says: Vec<String>,
}

/// What belongs together: one colour, one mark, one entry of the legend.
pub struct Series<'a> {
    /// Its place in the legend.
    pub index: usize,
    pub name: &'a str,
    pub color: &'static str,
    pub line: Line,
    /// Whether a line goes through its dots.
    pub joined: bool,
    pub dots: Vec<Dot>,
}

/// A line of the grid with its label.
pub struct Tick {
    pub at: f64,
    pub label: String,
    /// Stands out from the others.
    pub strong: bool,
}

pub struct Chart<'a> {
    pub id: &'static str,
    pub title: String,
    /// What is drawn, in which unit, on which scale.
    pub about: String,
    pub across: Vec<Tick>,
    pub up: Vec<Tick>,
    pub series: Vec<Series<'a>>,
    /// Takes the whole width of the page.
    pub wide: bool,
}

/// Closed shapes, so that each can be hollow.
const MARKS: [&str; 8] = [
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.6-3.6h7.2v7.2h-7.2z",
    "M0-5l5 5l-5 5l-5-5z",
    "M0-4.8l4.8 8.3h-9.6z",
    "M0 4.8l-4.8-8.3h9.6z",
    "M-4.8 0l8.3-4.8v9.6z",
    "M4.8 0l-8.3-4.8v9.6z",
    "M-4.6 0l2.3-4h4.6l2.3 4l-2.3 4h-4.6z",
];

/// The mark of the series at that place of the legend.
pub fn mark(index: usize) -> &'static str {
    MARKS[index % MARKS.len()]
}

/// How the line of a series is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Line {
    Solid,
    /// Cold.
    Dashed,
    /// Expected, not measured: it has no marks.
    Dotted,
}

impl Line {
    pub fn of(dashed: bool) -> Line {
        if dashed { Line::Dashed } else { Line::Solid }
    }

    pub fn class(self) -> &'static str {
        match self {
            Line::Solid => "",
            Line::Dashed => " dashed",
            Line::Dotted => " dotted",
        }
    }
}

/// Labels across that a narrow page has room for.
const NARROW: usize = 4;

/// Those that a chart beside another one has room for.
const HALF: usize = 6;

impl Chart<'_> {
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let title = xml(&self.title);
        let wide = if self.wide { " wide" } else { "" };
        writeln!(out, "<figure class=\"chart{wide}\" id=\"chart-{}\">", self.id)?;
        writeln!(out, "<figcaption><h3>{title}</h3><p>{}</p></figcaption>", xml(&self.about))?;
        writeln!(out, "<div class=\"plot\" data-title=\"{title}\">\n<svg class=\"up\" aria-hidden=\"true\">")?;
        for tick in &self.up {
            writeln!(out, "<text x=\"100%\" y=\"{:.2}%\" dx=\"-8\" dy=\"4\">{}</text>", tick.at, xml(&tick.label))?;
        }
        let names: Vec<&str> = self.series.iter().map(|series| series.name).collect();
        let label = xml(&format!("{}: {}. The table below has the figures.", self.title, names.join(", ")));
        writeln!(out, "</svg>\n<svg class=\"area\" role=\"img\" aria-label=\"{label}\">")?;
        self.grid(out)?;
        for series in &self.series {
            series.write(out)?;
        }
        writeln!(out, "</svg>\n</div>\n</figure>")
    }

    fn grid(&self, out: &mut dyn Write) -> io::Result<()> {
        for tick in &self.up {
            let strong = if tick.strong { " strong" } else { "" };
            writeln!(out, "<line class=\"grid{strong}\" x1=\"0\" x2=\"100%\" y1=\"{0:.2}%\" y2=\"{0:.2}%\"/>", tick.at)?;
        }
        let every = |room: usize| self.across.len().div_ceil(room).max(1);
        for (index, tick) in self.across.iter().enumerate() {
            let more = if index % every(NARROW) == 0 { "" } else { " more" };
            let most = if index % every(HALF) == 0 { "" } else { " most" };
            writeln!(out, "<text class=\"across{more}{most}\" x=\"{:.2}%\" y=\"100%\" dy=\"20\">{}</text>", tick.at, xml(&tick.label))?;
        }
        Ok(())
    }
}

impl Series<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Series { index, color, .. } = self;
        writeln!(out, "<g class=\"series{}\" data-series=\"{index}\" color=\"{color}\">", self.line.class())?;
        if self.joined && self.dots.len() > 1 {
            let places: Vec<String> = self.dots.iter().map(|dot| format!("{:.2},{:.2}", dot.x, dot.y)).collect();
            writeln!(
                out,
                "<svg viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" width=\"100%\" height=\"100%\">\
                 <polyline points=\"{}\"/></svg>",
                places.join(" ")
            )?;
        }
        for dot in &self.dots {
            let (x, y) = (dot.x, dot.y);
            if let Some((low, high)) = dot.whisker {
                writeln!(out, "<line class=\"whisker\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"{low:.2}%\" y2=\"{high:.2}%\"/>")?;
            }
            let hollow = if dot.hollow { " hollow" } else { "" };
            let says: Vec<String> = dot.says.iter().map(|line| xml(line)).collect();
            writeln!(
                out,
                "<svg class=\"dot{hollow}\" x=\"{x:.2}%\" y=\"{y:.2}%\" overflow=\"visible\">\
                 <title>{}</title><path d=\"{}\"/></svg>",
                says.join("\n"),
                mark(self.index)
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
        let across = (0..12).map(|n| Tick { at: f64::from(n) * 8.0, label: format!("{} KiB", 1 << n), strong: false }).collect();
        let chart = Chart { id: "x", title: String::new(), about: String::new(), across, up: Vec::new(), series: Vec::new(), wide: false };
        let mut out = Vec::new();
        chart.grid(&mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let kept = |class: &str| out.lines().filter(|line| !line.contains(class)).count();
        assert_eq!((out.lines().count(), kept(" most"), kept(" more")), (12, HALF, NARROW), "{out}");
    }
}
