//! The clients whose hooks hookbox can run: the location of their settings, and the form of an entry.

pub mod claude;
pub mod codex;
pub mod command;
pub mod coverage;
pub mod entry;
pub mod plugin;
pub mod rejected;
pub mod settings;
pub mod wiring;
mod words;

use std::path::{Path, PathBuf};

use self::settings::Settings;
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

/// Everything that hookbox itself reads. Also the syntax of clients that were not measured.
const LENIENT: Syntax = Syntax { comments: true, trailing_commas: true, byte_order_mark: true };
/// JSON and nothing else.
const STRICT: Syntax = Syntax { comments: false, trailing_commas: false, byte_order_mark: false };

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

const CLIENT: Client = Client {
    name: "",
    title: "",
    dialect: "",
    programs: &[],
    form: Form::Groups,
    folders: &[],
    user_file: "settings.json",
    project_file: None,
    local_file: None,
    project_variable: None,
    milliseconds: false,
    shell: "Bash",
    patience: 60,
    syntax: LENIENT,
    above: Above::All,
};

/// Every client that `install` and `doctor` support.
pub static ALL: &[Client] = &[
    Client {
        name: "claude",
        title: "Claude Code",
        dialect: "claude",
        programs: &["claude"],
        folders: &[("CLAUDE_CONFIG_DIR", ""), ("HOME", ".claude")],
        project_file: Some(".claude/settings.json"),
        local_file: Some(".claude/settings.local.json"),
        project_variable: Some("CLAUDE_PROJECT_DIR"),
        syntax: Syntax { byte_order_mark: true, ..STRICT },
        above: Above::None,
        ..CLIENT
    },
    Client {
        name: "codebuddy",
        title: "CodeBuddy",
        dialect: "codebuddy",
        programs: &["codebuddy", "cbc"],
        folders: &[("HOME", ".codebuddy")],
        project_file: Some(".codebuddy/settings.json"),
        local_file: Some(".codebuddy/settings.local.json"),
        syntax: Syntax { byte_order_mark: false, ..LENIENT },
        above: Above::None,
        ..CLIENT
    },
    Client {
        name: "blade",
        title: "Blade",
        dialect: "blade@observed",
        programs: &["blade"],
        folders: &[("HOME", ".blade")],
        project_file: Some(".blade/settings.json"),
        local_file: Some(".blade/settings.local.json"),
        project_variable: Some("BLADE_PROJECT_DIR"),
        ..CLIENT
    },
    Client {
        name: "codex",
        title: "Codex CLI",
        dialect: "codex",
        programs: &["codex"],
        folders: &[("CODEX_HOME", ""), ("HOME", ".codex")],
        user_file: "hooks.json",
        patience: 600,
        project_file: Some(".codex/hooks.json"),
        syntax: STRICT,
        above: Above::Repository,
        ..CLIENT
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        dialect: "gemini",
        programs: &["gemini"],
        shell: "run_shell_command",
        folders: &[("GEMINI_CLI_HOME", ".gemini"), ("HOME", ".gemini")],
        project_file: Some(".gemini/settings.json"),
        project_variable: Some("GEMINI_PROJECT_DIR"),
        milliseconds: true,
        syntax: Syntax { comments: true, ..STRICT },
        above: Above::None,
        ..CLIENT
    },
    Client {
        name: "copilot",
        title: "GitHub Copilot CLI",
        dialect: "copilot",
        programs: &["copilot"],
        form: Form::Flat,
        patience: 30,
        folders: &[("COPILOT_HOME", ""), ("HOME", ".copilot")],
        user_file: "hooks/hookbox.json",
        project_file: Some(".github/hooks/hookbox.json"),
        project_variable: Some("COPILOT_PROJECT_DIR"),
        syntax: STRICT,
        above: Above::None,
        ..CLIENT
    },
    Client {
        name: "opencode",
        title: "OpenCode",
        dialect: "opencode",
        programs: &["opencode"],
        shell: "bash",
        form: Form::Plugin,
        folders: &[("OPENCODE_CONFIG_DIR", ""), ("XDG_CONFIG_HOME", "opencode"), ("HOME", ".config/opencode")],
        user_file: "plugin/hookbox.ts",
        project_file: Some(".opencode/plugin/hookbox.ts"),
        ..CLIENT
    },
    Client {
        name: "picoclaw",
        title: "PicoClaw",
        dialect: "picoclaw",
        programs: &["picoclaw"],
        shell: "exec",
        form: Form::Process,
        folders: &[("PICOCLAW_HOME", ""), ("HOME", ".picoclaw")],
        user_file: "config.json",
        ..CLIENT
    },
];

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

/// The program that a shell would run under this name.
pub fn on_path(name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let runs =
        |file: &PathBuf| file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(runs);
    }
    search_path().into_iter().map(|folder| folder.join(name)).find(runs)
}

/// The trusted folders of `PATH`: absolute paths that are not within the current folder, which may be a checkout.
pub fn search_path() -> Vec<PathBuf> {
    let here = std::env::current_dir().and_then(|folder| folder.canonicalize()).ok();
    let own = |folder: &PathBuf| {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        folder.is_absolute() && here.as_ref().is_none_or(|here| !real.starts_with(here))
    };
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).filter(own).collect()
}
