//! The picture as SVG. It paints its own background and follows the reader's colour scheme; it
//! loads nothing.

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) use tests::contrast;

use std::fmt::Write as _;
use std::io::{self, Write};

use super::figure::{MARKS, MarkFill, ROUND, SeriesMark};
use super::picture::font::FAMILY;
use super::picture::scene::{Anchor, Ink, SCHEMES, Scene, Shape, Stroke};
use super::{Format, Look, picture, text};
use crate::session::Session;

pub const FORMAT: Format = Format {
    id: "svg",
    about: "a picture of every curve with its intervals, latencies below",
    extension: "svg",
    binary: false,
    write,
};

fn write(session: &Session, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    write_scene(&picture::scene(session, look), out)
}

/// Writes a picture, light on light pages and dark on dark ones.
pub fn write_scene(scene: &Scene, out: &mut dyn Write) -> io::Result<()> {
    let Scene { width, height, .. } = scene;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" font-family=\"{FAMILY}\">\n<title>{}</title>\n<desc>{}</desc>\n<style>{}</style>\n\
         <rect class=\"bg\" width=\"{width}\" height=\"{height}\" fill=\"{}\"/>",
        text::xml(&scene.title),
        text::xml(&scene.about),
        style(),
        Ink::Back.light(),
    )?;
    for shape in &scene.shapes {
        writeln!(out, "{}", element(shape))?;
    }
    writeln!(out, "</svg>")
}

/// Writes a drawing as part of a page, whose style has the colours of the schemes.
pub fn write_inline(scene: &Scene, class: &str, out: &mut dyn Write) -> io::Result<()> {
    let (width, height) = (scene.width, scene.height);
    let role = match scene.title.as_str() {
        "" => "aria-hidden=\"true\"".into(),
        title => format!("role=\"img\" aria-label=\"{}\"", text::xml(title)),
    };
    writeln!(out, "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" {role}>")?;
    for shape in &scene.shapes {
        writeln!(out, "{}", element(shape))?;
    }
    writeln!(out, "</svg>")
}

/// Fills and strokes by class, for the light and the dark scheme.
fn style() -> String {
    fn rules(dark: bool) -> String {
        let rule = |(_, class, light, night): &(Ink, &str, &str, &str)| {
            let color = if dark { night } else { light };
            format!(".{class}{{fill:{color}}}.{class}l{{stroke:{color}}}")
        };
        SCHEMES.iter().map(rule).collect::<String>()
    }
    format!("{}@media(prefers-color-scheme:dark){{{}}}", rules(false), rules(true))
}

/// Returns the attributes of an ink as fill and as stroke: a class if it follows the scheme, and a
/// colour for viewers without styles.
fn ink(ink: Ink, what: &str) -> String {
    let line = if what == "stroke" { "l" } else { "" };
    let class = ink.class().map(|class| format!("class=\"{class}{line}\" ")).unwrap_or_default();
    format!("{class}{what}=\"{}\"", ink.light())
}

fn stroke(stroke: &Stroke) -> String {
    let mut text = format!(
        "{} stroke-width=\"{}\" fill=\"none\" stroke-linejoin=\"round\"",
        ink(stroke.ink, "stroke"),
        stroke.width
    );
    let dash = stroke.dash.lengths();
    if !dash.is_empty() {
        let lengths: Vec<String> = dash.iter().map(f32::to_string).collect();
        let cap = if stroke.dash == super::picture::scene::Dash::Dotted {
            " stroke-linecap=\"round\""
        } else {
            ""
        };
        let _ = write!(text, " stroke-dasharray=\"{}\"{cap}", lengths.join(" "));
    }
    if stroke.opacity < 1.0 {
        let _ = write!(text, " stroke-opacity=\"{}\"", stroke.opacity);
    }
    text
}

fn points(points: &[(f64, f64)]) -> String {
    points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}

fn element(shape: &Shape) -> String {
    match shape {
        Shape::LineStyle { points: line, stroke: how } => {
            format!("<polyline points=\"{}\" {}/>", points(line), stroke(how))
        }
        Shape::Area { points: line, ink: fill, opacity } => {
            format!(
                "<polygon points=\"{}\" {} fill-opacity=\"{opacity}\"/>",
                points(line),
                ink(*fill, "fill")
            )
        }
        Shape::SeriesMark { at, mark, ink, says } => mark_element(*at, *mark, *ink, says),
        Shape::Series(Some(number)) => format!("<g class=\"series\" data-series=\"{number}\">"),
        Shape::Series(None) => "</g>".into(),
        Shape::Text { at: (x, y), text: body, ink: color, size, bold, anchor } => {
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let weight = if *bold { " font-weight=\"600\"" } else { "" };
            format!(
                "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\"{anchor}{weight} {}>{}</text>",
                ink(*color, "fill"),
                text::xml(body)
            )
        }
    }
}

fn mark_element((x, y): (f64, f64), mark: SeriesMark, color: Ink, says: &str) -> String {
    let (fill, line) = match mark.fill {
        MarkFill::Full => (color, Ink::Back),
        MarkFill::Hollow | MarkFill::Pale => (Ink::Back, color),
    };
    let classes = [fill.class().map(String::from), line.class().map(|class| format!("{class}l"))];
    let classes: Vec<String> = classes.into_iter().flatten().collect();
    let how = format!(
        "class=\"m {}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"{}\"",
        classes.join(" "),
        fill.light(),
        line.light(),
        mark.fill.line_width()
    );
    let says = if says.is_empty() {
        String::new()
    } else {
        let lines: Vec<String> = says.lines().map(text::xml).collect();
        format!("<title>{}</title>", lines.join("\n"))
    };
    match MARKS[mark.shape % MARKS.len()] {
        [] => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{ROUND}\" {how}>{says}</circle>"),
        corners => {
            let corners: Vec<(f64, f64)> = corners.iter().map(|(a, b)| (x + a, y + b)).collect();
            format!("<polygon points=\"{}\" {how}>{says}</polygon>", points(&corners))
        }
    }
}
