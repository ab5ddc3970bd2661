use super::scene::Shape;
use super::*;
use crate::report::sample;
use crate::session::references;

/// Returns the positions of all texts.
fn texts(scene: &Scene) -> Vec<(f64, f64, f64, f64, &str)> {
    scene.shapes.iter().filter_map(Shape::place).collect()
}

#[test]
fn no_text_leaves_the_picture_or_stands_on_another() {
    let samples = sample::all().into_iter().map(|(name, session)| (name.to_string(), session));
    for (name, session) in samples.chain(
        references()
            .iter()
            .map(|reference| (reference.id.to_string(), reference.session().clone())),
    ) {
        let scene = scene(&session, &Look::default());
        let all = texts(&scene);
        for (at, (left, right, y, size, text)) in all.iter().enumerate() {
            assert!(
                *left >= 0.0 && *right <= scene.width + 1.0 && *y <= scene.height,
                "{name}: {text} from {left} to {right} at {y}"
            );
            for (other, to, base, _, beside) in &all[at + 1..] {
                // On the same line.
                let same = (base - y).abs() < size * 0.6;
                assert!(
                    !same || *left >= to - 1.0 || *other >= right - 1.0,
                    "{name}: {text} and {beside} at {y}"
                );
            }
        }
    }
}

#[test]
fn what_has_a_name_for_its_figures_is_called_by_both() {
    fn named(name: &str, mut session: Session) -> String {
        session.name = name.into();
        scene(&session, &Look::default()).title
    }
    assert_eq!(named("nvme", sample::quick()), "nvme: Throughput by block size");
    assert_eq!(named("", sample::quick()), "Throughput by block size");
    assert_eq!(named("", sample::lab()), "lab");
}
