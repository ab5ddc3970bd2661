//! The page of a card: a head, then rows from the top down.

use crate::analysis::{Conditions, GlanceFigure};
use crate::report::figure::{MarkFill, SeriesMark};
use crate::report::picture::font::{cut, width, wrap};
use crate::report::picture::scene::{Anchor, Ink, Scene, Stroke};
use crate::report::text::clean;
use crate::units::Precision;

pub const WIDTH: f64 = 840.0;
pub const MARGIN: f64 = 32.0;
pub const CONTENT: f64 = WIDTH - 2.0 * MARGIN;
pub const TEXT: f64 = 14.0;
pub const SMALL: f64 = 12.0;
const TITLE: f64 = 20.0;

/// The colour of what is wrong.
pub const WRONG: Ink = Ink::Color("#d0444f");

/// The size of a figure whose interval is wide.
const WIDE: f64 = 22.0;

/// Returns the ink of a figure, faint if it is rough or needs more trials.
pub fn figure_ink(figure: &GlanceFigure) -> Ink {
    match figure.is_firm() && figure.precision() < Precision::Rough {
        true => Ink::Text,
        false => Ink::Soft,
    }
}

/// Returns the ink of the interval of a figure, or of the word that it is wrong.
pub fn certainty_ink(figure: &GlanceFigure) -> Ink {
    if figure.wrong { WRONG } else { Ink::Soft }
}

pub struct CardPage {
    pub scene: Scene,
    /// Where the next row begins.
    pub y: f64,
}

impl CardPage {
    /// Begins a page with what was measured on.
    pub fn new(conditions: &Conditions) -> CardPage {
        let place = conditions.place();
        let (title, rest) = place.split_first().map_or(("iotui", &[][..]), |(a, b)| (*a, b));
        let about = format!("{} at a glance", place.join(", "));
        let scene = Scene { title: clean(title), about, ..Scene::new(WIDTH) };
        let mut page = CardPage { scene, y: MARGIN + 16.0 };
        let title = cut(&clean(title), TITLE, true, CONTENT * 0.5);
        page.scene.bold((MARGIN, page.y), &title, Ink::Text, TITLE);
        let beside = MARGIN + width(&title, TITLE, true) + 10.0;
        let room = WIDTH - MARGIN - beside;
        page.text((beside, page.y), &cut(&rest.join(" · "), TEXT, false, room), Ink::Soft, TEXT);
        page.y += 22.0;
        let machine = clean(&conditions.machine().join(" · "));
        for line in wrap(&machine, SMALL, CONTENT).iter().take(2) {
            page.text((MARGIN, page.y), line, Ink::Soft, SMALL);
            page.y += SMALL + 5.0;
        }
        page.rule();
        page
    }

    /// Draws a large figure, smaller and faint as its interval is wide; returns where the text next
    /// to it begins.
    pub fn digits(
        &mut self,
        at: (f64, f64),
        text: &str,
        size: f64,
        figure: Option<&GlanceFigure>,
    ) -> f64 {
        let is_large = figure.is_none_or(GlanceFigure::suits_large);
        let size = if is_large { size } else { size.min(WIDE) };
        let ink = figure.map_or(Ink::Text, figure_ink);
        self.scene.bold(at, text, ink, size);
        at.0 + width(text, size, true)
    }

    pub fn skip(&mut self, by: f64) {
        self.y += by;
    }

    pub fn text(&mut self, at: (f64, f64), text: &str, ink: Ink, size: f64) {
        self.scene.text(at, text, ink, size);
    }

    pub fn text_end(&mut self, at: (f64, f64), text: &str, ink: Ink, size: f64) {
        self.scene.anchored(at, text, ink, size, Anchor::End);
    }

    /// Draws a line across the page.
    pub fn rule(&mut self) {
        let ends = vec![(MARGIN, self.y), (WIDTH - MARGIN, self.y)];
        self.scene.line(ends, Stroke::new(Ink::Grid, 1.0));
        self.y += 20.0;
    }

    /// Draws wrapped text, behind a mark if there is one.
    pub fn paragraph(&mut self, text: &str, ink: Ink, mark: Option<Ink>) {
        let indent = if mark.is_some() { 18.0 } else { 0.0 };
        if let Some(ink) = mark {
            let at = (MARGIN + 5.0, self.y - 4.0);
            let mark = SeriesMark { shape: 0, fill: MarkFill::Full };
            self.scene.mark(at, mark, ink, false, String::new());
        }
        for line in wrap(&clean(text), TEXT, CONTENT - indent) {
            self.text((MARGIN + indent, self.y), &line, ink, TEXT);
            self.y += TEXT + 6.0;
        }
        self.y += 2.0;
    }

    /// Draws a label with its figure and interval.
    pub fn row(&mut self, label: &str, figure: &str, interval: &str) {
        let label = cut(&clean(label), TEXT, false, CONTENT * 0.6);
        self.text((MARGIN, self.y), &label, Ink::Text, TEXT);
        let end = MARGIN + CONTENT * 0.8;
        self.text_end((end, self.y), figure, Ink::Text, TEXT);
        self.text((end + 12.0, self.y), interval, Ink::Soft, SMALL);
        self.y += TEXT + 7.0;
    }

    /// Draws a bar from its left end on, `share` of `room` long.
    pub fn bar(&mut self, (left, middle): (f64, f64), room: f64, share: f64, ink: Ink) {
        const HALF: f64 = 6.0;
        let right = left + (room * share.clamp(0.0, 1.0)).max(1.5);
        let (top, bottom) = (middle - HALF, middle + HALF);
        let back = vec![(left, top), (left + room, top), (left + room, bottom), (left, bottom)];
        self.scene.area(back, Ink::Grid, 0.6);
        self.scene.area(vec![(left, top), (right, top), (right, bottom), (left, bottom)], ink, 0.9);
    }

    pub fn finish(mut self) -> Scene {
        self.scene.height = (self.y + MARGIN - 14.0).ceil();
        self.scene
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_fonts_have_room() {
        let text = "a sentence that is long enough to need two lines ".repeat(4);
        let conditions =
            Conditions { target: text.clone(), cpu: text.clone(), ..Default::default() };
        let mut page = CardPage::new(&conditions);
        page.paragraph(&text, Ink::Text, None);
        page.paragraph(&text, Ink::Text, Some(Ink::Text));
        for shape in page.finish().shapes {
            if let crate::report::picture::scene::Shape::Text { at, text, size, bold, .. } = shape {
                let end = at.0 + width(&text, size, bold);
                assert!(end <= WIDTH - MARGIN + 1.0, "{text}");
            }
        }
    }
}
