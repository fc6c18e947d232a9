//! Exit codes. 0 and 2 have a meaning for clients (2: block). hookbox's own errors use other codes, and under `run`
//! also avoid 1, which shells and crashes use.

use std::process::ExitCode;

use hookbox::{
    BuildError, DispatchError,
    config::{ConfigErrors, Diagnostic},
};

/// The text at the end of `hookbox --help`.
pub const HELP: &str = "\
Exit codes:
  0   done; under `run` the verdict is on stdout. Where other codes block (copilot, gemini), also
      when hookbox itself failed and need not block
  1   `test`: a case failed. `health`: the daemon is not ready. `run` under blade@observed, which
      blocks on the codes below: hookbox itself failed and need not block
  2   `run` with \"failClosed\": true or --fail-closed: hookbox itself failed, and the client
      blocks. Under blade also stderr of a command hook that ended with 2, on an event where
      Claude gets it in no other way
  64  wrong usage
  65  the event is not valid (not JSON, no event name, a field of the wrong type, …)
  70  hookbox could not do its work (a file, a process, a bug)
  78  the configuration or one of its hooks is invalid
  80  hookbox.lock is missing or does not match the configuration
  81  a component needs approval before it runs: hookbox approve
  82  the bytes of a component differ from the lock
  83  a registry failed
  84  a signature is missing or wrong, or a component or its publisher is revoked";

/// The exit status of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Ok,
    /// The work is done, with a negative result: a case of `test` failed, or the daemon is not ready.
    Failed,
    /// hookbox failed, and the exit code tells the client the consequence for the event, as its dialect defines.
    Code(u8),
    /// A usage error.
    Usage,
    /// The event is invalid.
    Data,
    /// An internal or system error.
    Software,
    /// The configuration is invalid.
    Config,
    /// The lock is missing or stale.
    Stale,
    /// A component is not approved.
    Unapproved,
    /// A component differs from the locked one.
    Forged,
    /// A request to a registry failed.
    Registry,
    /// A signature is missing or wrong, or what it is about is revoked.
    Unsigned,
}

impl Exit {
    /// The exit status for an error of a command.
    pub fn of(error: &anyhow::Error) -> Self {
        if error.is::<DispatchError>() {
            Self::Data
        } else if error.is::<BuildError>() || error.is::<ConfigErrors>() {
            Self::Config
        } else {
            error.downcast_ref::<Failure>().map_or(Self::Software, |failure| failure.exit)
        }
    }

    const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Code(code) => code,
            Self::Usage => 64,
            Self::Data => 65,
            Self::Software => 70,
            Self::Config => 78,
            Self::Stale => 80,
            Self::Unapproved => 81,
            Self::Forged => 82,
            Self::Registry => 83,
            Self::Unsigned => 84,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// An error of the command line with its exit status.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    /// The lines of the message.
    pub lines: Vec<String>,
    /// The diagnostics, if the error is about unusable hooks.
    pub unusable: Vec<Diagnostic>,
}

impl Exit {
    /// An error with this exit status.
    pub fn error(self, message: impl Into<String>) -> anyhow::Error {
        self.errors(vec![message.into()])
    }

    /// Like [`Exit::error`], with advice on separate lines.
    pub fn advised(self, message: impl Into<String>, advice: &[&str]) -> anyhow::Error {
        let advice = advice.iter().map(|line| format!("   {line}"));
        self.errors(std::iter::once(message.into()).chain(advice).collect())
    }

    /// Like [`Exit::error`], with several lines.
    pub fn errors(self, lines: Vec<String>) -> anyhow::Error {
        Failure { exit: self, lines, unusable: Vec::new() }.into()
    }

    /// Like [`Exit::error`], for unusable hooks.
    pub fn unusable(self, unusable: Vec<Diagnostic>) -> anyhow::Error {
        let lines = unusable.iter().map(ToString::to_string).collect();
        Failure { exit: self, lines, unusable }.into()
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.lines.join("\n"))
    }
}

impl std::error::Error for Failure {}
