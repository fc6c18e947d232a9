//! The languages of hooks: one file each, and one line here.

use std::path::{Path, PathBuf};

use wasm_metadata::AddMetadata;

use super::{Build, go, javascript, python, rust};
use crate::exit::Exit;

/// The build of hooks in one language.
pub trait Language {
    /// The name of the language.
    fn name(&self) -> &'static str;

    /// The file that identifies a folder as a hook in this language.
    fn manifest(&self) -> &'static str;

    /// A digest of the sources, for compilers that do not detect an unchanged project themselves. If the component was
    /// made from the same sources, the compiler does not run.
    fn fingerprint(&self, _project: &Project<'_>) -> anyhow::Result<Option<Fingerprint>> {
        Ok(None)
    }

    /// Runs the compiler. Its messages and progress go to stderr; stdout stays empty.
    fn compile(&self, project: &Project<'_>) -> anyhow::Result<Compiled>;
}

/// A project to build.
pub struct Project<'a> {
    /// The hook's folder, absolute.
    pub folder: PathBuf,
    /// The command-line options.
    pub build: &'a Build,
}

impl Project<'_> {
    /// Creates the folder for build data, inside the project but ignored by version control.
    pub fn scratch(&self) -> std::io::Result<PathBuf> {
        let folder = self.folder.join(".hookbox");
        std::fs::create_dir_all(&folder)?;
        let ignore = folder.join(".gitignore");
        if !ignore.is_file() {
            std::fs::write(ignore, "*\n")?;
        }
        Ok(folder)
    }
}

/// The identity of a build: the hook's name and its sources.
pub struct Fingerprint {
    /// The hook's name, which is also the component's file name.
    pub name: String,
    /// A digest of everything the compiler reads, including the compiler itself.
    pub digest: String,
}

/// The output of a compiler.
pub struct Compiled {
    /// The hook's name, which is also the component's file name.
    pub name: String,
    /// A core module or a component.
    pub wasm: Vec<u8>,
    /// Adapter modules between a core module and the contract, by the import name of each.
    pub adapters: Vec<(&'static str, Vec<u8>)>,
    /// The language and the SDK, for `hookbox inspect`.
    pub made_with: AddMetadata,
}

/// Every language, in the order of detection.
const LANGUAGES: &[&dyn Language] = &[&rust::Rust, &go::Go, &javascript::JavaScript, &python::Python];

/// The language of a hook's folder.
pub fn detect(folder: &Path) -> anyhow::Result<&'static dyn Language> {
    let found: Vec<_> = LANGUAGES.iter().filter(|language| folder.join(language.manifest()).is_file()).collect();
    match found.as_slice() {
        [language] => Ok(**language),
        [] => Err(Exit::Usage.error(format!(
            "{} is not a hook's folder: it contains none of {}",
            folder.display(),
            LANGUAGES.iter().map(|l| format!("{} ({})", l.manifest(), l.name())).collect::<Vec<_>>().join(", ")
        ))),
        several => Err(Exit::Usage.error(format!(
            "{} has {}: a hook needs a separate folder and one language",
            folder.display(),
            several.iter().map(|language| language.manifest()).collect::<Vec<_>>().join(" and ")
        ))),
    }
}
