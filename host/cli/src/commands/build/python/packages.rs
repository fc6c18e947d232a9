//! Installs packages from the index into folders of the project: the compiler, and the hook's dependencies.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use super::{component, emptied, interpreter};
use crate::{commands::build::tool, exit::Exit, print};

/// The lockfile of a project's dependencies, optionally with hashes.
pub const LOCK: &str = "requirements.txt";
/// The file with the digest of what was installed in a folder.
const INSTALLED: &str = ".installed-from";

/// The packages to install in a folder.
pub struct Packages {
    what: String,
    arguments: Vec<OsString>,
    /// A digest of everything that determines what is installed.
    from: String,
    folder: PathBuf,
}

impl Packages {
    /// The compiler, locked by hashes.
    pub fn toolchain(scratch: &Path, requirements: &str, folder: PathBuf) -> std::io::Result<Self> {
        let file = scratch.join("componentize-py.txt");
        fs::write(&file, requirements)?;
        let arguments = vec!["--require-hashes".into(), "--no-deps".into(), "-r".into(), file.into()];
        let from = component::source([requirements.as_bytes()]);
        Ok(Self { what: "componentize-py, some 17 MB".into(), arguments, from, folder })
    }

    /// The dependencies of a project: as locked in requirements.txt, or else as listed in pyproject.toml.
    pub fn of_project(project: &Path, dependencies: &[String], folder: PathBuf) -> Self {
        let lock = project.join(LOCK);
        let locked = fs::read(&lock).unwrap_or_default();
        let arguments = match (dependencies, locked.is_empty()) {
            ([], _) => Vec::new(),
            (_, false) => vec!["-r".into(), lock.into()],
            (dependencies, true) => dependencies.iter().map(OsString::from).collect(),
        };
        let dependencies = dependencies.join("\n");
        let from = component::source([dependencies.as_bytes(), &locked]);
        Self { what: dependencies.replace('\n', ", "), arguments, from, folder }
    }

    /// Installs the packages, unless they are installed already.
    pub fn install(&self) -> anyhow::Result<()> {
        let marker = self.folder.join(INSTALLED);
        if fs::read_to_string(&marker).is_ok_and(|from| from == self.from) {
            return Ok(());
        }
        emptied(&self.folder)?;
        if !self.arguments.is_empty() {
            print::err(format_args!("installing {}", print::plain(&self.what)));
            let mut pip = interpreter();
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-warn-script-location"])
                .args(["--root-user-action", "ignore", "--no-input", "--only-binary", ":all:", "--target"])
                .arg(&self.folder)
                .args(&self.arguments);
            let command = self.command();
            tool::run(&mut pip, super::MISSING, || {
                let by_hand = format!("to try it by hand:   {command}");
                Exit::Software
                    .advised("the installation failed", &[&by_hand, "if pip is missing:   python3 -m ensurepip"])
            })?;
        }
        fs::write(&marker, &self.from)
            .map_err(|error| Exit::Software.error(format!("cannot write {}: {error}", marker.display())))
    }

    fn command(&self) -> String {
        let words = self.arguments.iter().map(|word| word.to_string_lossy().into_owned());
        let words: Vec<_> =
            words.map(|word| if word.contains([' ', '<', '>', ';']) { format!("'{word}'") } else { word }).collect();
        format!("python3 -m pip install --only-binary :all: --target {} {}", self.folder.display(), words.join(" "))
    }
}
