//! Python: componentize-py, with a snapshot of the interpreter after it imported the hook.

mod packages;
mod sdk;
mod sockets;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};
use serde::Deserialize;
use wasm_metadata::AddMetadata;

use self::packages::Packages;
use super::{
    component, contract,
    language::{Compiled, Fingerprint, Language, Project},
    tool,
};
use crate::{exit::Exit, print};

const MISSING: &str = "to install Python 3.11 or later, see https://www.python.org/downloads";
/// The version of componentize-py's interpreter.
const INTERPRETER: &str = "3.14";
const PROJECT: &str = include_str!("python/project.py");
const COLLECT: &str = include_str!("python/collect.py");
const COMPONENTIZE: &str = include_str!("python/componentize.py");
const TOOLCHAIN: &str = include_str!("python/requirements.txt");
/// The output of `project.py`, stored in a file.
const MANIFEST: &str = "project.json";
/// The module that componentize-py starts with.
const APP: &str = "hookbox_app";

pub struct Python;

/// The output of `project.py`.
#[derive(Deserialize)]
struct Manifest {
    name: String,
    module: String,
    root: PathBuf,
    dependencies: Vec<String>,
}

/// The output of `collect.py`.
#[derive(Deserialize)]
struct Collected {
    events: Vec<String>,
    imports: Vec<String>,
    preloaded: Vec<String>,
}

impl Language for Python {
    fn name(&self) -> &'static str {
        "Python"
    }

    fn manifest(&self) -> &'static str {
        "pyproject.toml"
    }

    fn fingerprint(&self, project: &Project<'_>) -> anyhow::Result<Option<Fingerprint>> {
        check_version()?;
        let manifest = manifest(project)?;
        let mut parts =
            vec![TOOLCHAIN.to_owned(), COLLECT.to_owned(), manifest.module, manifest.dependencies.join("\n")];
        parts.extend(sdk::files().map(|(_, text)| text.to_owned()));
        parts.extend(fs::read_to_string(project.folder.join(packages::LOCK)));
        let mut parts: Vec<_> = parts.into_iter().map(String::into_bytes).collect();
        for (name, file) in sources(&manifest.root)? {
            parts.push(name.into_os_string().into_encoded_bytes());
            parts.push(fs::read(&file).with_context(|| file.display().to_string())?);
        }
        Ok(Some(Fingerprint { name: manifest.name, digest: component::source(parts.iter().map(Vec::as_slice)) }))
    }

    fn compile(&self, project: &Project<'_>) -> anyhow::Result<Compiled> {
        let scratch = project.scratch()?;
        let manifest: Manifest = serde_json::from_slice(&fs::read(scratch.join(MANIFEST))?)?;
        let place = scratch.join("python");
        let (sdk, packages) = (place.join("sdk"), scratch.join("packages"));
        fs::create_dir_all(&place)?;
        emptied(&sdk)?;
        sdk::write(&sdk)?;
        let own = Packages::of_project(&project.folder, &manifest.dependencies, packages.clone());
        own.install()?;

        // Errors in the hook appear here, quickly and with a normal traceback.
        let collected = collect(&manifest, &place, &[&sdk, &packages])?;
        if collected.events.is_empty() {
            return Err(Exit::Usage.error(format!(
                "{} handles no event: put a decorator such as `@on_pre_tool_use` on a function",
                manifest.module
            )));
        }
        let toolchain = scratch.join("componentize-py");
        Packages::toolchain(&scratch, TOOLCHAIN, toolchain.clone())?.install()?;

        let (stage, world) = (place.join("source"), place.join("world"));
        copy_sources(&manifest.root, &stage)?;
        write_world(&collected, &world)?;
        let app = place.join("app");
        fs::create_dir_all(&app)?;
        let list = |words: &[String]| serde_json::to_string(words);
        let text = format!(
            "from hookbox._component import exports\n\nglobals().update(exports(\"{}\", {}, {}, {}))\n",
            manifest.module,
            list(&collected.events)?,
            list(&collected.imports)?,
            list(&collected.preloaded)?
        );
        fs::write(app.join(format!("{APP}.py")), text)?;

        let wasm = place.join("hook.wasm");
        print::err(format_args!("componentize-py {}", print::name(&manifest.name)));
        let mut componentize = python(&place, "componentize.py", COMPONENTIZE)?;
        componentize
            .arg(&manifest.root)
            .arg("-d")
            .arg(&world)
            .args(["-w", "hook", "componentize", APP, "-o"])
            .arg(&wasm);
        // The author's files come first: their folder is `/0` inside the component.
        for folder in [&stage, &packages, &sdk, &app] {
            componentize.arg("-p").arg(folder);
        }
        // Without a separate environment it would search this machine's Python for packages.
        let environment = place.join("environment");
        fs::create_dir_all(environment.join("lib/python3/site-packages"))?;
        componentize.env("VIRTUAL_ENV", environment).env("PYTHONPATH", &toolchain).env("RUST_BACKTRACE", "0");
        tool::run(componentize.stdout(std::process::Stdio::null()), MISSING, || {
            Exit::Software.advised(
                format!("componentize-py could not build {}", manifest.name),
                &["hooks have no sockets, processes, threads and packages in C: to send requests, use `hookbox.http`"],
            )
        })?;
        let component = fs::read(&wasm).with_context(|| wasm.display().to_string())?;
        fs::remove_file(&wasm)?;
        let wasm = sockets::removed(&component).context("cannot remove the sockets of Python's library")?;
        let mut made_with = AddMetadata::default();
        made_with.language = vec![("Python".into(), INTERPRETER.into())];
        let tool = TOOLCHAIN.lines().find_map(|line| line.trim_end_matches([' ', '\\']).split_once("=="));
        made_with.processed_by = tool.map(|(name, version)| (name.into(), version.into())).into_iter().collect();
        made_with.sdk = sdk::version().map(|version| ("hookbox-guest".into(), version.into())).into_iter().collect();
        Ok(Compiled { name: manifest.name, wasm, adapters: Vec::new(), made_with })
    }
}

