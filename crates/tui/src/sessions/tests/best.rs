//! The best of a session, in its row and in the title of its preview.

use super::*;

#[test]
fn list_and_preview_agree_on_best() {
    let mut play = Play::new(four());
    play.keys("j");
    play.tell(answer(ID[2]));
    // The fastest of the file, not of one kind of cells.
    assert_eq!(play.screen(120, 40).matches("2.33 GiB/s").count(), 2);
}

#[test]
fn missing_best_comes_from_the_answer() {
    // A killed run, and calls that move no bytes.
    for (backend, best) in [("read", "best 2.00 GiB/s"), ("getpid", "best 524 k/s")] {
        let mut play =
            Play::new(four().into_iter().map(|row| Listed { best: None, ..row }).collect());
        play.keys("j");
        play.tell(preview_of(measured(ID[2], backend, &[4096, 65536])));
        let screen = play.screen(120, 40);
        assert_eq!(screen.matches(best).count(), 1, "{screen}");
    }
}

#[test]
fn long_names_leave_the_best_whole() {
    let name = "read, mmap and uring on the old disk".to_string();
    let mut play =
        Play::new(four().into_iter().map(|row| Listed { name: name.clone(), ..row }).collect());
    play.keys("j");
    play.tell(answer(ID[2]));
    let screen = play.screen(120, 40);
    assert_eq!(screen.matches("best 2.33 GiB/s").count(), 1, "{screen}");
}
