//! Charts with each family of characters.

use super::pictures::{plain, points, show};
use super::*;
use crate::report::Graph;
use crate::theme::Look;

#[test]
fn the_same_line_with_other_characters() {
    let line = points(&[(0.0, 0.0), (10.0, 10.0)]);
    let draw = |graph| {
        let look = Look { graph, ..Look::default() };
        let series = [Series::new(&look, 0, "", &line)];
        show(20, 6, |area, buf| plain(&look, &series, 10.0).render(area, buf))
    };
    assert_eq!(
        draw(Graph::Blocks),
        [
            r"10┤              ▄▄▀",
            r"  │          ▗▄▀▀",
            r" 5┤      ▗▄▞▀▘",
            r"  │   ▄▄▀▘",
            r" 0┤▄▀▀",
            r"  └0 ───── 5 ──── 10",
        ]
        .join("\n")
    );
    let plain = draw(Graph::Ascii);
    let curve = plain.lines().take(5).flat_map(|line| line.chars().skip(3));
    assert!(plain.contains('\'') && curve.into_iter().all(|c| " -'./".contains(c)), "{plain}");
    // The same dots as with Braille: octants differ in the characters only.
    let blank = |picture: String| -> String {
        let code =
            |c: char| if c > '\u{27ff}' || "▂▘▝▖▗▚▞".contains(c) { '#' } else { c };
        picture.chars().map(code).collect()
    };
    assert_eq!(blank(draw(Graph::Octant)), blank(draw(Graph::Braille)));
}
