//! Conversions between the generated types, where JSON is text, and the types that authors see.

use crate::bindings::shared::hookbox::hooks::types as wit;
use crate::{Fault, Json, Result};

/// An input of a hook. It is public because generated signatures name it, but no path leads to it from outside the
/// crate.
pub trait Lift: Sized {
    /// The generated type.
    type Wire;

    /// Converts from the generated type.
    fn lift(wire: Self::Wire) -> Self;

    /// Returns the parse error, if the hook read JSON that is invalid.
    fn unreadable(&self) -> Option<&str> {
        None
    }
}

/// An output of a hook.
pub trait Lower {
    /// The generated type.
    type Wire;

    /// Converts to the generated type.
    fn lower(self) -> Self::Wire;
}

/// Converts the output for the host. If the hook read invalid JSON, it saw a missing value in place of an existing one,
/// so its output becomes a fault.
pub(crate) fn finish<T: Lower>(
    answer: Result<T>,
    inputs: impl IntoIterator<Item = Option<impl ToString>>,
) -> Result<T::Wire, wit::Fault> {
    match inputs.into_iter().flatten().next() {
        Some(why) => Err(Fault::bad_input(why.to_string()).into()),
        None => answer.map(T::lower).map_err(wit::Fault::from),
    }
}

macro_rules! same_on_the_wire {
    ($($ty:ty),*) => {$(
        impl Lift for $ty {
            type Wire = $ty;

            fn lift(wire: $ty) -> Self {
                wire
            }
        }
    )*};
}

same_on_the_wire!(String, Vec<String>, Option<String>, Option<bool>, Option<u32>, Option<u64>);

impl Lift for Json {
    type Wire = String;

    fn lift(wire: String) -> Self {
        Self::from_text(wire)
    }

    fn unreadable(&self) -> Option<&str> {
        Json::unreadable(self)
    }
}

impl Lift for Option<Json> {
    type Wire = Option<String>;

    fn lift(wire: Option<String>) -> Self {
        wire.map(Json::from_text)
    }

    fn unreadable(&self) -> Option<&str> {
        self.as_ref().and_then(Json::unreadable)
    }
}

impl Lower for () {
    type Wire = ();

    fn lower(self) {}
}

impl Lower for Option<Json> {
    type Wire = Option<String>;

    fn lower(self) -> Option<String> {
        self.map(Json::into_text)
    }
}

/// Declares an input with the fields of its WIT record. A missing field does not compile.
macro_rules! input {
    ($(#[$doc:meta])* $name:ident from $wire:path { $($(#[$field_doc:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $ty,)*
        }

        impl $crate::wire::Lift for $name {
            type Wire = $wire;

            fn lift(wire: $wire) -> Self {
                let $wire { $($field),* } = wire;
                Self { $($field: $crate::wire::Lift::lift($field),)* }
            }

            fn unreadable(&self) -> Option<&str> {
                None$(.or_else(|| $crate::wire::Lift::unreadable(&self.$field)))*
            }
        }
    };
}

/// Declares an event's trait and the function that its export calls. `$event` names the module, the world and the
/// interface.
macro_rules! event {
    ($(#[$doc:meta])* $name:ident in $event:ident($($arg:ident: $input:ty),+) -> $output:ty) => {
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = "`{Self}` is exported for an event that it does not handle",
            note = "implement the event's trait, or take the event out of `hookbox_guest::export!`"
        )]
        pub trait $name {
            /// Handles the event.
            fn handle(context: &$crate::EventContext, $($arg: &$input),+) -> $crate::Result<$output>;
        }

        impl<H: $name> $crate::bindings::$event::exports::hookbox::hooks::$event::Guest for H {
            fn handle(
                context: <$crate::EventContext as $crate::wire::Lift>::Wire,
                $($arg: <$input as $crate::wire::Lift>::Wire),+
            ) -> Result<
                <$output as $crate::wire::Lower>::Wire,
                $crate::bindings::shared::hookbox::hooks::types::Fault,
            > {
                use $crate::wire::Lift as _;

                $crate::panic::report();
                let context = $crate::EventContext::lift(context);
                $(let $arg = <$input>::lift($arg);)+
                let answer = <H as $name>::handle(&context, $(&$arg),+);
                $crate::wire::finish(answer, [context.unreadable(), $($arg.unreadable()),+])
            }
        }
    };
}

pub(crate) use {event, input};
