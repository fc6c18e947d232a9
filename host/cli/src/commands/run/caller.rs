//! Who is calling?

use hookbox::{
    config::Config,
    dialect::{Caller, caller},
};

use crate::{exit::Exit, print};

/// What `--dialect` says so that the event alone tells it.
pub const AUTO: &str = "auto";

/// The configuration under the dialect of whoever sent this event.
///
/// # Errors
/// It is not the client that the configuration is for, and nobody can tell which one it is.
pub fn answer(config: Config, name: Option<&str>, wire: &[u8]) -> anyhow::Result<Config> {
    let configured = config.dialect.name();
    match caller(config.dialect, wire, name, |variable| std::env::var_os(variable).is_some()) {
        Caller::Own => Ok(config),
        Caller::Foreign(dialect) => {
            let name = dialect.name().trim_end_matches("@observed");
            print::err(format_args!("hookbox: {name} is calling, not {configured}; it is answered in its own words"));
            Ok(config.answering(dialect))
        }
        Caller::Unclear(several) => {
            let names: Vec<&str> = several.iter().map(|dialect| dialect.name()).collect();
            let message = format!("not {configured} is calling, but one of {}: give --dialect", names.join(", "));
            Err(Exit::Data.error(message))
        }
    }
}
