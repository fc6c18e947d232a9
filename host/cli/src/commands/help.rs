//! `hookbox help`: the help of a command, or a topic.

use clap::{Args, CommandFactory, Parser};

use crate::{Cli, exit, exit::Exit, print};

/// Print the help of a command, or of a topic: clients, configuration, environment, exit-codes, failures, json,
/// permissions.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox help configuration")]
pub struct Help {
    /// A command or a topic
    #[arg(value_name = "COMMAND|TOPIC")]
    words: Vec<String>,
}

/// The topics: name, summary and text.
const TOPICS: [(&str, &str, &str); 7] = [
    ("clients", "Connect a client, check it, disconnect it", include_str!("help/clients.txt")),
    ("configuration", "The shape of hooks.json", include_str!("help/configuration.txt")),
    ("environment", "The variables that hookbox reads", include_str!("help/environment.txt")),
    ("exit-codes", "The exit codes of all commands", exit::HELP),
    ("failures", "The consequence of a failed hook", include_str!("help/failures.txt")),
    ("json", "Output for programs", include_str!("help/json.txt")),
    ("permissions", "The resources and decisions that a component may have", include_str!("help/permissions.txt")),
];

/// The end of `hookbox --help`.
pub fn after() -> String {
    let topics = TOPICS.map(|(name, summary, _)| format!("  {name:14} {summary}\n")).concat();
    format!("Topics (hookbox help TOPIC):\n{topics}\n{}", exit::HELP)
}

impl Help {
    pub fn run(self) -> anyhow::Result<Exit> {
        let topic = match self.words.as_slice() {
            [word] => TOPICS.iter().find(|(name, ..)| *name == word.replace('_', "-")),
            _ => None,
        };
        if let Some((_, _, text)) = topic {
            text.trim_end().lines().for_each(print::out);
            return Ok(Exit::Ok);
        }
        let whole = Cli::command();
        let mut command = &whole;
        for word in &self.words {
            let found = command.find_subcommand(word).filter(|found| !found.is_hide_set());
            command = found.ok_or_else(|| unknown(word, command, std::ptr::eq(command, &raw const whole)))?;
        }
        let words = self.words.iter().map(String::as_str);
        // As with `--help`, so that both print the same.
        if let Err(help) = Cli::try_parse_from(["hookbox"].into_iter().chain(words).chain(["--help"])) {
            help.render().to_string().lines().for_each(print::out);
        }
        Ok(Exit::Ok)
    }
}

fn unknown(word: &str, within: &clap::Command, is_top: bool) -> anyhow::Error {
    let commands = within.get_subcommands().filter(|command| !command.is_hide_set());
    let mut known: Vec<&str> = commands.map(clap::Command::get_name).collect();
    let topics = TOPICS.map(|(name, ..)| name);
    if is_top {
        known.extend(topics);
    }
    let what = if is_top { "command or topic" } else { "command" };
    let advice = match hookbox::config::nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if is_top => format!("the topics are {}; `hookbox --help` lists the commands", topics.join(", ")),
        None if known.is_empty() => format!("`{}` has no commands of its own", within.get_name()),
        None => format!("known are {}", known.join(", ")),
    };
    Exit::Usage.advised(format!("unknown {what} `{word}`"), &[&advice])
}

#[cfg(test)]
mod tests {
    use super::{Help, TOPICS};
    use clap::{Args, Command};

    #[test]
    fn the_help_of_help_lists_every_topic() {
        let mut help = Help::augment_args(Command::new("help"));
        let text = help.render_long_help().to_string();
        for (name, _, topic) in TOPICS {
            assert!(text.contains(name), "{name}");
            assert!(topic.lines().all(|line| line.chars().count() <= 100), "{name}: a line is too long");
        }
    }
}
