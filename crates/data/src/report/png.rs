//! The picture as pixels, for slides and documents: the same as the SVG in its light scheme, at
//! twice its size.

use std::io::{self, Write};

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, StrokeDash, Transform,
};

use super::figure::{MARKS, MarkFill, ROUND, SeriesMark};
use super::picture::font::{self, Segment};
use super::picture::scene::{Anchor, Dash, Ink, Scene, Shape, Stroke};
use super::{Format, Look, picture};
use crate::session::Session;

pub const FORMAT: Format = Format {
    id: "png",
    about: "the svg picture in pixels, for slides; to a file or a pipe",
    extension: "png",
    binary: true,
    write,
};

/// Pixels per unit of the picture.
const PIXEL_RATIO: f32 = 2.0;
/// Height in pixels; a taller picture gets a lower resolution.
const MAX_HEIGHT: f32 = 16_000.0;

fn write(session: &Session, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    write_scene(&picture::scene(session, look), out)
}

/// Writes a picture as pixels.
pub fn write_scene(scene: &Scene, out: &mut dyn Write) -> io::Result<()> {
    let dense = PIXEL_RATIO.min(MAX_HEIGHT / scene.height as f32);
    let pixels = |length: f64| ((length as f32 * dense).ceil() as u32).max(1);
    fn too_large() -> std::io::Error {
        io::Error::other("the picture is too large to paint")
    }
    let mut canvas = Raster {
        pixels: Pixmap::new(pixels(scene.width), pixels(scene.height)).ok_or_else(too_large)?,
        dense,
    };
    canvas.pixels.fill(color(Ink::Back, 1.0));
    canvas.scene(scene);
    out.write_all(&canvas.pixels.encode_png().map_err(io::Error::other)?)
}

struct Raster {
    pixels: Pixmap,
    dense: f32,
}

fn color(ink: Ink, opacity: f64) -> Color {
    let part = |at: usize| {
        ink.light().get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(0)
    };
    Color::from_rgba8(part(1), part(3), part(5), (opacity.clamp(0.0, 1.0) * 255.0).round() as u8)
}

fn paint(ink: Ink, opacity: f64) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(color(ink, opacity));
    paint
}

fn path(points: &[(f64, f64)], close: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (at, (x, y)) in points.iter().enumerate() {
        if at == 0 {
            path.move_to(*x as f32, *y as f32)
        } else {
            path.line_to(*x as f32, *y as f32)
        }
    }
    if close {
        path.close();
    }
    path.finish()
}

impl Raster {
    fn place(&self) -> Transform {
        Transform::from_scale(self.dense, self.dense)
    }

    fn scene(&mut self, scene: &Scene) {
        for shape in &scene.shapes {
            match shape {
                Shape::LineStyle { points, stroke } => self.line(path(points, false), *stroke),
                Shape::Area { points, ink, opacity } => {
                    self.area(path(points, true), *ink, *opacity)
                }
                Shape::SeriesMark { at, mark, ink, .. } => self.mark(*at, *mark, *ink),
                Shape::Series(_) => {}
                Shape::Text { at, text, ink, size, bold, anchor } => {
                    self.text(*at, text, *ink, *size, *bold, *anchor)
                }
            }
        }
    }

    fn line(&mut self, path: Option<Path>, stroke: Stroke) {
        let Some(path) = path else { return };
        let round = stroke.dash == Dash::Dotted;
        let dash = stroke.dash.lengths();
        let how = tiny_skia::Stroke {
            width: stroke.width as f32,
            line_cap: if round { LineCap::Round } else { LineCap::Butt },
            line_join: LineJoin::Round,
            dash: if dash.is_empty() { None } else { StrokeDash::new(dash.to_vec(), 0.0) },
            ..tiny_skia::Stroke::default()
        };
        let (paint, place) = (paint(stroke.ink, stroke.opacity), self.place());
        self.pixels.stroke_path(&path, &paint, &how, place, None);
    }

    fn area(&mut self, path: Option<Path>, ink: Ink, opacity: f64) {
        if let Some(path) = path {
            let (paint, place) = (paint(ink, opacity), self.place());
            self.pixels.fill_path(&path, &paint, FillRule::Winding, place, None);
        }
    }