fn check_version() -> anyhow::Result<()> {
    let version = tool::ask(interpreter().arg("--version"), MISSING)?.unwrap_or_default();
    let minor = version.strip_prefix("Python 3.").and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
    if minor.is_none_or(|minor| minor < 11) {
        return Err(Exit::Software.advised(format!("{version} is too old"), &[MISSING]));
    }
    Ok(())
}

/// The author's Python, without installed packages, running one of hookbox's programs.
fn python(place: &Path, name: &str, program: &str) -> anyhow::Result<Command> {
    let file = place.join(name);
    fs::write(&file, program)?;
    let mut python = interpreter();
    python.args(["-B", "-X", "utf8", "-s"]).arg(file);
    Ok(python)
}

fn interpreter() -> Command {
    let mut python = Command::new("python3");
    python.env_remove("PYTHONPATH").env_remove("PYTHONHOME").env_remove("PYTHONSTARTUP");
    python
}

fn manifest(project: &Project<'_>) -> anyhow::Result<Manifest> {
    let mut python = interpreter();
    python.args(["-I", "-S", "-B", "-X", "utf8", "-c", PROJECT]).arg(&project.folder);
    let versions = tool::run(&mut python, MISSING, || {
        Exit::Software.error(format!("{} cannot be built", project.folder.display()))
    })?;
    fs::write(project.scratch()?.join(MANIFEST), &versions.stdout)?;
    Ok(serde_json::from_slice(&versions.stdout)?)
}

fn collect(manifest: &Manifest, place: &Path, path: &[&Path]) -> anyhow::Result<Collected> {
    let file = place.join("collect.py");
    fs::write(&file, COLLECT)?;
    let mut python = interpreter();
    python.args(["-I", "-S", "-B", "-X", "utf8"]).arg(file).arg(&manifest.module).arg(&manifest.root).args(path);
    let versions =
        tool::run(&mut python, MISSING, || Exit::Software.error(format!("{} cannot be imported", manifest.module)))?;
    Ok(serde_json::from_slice(&versions.stdout)?)
}

/// Writes the world of this hook and the contract.
fn write_world(collected: &Collected, world: &Path) -> anyhow::Result<()> {
    let (_, text) = contract::WIT.first().context("a contract")?;
    let version = text.split_once('@').and_then(|(_, rest)| rest.split_once(';')).context("a version")?.0;
    let line = |word: &str, name: &String| format!("  {word} hookbox:hooks/{name}@{version};\n");
    let imports = collected.imports.iter().map(|name| line("import", name));
    let exports = collected.events.iter().map(|name| line("export", name));
    let lines: String = imports.chain(exports).collect();
    let contract = world.join("deps/hooks");
    fs::create_dir_all(&contract)?;
    fs::write(world.join("hook.wit"), format!("package hookbox:build;\n\nworld hook {{\n{lines}}}\n"))?;
    for (name, text) in contract::WIT {
        fs::write(contract.join(name), text)?;
    }
    Ok(())
}

/// Returns true for files and folders that are not part of the hook's sources.
fn is_left_out(name: &str) -> bool {
    name.starts_with('.') || matches!(name, "__pycache__" | "venv" | "node_modules" | "build" | "dist" | "tests")
}

/// The source files of a hook, sorted, with their names in its folder: its modules, and everything in its packages.
fn sources(root: &Path) -> anyhow::Result<Vec<(PathBuf, PathBuf)>> {
    fn walk(folder: &Path, within: &Path, found: &mut Vec<(PathBuf, PathBuf)>) -> anyhow::Result<()> {
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
            let is_module = path.extension().is_some_and(|extension| extension == "py");
            let is_package = path.join("__init__.py").is_file();
            let at_top = within.as_os_str().is_empty();
            if is_left_out(&name.to_string_lossy()) || at_top && !is_module && !is_package {
                continue;
            }
            let (within, kind) = (within.join(&name), fs::metadata(&path)?);
            if kind.is_dir() {
                walk(&path, &within, found)?;
            } else if kind.is_file() {
                found.push((within, path));
            }
        }
        Ok(())
    }
    let mut found = Vec::new();
    walk(root, Path::new(""), &mut found)?;
    found.sort();
    Ok(found)
}

/// Creates an empty folder. Removes its previous content.
fn emptied(folder: &Path) -> std::io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)
}

fn copy_sources(root: &Path, stage: &Path) -> anyhow::Result<()> {
    emptied(stage)?;
    for (name, file) in sources(root)? {
        let Some(folder) = name.parent() else { bail!("{} has no folder", file.display()) };
        fs::create_dir_all(stage.join(folder))?;
        fs::copy(&file, stage.join(&name)).with_context(|| file.display().to_string())?;
    }
    Ok(())
}
