//! What a hook may decide, whatever it says: limited before it is made sayable ([`Authority::limit`]), after that
//! ([`express`]), and where it meets what other hooks say ([`merge()`]).

mod digits;
pub mod env;
mod limit;
mod merge;
mod missing;
mod rewrite;

pub use digits::keep_digits;
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

impl Power {
    /// As configurations write it.
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
    /// Names of the environment variables that it may set for the session; `*` alone grants every name. Names that make other
    /// programs run something else are refused whatever stands here.
    pub env: Vec<String>,
}

impl Authority {
    /// Deny, ask and context: what a component may that nothing else is written for.
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

impl Authority {
    /// Whether it can hold something back, and neither let through nor change anything.
    pub fn only_restricts(&self) -> bool {
        let lets = |power: &Power| matches!(power, Power::Allow | Power::Respond);
        !self.decide.is_empty() && !self.decide.iter().any(lets) && self.rewrite == Rewrite::Only(Vec::new())
    }

    /// What is left of it under another one.
    #[must_use]
    pub fn within(&self, most: &Self) -> Self {
        let below = |asked: &String, most: &str| asked == most || asked.starts_with(&format!("{most}/"));
        Self {
            decide: self.decide.iter().copied().filter(|power| most.decide.contains(power)).collect(),
            rewrite: match (&self.rewrite, &most.rewrite) {
                (rewrite, Rewrite::All) | (Rewrite::All, rewrite) => rewrite.clone(),
                (Rewrite::Only(asked), Rewrite::Only(most)) => {
                    let covered = |asked: &&String| most.iter().any(|most| below(asked, most));
                    Rewrite::Only(asked.iter().filter(covered).cloned().collect())
                }
            },
            context: self.context && most.context,
            system_message: self.system_message && most.system_message,
            env: if self.env.iter().any(|name| name == env::ANY) {
                most.env.clone()
            } else {
                self.env
                    .iter()
                    .filter(|name| most.env.iter().any(|most| most == *name || most == env::ANY))
                    .cloned()
                    .collect()
            },
        }
    }
}

impl Power {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Deny, Self::Ask, Self::Allow, Self::Skip, Self::Respond, Self::Abort];
}
