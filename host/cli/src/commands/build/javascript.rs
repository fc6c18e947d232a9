//! JavaScript and TypeScript: esbuild bundles the hook, and componentize-qjs makes a component with an initialised
//! engine. Both are npm packages at the versions of the embedded lockfile, installed in the project's scratch folder.

mod engine;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context;
use serde::Deserialize;
use wasm_metadata::AddMetadata;

use super::{
    contract,
    language::{Compiled, Fingerprint, Language, Project},
    tool,
};
use crate::{exit::Exit, print};

const MISSING: &str = "to install Node.js 20 or later, see https://nodejs.org";
const SDK: &str = "@hookbox/guest";
const LOCK: &str = include_str!("javascript/package-lock.json");
/// The files that run in Node.js, and their data.
const TOOLS: &[(&str, &str)] = &[
    ("package.json", include_str!("javascript/package.json")),
    ("package-lock.json", LOCK),
    ("bundle.mjs", include_str!("javascript/bundle.mjs")),
    ("componentize.mjs", include_str!("javascript/componentize.mjs")),
    ("common.mjs", include_str!("javascript/common.mjs")),
    ("url.mjs", include_str!("javascript/url.mjs")),
    ("wit/deps/system/system.wit", include_str!("javascript/system.wit")),
];
/// The lockfile of the last installation.
const INSTALLED: &str = "node_modules/.hookbox-lock.json";
/// The engine, extracted from the installed package by this version.
const ENGINE: &str = concat!("engine-", env!("CARGO_PKG_VERSION"), ".wasm");
/// The folder of componentize-qjs's platform-specific packages, one of which contains the engine.
const ADDONS: &str = "node_modules/@andreiltd";

pub struct JavaScript;

/// The output of bundle.mjs.
#[derive(Deserialize)]
struct Bundle {
    name: String,
    digest: String,
    typescript: bool,
    sdk: String,
    tools: BTreeMap<String, String>,
}

impl Language for JavaScript {
    fn name(&self) -> &'static str {
        "JavaScript, TypeScript"
    }

    fn manifest(&self) -> &'static str {
        "package.json"
    }

    fn fingerprint(&self, project: &Project<'_>) -> anyhow::Result<Option<Fingerprint>> {
        let scratch = project.scratch()?.join("js");
        prepare(&scratch)?;
        print::err("esbuild: bundling the hook");
        let mut node = Command::new("node");
        node.arg(scratch.join("bundle.mjs")).arg(&project.folder).current_dir(&scratch);
        let output = tool::run(&mut node, MISSING, || {
            Exit::Software.error(format!("{} could not be bundled", project.folder.display()))
        })?;
        fs::write(scratch.join("bundle.json"), &output.stdout)?;
        let Bundle { name, digest, typescript, .. } = serde_json::from_slice(&output.stdout).context("bundle.mjs")?;
        // Also if the component is unchanged: it may have been built before TypeScript was installed.
        if typescript {
            check_types(&project.folder, &scratch.join("types-hold"), &digest)?;
        }
        Ok(Some(Fingerprint { name, digest }))
    }

    fn compile(&self, project: &Project<'_>) -> anyhow::Result<Compiled> {
        let scratch = project.scratch()?.join("js");
        let bundle: Bundle = serde_json::from_slice(&fs::read(scratch.join("bundle.json"))?).context("bundle.mjs")?;
        let output = scratch.join("hook.wasm");
        let mut node = Command::new("node");
        node.arg(scratch.join("componentize.mjs")).arg(engine(&scratch)?).arg(&output).current_dir(&scratch);
        print::err(format_args!("componentize-qjs {}", print::name(&project.folder.to_string_lossy())));
        tool::run(&mut node, MISSING, || {
            Exit::Software.error(format!("cannot make a component of {}", project.folder.display()))
        })?;
        let wasm = fs::read(&output).with_context(|| output.display().to_string())?;
        let mut made_with = AddMetadata::default();
        let language = if bundle.typescript { "TypeScript" } else { "JavaScript" };
        made_with.language = vec![(language.into(), String::new())];
        made_with.sdk = vec![(SDK.into(), bundle.sdk)];
        made_with.processed_by = bundle.tools.into_iter().collect();
        Ok(Compiled { name: bundle.name, wasm, adapters: Vec::new(), made_with })
    }
}

