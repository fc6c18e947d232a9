//! The macro `export!`, which lists the events that a hook handles.

mod events;

/// Exports a hook for the events it handles. The host calls the hook for exactly the listed events, and the component
/// contains nothing else.
///
/// ```
/// use hookbox_guest::prelude::*;
///
/// struct Guard;
///
/// impl PreToolUse for Guard {
///     fn handle(_: &EventContext, _: &ToolCall) -> Result<Output> {
///         Ok(pass())
///     }
/// }
///
/// impl Stop for Guard {
///     fn handle(_: &EventContext, _: &stop::Event) -> Result<stop::Output> {
///         Ok(pass())
///     }
/// }
///
/// hookbox_guest::export!(Guard: PreToolUse, Stop);
/// ```
///
/// The events are the traits of the [`prelude`](crate::prelude).
#[macro_export]
macro_rules! export {
    ($hook:ident: $($event:ident),+ $(,)?) => {
        $($crate::__export!($hook: $event);)+

        // `hookbox build` calls this once. The component then starts with the memory as this call left it.
        #[cfg(target_family = "wasm")]
        const _: () = {
            #[unsafe(export_name = "hookbox-start")]
            extern "C" fn start() {
                $crate::start();
            }
        };

        // An event listed twice would only fail at link time. As an enum it fails at compile time.
        const _: () = {
            #[allow(dead_code)]
            enum Events { $($event),+ }
        };
    };
    ($hook:ident $(:)?) => {
        ::core::compile_error!("name the events that the hook handles: `export!(Hook: PreToolUse, Stop)`");
    };
}

/// Exports the event that [`export!`] found by its name.
#[doc(hidden)]
#[macro_export]
macro_rules! __export_event {
    ($hook:ident: $event:ident, $module:ident, $export:ident) => {
        const _: () = {
            const fn handles<H: $crate::$module::$event>() {}
            handles::<$hook>();
        };

        #[cfg(target_family = "wasm")]
        $crate::bindings::$module::$export!($hook with_types_in $crate::bindings::$module);
    };
}
