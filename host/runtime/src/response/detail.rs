//! The details of a response: a verdict of this process, or the report of another one.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::{record::Report, verdict::Verdict};

/// The details of a response, for people and monitoring.
#[derive(Debug, Clone, Default)]
pub(crate) enum Detail {
    Verdict(Box<Verdict>),
    Report(Box<Report>),
    /// No hook ran.
    #[default]
    None,
}

impl Serialize for Detail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.report().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Detail {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let report = Option::<Report>::deserialize(deserializer)?;
        Ok(report.map_or(Self::None, |report| Self::Report(Box::new(report))))
    }
}

impl Detail {
    pub(crate) fn report(&self) -> Option<Cow<'_, Report>> {
        match self {
            Self::Verdict(verdict) => Some(Cow::Owned(verdict.report())),
            Self::Report(report) => Some(Cow::Borrowed(report)),
            Self::None => None,
        }
    }

    pub(crate) fn into_report(self) -> Option<Report> {
        match self {
            Self::Verdict(verdict) => Some(verdict.report()),
            Self::Report(report) => Some(*report),
            Self::None => None,
        }
    }

    /// The details for a response that replaces the verdict's own JSON by `wire`.
    pub(crate) fn of(verdict: Option<Verdict>, wire: Option<Value>) -> Self {
        verdict.map_or(Self::None, |verdict| Self::Verdict(Box::new(Verdict { wire, ..verdict })))
    }
}
