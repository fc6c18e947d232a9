//! `hookbox token`: a new token for a tenant of the daemon.

use anyhow::Context;
use clap::Args;
use serde_json::json;

use crate::{exit::Exit, print};

/// Print a new token, and its hash for the tenant's file. With a token on stdin, `--hash` prints the hash of that one.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox token")]
pub struct Token {
    /// Hash the token on stdin instead
    #[arg(long)]
    hash: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Token {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        if self.hash {
            let secret = std::io::read_to_string(std::io::stdin()).context("cannot read the token from stdin")?;
            let secret = secret.trim();
            if secret.is_empty() {
                return Err(Exit::Usage.error("missing token on stdin"));
            }
            let token = hookbox_server::Token::of(secret);
            if token.is_guessable() {
                return Err(Exit::Usage.error("this token is guessable: `hookbox token` prints a new one"));
            }
            print::out(&token);
            print::result(&json!({ "hash": token.to_string() }));
            return Ok(Exit::Ok);
        }
        let (secret, token) = hookbox_server::Token::new().context("the system's random number generator failed")?;
        print::out(&secret);
        print::out(&token);
        print::result(&json!({ "token": secret, "hash": token.to_string() }));
        Ok(Exit::Ok)
    }
}
