//! A guest built against the package keeps loading after a new event interface is added.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use hookbox_testing::guest;

/// The host of a later release, whose contract has one more event.
mod later {
    wasmtime::component::bindgen!({
        path: "../../wit",
        inline: r#"
            package hookbox:later;

            interface model-switch {
                use hookbox:hooks/types@0.2.0.{event-context, effects, fault};
                handle: func(context: event-context) -> result<effects, fault>;
            }

            world more-hooks {
                include hookbox:hooks/all-hooks@0.2.0;
                export model-switch;
            }
        "#,
        world: "hookbox:later/more-hooks",
    });
}

/// A guest that knows one event runs in a host that knows more, and handles only the event that it knows.
#[test]
fn a_guest_of_today_loads_in_a_host_with_one_event_more() {
    use later::exports::hookbox::{hooks::pre_tool_use, later::model_switch};

    let bytes = guest::encode(&guest::gate("", ""), guest::GATE, "");
    let engine = wasmtime::Engine::default();
    let component = wasmtime::component::Component::from_binary(&engine, &bytes).unwrap();
    let pre = wasmtime::component::Linker::<()>::new(&engine).instantiate_pre(&component).unwrap();
    let (known, new) = (pre_tool_use::GuestIndices::new(&pre).unwrap(), model_switch::GuestIndices::new(&pre));
    assert!(new.is_err());

    let mut store = wasmtime::Store::new(&engine, ());
    let instance = pre.instantiate(&mut store).unwrap();
    known.load(&mut store, &instance).unwrap();
}

/// Within 0.2 a guest may be newer than its host.
#[test]
fn a_guest_of_a_later_release_loads() {
    let ours = guest::encode(&guest::gate("", ""), guest::GATE, "");
    let later: Vec<u8> = replace(&ours, b"hookbox:hooks/pre-tool-use@0.2.0", b"hookbox:hooks/pre-tool-use@0.2.7");
    assert_ne!(ours, later);
    assert_eq!(guest::load(&later).unwrap().handles(), [hookbox_protocol::EventKind::PreToolUse]);
}

/// `from` and `to` have the same length, so that the section sizes stay correct.
fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_owned();
    while let Some(at) = bytes.windows(from.len()).position(|window| window == from) {
        bytes.splice(at..at + from.len(), to.iter().copied());
    }
    bytes
}
