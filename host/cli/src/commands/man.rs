//! `hookbox man`: the manual pages and completion scripts that packages install.

use std::{fs, path::PathBuf};

use anyhow::Context;
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;

use crate::{Cli, exit::Exit, user_file};

/// Write the manual pages and completion scripts into a folder.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox man target/pages")]
pub struct Man {
    /// Gets the folders `man1` and `completions`
    folder: PathBuf,
}

/// The shells with a packaged completion script, and the file name that each shell looks for.
const SCRIPTS: [(Shell, &str); 3] =
    [(Shell::Bash, "hookbox.bash"), (Shell::Zsh, "_hookbox"), (Shell::Fish, "hookbox.fish")];

impl Man {
    pub fn run(self) -> anyhow::Result<Exit> {
        let (pages, scripts) = (self.folder.join("man1"), self.folder.join("completions"));
        for folder in [&pages, &scripts] {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        clap_mangen::generate_to(definition(), &pages).with_context(|| pages.display().to_string())?;
        for (shell, name) in SCRIPTS {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut definition(), "hookbox", &mut script);
            user_file::replace(&scripts.join(name), &script)?;
        }
        Ok(Exit::Ok)
    }
}

fn definition() -> Command {
    Cli::command()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use std::{fmt::Write, fs, path::Path};

    use clap::Command;

    use super::{Man, SCRIPTS, definition};

    /// The visible subcommands, with the text of their `--help`.
    fn subcommands() -> Vec<(String, String)> {
        let mut whole = definition().term_width(100);
        whole.build();
        let visible = whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
        visible
            .map(|mut command: Command| (command.get_name().to_owned(), command.render_long_help().to_string()))
            .collect()
    }

    /// `docs/cli.md` is generated from the command line's definition and up to date. `UPDATE_DOCS=1` regenerates it.
    #[test]
    fn the_reference_is_current() {
        let block = |help: &str| {
            let lines: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
            format!("```text\n{}\n```\n", lines.join("\n"))
        };
        let mut text =
            String::from("# Command line\n\nGenerated from the program's definition (`./just generate`).\n\n");
        text.push_str(&block(&definition().term_width(100).render_long_help().to_string()));
        for (name, help) in subcommands() {
            write!(text, "\n## hookbox {name}\n\n{}", block(&help)).unwrap();
        }
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&file, &text).unwrap();
        }
        let found = fs::read_to_string(file).unwrap_or_default();
        assert!(found == text, "docs/cli.md is not current: ./just generate");
    }

    /// There is a page with all options for every subcommand, and a script for every shell.
    #[test]
    fn pages_and_scripts_have_every_subcommand() {
        let folder = tempfile::tempdir().unwrap();
        Man { folder: folder.path().to_owned() }.run().unwrap();
        let read = |path: String| fs::read_to_string(folder.path().join(&path)).unwrap_or_else(|_| panic!("no {path}"));
        let whole = read("man1/hookbox.1".into());
        for (name, help) in subcommands() {
            assert!(whole.contains(&format!("hookbox\\-{name}(1)")), "{name}");
            let page = read(format!("man1/hookbox-{name}.1"));
            for option in help.split_whitespace().filter_map(|word| word.strip_prefix("--")) {
                let option = option.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap_or_default();
                assert!(page.contains(&format!("\\-\\-{}", option.replace('-', "\\-"))), "{name}: --{option}\n{page}");
            }
            for (_, script) in SCRIPTS {
                assert!(read(format!("completions/{script}")).contains(&name), "{script}: {name}");
            }
        }
    }
}
