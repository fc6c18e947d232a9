//! Claude Code's own word about its settings: `claude doctor` lists what it does not read.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::Context;

use crate::{child, commands::scratch::Scratch, user_file};

/// The timeout of the request.
const PATIENCE: Duration = Duration::from_secs(30);
/// The user's settings, in Claude Code's folder.
const SETTINGS: &str = "settings.json";
/// The heading of the list.
const HEADING: &str = "Invalid settings";

/// Something in a settings file that Claude Code does not read.
#[derive(Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The settings file, the place in it, and the reason, in Claude Code's words.
    pub text: String,
    /// True if Claude Code ignores only this part, and uses the rest of the file.
    pub is_part: bool,
}

impl Invalid {
    /// Returns true if it is about this file.
    pub fn is_of(&self, file: &Path) -> bool {
        let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        [file, &real].into_iter().any(|file| {
            let rest = self.text.strip_prefix(&*file.to_string_lossy());
            rest.is_some_and(|rest| rest.starts_with([':', ' ']))
        })
    }
}

/// Asks Claude Code which of a project's settings it does not read. It starts nothing of the project for this.
///
/// Claude Code and the npm that it starts write into the home of their user. So they get a temporary folder with a copy
/// of the user's settings instead.
///
/// # Errors
/// The program cannot be run, or does not respond.
pub fn invalid(program: &Path, home: Option<&Path>, project: &Path) -> anyhow::Result<Vec<Invalid>> {
    let scratch = Scratch::new("claude")?;
    let settings = home.map(|home| user_file::read(&home.join(SETTINGS))).transpose()?.flatten();
    if let Some(settings) = settings {
        scratch.write(SETTINGS, settings)?;
    }
    let mut child = Command::new(program)
        .arg("doctor")
        .current_dir(project)
        .env("CLAUDE_CONFIG_DIR", scratch.path())
        .env("NPM_CONFIG_CACHE", scratch.path().join("npm"))
        .env("DISABLE_AUTOUPDATER", "1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot run `{} doctor`", program.display()))?;
    let output = child::within(&mut child, PATIENCE);
    let output = output.with_context(|| format!("`{} doctor` did not end", program.display()))?;
    let output = String::from_utf8_lossy(&output);
    let Some(home) = home else { return Ok(parse(&output)) };
    Ok(parse(&output.replace(&*scratch.path().to_string_lossy(), &home.to_string_lossy())))
}

fn parse(output: &str) -> Vec<Invalid> {
    let section = output.lines().skip_while(|line| line.trim() != HEADING).skip(1);
    let items = section.take_while(|line| !line.trim().is_empty()).filter_map(|line| line.trim().strip_prefix("- "));
    let is_part = |text: &str| ["ignored", "skipped", "removed"].iter().any(|word| text.contains(word));
    items.map(|text| Invalid { text: text.to_owned(), is_part: is_part(text) }).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Invalid, parse};

    /// Printed by 2.1.330, with other folders.
    const SAID: &str = "Claude Code doctor\n\nRunning: npm-global (2.1.330)\nSearch: OK (bundled)\n\nInvalid settings\n\
        - /p/.claude/settings.json \u{203a} model: Expected string, but received number\n\
        - /h/.claude/settings.json \u{203a} hooks.Zork: Unknown hook event \"Zork\" was ignored. Valid events: PreToolUse\n\
        \nRemote Control\n- Not signed in to claude.ai\n";

    #[test]
    fn the_list_ends_with_its_section() {
        let found = parse(SAID);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().map(|invalid| invalid.is_part).eq([false, true]), "{found:?}");
        let is_of = |file: &str| found.first().is_some_and(|invalid| invalid.is_of(Path::new(file)));
        assert!(is_of("/p/.claude/settings.json") && !is_of("/p/.claude/settings"), "{found:?}");
        assert_eq!(parse("the client 9.8.7\n"), Vec::<Invalid>::new());
    }
}
