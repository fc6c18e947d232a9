//! Which configurations this user trusts.
//!
//! Whoever opens somebody's repository has not read its hooks. So a configuration that is merely found there is used
//! only as far as `hookbox trust` has seen it: byte for byte the same, at the same place, with the same components.

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

/// A configuration as it was when its user trusted it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trusted {
    /// Where it was.
    pub file: PathBuf,
    /// The dialect it was read under: under another one the same bytes can mean something else.
    pub dialect: String,
    /// Its digest.
    pub digest: String,
    /// The digest of the component of each hook, by the hook's JSON pointer.
    pub components: BTreeMap<String, String>,
}

/// What one user trusts: a file for each configuration, in a folder that is the user's alone.
pub struct Store(Folder);

impl Store {
    /// Opens it: `$XDG_STATE_HOME/hookbox/trust`, or `~/.local/state/hookbox/trust`.
    pub fn open() -> anyhow::Result<Self> {
        let folder = folders::state().context("there is no place to keep what is trusted: HOME is not set")?;
        let folder = folder.join("trust");
        Folder::open(&folder).map(Self).with_context(|| format!("cannot use {}", folder.display()))
    }

    /// What is trusted at a place.
    pub fn get(&self, place: &Path) -> anyhow::Result<Option<Trusted>> {
        self.read(&name(place))
    }

    fn read(&self, name: &str) -> anyhow::Result<Option<Trusted>> {
        let read = || {
            let content = self.0.read(name)?;
            content.map(|content| serde_json::from_slice(&content)).transpose().map_err(io::Error::from)
        };
        read().with_context(|| format!("what is trusted cannot be read from {name}"))
    }

    /// Trusts a configuration from now on, instead of what was trusted at its place.
    pub fn put(&self, trusted: &Trusted) -> anyhow::Result<()> {
        let content = serde_json::to_vec(trusted)?;
        self.0.write(&name(&trusted.file), &[&content]).context("what is trusted cannot be kept")
    }

    /// Trusts nothing at this place any more; true when something was.
    pub fn remove(&self, place: &Path) -> anyhow::Result<bool> {
        self.0.remove(&name(place)).context("what is trusted cannot be changed")
    }

    /// All that is trusted, by place.
    pub fn all(&self) -> anyhow::Result<Vec<Trusted>> {
        let mut all = Vec::new();
        for name in self.0.names().context("what is trusted cannot be read")? {
            let of_ours = Path::new(&name).extension().is_some_and(|extension| extension == "json");
            if let Some(name) = name.to_str().filter(|_| of_ours) {
                all.extend(self.read(name)?);
            }
        }
        all.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(all)
    }
}

/// The name of the file about a place.
fn name(place: &Path) -> String {
    format!("{}.json", sha256(place.as_os_str().as_bytes()))
}

/// Where a configuration is: in the project's folder as the system names it, under the name as written. Links below that
/// folder are not followed: they are the repository's, and may lead to the configuration of another project, which then
/// would be run here.
pub fn place(file: &Path) -> PathBuf {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let (Some(folder), Some(name)) = (absolute.parent(), absolute.file_name()) else { return absolute };
    let settings = folder.file_name().filter(|name| *name == ".claude").and(folder.parent());
    let (project, rest) = match settings {
        Some(project) => (project, Path::new(".claude").join(name)),
        None => (folder, PathBuf::from(name)),
    };
    // Of a folder that is gone, the name is all there is.
    project.canonicalize().unwrap_or_else(|_| project.to_owned()).join(rest)
}

/// Keeps of a configuration that was found what its user trusts. The other hooks fail, and say what to do.
pub fn hold(config: &mut Config) {
    let shown = config.file.display().to_string();
    let help = format!("look at it, then   hookbox trust {shown}");
    let withhold = |hook: &mut Hook, why: &str| {
        let why = format!("{why}; see `hookbox trust {shown}`");
        hook.handler = Handler::Withheld { why, help: help.clone() };
    };
    match standing(config) {
        Ok(trusted) => {
            for hook in &mut config.hooks {
                match (&mut hook.handler, trusted.components.get(&hook.pointer)) {
                    (Handler::Wasm(wasm), Some(digest)) => wasm.digest = Some(digest.clone()),
                    (Handler::Wasm(_), None) => withhold(hook, "its component is not trusted"),
                    _ => {}
                }
            }
        }
        Err(why) => config.hooks.iter_mut().for_each(|hook| withhold(hook, &why)),
    }
}

/// Leaves out the hooks that start a program, in a configuration that its user only looks at. Returns a line for each.
pub fn leave_out_programs(config: &mut Config) -> Vec<String> {
    let Err(why) = standing(config) else { return Vec::new() };
    let (file, mut left) = (config.file.display().to_string(), Vec::new());
    config.hooks.retain(|hook| {
        let starts = matches!(hook.handler, Handler::Process(_));
        if starts {
            left.push(format!("`{}` was not started: {why}; look at it, then   hookbox trust {file}", hook.name));
        }
        !starts
    });
    left
}

/// Keeps of a configuration that its user does not trust what reaches nothing: components in their sandbox. The other hooks
/// fail. `digest` is that of the file; cases change what is read from it. `stubbed`: requests, the model and the state are those of
/// the case. Returns whether the configuration is not trusted.
pub fn hold_back(config: &mut Config, digest: &str, stubbed: bool) -> bool {
    let read = std::mem::replace(&mut config.digest, digest.to_owned());
    let standing = standing(config);
    config.digest = read;
    let Err(why) = standing else { return false };
    let help = format!("look at it, then   hookbox trust {}", config.file.display());
    for hook in &mut config.hooks {
        let harmless = match &mut hook.handler {
            Handler::Wasm(wasm) => {
                let mut permissions = wasm.permissions.clone();
                if stubbed {
                    // Cases have a state of their own too, which goes with them.
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

/// Checks that the user trusts a configuration as it is.
///
/// # Errors
/// The reason why it is not trusted.
pub fn is_trusted(config: &Config) -> Result<(), String> {
    standing(config).map(drop)
}

/// What is trusted of it, or why nothing is.
fn standing(config: &Config) -> Result<Trusted, String> {
    let file = config.file.display();
    let trusted = Store::open().and_then(|store| store.get(&place(&config.file)));
    match trusted.map_err(|error| format!("{error:#}, so {file} is not trusted"))? {
        None => Err(format!("{file} was found here, and nobody trusted it")),
        Some(trusted) if trusted.digest != config.digest => Err(format!("{file} has changed since it was trusted")),
        Some(trusted) if trusted.dialect != config.dialect.name() => {
            Err(format!("{file} is trusted under {}, not under {}", trusted.dialect, config.dialect.name()))
        }
        Some(trusted) => Ok(trusted),
    }
}

/// Keeps of a configuration that nobody vouches for what needs no trust: components that reach nothing, decide what a
/// gate may, and take no more than those whose configuration names no limits. The other hooks fail.
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
        let why = format!("{what} takes trust, and --untrusted gives none");
        hook.handler = Handler::Withheld { why, help: "leave --untrusted out if you trust the file".into() };
    }
    // A place for state, a model, a tenant: what a file says of the host is its caller's to say.
    config.settings = HostSettings::default();
}

/// No limit above its default.
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

/// Returns true if nothing is granted but keys of its own, of which it gets no more than usual.
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
