//! The bounds of all hooks of a tenant.

mod permissions;

use std::{collections::BTreeSet, path::Path, time::Duration};

use hookbox_protocol::authority::{Authority, Power, Rewrite};
use hookbox_sandbox::{
    Limits, Permissions,
    permission::{HttpGrant, LlmGrant},
};
use permissions::{covers, origin};
use serde::Deserialize;

use crate::{
    capability::http::Reach,
    config::{CeilingEntry, Config, ConfigErrors, Handler, Hook, HostSettings, Wasm},
};

/// The bounds of a tenant. A configuration that sets more than the bounds gets an error with both values. Defaults
/// above the bounds are lowered to them. The default ceiling allows components that gate, with no permissions and
/// default limits.
///
/// ```
/// use hookbox::{Ceiling, Limits, Permissions, sandbox::permission::StateGrant};
///
/// let ceiling = Ceiling::new()
///     .permissions(Permissions { state: Some(StateGrant::Enabled(true)), ..Permissions::default() })
///     .limits(Limits { fuel: 10_000_000, timeout: 2.0, ..Limits::default() });
/// ```
///
/// In a file, a ceiling is an object with `authority`, `permissions` and `limits`, each as in a configuration.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "CeilingEntry")]
#[must_use]
pub struct Ceiling {
    handlers: BTreeSet<String>,
    authority: Authority,
    permissions: Permissions,
    limits: Limits,
}

impl Default for Ceiling {
    fn default() -> Self {
        Self {
            handlers: BTreeSet::from(["wasm".to_owned()]),
            authority: Authority::gate(),
            permissions: Permissions::default(),
            limits: Limits::default(),
        }
    }
}

impl Ceiling {
    /// Creates the default ceiling.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the highest authority of hooks.
    pub fn authority(mut self, authority: Authority) -> Self {
        self.authority = authority;
        self
    }

    /// Sets the highest permissions of hooks. In `http`, the origin `*` covers every origin. A directory covers
    /// everything below it. The environment variables also bound those in headers of `http` handlers.
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = permissions;
        self
    }

    /// Sets the highest limits of one call. `timeout` bounds every hook.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Also allows handlers of this type. Handlers such as `command` and `agent` are not sandboxed: they run with the
    /// rights of this process.
    pub fn handler(mut self, kind: impl Into<String>) -> Self {
        self.handlers.insert(kind.into());
        self
    }

    /// The addresses that an `http` handler may reach. Private addresses require a grant.
    pub(crate) fn reach(&self, url: &str) -> Reach {
        let private =
            self.permissions.http.iter().map(HttpGrant::details).any(|grant| grant.private && covers(&grant, url));
        if private { Reach::Anywhere } else { Reach::Public }
    }

    /// Bounds a configuration by this ceiling.
    ///
    /// # Errors
    /// Every setting that exceeds the ceiling.
    pub(crate) fn bound(&self, config: &mut Config, tenant: &str) -> Result<(), ConfigErrors> {
        let mut check = Check { tenant, found: Vec::new(), directories: BTreeSet::new() };
        check.settings(&config.settings);
        config.settings = HostSettings::default();
        for hook in &mut config.hooks {
            self.hook(hook, &mut check);
        }
        let diagnostics: Vec<_> = check
            .found
            .into_iter()
            .map(|(pointer, message, help)| config.error_at(&pointer, message, Some(help)))
            .collect();
        if diagnostics.is_empty() { Ok(()) } else { Err(ConfigErrors { diagnostics }) }
    }

    fn hook(&self, hook: &mut Hook, check: &mut Check<'_>) {
        let kind = hook.handler.kind();
        let runs = !matches!(hook.handler, Handler::LeftOut { .. });
        if runs && !self.handlers.contains(kind) {
            let allowed: Vec<&str> = self.handlers.iter().map(String::as_str).collect();
            check.exceeds(&format!("{}/type", hook.pointer), "handlers of type", kind, &allowed.join(", "));
        }
        let ceiling = Duration::try_from_secs_f64(self.limits.timeout).unwrap_or(Duration::MAX);
        if hook.timeout > ceiling {
            if hook.timeout_given {
                let requested = format!("{} s", hook.timeout.as_secs_f64());
                check.exceeds(&hook.pointer, "a timeout of", &requested, &format!("{} s", self.limits.timeout));
            }
            hook.timeout = ceiling;
        }
        hook.output_kib = hook.output_kib.min(self.limits.output_kib);
        // The operator's limit is explicit, so it does not grow with the size of the event.
        hook.timeout_given = true;
        match &hook.authority {
            Some(requested) => self.check_authority(requested, &format!("{}/authority", hook.pointer), check),
            None => {
                hook.authority = hook.bounds().or(Some(Authority::trusted())).map(|own| own.within(&self.authority));
            }
        }
        match &mut hook.handler {
            Handler::Wasm(wasm) => self.component(wasm, &hook.pointer, check),
            Handler::Http { url, variables, .. } => {
                let granted = self
                    .permissions
                    .http
                    .iter()
                    .map(HttpGrant::details)
                    .any(|grant| covers(&grant, url) && grant.methods.iter().any(|method| method == "POST"));
                if !granted {
                    let requested = format!("POST to {}", origin(url));
                    check.exceeds(&format!("{}/url", hook.pointer), "", &requested, &self.origins());
                }
                self.check_variables(variables, &format!("{}/allowedEnvVars", hook.pointer), check);
            }
            Handler::Process(process) => {
                self.check_variables(&process.variables, &format!("{}/allowedEnvVars", hook.pointer), check);
            }
            Handler::Prompt { .. } | Handler::Agent { .. }
                if self.permissions.llm.as_ref().and_then(LlmGrant::details).is_none() =>
            {
                check.exceeds(&hook.pointer, "", "the language model", "none");
            }
            _ => {}
        }
    }

    fn component(&self, wasm: &mut Wasm, pointer: &str, check: &mut Check<'_>) {
        let inside = Path::new(&wasm.name)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir));
        if !inside {
            let pointer = format!("{pointer}/component");
            check.exceeds(&pointer, "the component", &wasm.name, "files in the folder of the configuration");
        }
        self.check_limits(wasm, check);
        self.check_permissions(&mut wasm.permissions, &format!("{pointer}/permissions"), check);
    }

    fn check_authority(&self, requested: &Authority, pointer: &str, check: &mut Check<'_>) {
        let Authority { decide, rewrite, context, system_message, env } = requested;
        let ceiling = &self.authority;
        let words = |powers: &[Power]| powers.iter().map(|power| power.word()).collect::<Vec<_>>().join(", ");
        let beyond: Vec<Power> = decide.iter().copied().filter(|power| !ceiling.decide.contains(power)).collect();
        if !beyond.is_empty() {
            check.exceeds(pointer, "authority to", &words(&beyond), &words(&ceiling.decide));
        }
        match (rewrite, &ceiling.rewrite) {
            (_, Rewrite::All) => {}
            (Rewrite::All, Rewrite::Only(granted)) => {
                check.exceeds(pointer, "authority to rewrite", "everything", &granted.join(", "));
            }
            (Rewrite::Only(requested), Rewrite::Only(granted)) => {
                let below = |requested: &String| {
                    granted.iter().any(|ceiling| requested == ceiling || requested.starts_with(&format!("{ceiling}/")))
                };
                for requested in requested.iter().filter(|requested| !below(requested)) {
                    check.exceeds(pointer, "authority to rewrite", requested, &granted.join(", "));
                }
            }
        }
        if *context && !ceiling.context {
            check.exceeds(pointer, "authority over", "the model's context", "none");
        }
        if *system_message && !ceiling.system_message {
            check.exceeds(pointer, "authority to", "show the user a message", "none");
        }
        let covered = |requested: &&String| ceiling.env.iter().any(|ceiling| ceiling == *requested || ceiling == "*");
        for requested in env.iter().filter(|requested| !covered(requested)) {
            check.exceeds(pointer, "authority to set", requested, &ceiling.env.join(", "));
        }
    }

    fn check_limits(&self, wasm: &mut Wasm, check: &mut Check<'_>) {
        let (limits, ceiling, given) = (&mut wasm.limits, &self.limits, &wasm.limits_given);
        macro_rules! bound {
            ($($field:ident $key:literal),*) => {$(
                if limits.$field > ceiling.$field {
                    if let Some(pointer) = given.get($key) {
                        check.exceeds(pointer, concat!("a `", $key, "` of"), &limits.$field.to_string(), &ceiling.$field.to_string());
                    }
                    limits.$field = ceiling.$field;
                }
            )*};
        }
        bound!(
            fuel "fuel", memory_mib "memoryMiB", table_elements "tableElements", output_kib "outputKiB",
            log_kib "logKiB", host_calls "hostCalls"
        );
        wasm.limits_given.entry("fuel".to_owned()).or_default();
    }
}

