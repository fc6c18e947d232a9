//! The errors of the store.

use std::{io, path::Path};

use super::StateError;

/// The error of an operation, without the file's name.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    State(#[from] StateError),
}

impl Error {
    pub(super) fn at(self, file: &Path) -> StateError {
        let name = file.display();
        match self {
            Self::State(StateError::Unavailable(why)) => StateError::Unavailable(format!("{name}: {why}")),
            Self::State(error) => error,
            Self::Io(error) => StateError::Unavailable(format!("{name}: {error}")),
            Self::Sqlite(error) => StateError::Unavailable(format!("{name}: {error}")),
        }
    }
}
