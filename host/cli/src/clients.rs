//! The clients whose hooks hookbox can run: the location of their settings, and the form of an entry.

pub mod claude;
pub mod codex;
pub mod command;
pub mod coverage;
pub mod entry;
pub mod plugin;
pub mod rejected;
mod search_path;
pub mod settings;
mod table;
pub mod wiring;
mod words;

use std::path::{Path, PathBuf};

use self::settings::Settings;
pub use self::{
    search_path::{on_path, search_path},
    table::ALL,
};
use crate::change;

/// A program that runs hooks.
#[derive(Debug)]
pub struct Client {
    /// The name on hookbox's command line. Also the dialect, without its profile.
    pub name: &'static str,
    /// The product name.
    pub title: &'static str,
    /// The client's dialect, unless a configuration chooses a profile.
    pub dialect: &'static str,
    /// The names of its program on the `PATH`.
    pub programs: &'static [&'static str],
    /// The form of its entries.
    pub form: Form,
    /// The candidate folders of the user's settings: an environment variable and a path below its value. The first
    /// whose variable is set applies.
    folders: &'static [(&'static str, &'static str)],
    /// The user's settings file in that folder.
    user_file: &'static str,
    /// The project's settings file. `None`: the client has none.
    project_file: Option<&'static str>,
    /// The project's settings file that is not shared. `None`: the client has none.
    local_file: Option<&'static str>,
    /// The variable with the project's folder, if the client sets one for its hooks.
    pub project_variable: Option<&'static str>,
    /// True if its timeouts are in milliseconds, false if in seconds.
    pub milliseconds: bool,
    /// The name of its shell tool in events.
    pub shell: &'static str,
    /// Its default timeout of hooks, in seconds.
    pub patience: u64,
    /// The text that its own parser reads.
    pub syntax: Syntax,
    /// The project settings that it reads when it starts below them, as measured.
    pub above: Above,
}

/// The deviations from strict JSON that a client's own parser reads, as measured with the programs in `coverage.json`.
#[derive(Debug, Clone, Copy)]
pub struct Syntax {
    /// Comments.
    pub comments: bool,
    /// A comma after the last element.
    pub trailing_commas: bool,
    /// A byte order mark at the beginning.
    pub byte_order_mark: bool,
}

/// The form of an entry in a client's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Event → matcher groups → handlers.
    Groups,
    /// Event → handlers.
    Flat,
    /// A process that starts once, with the names of its events.
    Process,
    /// A file of code that the client loads.
    Plugin,
}

/// The folders above the one that it starts in, whose project settings a client reads too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Above {
    /// None.
    None,
    /// Those of the same repository.
    Repository,
    /// All, or not known.
    All,
}

/// The scope of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The settings of one project.
    Project,
    /// The settings of one project that are not shared: `settings.local.json`.
    Local,
    /// The settings of this user, for all projects.
    User,
}

/// The client with this name.
pub fn by_name(name: &str) -> Option<&'static Client> {
    ALL.iter().find(|client| client.name == name)
}

impl Client {
    /// The folder of the user's settings. `None` without a home directory.
    pub fn home(&self) -> Option<PathBuf> {
        self.folders.iter().find_map(|(variable, below)| {
            let folder = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())?;
            Some(if below.is_empty() { folder } else { folder.join(below) })
        })
    }

    /// The settings file of this scope. `None` if the client has none.
    pub fn file(&self, scope: Scope, project: &Path) -> Option<PathBuf> {
        match scope {
            Scope::Project => Some(project.join(self.project_file?)),
            Scope::Local => Some(project.join(self.local_file?)),
            Scope::User => Some(self.home()?.join(self.user_file)),
        }
    }

    /// Returns true if any of its settings has a hookbox entry, or cannot be read.
    pub fn is_installed(&self, project: &Path) -> bool {
        let files =
            [Scope::Project, Scope::Local, Scope::User].into_iter().filter_map(|scope| self.file(scope, project));
        files.into_iter().any(|file| match change::read(&file) {
            Ok(None) => false,
            Ok(Some(text)) if self.form == Form::Plugin => plugin::is_plugin(&text),
            Ok(Some(text)) => {
                let found = Settings::read(self, &file, Some(&text)).and_then(|settings| settings.found());
                found.map_or(true, |found| !found.is_empty())
            }
            Err(_) => true,
        })
    }

    /// The project whose settings the client reads: this folder, or the nearest one above with settings.
    pub fn project(&self, from: &Path) -> PathBuf {
        let user = self.file(Scope::User, from);
        let has = |folder: &&Path| {
            let files = [Scope::Project, Scope::Local].into_iter().filter_map(|scope| self.file(scope, folder));
            files.into_iter().any(|file| file.symlink_metadata().is_ok() && Some(&file) != user.as_ref())
        };
        above(from).find(has).unwrap_or(from).to_owned()
    }

    /// Returns true if the client, started in a folder, reads the settings of the project around it.
    pub fn reads_from(&self, folder: &Path, project: &Path) -> bool {
        let is_below = folder != project;
        match self.above {
            Above::None => !is_below,
            Above::Repository => !is_below || project.starts_with(codex::root(folder)),
            Above::All => true,
        }
    }

    /// The default scope: the project, if the client has settings for projects.
    pub const fn usual_scope(&self) -> Scope {
        if self.project_file.is_some() { Scope::Project } else { Scope::User }
    }

    /// The path of its program on the `PATH`.
    pub fn program(&self) -> Option<PathBuf> {
        self.programs.iter().find_map(|name| on_path(name))
    }
}

/// The project that contains a folder: the nearest folder with a repository or a client's settings, or else the folder
/// itself.
pub fn project_of(from: &Path) -> PathBuf {
    let from = from.canonicalize().unwrap_or_else(|_| from.to_owned());
    let has = |folder: &&Path| {
        let mut files =
            ALL.iter().filter_map(|client| client.project_file).chain(ALL.iter().filter_map(|c| c.local_file));
        folder.join(".git").exists() || files.any(|file| folder.join(file).symlink_metadata().is_ok())
    };
    above(&from).find(has).unwrap_or(&from).to_owned()
}

/// A folder and its ancestors, up to the top of its repository. The user's home is not a project of the folders in it.
fn above(from: &Path) -> impl Iterator<Item = &Path> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let home = home.map(|home| home.canonicalize().unwrap_or(home));
    let mut ended = false;
    from.ancestors().take_while(move |folder| {
        let goes_on = !ended && (*folder == from || home.as_deref() != Some(*folder));
        ended |= folder.join(".git").exists();
        goes_on
    })
}
