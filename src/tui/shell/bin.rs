//! Deleted sessions: they can be restored until the screen ends, and are removed then.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::session::{self, Deleted};
use crate::tui::msg::Msg;

#[derive(Debug, Default)]
pub struct Bin(Mutex<Vec<Deleted>>);

impl Bin {
    /// Deletes a session so that it can be restored, if the file system allows that.
    pub fn delete(&self, id: String) -> Msg {
        let deleted = session::folder().and_then(|dir| {
            session::find(&dir, &id).and_then(|path| session::put_aside(&dir, &path))
        });
        match deleted {
            Ok(deleted) => {
                let undoable = deleted.is_some();
                self.lock().extend(deleted);
                Msg::Deleted { id, undoable }
            }
            Err(error) => Msg::Failed(format!("not deleted: {error}")),
        }
    }

    /// Restores a session; one that cannot be restored stays until the end.
    pub fn restore(&self, id: String) -> Msg {
        // Nobody waits for the lock while a disk does.
        let taken = {
            let mut all = self.lock();
            let at = all.iter().rposition(|deleted| deleted.id == id);
            at.map(|at| all.remove(at))
        };
        let result = match taken {
            None => Err(format!("{id} is no longer there")),
            Some(deleted) => {
                let done = session::folder().and_then(|dir| deleted.restore(&dir));
                if done.is_err() {
                    self.lock().push(deleted);
                }
                done.map_err(|error| error.to_string())
            }
        };
        Msg::Restored { id, result }
    }

    /// Removes all of them.
    pub fn empty(&self) {
        let all = std::mem::take(&mut *self.lock());
        for deleted in all {
            // One that cannot be removed is listed again.
            let _ = deleted.remove();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Deleted>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
