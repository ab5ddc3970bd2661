//! A picture as positioned shapes, independent of the output format: light on one background, dark
//! on another.

use crate::report::figure::SeriesMark;

/// The ink that strikes a wrong mark through.
const STRIKE: Ink = Ink::Color("#d0444f");
/// From its lower left to its upper right.
const STRIKE_REACH: f64 = 6.5;

/// The paint of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    Back,
    Text,
    Soft,
    Grid,
    /// The same on both backgrounds.
    Color(&'static str),
}

/// Inks that differ between the schemes: their class in a style, and their colours in the light and
/// in the dark scheme.
pub const SCHEMES: [(Ink, &str, &str, &str); 4] = [
    (Ink::Back, "bg", "#ffffff", "#16191d"),
    (Ink::Text, "t", "#1f2328", "#e6edf3"),
    (Ink::Soft, "s", "#57606a", "#9ba5b0"),
    (Ink::Grid, "g", "#e1e6eb", "#2c333a"),
];

impl Ink {
    /// Returns the colour in the light scheme.
    pub fn light(self) -> &'static str {
        match self {
            Ink::Color(color) => color,
            _ => {
                SCHEMES.iter().find(|scheme| scheme.0 == self).map_or("#000000", |scheme| scheme.2)
            }
        }
    }

    pub fn class(self) -> Option<&'static str> {
        SCHEMES.iter().find(|scheme| scheme.0 == self).map(|scheme| scheme.1)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dash {
    Solid,
    Dashed,
    Dotted,
    Fine,
}

impl Dash {
    /// Lengths of strokes and gaps; empty for a solid line.
    pub fn lengths(self) -> &'static [f32] {
        match self {
            Dash::Solid => &[],
            Dash::Dashed => &[7.0, 5.0],
            Dash::Dotted => &[0.1, 5.0],
            Dash::Fine => &[3.0, 4.0],
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stroke {
    pub ink: Ink,
    pub width: f64,
    pub dash: Dash,
    pub opacity: f64,
}

impl Stroke {
    pub fn new(ink: Ink, width: f64) -> Stroke {
        Stroke { ink, width, dash: Dash::Solid, opacity: 1.0 }
    }

    pub fn dash(self, dash: Dash) -> Stroke {
        Stroke { dash, ..self }
    }

    pub fn opacity(self, opacity: f64) -> Stroke {
        Stroke { opacity, ..self }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    LineStyle {
        points: Vec<(f64, f64)>,
        stroke: Stroke,
    },
    /// A closed and filled shape.
    Area {
        points: Vec<(f64, f64)>,
        ink: Ink,
        opacity: f64,
    },
    /// One of the marks of a figure, at a position.
    SeriesMark {
        at: (f64, f64),
        mark: SeriesMark,
        ink: Ink,
        says: String,
    },
    /// The series of the shapes that follow; `None`: they belong to no series.
    Series(Option<usize>),
    Text {
        at: (f64, f64),
        text: String,
        ink: Ink,
        size: f64,
        bold: bool,
        anchor: Anchor,
    },
}

#[cfg(test)]
impl Shape {
    /// Returns the ends of a text, its baseline, its size and itself.
    pub fn place(&self) -> Option<(f64, f64, f64, f64, &str)> {
        let Shape::Text { at: (x, y), text, size, bold, anchor, .. } = self else { return None };
        let wide = super::font::width(text, *size, *bold);
        let left = x - match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => wide / 2.0,
            Anchor::End => wide,
        };
        Some((left, left + wide, *y, *size, text))
    }
}

/// All shapes, from the back to the front.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    pub width: f64,
    pub height: f64,
    /// The alternative text.
    pub title: String,
    pub about: String,
    pub shapes: Vec<Shape>,
    /// The number of the first series, if a page has to find the shapes of each.
    pub first_series: Option<usize>,
}

impl Scene {
    pub fn new(width: f64) -> Scene {
        let (title, about) = (String::new(), String::new());
        Scene { width, height: 0.0, title, about, shapes: Vec::new(), first_series: None }
    }

    /// Draws the shapes of a series.
    pub fn series(&mut self, key: usize, draw: impl FnOnce(&mut Scene)) {
        let number = self.first_series.map(|first| first + key);
        self.shapes.extend(number.map(|number| Shape::Series(Some(number))));
        draw(self);
        self.shapes.extend(number.map(|_| Shape::Series(None)));
    }

    pub fn line(&mut self, points: Vec<(f64, f64)>, stroke: Stroke) {
        self.shapes.push(Shape::LineStyle { points, stroke });
    }

    pub fn area(&mut self, points: Vec<(f64, f64)>, ink: Ink, opacity: f64) {
        self.shapes.push(Shape::Area { points, ink, opacity });
    }

    /// Draws the mark of a value, struck through if it is wrong.
    pub fn mark(&mut self, at: (f64, f64), mark: SeriesMark, ink: Ink, wrong: bool, says: String) {
        self.shapes.push(Shape::SeriesMark { at, mark, ink, says });
        if wrong {
            let ((x, y), reach) = (at, STRIKE_REACH);
            let ends = vec![(x - reach, y + reach), (x + reach, y - reach)];
            self.line(ends, Stroke::new(STRIKE, 1.8));
        }
    }

    /// Draws text that begins at a point.
    pub fn text(&mut self, at: (f64, f64), text: &str, ink: Ink, size: f64) {
        self.anchored(at, text, ink, size, Anchor::Start);
    }

    /// Draws text whose start, middle or end is at a point.
    pub fn anchored(&mut self, at: (f64, f64), text: &str, ink: Ink, size: f64, anchor: Anchor) {
        self.shapes.push(Shape::Text { at, text: text.into(), ink, size, bold: false, anchor });
    }

    pub fn bold(&mut self, at: (f64, f64), text: &str, ink: Ink, size: f64) {
        let (text, anchor) = (text.into(), Anchor::Start);
        self.shapes.push(Shape::Text { at, text, ink, size, bold: true, anchor });
    }
}
