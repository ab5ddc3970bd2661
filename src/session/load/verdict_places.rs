//! Positions of the verdicts of a session in its file.

/// The start of a line, and the number of the line before it.
#[derive(Clone, Copy)]
pub struct Place {
    pub start: u64,
    pub number: u64,
}

/// The last two verdicts of each cell: there may be one for every trial, they are long, and only
/// the last intact one counts.
#[derive(Default)]
pub struct Verdicts(Vec<[Option<Place>; 2]>);

impl Verdicts {
    pub fn put(&mut self, cell: usize, place: Place) {
        if self.0.len() <= cell {
            self.0.resize(cell + 1, [None; 2]);
        }
        self.0[cell] = [Some(place), self.0[cell][0]];
    }

    /// Returns, for each cell, the last verdict and the one before it, in file order.
    pub fn places(&self) -> Vec<[Option<Place>; 2]> {
        let mut places: Vec<_> = self.0.iter().copied().filter(|of| of[0].is_some()).collect();
        places.sort_by_key(|of| of[0].map(|place| place.start));
        places
    }
}
