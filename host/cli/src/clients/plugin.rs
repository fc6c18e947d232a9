//! OpenCode's plugin: the file that is hookbox's entry there.

use serde_json::json;

use super::{
    command::HookboxCommand,
    settings::{Found, Position},
};

/// The source of the plugin, as in `clients/opencode/`.
const PLUGIN: &str = include_str!("../commands/install/hookbox.ts");
/// The start of the line with the settings of an installation.
const SETTINGS: &str = "const INSTALLED = ";

/// The settings of an installation, on one line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The path of hookbox.
    pub command: String,
    /// The configuration.
    pub config: String,
    /// The timeout of a request, in milliseconds.
    pub timeout: u64,
}

/// Returns true if the text is any version of the plugin.
pub fn is_plugin(text: &str) -> bool {
    text.starts_with("// OpenCode plugin: asks hookbox")
}

impl Installed {
    /// Parses the settings of an installed plugin.
    pub fn read(text: &str) -> Option<Self> {
        let rest = text.lines().find_map(|line| line.strip_prefix(SETTINGS))?.strip_prefix("{ command: ")?;
        let (command, rest) = rest.split_once(", config: ")?;
        let (config, rest) = rest.split_once(", timeout: ")?;
        let text = |json: &str| serde_json::from_str::<String>(json).ok();
        let timeout = rest.strip_suffix(" };")?.replace('_', "").parse().ok()?;
        Some(Self { command: text(command)?, config: text(config)?, timeout })
    }

    /// The text of the plugin with these settings. `None` if its source has no line for them.
    pub fn plugin(&self) -> Option<String> {
        let (command, config) = (json!(self.command), json!(self.config));
        let settings = format!("{SETTINGS}{{ command: {command}, config: {config}, timeout: {} }};", self.timeout);
        let mut lines: Vec<&str> = PLUGIN.lines().collect();
        *lines.iter_mut().find(|line| line.starts_with(SETTINGS))? = &settings;
        Some(lines.join("\n") + "\n")
    }

    /// The equivalent entry.
    pub fn entry(&self) -> Found {
        let words = ["run", "--dialect", "opencode", "--diagnostics", "off", "--config", &self.config];
        let words = [self.command.as_str()].into_iter().chain(words).map(str::to_owned).collect();
        let command = HookboxCommand { words, config: Some(self.config.clone()) };
        let position = Position { group: 0, handler: 0 };
        Found { event: "PreToolUse".into(), position, matcher: None, command, handler: serde_json::Value::Null }
    }
}

/// The number of the first line that differs from this version's plugin. `None` if there is no difference.
pub fn first_difference(text: &str) -> Option<usize> {
    // A copy without an installation's settings.
    if text == PLUGIN {
        return None;
    }
    let Some(expected) = Installed::read(text).and_then(|installed| installed.plugin()) else { return Some(1) };
    if expected == text {
        return None;
    }
    let same = expected.lines().zip(text.lines()).take_while(|(one, other)| one == other).count();
    Some(same + 1)
}
