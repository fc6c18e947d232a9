//! Limits of a hook's output. [`Authority::limit`] applies before degradation, [`express`] during it, and [`merge()`]
//! when outputs are merged.

mod digits;
pub mod env;
mod limit;
mod merge;
mod missing;
mod rewrite;

pub use digits::keep_digits;
pub use limit::express;
pub use merge::merge;

/// A power over an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Power {
    /// Deny, or block.
    Deny,
    /// Ask the user.
    Ask,
    /// Allow without asking the user.
    Allow,
    /// Leave out the call.
    Skip,
    /// Give the tool's result.
    Respond,
    /// End the turn or the session.
    Abort,
}

impl Power {
    /// The word in configurations.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
            Self::Skip => "skip",
            Self::Respond => "respond",
            Self::Abort => "abort",
        }
    }
}

/// The parts of a tool's input or output, a prompt or a model request that a hook may rewrite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rewrite {
    /// Everything.
    All,
    /// The values at these JSON pointers and everything below them. An empty list grants nothing.
    Only(Vec<String>),
}

/// The authority of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    /// The powers to decide.
    pub decide: Vec<Power>,
    /// The values that the hook may rewrite.
    pub rewrite: Rewrite,
    /// True if the hook may add to the model's context.
    pub context: bool,
    /// True if the hook may show messages to the user and hide the output of hooks.
    pub system_message: bool,
    /// Names of the environment variables that the hook may set for the session. `*` alone grants every name. Names
    /// that make other programs run other code are always refused.
    pub env: Vec<String>,
}

impl Authority {
    /// Deny, ask and context: the default authority of a component.
    pub fn gate() -> Self {
        Self {
            decide: vec![Power::Deny, Power::Ask],
            rewrite: Rewrite::Only(Vec::new()),
            context: true,
            system_message: false,
            env: Vec::new(),
        }
    }

    /// The authority of [`Authority::gate`], and to rewrite everything with the `allow` that a rewrite needs.
    pub fn rewriter() -> Self {
        Self { decide: vec![Power::Deny, Power::Ask, Power::Allow], rewrite: Rewrite::All, ..Self::gate() }
    }

    /// Full authority.
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

impl Authority {
    /// Returns true if the hook can deny, ask, skip or stop, but can neither allow nor change anything.
    pub fn only_restricts(&self) -> bool {
        let lets = |power: &Power| matches!(power, Power::Allow | Power::Respond);
        !self.decide.is_empty() && !self.decide.iter().any(lets) && self.rewrite == Rewrite::Only(Vec::new())
    }

    /// The intersection of this authority and a maximum.
    #[must_use]
    pub fn within(&self, limit: &Self) -> Self {
        let below = |requested: &String, limit: &str| requested == limit || requested.starts_with(&format!("{limit}/"));
        Self {
            decide: self.decide.iter().copied().filter(|power| limit.decide.contains(power)).collect(),
            rewrite: match (&self.rewrite, &limit.rewrite) {
                (rewrite, Rewrite::All) | (Rewrite::All, rewrite) => rewrite.clone(),
                (Rewrite::Only(requested), Rewrite::Only(limit)) => {
                    let covered = |requested: &&String| limit.iter().any(|limit| below(requested, limit));
                    Rewrite::Only(requested.iter().filter(covered).cloned().collect())
                }
            },
            context: self.context && limit.context,
            system_message: self.system_message && limit.system_message,
            env: if self.env.iter().any(|name| name == env::ANY) {
                limit.env.clone()
            } else {
                self.env
                    .iter()
                    .filter(|name| limit.env.iter().any(|limit| limit == *name || limit == env::ANY))
                    .cloned()
                    .collect()
            },
        }
    }
}

impl Power {
    /// All powers.
    pub const ALL: [Self; 6] = [Self::Deny, Self::Ask, Self::Allow, Self::Skip, Self::Respond, Self::Abort];
}
