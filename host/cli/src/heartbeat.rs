//! When a hook last fired: a small file per client and event, for `hookbox doctor`.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use hookbox::{dialect, folders, private::Folder};

/// Set for what `hookbox doctor` runs: no client sent that.
pub const CANARY: &str = "HOOKBOX_CANARY";

/// How exactly it is known: a client that calls again and again need not wait for a file each time.
const EXACT: Duration = Duration::from_secs(10);

fn path() -> Option<PathBuf> {
    Some(folders::state()?.join("fired"))
}

/// Notes that an event of this name came under a dialect. What goes wrong with that is nobody's concern.
pub fn touch(dialect: &str, event: &str) {
    let Some(folder) = path().filter(|_| std::env::var_os(CANARY).is_none()) else { return };
    let name = name(dialect, event);
    let written = fs::metadata(folder.join(&name)).and_then(|file| file.modified());
    if written.is_ok_and(|at| at.elapsed().is_ok_and(|ago| ago < EXACT)) {
        return;
    }
    if let (Ok(folder), Ok(now)) = (Folder::open(&folder), SystemTime::now().duration_since(UNIX_EPOCH)) {
        let _ = folder.write(&name, &[now.as_secs().to_string().as_bytes()]);
    }
}

/// How long ago an event of that name last came.
pub fn last(dialect: &str, event: &str) -> Option<Duration> {
    let content = Folder::open(&path()?).ok()?.read(&name(dialect, event)).ok()??;
    let seconds: u64 = String::from_utf8(content).ok()?.parse().ok()?;
    SystemTime::now().duration_since(UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?).ok()
}

/// The file's name. Profiles are the same client, and whoever sends events must not choose the names of files.
fn name(dialect: &str, event: &str) -> String {
    let known = dialect::by_name(dialect).and_then(|dialect| dialect.spec_by_name(event));
    format!("{}.{}", dialect.trim_end_matches("@observed"), known.map_or("other", |spec| spec.name))
}
