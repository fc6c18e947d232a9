//! The embedded SDK. A hook is always built with the SDK of the same version.

use std::{fs, io, path::Path};

use crate::sdk;

const SOURCES: &str = "src/";

/// Its modules, by their names on Python's path.
pub fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    sdk::sources("python").filter_map(|(path, text)| Some((path.strip_prefix(SOURCES)?, text)))
}

/// Writes it into a folder.
pub fn write(folder: &Path) -> io::Result<()> {
    for (name, text) in files() {
        let file = folder.join(name);
        file.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(file, text)?;
    }
    Ok(())
}

/// Its version.
pub fn version() -> Option<&'static str> {
    let (_, text) = files().find(|(name, _)| *name == "hookbox/__init__.py")?;
    text.lines().find_map(|line| line.strip_prefix("__version__ = \"")?.strip_suffix('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_of_the_version_of_this_program() {
        assert_eq!(version(), Some(env!("CARGO_PKG_VERSION")));
    }
}
