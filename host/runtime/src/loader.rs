//! Turns a hook of a configuration into its handler.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Instant,
};

use hookbox_protocol::{Cause, Failure, dialect::picoclaw};
use hookbox_sandbox::{
    CallContext, Component, LoadError, Permissions, Profile,
    capability::Capabilities,
    permission::{HttpGrant, LlmGrant},
};

use crate::{
    artifact::{self, LockContext, Locked, Reference},
    capability::{
        http::{HookHttp, HttpClient, Reach},
        llm::{HookLlm, Model},
        state::{HookState, Store},
    },
    config::{self, Config},
    error::{HookError, HookLoadError},
    handler::{self, HandlerEntry, SharedHandler},
    runtime::Runtime,
    source::Wanted,
    tenant::Tenant,
};

/// Loads the hooks of one tenant on one runtime.
pub(crate) struct Loader {
    runtime: Runtime,
    tenant: Tenant,
    /// Overrides the runtime's HTTP client.
    client: Option<Arc<dyn HttpClient>>,
    model: OnceLock<Arc<dyn Model>>,
    /// Processes, which several entries may share.
    processes: Mutex<Vec<(String, config::Process, SharedHandler)>>,
}

impl Loader {
    pub(crate) fn new(runtime: Runtime, tenant: Tenant, client: Option<Arc<dyn HttpClient>>) -> Self {
        Self { runtime, tenant, client, model: OnceLock::new(), processes: Mutex::default() }
    }

    /// The tenant that owns the hooks.
    pub(crate) fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// Loads one hook and starts its handler.
    pub(crate) async fn load(&self, config: &Config, hook: &config::Hook) -> Result<SharedHandler, HookError> {
        let at = |error: HookLoadError| {
            let message = format!("`{}`: {error}", hook.name);
            HookError(config.error_at(&hook.pointer, message, Some(error.help())))
        };
        let handler = self.handler(config, hook).await.map_err(at)?;
        handler.start().await.map_err(|why| at(HookLoadError::Start(why)))?;
        Ok(handler)
    }

    async fn handler(&self, config: &Config, hook: &config::Hook) -> Result<SharedHandler, HookLoadError> {
        Ok(match &hook.handler {
            config::Handler::Wasm(wasm) => Arc::new(self.component(config, wasm).await?),
            config::Handler::Command { command, args, dir } => Arc::new(handler::Command {
                line: command.clone(),
                args: args.clone(),
                dir: dir.clone(),
                output_kib: hook.output_kib,
            }),
            config::Handler::Process(process) => self.process(config, hook, process),
            config::Handler::Http { url, headers, .. } => Arc::new(handler::Http {
                client: self.http_client()?,
                // Without a ceiling, the URL is trusted as much as the configuration that contains it.
                reach: self.tenant.bound().map_or(Reach::Anywhere, |ceiling| ceiling.reach(url)),
                url: url.clone(),
                headers: headers.clone(),
                output_kib: hook.output_kib,
            }),
            config::Handler::Prompt { prompt, model } => Arc::new(handler::Prompt {
                model: self.model(config, model.as_deref())?,
                question: prompt.clone(),
                model_name: model.clone(),
            }),
            config::Handler::Agent { prompt, model, max_turns } => Arc::new(handler::Agent {
                model: self.model(config, model.as_deref())?,
                prompt: prompt.clone(),
                model_name: model.clone(),
                max_turns: *max_turns,
            }),
            config::Handler::Own { kind, options } => {
                let entry =
                    HandlerEntry { name: &hook.name, tenant: self.tenant.name(), folder: config.folder(), options };
                let make = self.runtime.handler(kind).ok_or_else(|| HookLoadError::UnknownType(kind.clone()))?;
                make(&entry).map_err(HookLoadError::Own)?
            }
            config::Handler::LeftOut { kind } => {
                let why = format!("hookbox does not run handlers of type `{kind}`");
                Arc::new(handler::Failed::new(Failure::new(Cause::Load, why)))
            }
            config::Handler::Withheld { why, help } => {
                return Err(HookLoadError::Withheld { why: why.clone(), help: help.clone() });
            }
            config::Handler::Callback => return Err(HookLoadError::Callback),
        })
    }

