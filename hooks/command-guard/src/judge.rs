//! From a command line to a verdict.

use hookbox_shell::{Unseen, analyse};

use crate::config::{Config, Level};
use crate::rule::{self, Finding, Kind};

/// Verdict on a command. The text is the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is not to run.
    Deny(String),
    /// The user decides.
    Ask(String),
}

/// The objection to a command line, if there is one.
pub fn judge(command: &str, config: &Config) -> Option<Verdict> {
    if config.allow.iter().any(|allowed| allowed.trim() == command.trim()) {
        return None;
    }
    let analysis = analyse(command);
    let mut findings: Vec<Finding> = analysis.calls.iter().flat_map(|call| rule::check(call, config)).collect();
    findings.extend(analysis.unseen.iter().map(|unseen| cannot_see(*unseen)));
    let mut asked = None;
    for finding in findings {
        match (level(config, finding.kind), finding.grave) {
            (Level::Pass, _) => {}
            (Level::Deny, _) | (Level::Graded, true) => return Some(Verdict::Deny(finding.why)),
            (Level::Ask, _) | (Level::Graded, false) => asked = asked.or(Some(Verdict::Ask(finding.why))),
        }
    }
    asked
}

fn cannot_see(unseen: Unseen) -> Finding {
    let (kind, grave, why) = match unseen {
        Unseen::Program => (Kind::Unseen, false, "a program is run whose name is known only when it runs"),
        Unseen::Piped => (Kind::Unseen, false, "a program's output is run as commands, and is known only when it runs"),
        Unseen::Downloaded => (Kind::Downloads, false, "what is downloaded is run without anybody having seen it"),
        Unseen::TooMuch => (Kind::Unseen, true, "the command is longer or more nested than the guard reads"),
    };
    Finding { kind, grave, why: why.to_owned() }
}

fn level(config: &Config, kind: Kind) -> Level {
    match kind {
        Kind::Files => config.files,
        Kind::Devices => config.devices,
        Kind::Git => config.git,
        Kind::Packages => config.packages,
        Kind::System => config.system,
        Kind::Services => config.services,
        Kind::Downloads => config.downloads,
        Kind::Unseen => config.unseen,
    }
}
