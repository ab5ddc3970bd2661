//! What a backend or peer looks like in every chart, on the screen and in reports: its hue and its
//! shape, the same in each run.
//!
//! Whether the shape is filled tells the page cache: filled is cold, hollow is warm, and asis has a
//! third form. Hues repeat, shapes do not, so that nothing depends on colour alone.

/// Number of hues.
pub const HUES: usize = 6;

/// A shape that can be filled and hollow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    Circle,
    Square,
    /// Triangles, by where they point.
    Up,
    Right,
    Left,
    /// Fonts of terminals have no more shapes in both forms: capital if filled, else small.
    Letter,
}

/// What a series is drawn with, by its backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Index of a hue, below [`HUES`].
    pub hue: usize,
    pub shape: Shape,
    /// Its sign where there are only letters; no two have the same.
    pub letter: char,
    /// Its sign for asis, and the same in ASCII.
    pub third: (char, char),
}

const fn row(hue: usize, shape: Shape, letter: char, third: (char, char)) -> Identity {
    Identity { hue, shape, letter, third }
}

/// Every backend and peer. Those that are often compared differ in hue.
const TABLE: &[(&str, Identity)] = &[
    ("read", row(0, Shape::Circle, 'R', ('ρ', '$'))),
    ("mmap", row(1, Shape::Square, 'M', ('μ', '%'))),
    ("uring", row(2, Shape::Up, 'U', ('λ', '^'))),
    ("pread", row(3, Shape::Right, 'P', ('π', '?'))),
    ("aio", row(4, Shape::Left, 'A', ('α', '@'))),
    ("stdio", row(5, Shape::Letter, 'S', ('σ', '&'))),
    ("mmap-copy", row(4, Shape::Letter, 'C', ('ψ', '('))),
    ("seek", row(2, Shape::Letter, 'K', ('ξ', ')'))),
    ("readv", row(1, Shape::Letter, 'V', ('χ', '<'))),
    ("preadv2", row(0, Shape::Letter, 'W', ('ω', '>'))),
    ("simd-copy", row(2, Shape::Letter, 'Q', ('θ', '{'))),
    ("sendfile", row(3, Shape::Letter, 'E', ('ε', '}'))),
    ("splice", row(5, Shape::Letter, 'L', ('β', '['))),
    ("copy-range", row(1, Shape::Letter, 'G', ('γ', ']'))),
    ("tokio", row(0, Shape::Letter, 'T', ('τ', '~'))),
    ("map-unmap", row(3, Shape::Letter, 'Z', ('ζ', '"'))),
    ("null", row(5, Shape::Letter, 'N', ('η', ';'))),
    ("getpid", row(4, Shape::Letter, 'I', ('Γ', '*'))),
    ("dd", row(5, Shape::Letter, 'D', ('δ', '`'))),
    ("fio", row(3, Shape::Letter, 'F', ('φ', ','))),
];

/// Returns what the backend or peer of that name looks like. A name that this version does not know
/// has its first letter.
pub fn identity(id: &str) -> Identity {
    if let Some((_, known)) = TABLE.iter().find(|(known, _)| *known == id) {
        return *known;
    }
    // FNV-1a: the same in every version.
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let letter = id.chars().find(char::is_ascii_alphabetic).unwrap_or('Y').to_ascii_uppercase();
    row((hash % HUES as u64) as usize, Shape::Letter, letter, ('§', '\''))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::catalog::infos;

    fn ids() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|(id, _)| *id)
    }

    #[test]
    fn every_backend_and_peer_is_in_the_table_once() {
        let known: Vec<&str> = infos().iter().map(|info| info.id).collect();
        let unlisted: Vec<_> = known.iter().filter(|id| !ids().any(|own| own == **id)).collect();
        assert!(unlisted.is_empty(), "give these a hue and a shape: {unlisted:?}");
        let unknown: Vec<_> = ids().filter(|id| !known.contains(id)).collect();
        assert!(unknown.is_empty(), "no backends: {unknown:?}");
        assert_eq!(ids().collect::<HashSet<_>>().len(), TABLE.len());
    }

    #[test]
    fn no_two_look_alike_even_without_colour() {
        let letters: HashSet<char> = TABLE.iter().map(|(_, own)| own.letter).collect();
        assert_eq!(letters.len(), TABLE.len());
        let shapes: Vec<Shape> =
            TABLE.iter().map(|(_, own)| own.shape).filter(|s| *s != Shape::Letter).collect();
        assert_eq!(shapes.iter().collect::<HashSet<_>>().len(), shapes.len());
        for third in [|own: &Identity| own.third.0, |own: &Identity| own.third.1] {
            let all: HashSet<char> = TABLE.iter().map(|(_, own)| third(own)).collect();
            assert_eq!(all.len(), TABLE.len());
            assert!(all.iter().all(|c| !c.is_ascii_alphanumeric()));
        }
        assert!(TABLE.iter().all(|(_, own)| own.hue < HUES && own.third.1.is_ascii()));
        // What frames, ticks, lines, bars and the cursor of plain characters are made of.
        let drawn = ['+', '-', '|', '.', ':', '\'', '/', '\\', '=', '#', '!', '_', 'x', 'X'];
        for (id, own) in TABLE {
            assert!(!drawn.contains(&own.letter) && !drawn.contains(&own.third.1), "{id}");
        }
    }

    #[test]
    fn an_unknown_name_always_looks_the_same() {
        let made = identity("hyperread");
        assert_eq!((made.shape, made.letter), (Shape::Letter, 'H'));
        assert_eq!(made, identity("hyperread"));
        assert!(made.hue < HUES);
        assert_eq!((identity("").letter, identity("9").letter), ('Y', 'Y'));
    }
}
