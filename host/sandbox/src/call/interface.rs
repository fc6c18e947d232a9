//! The parts that the interfaces of all events share.

use async_trait::async_trait;
use hookbox_protocol::{Event, Failure, HookOutput};
use wasmtime::{Store, component::Instance};

use super::Reader;
use crate::store::Sandbox;

/// One event's interface of one component.
#[async_trait]
pub(crate) trait Interface: Send + Sync {
    /// Calls `handle`.
    async fn handle(&self, call: Call<'_, '_>) -> Result<Box<HookOutput>, Failed>;
}

/// The arguments of [`Interface::handle`].
pub(crate) struct Call<'a, 'r> {
    pub(crate) event: &'a Event,
    pub(crate) store: &'a mut Store<Sandbox>,
    pub(crate) instance: &'a Instance,
    pub(crate) reader: &'a mut Reader<'r>,
}

/// The reason why a call has no output.
pub(crate) enum Failed {
    /// The component ended before it returned.
    Ended(wasmtime::Error),
    /// The component returned a fault or an invalid output.
    Answered(Failure),
}

impl From<wasmtime::Error> for Failed {
    fn from(error: wasmtime::Error) -> Self {
        Self::Ended(error)
    }
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self::Answered(failure)
    }
}

/// Implements one event's interface: builds its parameters from the event, and the output from the decision.
macro_rules! interface {
    (
        $kind:ident($event:ident, $input:pat) => $wit:ident::handle($($name:ident: $ty:ty = $make:expr),*) -> $output:ty,
        ($result:pat, $reader:ident) => $made:expr
    ) => {
        use crate::bindings::exports::hookbox::hooks::$wit::GuestIndices;

        #[async_trait::async_trait]
        impl crate::call::Interface for GuestIndices {
            async fn handle(
                &self,
                call: crate::call::Call<'_, '_>,
            ) -> Result<Box<hookbox_protocol::HookOutput>, crate::call::Failed> {
                let crate::call::Call { event, store, instance, reader: $reader } = call;
                let hookbox_protocol::event::Input::$kind($input) = &event.input else {
                    return Err($reader.other_event().into());
                };
                let given = crate::call::input::EventView::new(event);
                let $event = &given;
                let context = crate::call::input::context($event, $reader.dialect());
                $(let $name: $ty = $make;)*
                let guest = self.load(&mut *store, instance)?;
                let $result = guest.call_handle(store, context, $($name),*).await?.map_err(|fault| $reader.fault(fault))?;
                let output: Result<Box<hookbox_protocol::HookOutput>, hookbox_protocol::Failure> = $made;
                Ok(output?)
            }
        }

        pub(super) fn bind(
            pre: &wasmtime::component::InstancePre<crate::store::Sandbox>,
            handle: &wasmtime::component::types::ComponentFunc,
        ) -> wasmtime::Result<Box<dyn crate::call::Interface>> {
            use crate::bindings::hookbox::hooks::types::{EventContext, Fault};
            handle.typecheck::<(EventContext<'_>, $($ty),*), (Result<$output, Fault>,)>(&pre.instance_type())?;
            Ok(Box::new(GuestIndices::new(pre)?))
        }
    };
}