    /// The process of a hook. A hook that both decides and gets notifications has two entries, which share one process.
    fn process(&self, config: &Config, hook: &config::Hook, process: &config::Process) -> SharedHandler {
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |name: &str, other: &config::Process| name == hook.name && other == process;
        if let Some((.., running)) = processes.iter().find(|(name, other, _)| same(name, other)) {
            return Arc::clone(running);
        }
        let entries = config
            .hooks
            .iter()
            .filter(|other| matches!(&other.handler, config::Handler::Process(process) if same(&other.name, process)));
        let modes = modes(config, entries);
        let spec = handler::ProcessSpec { name: hook.name.clone(), process: process.clone(), modes };
        let running: SharedHandler = Arc::new(handler::Process::new(spec, config.dialect.name()));
        processes.push((hook.name.clone(), process.clone(), Arc::clone(&running)));
        running
    }

    async fn component(&self, config: &Config, wasm: &config::Wasm) -> Result<handler::Component, HookLoadError> {
        let limit = self.runtime.options().max_memory_mib;
        if wasm.limits.memory_mib > limit {
            return Err(HookLoadError::Memory { asked_mib: wasm.limits.memory_mib, limit_mib: limit });
        }
        let engine = self.runtime.engine().await?;
        let mut publisher = None;
        let (permissions, folder) = (&wasm.permissions, config.folder());
        let component = if let Some(bundled) = wasm.bundled() {
            Component::from_bytes(engine, bundled.component(), permissions, folder).await?
        } else {
            match (&wasm.reference, self.runtime.source(), self.tenant.own_folder()) {
                (Some(reference), ..) => {
                    let (locked, bytes) = self.locked(config, wasm, reference).await?;
                    publisher = self.tenant.publisher(reference, &locked);
                    Component::from_bytes(engine, bytes, permissions, folder).await?
                }
                (None, None, None) => Component::load(engine, &wasm.component, permissions, folder).await?,
                (None, None, Some(within)) => {
                    Component::load_beneath(engine, within, &wasm.component, permissions, folder).await?
                }
                (None, Some(source), _) => {
                    let wanted = Wanted { name: &wasm.name, file: &wasm.component, locked: None };
                    let bytes = source.fetch(&wanted).await?;
                    Component::from_bytes(engine, bytes, permissions, folder).await?
                }
            }
        };
        // The digest is of the compiled bytes, because the file may have changed since.
        if wasm.digest.as_deref().is_some_and(|digest| *digest != **component.digest()) {
            return Err(LoadError::Changed { path: wasm.component.clone() }.into());
        }
        let granted = wasm.permissions != Permissions::default();
        let context = CallContext {
            tenant: self.tenant.name().into(),
            // Determining the owner takes several system calls. Only a component with permissions needs it.
            hook: if granted { self.tenant.owner(config, wasm).into() } else { "".into() },
            session: None,
            // wit/config.wit: "`{}` if the file has none".
            config_json: if wasm.config.is_null() { "{}".into() } else { wasm.config.to_string().into() },
            limits: wasm.limits.clone(),
            deadline: Instant::now(),
            capabilities: Arc::new(self.capabilities(config, &wasm.permissions)?),
        };
        let fuel_grows = !wasm.limits_given.contains_key("fuel");
        Ok(handler::Component::new(component, context, fuel_grows).published_by(publisher))
    }

