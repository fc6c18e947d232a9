//! The configurations that this user trusts.
//!
//! A user who opens someone else's repository has not read its hooks. So a configuration that is found there is used
//! only as far as the user trusted it with `hookbox trust`: with the same bytes, at the same path, with the same
//! components.

use std::{
    collections::BTreeMap,
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use hookbox::{
    Limits, Permissions,
    config::{Config, Handler, Hook, HostSettings},
    folders,
    private::Folder,
    sandbox::permission::{StateDetails, StateGrant},
    sha256,
};
use hookbox_protocol::authority::Authority;
use serde::{Deserialize, Serialize};

use crate::exit::Exit;

/// A configuration at the time when the user trusted it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trusted {
    /// The path of the file.
    pub file: PathBuf,
    /// The dialect of the configuration. Under another dialect, the same bytes can have another meaning.
    pub dialect: String,
    /// The digest of the file.
    pub digest: String,
    /// The digest of each hook's component, by the hook's JSON pointer.
    pub components: BTreeMap<String, String>,
}

/// The trust store of one user: a file for each configuration, in a private folder.
pub struct Store(Folder);

impl Store {
    /// Opens the store: `$XDG_STATE_HOME/hookbox/trust`, or `~/.local/state/hookbox/trust`.
    pub fn open() -> anyhow::Result<Self> {
        let folder = folders::state().context("no folder for trusted files: HOME is not set")?;
        let folder = folder.join("trust");
        Folder::open(&folder).map(Self).with_context(|| format!("cannot use {}", folder.display()))
    }

    /// The trusted configuration at a path.
    pub fn get(&self, place: &Path) -> anyhow::Result<Option<Trusted>> {
        self.read(&name(place))
    }

    fn read(&self, name: &str) -> anyhow::Result<Option<Trusted>> {
        let read = || {
            let content = self.0.read(name)?;
            content.map(|content| serde_json::from_slice(&content)).transpose().map_err(io::Error::from)
        };
        read().with_context(|| format!("cannot read the trusted files from {name}"))
    }

    /// Trusts a configuration. Replaces the earlier one at its path.
    pub fn put(&self, trusted: &Trusted) -> anyhow::Result<()> {
        let content = serde_json::to_vec(trusted)?;
        self.0.write_durably(&name(&trusted.file), &[&content]).context("cannot save the trusted files")
    }

    /// Removes the trust at this path. Returns true if there was any.
    pub fn remove(&self, place: &Path) -> anyhow::Result<bool> {
        self.0.remove(&name(place)).context("cannot change the trusted files")
    }

    /// All trusted configurations, sorted by path.
    pub fn all(&self) -> anyhow::Result<Vec<Trusted>> {
        let mut all = Vec::new();
        for name in self.0.names().context("cannot read the trusted files")? {
            let of_ours = Path::new(&name).extension().is_some_and(|extension| extension == "json");
            if let Some(name) = name.to_str().filter(|_| of_ours) {
                all.extend(self.read(name)?);
            }
        }
        all.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(all)
    }
}

/// The name of the file for a path.
fn name(place: &Path) -> String {
    format!("{}.json", sha256(place.as_os_str().as_bytes()))
}

/// The path that identifies a configuration: the real path of the project's folder, and the file's name in it as
/// written. Symlinks below that folder are not resolved, because they belong to the repository and may point to another
/// project's trusted configuration, which would then run here.
pub fn place(file: &Path) -> PathBuf {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let (Some(folder), Some(name)) = (absolute.parent(), absolute.file_name()) else { return absolute };
    let settings = folder.file_name().filter(|name| *name == ".claude").and(folder.parent());
    let (project, rest) = match settings {
        Some(project) => (project, Path::new(".claude").join(name)),
        None => (folder, PathBuf::from(name)),
    };
    // The folder does not exist any more, so its name is used.
    project.canonicalize().unwrap_or_else(|_| project.to_owned()).join(rest)
}

/// Withholds the untrusted hooks of a found configuration. They fail with advice.
pub fn hold(config: &mut Config) {
    let shown = config.file.display().to_string();
    let help = format!("review it, then   hookbox trust {shown}");
    let withhold = |hook: &mut Hook, why: &str| {
        let why = format!("{why}; see `hookbox trust {shown}`");
        hook.handler = Handler::Withheld { why, help: help.clone() };
    };
    match standing(config) {
        Ok(trusted) => {
            for hook in &mut config.hooks {
                match (&mut hook.handler, trusted.components.get(&hook.pointer)) {
                    // A bundled component is trusted like the program that contains it.
                    (Handler::Wasm(wasm), Some(_)) if wasm.is_bundled() => {}
                    (Handler::Wasm(wasm), Some(digest)) => wasm.digest = Some(digest.clone()),
                    (Handler::Wasm(_), None) => withhold(hook, "its component is not trusted"),
                    _ => {}
                }
            }
        }
        Err(why) => config.hooks.iter_mut().for_each(|hook| withhold(hook, &why)),
    }
}

/// Removes the hooks that start a program from an untrusted configuration that is only inspected. Returns a line for
/// each.
pub fn leave_out_programs(config: &mut Config) -> Vec<String> {
    let Err(why) = standing(config) else { return Vec::new() };
    let (file, mut left) = (config.file.display().to_string(), Vec::new());
    config.hooks.retain(|hook| {
        let starts = matches!(hook.handler, Handler::Process(_));
        if starts {
            left.push(format!("`{}` was not started: {why}; review it, then   hookbox trust {file}", hook.name));
        }
        !starts
    });
    left
}

