//! Programs that run another one in a container: `docker exec`, `docker run`, `kubectl exec`.

use super::{Runs, program_words};
use crate::word::Word;

/// Long options of `run` and `exec` that take the next word.
const VALUED: [&str; 33] = [
    "add-host",
    "cap-add",
    "cap-drop",
    "cpus",
    "device",
    "dns",
    "entrypoint",
    "env",
    "env-file",
    "expose",
    "gpus",
    "hostname",
    "index",
    "ipc",
    "label",
    "link",
    "log-driver",
    "memory",
    "mount",
    "name",
    "network",
    "pid",
    "platform",
    "publish",
    "pull",
    "restart",
    "security-opt",
    "shm-size",
    "tmpfs",
    "user",
    "userns",
    "volume",
    "workdir",
];

/// The program that runs in a container, if it can reach what is kept: a container that is there already, or folders of this
/// machine.
pub(super) fn runs(args: &[Word]) -> Vec<Runs<'_>> {
    let at = args.iter().position(|arg| matches!(arg.text.as_str(), "exec" | "run"));
    let Some((command, rest)) = at.and_then(|at| args.get(at..)?.split_first()) else { return Vec::new() };
    // `kubectl exec POD -- PROGRAM`
    let behind = rest.iter().position(|arg| arg.text == "--").and_then(|at| rest.get(at + 1..));
    let words = behind.or_else(|| program_words(rest, "acehlmpuvwn", &VALUED, 1)).unwrap_or_default();
    if words.is_empty() {
        return Vec::new();
    }
    if command.text == "exec" {
        return vec![Runs::Words { words, more: false, root: false }];
    }
    let options = rest.get(..rest.len() - words.len()).unwrap_or_default();
    let mounts = mounts(options);
    if mounts.is_empty() {
        return Vec::new();
    }
    let quoted = words.iter().map(|word| format!("'{}'", mounted(&word.text, &mounts).replace('\'', "'\\''")));
    vec![Runs::Text(quoted.collect::<Vec<_>>().join(" "))]
}

/// Folders of this machine and their paths in the container.
fn mounts(options: &[Word]) -> Vec<(String, String)> {
    let values = options.iter().enumerate().filter_map(|(at, option)| match option.text.as_str() {
        "-v" | "--volume" | "--mount" => options.get(at + 1).map(|value| value.text.as_str()),
        text => ["-v", "--volume=", "--mount="].iter().find_map(|start| text.strip_prefix(start)),
    });
    values.filter_map(mount).collect()
}

/// `/here:/there:ro`, `type=bind,source=/here,target=/there`.
fn mount(value: &str) -> Option<(String, String)> {
    let named =
        |names: &[&str]| value.split(',').find_map(|part| names.iter().find_map(|name| part.strip_prefix(name)));
    if let (Some(here), Some(there)) = (named(&["source=", "src="]), named(&["target=", "destination=", "dst="])) {
        return Some((here.to_owned(), there.to_owned()));
    }
    let mut parts = value.split(':');
    let (here, there) = (parts.next()?, parts.next()?);
    // A name is a volume.
    here.contains(['/', '.', '~', crate::UNKNOWN]).then(|| (here.to_owned(), there.to_owned()))
}

/// A word of the container with the paths of this machine.
fn mounted(text: &str, mounts: &[(String, String)]) -> String {
    let mounts = mounts.iter().filter(|(_, there)| there.len() > 1);
    mounts.fold(text.to_owned(), |text, (here, there)| {
        let here = if here == "/" { "" } else { here.trim_end_matches('/') };
        let text = text.replace(&format!("{there}/"), &format!("{here}/"));
        if text == *there { format!("{here}/") } else { text.replace(&format!("{there} "), &format!("{here}/ ")) }
    })
}
