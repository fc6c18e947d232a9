//! Determines which client is calling.

use hookbox::{
    Dialect,
    config::Config,
    dialect::{Caller, caller, recognised},
};

use crate::{exit::Exit, print};

/// The value of `--dialect` for recognising the client by its event.
pub const AUTO: &str = "auto";

/// The dialect that the options set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// A dialect or an event name is set, so the client is known.
    Named,
    /// `auto`: the event determines the client.
    Auto,
    /// Neither is set: the configuration's dialect, unless the event proves that another client is calling.
    Nothing,
}

/// The configuration under the dialect of the client that sent this event.
///
/// # Errors
/// Same as [`of`].
pub fn answer(config: Config, given: Given, name: Option<&str>, wire: &[u8]) -> anyhow::Result<Config> {
    let configured = config.dialect;
    let dialect = of(configured, given, name, wire)?;
    if dialect.name() == configured.name() {
        return Ok(config);
    }
    let (name, configured) = (dialect.name().trim_end_matches("@observed"), configured.name());
    print::err(format_args!("hookbox: the caller is {name}, not {configured}; the response uses the dialect {name}"));
    Ok(config.answering(dialect))
}

/// The dialect of the client that sent this event.
///
/// # Errors
/// The event is not from the configured client, and the calling client cannot be determined.
pub fn of(
    configured: &'static dyn Dialect,
    given: Given,
    name: Option<&str>,
    wire: &[u8],
) -> anyhow::Result<&'static dyn Dialect> {
    let calling = match given {
        Given::Named => Caller::Own,
        Given::Auto => recognised(configured, wire, name, |variable| std::env::var_os(variable).is_some()),
        Given::Nothing => caller(configured, wire),
    };
    match calling {
        Caller::Own => Ok(configured),
        Caller::Foreign(dialect) => Ok(dialect),
        Caller::Unclear(several) => {
            let names: Vec<&str> = several.iter().map(|dialect| dialect.name()).collect();
            let message =
                format!("the caller is not {}, but one of {}: give --dialect", configured.name(), names.join(", "));
            Err(Exit::Data.error(message))
        }
    }
}
