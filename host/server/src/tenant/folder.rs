//! The folder of a tenant, which must contain its hooks files and components.

use std::path::{Component, Path, PathBuf};

/// The folder of a hooks file that the operator named. `base` is the folder of the tenant's own file.
///
/// It is the folder in the file's path that has the tenant's name, or else the file's own folder. The tenant may write
/// there and nowhere above it, so no link in it gives access to another tenant's files.
pub fn folder_of(tenant: &str, base: &Path, hooks_file: &Path) -> PathBuf {
    let parent = hooks_file.parent().unwrap_or(Path::new(""));
    let named = |part: &Component<'_>| matches!(part, Component::Normal(name) if *name == tenant);
    let parts: Vec<Component<'_>> = parent.components().collect();
    let own = parts.iter().rposition(named).map(|at| parts.iter().take(at + 1).collect::<PathBuf>());
    base.join(own.unwrap_or_else(|| parent.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::folder_of;

    #[test]
    fn the_folder_has_the_tenants_name_or_is_the_files() {
        for (file, folder) in [
            ("hooks.json", "/t/"),
            ("a/hooks.json", "/t/a"),
            ("acme/hooks.json", "/t/acme"),
            ("acme/deep/hooks.json", "/t/acme"),
            ("customers/acme/deep/hooks.json", "/t/customers/acme"),
            ("customers/x/hooks.json", "/t/customers/x"),
            ("../hooks/acme/hooks.json", "/t/../hooks/acme"),
            ("/srv/acme/hooks.json", "/srv/acme"),
            ("/srv/hooks.json", "/srv"),
            ("acme/../b/hooks.json", "/t/acme"),
        ] {
            assert_eq!(folder_of("acme", Path::new("/t"), Path::new(file)), Path::new(folder), "{file}");
        }
    }
}
