//! `hookbox new`: creates a hook's project that builds, has tests and runs without changes.

mod case;
mod event;
mod go;
mod javascript;
mod python;
mod rust;
mod template;

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::{Args, ValueEnum};
use hookbox::EventKind;
use serde_json::json;

use self::{case::SampleCases, event::Shape, template::Template};
use crate::{exit::Exit, print, user_file};

/// Begin a hook.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox new my-guard --lang python --event post-tool-use")]
pub struct New {
    /// The hook's name, and the folder's: small letters, digits, `-`
    #[arg(value_name = "NAME")]
    name: String,
    /// The hook's language
    #[arg(long, value_enum)]
    lang: Lang,
    /// The event it handles, as in `wit/`
    #[arg(long, value_name = "EVENT", default_value = "pre-tool-use")]
    event: String,
    /// The hook protocol of the configuration to try it with
    #[arg(long, value_name = "NAME", default_value = "claude")]
    dialect: String,
    /// The folder in which to create the project
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    path: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The languages that there are templates for.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Lang {
    Rust,
    Go,
    /// JavaScript
    Js,
    /// TypeScript
    Ts,
    Python,
}

impl Lang {
    fn template(self) -> &'static dyn Template {
        match self {
            Self::Rust => &rust::Rust,
            Self::Go => &go::Go,
            Self::Js => &javascript::JavaScript,
            Self::Ts => &javascript::TypeScript,
            Self::Python => &python::Python,
        }
    }
}

/// The parameters of a project.
struct Project {
    name: String,
    event: Shape,
}

impl New {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let template = self.lang.template();
        check_name(&self.name, template)?;
        let event = Shape::by_name(&self.event)?;
        let dialect = hookbox::dialect::by_name(&self.dialect).ok_or_else(|| {
            let names: Vec<_> = hookbox::dialect::ALL.iter().map(|dialect| dialect.name()).collect();
            Exit::Usage.error(format!("unknown dialect `{}`; the dialects are {}", self.dialect, names.join(", ")))
        })?;
        if dialect.spec(event.kind).name.is_empty() {
            let has = |kind: &&EventKind| !dialect.spec(**kind).name.is_empty() && **kind != EventKind::OtherEvent;
            let names: Vec<_> = EventKind::ALL.iter().filter(has).map(|kind| kind.interface()).collect();
            let (event, dialect) = (event.kind.interface(), dialect.name());
            return Err(Exit::Usage.error(format!("{dialect} has no event `{event}`; it has {}", names.join(", "))));
        }
        let project = Project { name: self.name, event };
        let mut files = template.files(&project);
        files.extend(template.sdk().map(|(path, text)| (format!("{}/{path}", template::SDK_FOLDER), text)));
        files.push(("hooks.json".into(), case::configuration(&project, dialect)?));
        let SampleCases { event, named, cases } = case::tried(&project, dialect)?;
        files.extend([("event.json".into(), event), ("tests/cases.yaml".into(), cases)]);
        files.push(("README.md".into(), template::readme(&project, template, named)));

        let folder = self.path.join(&project.name);
        lay(&folder, &files)?;
        for (link, to) in template.links() {
            let link = folder.join(link);
            let made = link.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| symlink(to, &link));
            made.with_context(|| format!("cannot make {}", link.display()))?;
        }
        if self.json {
            let files: Vec<&String> = files.iter().map(|(name, _)| name).collect();
            print::json(&json!({
                "folder": folder.to_string_lossy(), "language": template.name(), "files": files,
                "next": ["hookbox build", "hookbox test"],
            }));
            return Ok(Exit::Ok);
        }
        print::err(format!("{} is a hook in {}", folder.display(), template.name()));
        for command in ["cd ".to_owned() + &folder.display().to_string(), "hookbox build".into(), "hookbox test".into()]
        {
            print::err(format!("   {command}"));
        }
        Ok(Exit::Ok)
    }
}

/// Names that are reserved in some file system or used by every SDK.
const TAKEN: &[&str] = &["aux", "con", "hookbox", "hookbox-guest", "nul", "prn"];

/// Checks that a name is valid in this language and in every file system.
fn check_name(name: &str, template: &dyn Template) -> anyhow::Result<()> {
    if !is_name(name) {
        let message = format!(
            "`{name}` is not a valid hook name: use at most 64 lower-case letters, digits and `-`, and begin with a letter"
        );
        let near = name.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let near = near.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
        let advice = if name.contains('/') {
            "`--path FOLDER` sets its folder".to_owned()
        } else if is_name(&near) {
            format!("try `{near}`")
        } else {
            return Err(Exit::Usage.error(message));
        };
        return Err(Exit::Usage.advised(message, &[&advice]));
    }
    if TAKEN.contains(&name) || template.taken().split_whitespace().any(|taken| taken == name) {
        return Err(Exit::Usage
            .error(format!("`{name}` is not a valid hook name in {}: it is reserved there", template.name())));
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && name.len() <= 64
}

/// Writes a project into a new or empty folder.
fn lay(folder: &Path, files: &[(String, String)]) -> anyhow::Result<()> {
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Exit::Usage.error(format!("{} exists already, and was not changed", folder.display())));
    }
    for (name, text) in files {
        let path = folder.join(name);
        user_file::replace(&path, text.as_bytes())?;
    }
    Ok(())
}
