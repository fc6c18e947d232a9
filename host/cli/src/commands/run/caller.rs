//! Who is calling?

use hookbox::{
    Dialect,
    config::Config,
    dialect::{Caller, caller},
};

use crate::{exit::Exit, print};

/// What `--dialect` says so that the event alone tells it.
pub const AUTO: &str = "auto";

/// The configuration under the dialect of whoever sent this event.
///
/// # Errors
/// As [`of`].
pub fn answer(config: Config, name: Option<&str>, wire: &[u8]) -> anyhow::Result<Config> {
    let configured = config.dialect;
    let dialect = of(configured, name, wire)?;
    if dialect.name() == configured.name() {
        return Ok(config);
    }
    let (name, configured) = (dialect.name().trim_end_matches("@observed"), configured.name());
    print::err(format_args!("hookbox: {name} is calling, not {configured}; it is answered in its own words"));
    Ok(config.answering(dialect))
}

/// The dialect of whoever sent this event.
///
/// # Errors
/// It is not the client that the configuration is for, and nobody can tell which one it is.
pub fn of(configured: &'static dyn Dialect, name: Option<&str>, wire: &[u8]) -> anyhow::Result<&'static dyn Dialect> {
    match caller(configured, wire, name, |variable| std::env::var_os(variable).is_some()) {
        Caller::Own => Ok(configured),
        Caller::Foreign(dialect) => Ok(dialect),
        Caller::Unclear(several) => {
            let names: Vec<&str> = several.iter().map(|dialect| dialect.name()).collect();
            let message =
                format!("not {} is calling, but one of {}: give --dialect", configured.name(), names.join(", "));
            Err(Exit::Data.error(message))
        }
    }
}
