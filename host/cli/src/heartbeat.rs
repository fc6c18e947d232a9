//! When a hook last fired: a small file per client, event and project, for `hookbox doctor`.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use hookbox::{dialect, folders, private::Folder, sha256};

use crate::clients;

/// Set for what `hookbox doctor` runs: no client sent that.
pub const CANARY: &str = "HOOKBOX_CANARY";

/// How exactly it is known: a client that calls again and again need not wait for a file each time.
const EXACT: Duration = Duration::from_secs(10);

/// Files that are kept at most; the oldest goes first.
const MOST: usize = 4096;

fn path() -> Option<PathBuf> {
    Some(folders::state()?.join("fired"))
}

/// Notes that an event of this name came under a dialect. Nothing depends on it, so failures are ignored.
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

/// Removes the oldest file where another one would be too many.
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

/// How long ago an event of that name last came from the project that a folder is in.
pub fn last(dialect: &str, event: &str, from: &Path) -> Option<Duration> {
    let content = Folder::open(&path()?).ok()?.read(&name(dialect, event, from)).ok()??;
    let seconds: u64 = String::from_utf8(content).ok()?.parse().ok()?;
    SystemTime::now().duration_since(UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?).ok()
}

/// The file's name. Profiles are the same client, and events must not choose the names of files.
fn name(dialect: &str, event: &str, from: &Path) -> String {
    let known = dialect::by_name(dialect).and_then(|dialect| dialect.spec_by_name(event));
    let project = clients::project_of(from);
    let project = sha256(project.as_os_str().as_encoded_bytes());
    let project = project.get(..16).unwrap_or(&project);
    format!("{}.{}.{project}", dialect.trim_end_matches("@observed"), known.map_or("other", |spec| spec.name))
}
