//! One panel of a figure as a chart of the page, on both scales.

use std::io::{self, Write};

use crate::report::figure::{Figure, FigureOf, FigurePoint, LegendKey, Panel, ValueScale, spans};
use crate::report::picture::{self, DrawnPanel};
use crate::report::text::xml;
use crate::report::{Spread, svg};

/// The width of a chart that takes the whole page, and its height.
pub const WIDE: (f64, f64) = (1170.0, 290.0);
/// The same of a chart next to another one.
const HALF: (f64, f64) = (560.0, 215.0);

/// One panel of a figure on the page.
pub struct HtmlChart<'a> {
    pub id: String,
    pub figure: &'a Figure,
    pub panel: &'a Panel,
    pub keys: &'a [LegendKey],
    /// The number of the first series.
    pub first: usize,
    /// It takes the whole width of the page.
    pub wide: bool,
    /// Returns the read-out of a point, one fact a line.
    pub describe: &'a dyn Fn(&LegendKey, &FigurePoint) -> String,
}

impl HtmlChart<'_> {
    /// Returns the alternative scale; `None` where the values have only one.
    fn other_scale(&self) -> Option<ValueScale> {
        let spread = if self.figure.scale.log { Spread::Linear } else { Spread::Log };
        let scale = ValueScale::for_values(spans(&self.figure.panels), spread, self.figure.units);
        scale.filter(|_| self.figure.of != FigureOf::Trials)
    }

    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let figure = self.figure;
        let title = match self.panel.title.as_str() {
            "" => figure.title.clone(),
            panel => format!("{}, {panel}", figure.title),
        };
        let other = self.other_scale();
        let turn = other.as_ref().map_or("", |other| {
            if other.log { " data-scale=\"linear\"" } else { " data-scale=\"logarithmic\"" }
        });
        let (id, wide) = (&self.id, if self.wide { " wide" } else { "" });
        writeln!(out, "<figure class=\"chart{wide}\" id=\"chart-{id}\"{turn}>")?;
        writeln!(out, "<figcaption><h3>{}</h3>", xml(&title))?;
        let scales = [("own", Some(&figure.scale)), ("other", other.as_ref())];
        for (class, scale) in scales {
            if let Some(scale) = scale {
                let about = xml(&figure.caption(scale));
                writeln!(out, "<p class=\"{class}\">{about}</p>")?;
            }
        }
        let label = xml(&title);
        writeln!(
            out,
            "</figcaption>\n<div class=\"plot\" data-title=\"{label}\"><div class=\"scroll\">"
        )?;
        for (class, scale) in scales {
            if let Some(scale) = scale {
                self.write_drawing(class, scale, &title, out)?;
            }
        }
        writeln!(out, "</div></div>\n</figure>")
    }

    fn write_drawing(
        &self,
        class: &str,
        scale: &ValueScale,
        title: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        // The read-outs are the same on both scales.
        let silent = |_: &LegendKey, _: &FigurePoint| String::new();
        let drawn = DrawnPanel {
            figure: self.figure,
            scale,
            keys: self.keys,
            panel: self.panel,
            describe: if class == "own" { self.describe } else { &silent },
        };
        let mut scene =
            picture::panel_scene(drawn, if self.wide { WIDE } else { HALF }, self.first);
        let names: Vec<&str> =
            self.panel.curves.iter().map(|curve| self.keys[curve.key].name.as_str()).collect();
        let names = names.join(", ");
        scene.title = match self.figure.of {
            FigureOf::Latencies => format!("{title}: {}.", self.figure.about),
            _ => format!("{title}: {names}. The table below lists the figures."),
        };
        svg::write_inline(&scene, &format!("area {class}"), out)
    }
}
