//! What a hook may decide, whatever it says: limited before it is made sayable ([`Authority::limit`]), after that
//! ([`express`]), and where it meets what other hooks say ([`merge()`]).

mod env;
mod limit;
mod merge;
mod rewrite;

pub use limit::express;
pub use merge::merge;

/// One power over an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Power {
    /// Deny, or block.
    Deny,
    /// Ask the user.
    Ask,
    /// Allow without asking the user.
    Allow,
    /// Leave the call out.
    Skip,
    /// Give the tool's result.
    Respond,
    /// End the turn or the session.
    Abort,
}

/// Which parts of a tool's input, its output, a prompt or a model request a hook may rewrite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rewrite {
    /// Everything.
    All,
    /// What these JSON pointers point at, and what is below. None of them: nothing.
    Only(Vec<String>),
}

/// What a hook may decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    /// The decisions it may make.
    pub decide: Vec<Power>,
    /// What it may rewrite.
    pub rewrite: Rewrite,
    /// Whether it may add to the model's context.
    pub context: bool,
    /// Whether it may show the user a message, and hide what hooks print.
    pub system_message: bool,
    /// Which environment variables it may set for the session: names, in which `*` stands for any characters. Names that
    /// make other programs run something else are refused whatever stands here.
    pub env: Vec<String>,
}

impl Authority {
    /// Deny, ask and context: the default for anything that is not local.
    pub fn gate() -> Self {
        Self {
            decide: vec![Power::Deny, Power::Ask],
            rewrite: Rewrite::Only(Vec::new()),
            context: true,
            system_message: false,
            env: Vec::new(),
        }
    }

    /// What a gate may, and rewrite everything, with the `allow` a rewrite needs.
    pub fn rewriter() -> Self {
        Self { decide: vec![Power::Deny, Power::Ask, Power::Allow], rewrite: Rewrite::All, ..Self::gate() }
    }

    /// Everything.
    pub fn trusted() -> Self {
        Self {
            decide: vec![Power::Deny, Power::Ask, Power::Allow, Power::Skip, Power::Respond, Power::Abort],
            rewrite: Rewrite::All,
            context: true,
            system_message: true,
            env: vec![env::ANY.to_owned()],
        }
    }
}

impl Power {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Deny, Self::Ask, Self::Allow, Self::Skip, Self::Respond, Self::Abort];
}