    /// The entry and the bytes of a component from a registry, which the lock pins.
    async fn locked(
        &self,
        config: &Config,
        wasm: &config::Wasm,
        reference: &Reference,
    ) -> Result<(Locked, Vec<u8>), HookLoadError> {
        let place = LockContext {
            approvals: self.runtime.approvals().clone(),
            component_cache: self.tenant.own_component_cache().or_else(|| self.runtime.component_cache().cloned()),
            revoked: self.runtime.revoked().cloned(),
            within: self.tenant.own_folder(),
        };
        let Some(source) = self.runtime.source() else {
            let (config, reference) = (config.clone(), reference.clone());
            let fetch = move || artifact::fetch(&config, &reference, &place);
            // A process that serves many has others to serve while a component is read and hashed.
            return Ok(match self.runtime.options().profile {
                Profile::OneShot => fetch()?,
                Profile::Resident => elsewhere(fetch).await??,
            });
        };
        let locked = artifact::entry(config, reference, &place)?;
        let bytes = source.fetch(&Wanted { name: &wasm.name, file: &wasm.component, locked: Some(&locked) }).await?;
        artifact::verify(reference, &locked, &bytes)?;
        Ok((locked, bytes))
    }

    /// The capabilities that a hook's permissions grant.
    fn capabilities(&self, config: &Config, permissions: &Permissions) -> Result<Capabilities, HookLoadError> {
        let mut granted = Capabilities::default();
        if let Some(grant) = &permissions.state {
            let state = HookState::granted(self.store(config)?, grant);
            granted.state = state.map(|state| Arc::new(state.tenant_bytes(self.tenant.bytes())) as _);
        }
        if !permissions.http.is_empty() {
            granted.http = Some(Arc::new(self.http(&permissions.http)?));
        }
        if let Some(grant) = permissions.llm.as_ref().filter(|grant| **grant != LlmGrant::Enabled(false)) {
            granted.llm = HookLlm::granted(self.any_model(config)?, grant).map(|llm| Arc::new(llm) as _);
        }
        Ok(granted)
    }

    fn http(&self, grants: &[HttpGrant]) -> Result<HookHttp, HookLoadError> {
        HookHttp::granted(self.http_client()?, grants).map_err(|error| HookLoadError::Grant(error.to_string()))
    }

    fn http_client(&self) -> Result<Arc<dyn HttpClient>, HookLoadError> {
        self.client.clone().map_or_else(|| self.runtime.http_client(), Ok)
    }

    fn store(&self, config: &Config) -> Result<Arc<dyn Store>, HookLoadError> {
        self.runtime.store(config.settings.state_file.as_ref().map(PathBuf::from))
    }

    /// The model, if it accepts this name.
    fn model(&self, config: &Config, name: Option<&str>) -> Result<Arc<dyn Model>, HookLoadError> {
        let model = self.any_model(config)?;
        model.check(name)?;
        Ok(model)
    }

    /// The model of the tenant, of the runtime, or of the configuration's `llm` setting. Keeps the latter for further
    /// hooks.
    fn any_model(&self, config: &Config) -> Result<Arc<dyn Model>, HookLoadError> {
        if let Some(model) = self.tenant.own_model().or(self.runtime.own_model()).or(self.model.get().cloned()) {
            return Ok(model);
        }
        let settings = config.settings.llm.as_ref().ok_or(HookLoadError::NoModel)?;
        let model = self.runtime.model(self.http_client()?, settings)?;
        Ok(Arc::clone(self.model.get_or_init(|| model)))
    }
}

/// Runs work that may wait for a disk on a separate thread.
async fn elsewhere<T: Send + 'static>(read: impl FnOnce() -> T + Send + 'static) -> Result<T, LoadError> {
    tokio::task::spawn_blocking(read).await.map_err(|error| LoadError::Engine(error.to_string()))
}

/// The modes of `PicoClaw`'s handshake that these hooks serve.
pub(crate) fn modes<'a>(config: &Config, hooks: impl IntoIterator<Item = &'a config::Hook>) -> Vec<&'static str> {
    let mode =
        |event: &String| picoclaw::mode(config.dialect.spec_by_name(event).unwrap_or(config.dialect.other_spec()).kind);
    let mut served = BTreeSet::new();
    for hook in hooks {
        served.extend(hook.events.iter().map(mode));
        // A hook without configured events serves every mode.
        served.extend(picoclaw::MODES.iter().filter(|_| hook.events.is_empty()));
    }
    picoclaw::MODES.into_iter().filter(|mode| served.contains(mode)).collect()
}
