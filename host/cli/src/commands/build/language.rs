//! The languages a hook can be written in: one file each, one line here.

use std::path::{Path, PathBuf};

use wasm_metadata::AddMetadata;

use super::{Build, go, javascript, python, rust};
use crate::exit::Exit;

/// How hooks of one language are built.
pub trait Language {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// The file that makes a folder a hook of this language.
    fn manifest(&self) -> &'static str;

    /// For compilers that cannot tell by themselves that nothing changed: the component that was made from the same is
    /// left as it is, and the compiler does not run.
    fn fingerprint(&self, _project: &Project<'_>) -> anyhow::Result<Option<Fingerprint>> {
        Ok(None)
    }

    /// Runs the compiler. Its messages, and progress, go to stderr; stdout is kept free.
    fn compile(&self, project: &Project<'_>) -> anyhow::Result<Compiled>;
}

/// What is built.
pub struct Project<'a> {
    /// The hook's folder, absolute.
    pub folder: PathBuf,
    /// How it was asked for.
    pub build: &'a Build,
}

impl Project<'_> {
    /// A folder for what a build keeps, inside the project and out of its version control.
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

/// What a compiler would make, and from what.
pub struct Fingerprint {
    /// The hook's name; the component is called after it.
    pub name: String,
    /// A digest of whatever the compiler reads, itself included.
    pub digest: String,
}

/// What a compiler made.
pub struct Compiled {
    /// The hook's name; the component is called after it.
    pub name: String,
    /// A core module or a component.
    pub wasm: Vec<u8>,
    /// Modules that stand between a core module and the contract, by the name it imports them under.
    pub adapters: Vec<(&'static str, Vec<u8>)>,
    /// The language and the SDK, for `hookbox inspect`.
    pub made_with: AddMetadata,
}

/// Every language, in the order in which a folder is asked.
const LANGUAGES: &[&dyn Language] = &[&rust::Rust, &go::Go, &javascript::JavaScript, &python::Python];

/// The language of a hook's folder.
pub fn detect(folder: &Path) -> anyhow::Result<&'static dyn Language> {
    let found: Vec<_> = LANGUAGES.iter().filter(|language| folder.join(language.manifest()).is_file()).collect();
    match found.as_slice() {
        [language] => Ok(**language),
        [] => Err(Exit::Usage.error(format!(
            "{} is not a hook's folder: it has none of {}",
            folder.display(),
            LANGUAGES.iter().map(|l| format!("{} ({})", l.manifest(), l.name())).collect::<Vec<_>>().join(", ")
        ))),
        several => Err(Exit::Usage.error(format!(
            "{} has {}: a hook is written in one language, in a folder of its own",
            folder.display(),
            several.iter().map(|language| language.manifest()).collect::<Vec<_>>().join(" and ")
        ))),
    }
}
