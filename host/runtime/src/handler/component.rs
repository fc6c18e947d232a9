//! A component, with what its hook is granted.

use std::sync::Arc;

use async_trait::async_trait;
use hookbox_protocol::EventKind;

use super::{Call, Handler, Report};
use crate::{call::CallContext, capability::Capabilities, component, config, error::LoadError, host::Host};

/// A component handler.
pub(crate) struct Component {
    inner: component::Component,
    tenant: String,
    owner: String,
    config_json: String,
    limits: config::types::Limits,
    capabilities: Arc<Capabilities>,
}

impl Component {
    pub(crate) async fn load(host: &Host, wasm: &config::Wasm) -> Result<Self, LoadError> {
        let folder = host.config().folder();
        let engine = host.engine().await?;
        let component = component::Component::load(engine, &wasm.component, &wasm.permissions, folder).await?;
        // Of the bytes that were compiled: the file may be another by now.
        if wasm.digest.as_deref().is_some_and(|digest| digest != component.digest()) {
            return Err(LoadError::Changed { path: wasm.component.clone() });
        }
        Ok(Self {
            inner: component,
            tenant: host.config().tenant().to_owned(),
            owner: wasm.owner.clone(),
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

    async fn call(&self, call: Call<'_>) -> Report {
        let context = CallContext {
            tenant: self.tenant.clone(),
            hook: self.owner.clone(),
            session: call.event.context.session_id.clone(),
            config_json: self.config_json.clone(),
            limits: self.limits.clone(),
            deadline: call.deadline.into_std(),
            capabilities: self.capabilities.clone(),
        };
        let report = self.inner.call(call.event, call.dialect, &context).await;
        Report { result: report.result, notes: report.notes, fuel: Some(report.fuel), logs: report.logs }
    }
}
