//! Where the verdicts of a session stand in its file.

/// Where a line begins, and the number of the one before it.
#[derive(Clone, Copy)]
pub struct Place {
    pub start: u64,
    pub number: u64,
}

/// Where the last two verdicts of each cell are: there may be one for every trial, they are long,
/// and only the last one that is whole counts.
#[derive(Default)]
pub struct Verdicts(Vec<[Option<Place>; 2]>);

impl Verdicts {
    pub fn put(&mut self, cell: usize, place: Place) {
        if self.0.len() <= cell {
            self.0.resize(cell + 1, [None; 2]);
        }
        self.0[cell] = [Some(place), self.0[cell][0]];
    }

    /// Of each cell the last, and the one before it; in the order of the file.
    pub fn places(&self) -> Vec<[Option<Place>; 2]> {
        let mut places: Vec<_> = self.0.iter().copied().filter(|of| of[0].is_some()).collect();
        places.sort_by_key(|of| of[0].map(|place| place.start));
        places
    }
}
