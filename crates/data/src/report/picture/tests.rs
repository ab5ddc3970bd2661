use super::scene::Shape;
use super::*;
use crate::report::testing;
use crate::session::references;

/// Returns the positions of all texts.
fn texts(scene: &Scene) -> Vec<(f64, f64, f64, f64, &str)> {
    scene.shapes.iter().filter_map(Shape::place).collect()
}

#[test]
fn texts_stay_inside_and_apart() {
    let samples = testing::all().into_iter().map(|(name, session)| (name.to_string(), session));
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
            for (other, to, base, _, second) in &all[at + 1..] {
                // On the same line.
                let same = (base - y).abs() < size * 0.6;
                assert!(
                    !same || *left >= to - 1.0 || *other >= right - 1.0,
                    "{name}: {text} and {second} at {y}"
                );
            }
        }
    }
}

#[test]
fn titles_name_session_and_figure() {
    fn named(name: &str, mut session: Session) -> String {
        session.name = name.into();
        scene(&session, &Look::default()).title
    }
    assert_eq!(named("nvme", testing::quick()), "nvme: Throughput by block size");
    assert_eq!(named("", testing::quick()), "Throughput by block size");
    assert_eq!(named("", testing::lab()), "lab");
}