/// The settings that exceed a ceiling. Each is a JSON pointer, a message and a help text.
struct Check<'a> {
    tenant: &'a str,
    found: Vec<(String, String, String)>,
    directories: BTreeSet<String>,
}

impl Check<'_> {
    fn exceeds(&mut self, pointer: &str, what: &str, requested: &str, ceiling: &str) {
        let ceiling = if ceiling.is_empty() { "none" } else { ceiling };
        let requested = format!("{what} {requested}");
        let message =
            format!("asks for {}; the ceiling of tenant `{}` is {ceiling}", requested.trim_start(), self.tenant);
        self.found.push((pointer.to_owned(), message, "ask for less, or have the operator raise the ceiling".into()));
    }

    /// Bounds a number in a grant. Only an explicit number is an error; a default is lowered silently.
    fn cut(&mut self, given: bool, grant: &str, key: &str, requested: &mut u32, ceiling: u32) {
        if *requested > ceiling && given {
            self.exceeds(
                &format!("{grant}/{key}"),
                &format!("a `{key}` of"),
                &requested.to_string(),
                &ceiling.to_string(),
            );
        }
        *requested = (*requested).min(ceiling);
    }

    /// Checks the settings that only the operator may set.
    fn settings(&mut self, settings: &HostSettings) {
        let HostSettings { tenant, state_file, llm, deadline, max_instances, compile } = settings;
        let set = [
            ("tenant", tenant.is_some()),
            ("stateFile", state_file.is_some()),
            ("llm", llm.is_some()),
            ("deadline", deadline.is_some()),
            ("maxInstances", max_instances.is_some()),
            ("compile", *compile != hookbox_sandbox::CompileLimits::default()),
        ];
        for (key, _) in set.into_iter().filter(|(_, set)| *set) {
            let message = format!("`{key}` is for the operator to set; this is the file of tenant `{}`", self.tenant);
            self.found.push((format!("/host/{key}"), message, "take it out".into()));
        }
    }
}
