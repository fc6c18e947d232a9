//! Code that several dialects share.

mod alias;
mod flat;
mod form;
pub(crate) mod known_keys;
mod output;
mod reader;

pub(crate) use alias::{Alias, add_aliases, drop_added, drop_aliases, take_aliases};
pub(crate) use flat::{
    check_name, decode_fields_of_flat, decode_flat_event, decode_flat_wire, encode_flat_event, encode_flat_object,
    event_name,
};
pub(crate) use form::{
    MARK, PERMISSION, ask_only_where_shown, mark_form, put_decision, put_permission, shows_form, take_permission,
    take_permission_denial, take_top_denial,
};
pub(crate) use output::{
    decide, keep_extra, merge_effects, new_result, put_common, put_extra, put_specific, put_text, report_misplaced,
    specific_extra, take_common, take_specific, taken_away,
};
pub(crate) use reader::{FieldReader, without_effect};