    fn mark(&mut self, (x, y): (f64, f64), mark: SeriesMark, ink: Ink) {
        let corners = MARKS[mark.shape % MARKS.len()];
        let outline = match corners {
            [] => PathBuilder::from_circle(x as f32, y as f32, ROUND as f32),
            corners => path(&corners.iter().map(|(a, b)| (x + a, y + b)).collect::<Vec<_>>(), true),
        };
        let full = mark.fill == MarkFill::Full;
        let (fill, line) = if full { (ink, Ink::Back) } else { (Ink::Back, ink) };
        self.area(outline.clone(), fill, 1.0);
        self.line(outline, Stroke::new(line, mark.fill.line_width()));
    }

    fn text(
        &mut self,
        (x, y): (f64, f64),
        text: &str,
        ink: Ink,
        size: f64,
        bold: bool,
        anchor: Anchor,
    ) {
        let Some(font) = font::font(bold) else { return };
        let wide = font::drawn_width(text, size, bold);
        let mut at = x - match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => wide / 2.0,
            Anchor::End => wide,
        };
        let unit = font.unit(size);
        let mut letters = PathBuilder::new();
        for (letter, wide) in font.letters(text) {
            let place = |(x1, y1): (f32, f32)| {
                ((at + f64::from(x1) * unit) as f32, (y - f64::from(y1) * unit) as f32)
            };
            for part in font.outline(letter) {
                match part {
                    Segment::Move(to) => letters.move_to(place(to).0, place(to).1),
                    Segment::LineStyle(to) => letters.line_to(place(to).0, place(to).1),
                    Segment::PanelCurve(control, to) => {
                        let (control, to) = (place(control), place(to));
                        letters.quad_to(control.0, control.1, to.0, to.1);
                    }
                    Segment::Close => letters.close(),
                }
            }
            at += wide * unit;
        }
        self.area(letters.finish(), ink, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Cache;
    use crate::report::figure::COLORS;
    use crate::report::testing;

    fn painted(session: &Session) -> Pixmap {
        let mut out = Vec::new();
        write(session, &Look::default(), &mut out).unwrap();
        Pixmap::decode_png(&out).unwrap()
    }

    /// Returns three backends with one rate each, so that no curve covers another.
    fn three() -> Session {
        let cells = ["read", "mmap", "uring"].into_iter();
        let mut session = testing::session(
            cells
                .flat_map(|way| [4096, 65536].map(|block| testing::job(way, block, Cache::Warm)))
                .collect(),
        );
        for cell in 0..session.plan.cells.len() {
            let nanos_per_op = session.plan.cells[cell].block as f64 * (1.0 + (cell / 2) as f64);
            testing::measure(&mut session, cell, 1, testing::Like::new(nanos_per_op, 1.0, None));
        }
        session
    }

    #[test]
    fn paints_at_twice_the_size() {
        let session = three();
        let (pixels, scene) = (painted(&session), picture::scene(&session, &Look::default()));
        assert_eq!(
            (f64::from(pixels.width()), f64::from(pixels.height())),
            (scene.width * 2.0, scene.height * 2.0)
        );
        let of = |ink: Ink| {
            let wanted = color(ink, 1.0).premultiply().to_color_u8();
            pixels.pixels().iter().filter(|pixel| **pixel == wanted).count() as f64
        };
        // The pixels covered by the lines of an ink.
        let lines = |ink: Ink| {
            let line = |shape: &Shape| match shape {
                Shape::LineStyle { points, stroke }
                    if stroke.ink == ink && stroke.opacity >= 1.0 =>
                {
                    points
                        .windows(2)
                        .map(|two| (two[1].0 - two[0].0).hypot(two[1].1 - two[0].1))
                        .sum::<f64>()
                        * stroke.width
                }
                _ => 0.0,
            };
            scene.shapes.iter().map(line).sum::<f64>() * 4.0
        };
        assert!(of(Ink::Text) > 2000.0, "{}", of(Ink::Text));
        for color in &COLORS[..3] {
            let (seen, drawn) = (of(Ink::Color(color)), lines(Ink::Color(color)));
            assert!(
                drawn > 5000.0 && seen > drawn * 0.6 && seen < drawn * 1.5,
                "{color}: {seen} of {drawn}"
            );
        }
        assert_eq!(of(Ink::Color(COLORS[4])), 0.0, "a colour of no curve");
        assert!(of(Ink::Back) > pixels.pixels().len() as f64 / 2.0);
    }

    #[test]
    fn an_empty_session_has_a_picture() {
        assert!(painted(&testing::empty()).height() > 100);
    }
}
