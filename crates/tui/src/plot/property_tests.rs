//! Nothing panics, and nothing is drawn outside of the area.

use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::*;
use crate::report::Graph;
use crate::theme::Look;

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -1e3..1e3f64,
        2 => 0.0..1e12f64,
        1 => any::<f64>(),
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e300, -1e300, 1e-300, f64::MAX, f64::MIN, 5e-324]),
    ]
}

fn point() -> impl Strategy<Value = Point> {
    (value(), value(), value(), value()).prop_map(|(x, y, low, high)| Point { x, y, low, high })
}

fn axis(settings: AxisSettings, show: &dyn Fn(f64) -> String) -> Axis<'_> {
    let (scale, min, max, (time, unit), loose) = settings;
    let scale = [Scale::Linear, Scale::Log2, Scale::Log10][scale];
    let step = if time { Step::Time } else { Step::Decimal };
    Axis { scale, min, max, show, title: "title", step, unit, loose }
}

/// Scale, ends, whether in seconds and the unit, whether loose.
type AxisSettings = (usize, Option<f64>, Option<f64>, (bool, f64), bool);

fn axis_settings() -> impl Strategy<Value = AxisSettings> {
    let unit = prop::sample::select(vec![1.0, 1e3, 1_048_576.0, 1e12]);
    (
        0..3usize,
        prop::option::of(value()),
        prop::option::of(value()),
        (any::<bool>(), unit),
        any::<bool>(),
    )
}

/// Draws into a part of a buffer full of `#` and looks for what changed around that part.
fn assert_stays_inside(area: Rect, draw: impl FnOnce(Rect, &mut Buffer)) {
    let mut cell = ratatui::buffer::Cell::new("#");
    cell.set_style(Style::new().bold());
    let mut buf =
        Buffer::filled(Rect::new(0, 0, area.right() + 3, area.bottom() + 3), cell.clone());
    draw(area, &mut buf);
    for position in buf.area.positions().filter(|position| !area.contains(*position)) {
        assert_eq!(buf[position], cell, "{position}");
    }
}

fn look() -> impl Strategy<Value = Look> {
    let graphs = vec![Graph::Braille, Graph::Blocks, Graph::Octant, Graph::Ascii];
    prop::sample::select(graphs).prop_map(|graph| Look { graph, ..Look::default() })
}

fn size() -> impl Strategy<Value = Rect> {
    (0..5u16, 0..5u16, prop_oneof![0..20u16, 0..300u16], prop_oneof![0..12u16, 0..100u16])
        .prop_map(|(x, y, w, h)| Rect::new(x, y, w, h))
}

