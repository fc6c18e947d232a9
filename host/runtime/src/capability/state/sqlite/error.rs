//! Why the store could not do its work.

use std::{io, path::Path};

use super::StateError;

/// Why an operation failed, before the file is named.
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