/// Writes the files that run in Node.js and installs their packages, unless that has been done.
fn prepare(scratch: &Path) -> anyhow::Result<()> {
    let version = tool::ask(Command::new("node").arg("--version"), MISSING)?.unwrap_or_default();
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < 20) {
        return Err(Exit::Software.advised(format!("Node.js {version} is too old"), &[MISSING]));
    }
    let contract = contract::WIT.iter().map(|(name, text)| (format!("wit/deps/hooks/{name}"), *text));
    let tools = TOOLS.iter().map(|(name, text)| ((*name).to_owned(), *text));
    for (name, text) in tools.chain(contract) {
        let file = scratch.join(name);
        if fs::read_to_string(&file).ok().as_deref() != Some(text) {
            fs::create_dir_all(file.parent().unwrap_or(scratch))?;
            fs::write(&file, text)?;
        }
    }
    if fs::read_to_string(scratch.join(INSTALLED)).ok().as_deref() == Some(LOCK) {
        return Ok(());
    }
    print::err("npm ci: esbuild and componentize-qjs, once for this project");
    let _ = fs::remove_file(scratch.join(ENGINE));
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"])
        .current_dir(scratch);
    tool::run(&mut npm, MISSING, || {
        let why = format!("to see why:   npm ci --ignore-scripts --prefix {}", scratch.display());
        Exit::Software.advised("the packages could not be installed", &[&why])
    })?;
    // npm reports no error if it could not install an optional package for this platform.
    if addon(&scratch.join(ADDONS)).is_none() {
        return Err(Exit::Software.advised(
            "npm did not install the part of componentize-qjs for this platform",
            &["check the network and the free disk space, then build again"],
        ));
    }
    fs::write(scratch.join(INSTALLED), LOCK)?;
    Ok(())
}

/// The path of the engine. Extracts it from the package once.
fn engine(scratch: &Path) -> anyhow::Result<PathBuf> {
    let file = scratch.join(ENGINE);
    if !file.is_file() {
        let addons = scratch.join(ADDONS);
        let addon = addon(&addons).with_context(|| format!("there is no addon in {}", addons.display()))?;
        crate::user_file::replace(&file, &engine::of(&fs::read(addon)?)?)?;
    }
    Ok(file)
}

/// The first addon file in the subfolders of a folder.
fn addon(folder: &Path) -> Option<PathBuf> {
    let mut packages: Vec<_> = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    packages.sort();
    let files = packages.iter().filter_map(|package| fs::read_dir(package).ok()).flatten();
    let mut files = files.filter_map(|entry| Some(entry.ok()?.path()));
    files.find(|file| file.extension().is_some_and(|extension| extension == "node"))
}

/// Runs the project's own TypeScript compiler, unless `held` contains the digest of these sources. Its messages go to
/// stderr.
fn check_types(folder: &Path, held: &Path, digest: &str) -> anyhow::Result<()> {
    if !folder.join("tsconfig.json").is_file() || fs::read_to_string(held).is_ok_and(|held| held == digest) {
        return Ok(());
    }
    let compilers = folder.ancestors().map(|folder| folder.join("node_modules/typescript/bin/tsc"));
    let Some(compiler) = compilers.into_iter().find(|compiler| compiler.is_file()) else {
        print::err("types are not checked: TypeScript is not installed");
        let manifest = fs::read_to_string(folder.join("package.json")).unwrap_or_default();
        let what = if manifest.contains("\"typescript\"") { "" } else { " --save-dev typescript@5" };
        print::err(format_args!("   to install it:   npm install --ignore-scripts{what}"));
        return Ok(());
    };
    print::err("checking types");
    let mut tsc = Command::new("node");
    tsc.arg(compiler).args(["--noEmit", "--project"]).arg(folder).current_dir(folder);
    tsc.stdout(io::stderr());
    tool::run(&mut tsc, MISSING, || Exit::Software.error(format!("the types of {} are wrong", folder.display())))?;
    fs::write(held, digest)?;
    Ok(())
}
