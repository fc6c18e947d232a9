//! `hookbox health`: checks if the daemon is ready.

use std::{
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use anyhow::anyhow;
use clap::Args;
use hookbox_server::{Address, Settings};
use reqwest::{Client, StatusCode, redirect::Policy};
use serde_json::json;

use super::{block_on, seconds};
use crate::{exit::Exit, print};

/// Ask the daemon of some settings whether it is ready. For images without a shell, and for scripts.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox health --config serve.json")]
pub struct Health {
    /// The daemon's settings, which name its address
    #[arg(long, value_name = "FILE", default_value = "serve.json")]
    config: PathBuf,
    /// The time that it has to answer
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    wait: Duration,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Health {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let settings = Settings::load(&self.config).map_err(|error| Exit::Config.error(error.to_string()))?;
        match block_on(ready(&settings, self.wait)) {
            Ok(StatusCode::OK) => {
                print::out("ready");
                print::result(&json!({ "ready": true, "status": 200 }));
                Ok(Exit::Ok)
            }
            Ok(status) => {
                print::result(&json!({ "ready": false, "status": status.as_u16() }));
                print::err(format_args!("hookbox: the daemon is not ready: it responds with {status}"));
                Ok(Exit::Failed)
            }
            Err(error) => {
                print::result(&json!({ "ready": false, "status": null }));
                print::err(format_args!("hookbox: the daemon does not respond: {error:#}"));
                Ok(Exit::Failed)
            }
        }
    }
}

/// The status of the daemon's `/readyz`.
async fn ready(settings: &Settings, wait: Duration) -> anyhow::Result<StatusCode> {
    let shared = settings.listen.first().filter(|_| settings.is_local());
    let address = settings.admin.as_ref().or(shared);
    let address =
        address.ok_or_else(|| anyhow!("`listen` is not on loopback, so only `admin` serves `/readyz`: set `admin`"))?;
    // The administrator's own address uses TLS only if it is not local.
    let is_encrypted = settings.tls.is_some() && (settings.admin.is_none() || !address.is_local());
    let scheme = if is_encrypted { "https" } else { "http" };
    // The certificate is for another name than this address. The request contains no secret, and the response decides
    // nothing.
    let builder =
        Client::builder().no_proxy().redirect(Policy::none()).timeout(wait).danger_accept_invalid_certs(is_encrypted);
    let (client, host) = match address {
        Address::Unix(path) => (builder.unix_socket(path.clone()), "localhost".to_owned()),
        Address::Tcp(address) => (builder, on_this_machine(*address).to_string()),
    };
    Ok(client.build()?.get(format!("{scheme}://{host}/readyz")).send().await?.status())
}

/// A local address of a listener on all addresses.
fn on_this_machine(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
    }
    address
}