/// Withholds the hooks of an untrusted configuration that reach anything outside of their sandbox. They fail. `digest`
/// is that of the file, because cases modify the configuration. `stubbed` is true if the case replaces requests, the
/// model and the state. Returns true if the configuration is not trusted.
pub fn hold_back(config: &mut Config, digest: &str, stubbed: bool) -> bool {
    let read = std::mem::replace(&mut config.digest, digest.to_owned());
    let standing = standing(config);
    config.digest = read;
    let Err(why) = standing else { return false };
    let help = format!("review it, then   hookbox trust {}", config.file.display());
    for hook in &mut config.hooks {
        let harmless = match &mut hook.handler {
            Handler::Wasm(wasm) => {
                let mut permissions = wasm.permissions.clone();
                if stubbed {
                    // Cases also have separate state, which is removed with them.
                    (permissions.http, permissions.llm, permissions.state) = (Vec::new(), None, None);
                }
                reaches_nothing(&mut permissions)
            }
            Handler::Http { .. } | Handler::Prompt { .. } => stubbed,
            Handler::Own { .. } | Handler::LeftOut { .. } | Handler::Callback | Handler::Withheld { .. } => true,
            _ => false,
        };
        if !harmless {
            hook.handler = Handler::Withheld { why: why.clone(), help: help.clone() };
        }
    }
    config.settings = HostSettings::default();
    true
}

/// Checks that the user trusts the current configuration.
///
/// # Errors
/// The reason why it is not trusted.
pub fn is_trusted(config: &Config) -> Result<(), String> {
    standing(config).map(drop)
}

/// Checks a configuration that was only found, before a client is made to use it.
///
/// # Errors
/// It has hooks that reach something outside of their sandbox, and the user does not trust it.
pub fn check_found(mut config: Config) -> anyhow::Result<()> {
    let Err(why) = standing(&config) else { return Ok(()) };
    let reaches = |hook: &mut Hook| match &mut hook.handler {
        Handler::Wasm(wasm) => !reaches_nothing(&mut wasm.permissions),
        Handler::LeftOut { .. } | Handler::Callback | Handler::Withheld { .. } => false,
        _ => true,
    };
    if !config.hooks.iter_mut().any(reaches) {
        return Ok(());
    }
    let file = config.file.display();
    let trust = format!("review it, then   hookbox trust {file}");
    let name = format!("or name it         --config {file}");
    Err(Exit::Config.advised(
        format!("nothing was written: {why}, and its hooks are not confined to the sandbox"),
        &[&trust, &name],
    ))
}

/// The trusted configuration, or the reason why it is not trusted.
fn standing(config: &Config) -> Result<Trusted, String> {
    let file = config.file.display();
    let trusted = Store::open().and_then(|store| store.get(&place(&config.file)));
    match trusted.map_err(|error| format!("{error:#}, so {file} is not trusted"))? {
        None => Err(format!("{file} was found here and is not trusted")),
        Some(trusted) if trusted.digest != config.digest => Err(format!("{file} has changed since it was trusted")),
        Some(trusted) if trusted.dialect != config.dialect.name() => {
            Err(format!("{file} is trusted under {}, not under {}", trusted.dialect, config.dialect.name()))
        }
        Some(trusted) => Ok(trusted),
    }
}

/// Reduces a configuration to what needs no trust: components without access to anything outside, with the authority of
/// a gate and at most the default limits. The other hooks fail.
pub fn confine(config: &mut Config) {
    for hook in &mut config.hooks {
        hook.timeout = hook.timeout.min(Duration::from_secs_f64(Limits::default().timeout));
        let what = match &mut hook.handler {
            Handler::Wasm(wasm) => {
                hook.authority =
                    Some(hook.authority.take().map_or_else(Authority::gate, |own| own.within(&Authority::gate())));
                wasm.limits = usual(&wasm.limits);
                if reaches_nothing(&mut wasm.permissions) {
                    continue;
                }
                "a component with such permissions"
            }
            Handler::Command { .. } => "a command",
            Handler::Process(_) => "a process",
            Handler::Http { .. } => "an http handler",
            Handler::Prompt { .. } => "a prompt",
            Handler::Agent { .. } => "an agent",
            Handler::Own { .. } => "a handler of this type",
            Handler::LeftOut { .. } | Handler::Callback | Handler::Withheld { .. } => continue,
        };
        let why = format!("{what} needs trust, which --untrusted does not give");
        hook.handler = Handler::Withheld { why, help: "omit --untrusted if you trust the file".into() };
    }
    // Host settings such as the state file, the model and the tenant belong to the caller.
    config.settings = HostSettings::default();
}

/// The limits, lowered to their defaults.
fn usual(limits: &Limits) -> Limits {
    let most = Limits::default();
    Limits {
        fuel: limits.fuel.min(most.fuel),
        memory_mib: limits.memory_mib.min(most.memory_mib),
        table_elements: limits.table_elements.min(most.table_elements),
        timeout: limits.timeout.min(most.timeout),
        output_kib: limits.output_kib.min(most.output_kib),
        log_kib: limits.log_kib.min(most.log_kib),
        host_calls: limits.host_calls.min(most.host_calls),
    }
}

/// Returns true if nothing is granted except private state, whose limits are lowered to the defaults.
fn reaches_nothing(permissions: &mut Permissions) -> bool {
    let state = permissions.state.take();
    let nothing = *permissions == Permissions::default();
    permissions.state = state.map(|grant| match grant {
        StateGrant::Detailed(details) => {
            let most = StateDetails::default();
            StateGrant::Detailed(StateDetails {
                max_keys: details.max_keys.min(most.max_keys),
                max_value_kib: details.max_value_kib.min(most.max_value_kib),
                ..details
            })
        }
        plain @ StateGrant::Enabled(_) => plain,
    });
    let shares = matches!(&permissions.state, Some(StateGrant::Detailed(details)) if details.namespace.is_some());
    nothing && !shares
}
