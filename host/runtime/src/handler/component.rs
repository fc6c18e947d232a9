//! A component, with what its hook is granted.

use std::sync::Arc;

use async_trait::async_trait;
use hookbox_protocol::EventKind;
use hookbox_sandbox::{CallContext, Component as Loaded, Limits, LoadError, Run, capability::Capabilities};

use super::{Call, Handler};
use crate::{config, error::HookLoadError, host::Host};

/// A component handler.
pub(crate) struct Component {
    inner: Loaded,
    tenant: String,
    owner: String,
    config_json: String,
    limits: Limits,
    capabilities: Arc<Capabilities>,
}

impl Component {
    pub(crate) async fn load(host: &Host, wasm: &config::Wasm) -> Result<Self, HookLoadError> {
        let folder = host.config().folder();
        let engine = host.engine().await?;
        let component = Loaded::load(engine, &wasm.component, &wasm.permissions, folder).await?;
        // Of the bytes that were compiled: the file may be another by now.
        if wasm.digest.as_deref().is_some_and(|digest| digest != component.digest()) {
            return Err(LoadError::Changed { path: wasm.component.clone() }.into());
        }
        Ok(Self {
            inner: component,
            tenant: host.config().tenant().to_owned(),
            owner: host.config().owner(wasm),
            // wit/config.wit: "`{}` when none was written".
            config_json: if wasm.config.is_null() { "{}".into() } else { wasm.config.to_string() },
            limits: wasm.limits.clone(),
            capabilities: Arc::new(host.capabilities(&wasm.permissions)?),
        })
    }
}

#[async_trait]
impl Handler for Component {
    fn handles(&self, kind: EventKind) -> bool {
        self.inner.handles().contains(&kind)
    }

    fn digest(&self) -> Option<&str> {
        Some(self.inner.digest())
    }

    async fn call(&self, call: Call<'_>) -> Run {
        let context = CallContext {
            tenant: self.tenant.clone(),
            hook: self.owner.clone(),
            session: call.event.context.session_id.clone(),
            config_json: self.config_json.clone(),
            limits: self.limits.clone(),
            deadline: call.deadline.into_std(),
            capabilities: self.capabilities.clone(),
        };
        self.inner.call(call.event, call.dialect, &context).await
    }
}