proptest! {
    #[test]
    fn charts_of_anything_stay_inside(
        area in size(),
        all in prop::collection::vec((prop::collection::vec(point(), 0..80), 0..5usize, any::<bool>()), 0..4),
        rules in prop::collection::vec(value(), 0..3),
        (x, y) in (axis_settings(), axis_settings()),
        cursor in prop::option::of(value()),
        (bands, names) in any::<(bool, bool)>(),
        look in look(),
    ) {
        fn text(v: f64) -> String { format!("{v:.3}") }
        let draws = [Draw::Line, Draw::Points, Draw::LineAndMarkers, Draw::Dashed, Draw::Step];
        let series: Vec<Series> = all.iter().enumerate()
            .map(|(i, (points, draw, emphasis))| Series { emphasis: *emphasis, ..Series::new(&look, i, "name", points) }.draw(draws[*draw])).collect();
        let rules: Vec<Rule> = rules.iter().map(|at| Rule { at: *at, label: "a rule", style: Style::new() }).collect();
        let chart = Chart { cursor, ..Chart::new(&look, axis(x, &text), axis(y, &text), &series).rules(&rules).bands(bands).names(names) };
        assert_stays_inside(area, |area, buf| chart.render(area, buf));
        prop_assert!(area.union(chart.plot_area(area)) == area || chart.plot_area(area).is_empty());
        // Also where the area is not in the buffer.
        chart.render(area, &mut Buffer::empty(Rect::new(2, 1, 30, 9)));
    }

    #[test]
    fn strips_of_anything_stay_inside(
        area in size(),
        all in prop::collection::vec((0..320u16, prop::collection::vec(value(), 0..6), 0..3usize), 0..6),
        (rules, y) in (prop::collection::vec(value(), 0..3), axis_settings()),
        look in look(),
    ) {
        fn text(v: f64) -> String { format!("{v:.3}") }
        let fills = [Fill::Solid, Fill::Hatched, Fill::Dotted];
        let bars: Vec<StripBar> = all.iter()
            .map(|(start, values, fill)| StripBar { start: *start, values, style: Style::new(), fill: fills[*fill], mark: 'o' }).collect();
        let rules: Vec<StripRule> = rules.iter().map(|at| StripRule { at: *at, label: "a rule" }).collect();
        let strip = Strip { rules: &rules, ..Strip::new(&look, axis(y, &text)) };
        assert_stays_inside(area, |area, buf| strip.render(&bars, area, buf));
        let plot = strip.plot_area(area);
        prop_assert!(area.union(plot) == area || plot.is_empty());
        for value in all.iter().flat_map(|(_, values, _)| values) {
            let row = strip.row_at(area, *value);
            prop_assert!(plot.is_empty() || (plot.top()..plot.bottom()).contains(&row));
        }
        strip.render(&bars, area, &mut Buffer::empty(Rect::new(2, 1, 30, 9)));
    }

    #[test]
    fn columns_map_back_to_their_values(
        (width, height, look) in (12..200u16, 4..40u16, look()),
        (lo, hi) in (-1e6..1e6f64, 1.0..1e6f64),
        pick: prop::sample::Index,
    ) {
        fn text(v: f64) -> String { format!("{v:.0}") }
        let axis = Axis::new(Scale::Linear, &text);
        let area = Rect::new(3, 2, width, height);
        let chart = Chart::new(&look, axis.between(lo, lo + hi), axis.between(0.0, 1.0), &[]);
        let plot = chart.plot_area(area);
        let column = plot.x + pick.index(usize::from(plot.width)) as u16;
        let points = [Point::new(chart.x_at(area, column).unwrap(), 0.5)];
        let series = [Series { marker: '@', ..Series::new(&look, 0, "", &points) }];
        let mut buf = Buffer::empty(Rect::new(0, 0, area.right(), area.bottom()));
        Chart { series: &series, ..chart }.render(area, &mut buf);
        let drawn: Vec<u16> = plot.positions().filter(|p| buf[*p].symbol() == "@").map(|p| p.x).collect();
        prop_assert_eq!(drawn, [column]);
        prop_assert_eq!(chart.x_at(area, plot.right()), None);
    }

    #[test]
    fn bars_and_histograms_stay_inside(area in size(), values in prop::collection::vec(value(), 0..60), max in prop::option::of(value()), look in look()) {
        fn text(v: f64) -> String { format!("{v:.3}") }
        let part = |v: &f64| Part { value: *v, style: look.series(1), texture: 2 };
        let bars: Vec<Bar> = values.chunks(3).map(|v| Bar { label: "label", parts: v.iter().map(part).collect(), figure: "1.2 GiB/s" }).collect();
        let bars = Bars::new(&look, &bars);
        assert_stays_inside(area, |area, buf| bars.render(area, buf));
        assert_stays_inside(area, |area, buf| Bars { max, ..bars }.render(area, buf));
        let bins: Vec<(f64, f64, u64)> = values.windows(2).map(|v| (v[0], v[1], v[1].abs() as u64)).collect();
        let marks = [(1.0, "p50"), (10.0, "p99")];
        assert_stays_inside(area, |area, buf| Histogram::new(&look, &bins, &text, Style::new()).marks(&marks).render(area, buf));
    }
}
