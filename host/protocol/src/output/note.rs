//! Notes for people about outputs and events.

/// Something that people should know about a verdict. Never part of the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The kind of note.
    pub kind: NoteKind,
    /// The message.
    pub text: String,
    /// True if the output does not follow the dialect. The hook counts as failed if failures block.
    pub misfit: bool,
}

/// The kind of a [`Note`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// Part of an output had no effect.
    Dropped,
    /// The dialect has no form for it, so the nearest safer thing replaces it.
    Degraded,
    /// The event or the output was accepted, but it does not follow the specification.
    Warning,
    /// The output does not follow the dialect and has no effect. It is reported only if failures block, and counts as a
    /// failure.
    Misfit,
}

impl Note {
    /// [`NoteKind::Dropped`]
    pub fn dropped(text: impl Into<String>) -> Self {
        Self { kind: NoteKind::Dropped, text: text.into(), misfit: false }
    }
    /// [`NoteKind::Degraded`]
    pub fn degraded(text: impl Into<String>) -> Self {
        Self { kind: NoteKind::Degraded, text: text.into(), misfit: false }
    }
    /// [`NoteKind::Warning`]
    pub fn warning(text: impl Into<String>) -> Self {
        Self { kind: NoteKind::Warning, text: text.into(), misfit: false }
    }

    /// [`NoteKind::Misfit`]
    pub fn misfit(text: impl Into<String>) -> Self {
        Self { kind: NoteKind::Misfit, text: text.into(), misfit: true }
    }

    /// Marks the note as one of an output that does not follow the dialect.
    #[must_use]
    pub fn of_misfit(self) -> Self {
        Self { misfit: true, ..self }
    }
}

impl NoteKind {
    /// One word for diagnostics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Degraded => "degraded",
            Self::Warning => "warning",
            Self::Misfit => "misfit",
        }
    }
}
