//! The time of the last call per client, event and project, in a small file for `hookbox doctor`.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use hookbox::{dialect, folders, private::Folder, sha256};

use crate::{clients, user_file};

/// The environment variable for calls by `hookbox doctor`, which are not from a client.
pub const CANARY: &str = "HOOKBOX_CANARY";

/// The precision of the time. Frequent calls do not write a file each time.
const EXACT: Duration = Duration::from_secs(10);

/// The maximum number of files. The oldest is removed first.
const MOST: usize = 4096;

fn path() -> Option<PathBuf> {
    Some(folders::state()?.join("fired"))
}

/// Records that an event arrived under a dialect. Errors are ignored, because nothing depends on it.
pub fn touch(dialect: &str, event: &str) {
    let Some(folder) = path().filter(|_| std::env::var_os(CANARY).is_none()) else { return };
    let variable = dialect::by_name(dialect).and_then(|dialect| dialect.usage().project_variable);
    let given = variable.and_then(std::env::var_os).map(PathBuf::from).filter(|path| path.is_absolute());
    let Some(from) = given.or_else(|| std::env::current_dir().ok()) else { return };
    let name = name(dialect, event, &from);
    let written = fs::metadata(folder.join(&name)).and_then(|file| file.modified());
    if written.as_ref().is_ok_and(|at| at.elapsed().is_ok_and(|ago| ago < EXACT)) {
        return;
    }
    if let (Ok(open), Ok(now)) = (Folder::open(&folder), SystemTime::now().duration_since(UNIX_EPOCH)) {
        if written.is_err() {
            make_room(&folder, &open);
        }
        let _ = open.write(&name, &[now.as_secs().to_string().as_bytes()]);
    }
}

/// Removes the oldest file if the maximum is reached.
fn make_room(path: &Path, folder: &Folder) {
    let names = folder.names().unwrap_or_default();
    if names.len() < MOST {
        return;
    }
    let age = |name: &std::ffi::OsString| fs::metadata(path.join(name)).and_then(|file| file.modified()).ok();
    if let Some(oldest) = names.iter().min_by_key(|name| age(name)).and_then(|name| name.to_str()) {
        let _ = folder.remove(oldest);
    }
}

/// The time since an event last arrived from the project of a folder.
pub fn last(dialect: &str, event: &str, from: &Path) -> Option<Duration> {
    let content = Folder::open(&path()?).ok()?.read(&name(dialect, event, from)).ok()??;
    let seconds: u64 = String::from_utf8(content).ok()?.parse().ok()?;
    SystemTime::now().duration_since(UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?).ok()
}

/// Removes what is recorded of a dialect's events from the project of a folder, and folders that become empty.
pub fn forget(dialect: &str, from: &Path) {
    let Some(path) = path().filter(|path| path.exists()) else { return };
    let Ok(folder) = Folder::open(&path) else { return };
    let start = format!("{}.", dialect.trim_end_matches("@observed"));
    let end = format!(".{}", of_project(from));
    for name in folder.names().unwrap_or_default().iter().filter_map(|name| name.to_str()) {
        if name.starts_with(&start) && name.ends_with(&end) {
            // Nothing depends on a file that stays.
            let _ = folder.remove(name);
        }
    }
    if let Some(home) = std::env::var_os("HOME").map(PathBuf::from).filter(|home| path.starts_with(home)) {
        user_file::remove_empty_folders(&path.join("any"), &home);
    }
}

/// The part of a file name that identifies the project of a folder.
fn of_project(from: &Path) -> String {
    let project = sha256(clients::project_of(from).as_os_str().as_encoded_bytes());
    project.get(..16).unwrap_or(&project).to_owned()
}

/// The file's name. Profiles share a file. Unknown events share one too, so that clients cannot choose file names.
fn name(dialect: &str, event: &str, from: &Path) -> String {
    let known = dialect::by_name(dialect).and_then(|dialect| dialect.spec_by_name(event));
    let project = of_project(from);
    format!("{}.{}.{project}", dialect.trim_end_matches("@observed"), known.map_or("other", |spec| spec.name))
}
