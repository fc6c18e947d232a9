//! Commands that are known by their words: packages, the system, services.

use hookbox_shell::{Call, Input};

use super::{Finding, Kind, finding};

/// A command: programs, words that must all be among its arguments, whether it is grave, and what it does. A word may have
/// alternatives (`a|b`) and end with `*`.
type Row = (Kind, &'static [&'static str], &'static [&'static str], bool, &'static str);

const PUBLISHES: &str = "publishes what cannot be taken back";
const UNPUBLISHES: &str = "takes a package away from those who use it";
const REMOVES: &str = "removes packages of the system";
const CLOUD: &str = "deletes what runs elsewhere";
const DATA: &str = "deletes data";
const STOPS: &str = "stops the machine";

const ROWS: &[Row] = &[
    (Kind::Packages, &["npm", "pnpm", "yarn"], &["unpublish|deprecate"], true, UNPUBLISHES),
    (
        Kind::Packages,
        &["npm", "pnpm", "yarn", "bun", "cargo", "poetry", "uv", "hatch", "flit", "vsce"],
        &["publish"],
        false,
        PUBLISHES,
    ),
    (Kind::Packages, &["cargo"], &["yank"], false, UNPUBLISHES),
    (Kind::Packages, &["twine"], &["upload"], false, PUBLISHES),
    (Kind::Packages, &["gem"], &["yank"], false, UNPUBLISHES),
    (Kind::Packages, &["gem", "dotnet", "nuget"], &["push"], false, PUBLISHES),
    (Kind::Packages, &["npm", "pnpm", "yarn"], &["uninstall|remove|rm|un", "-g|--global|global"], false, REMOVES),
    (
        Kind::Packages,
        &["apt", "apt-get", "aptitude", "dpkg"],
        &["libc6|systemd|sudo|bash|coreutils|linux-image*|dpkg|apt", "remove|purge|autoremove|-r|-P|--purge|--remove"],
        true,
        REMOVES,
    ),
    (
        Kind::Packages,
        &["apt", "apt-get", "aptitude", "dpkg"],
        &["--allow-remove-essential|--force-all|--force-remove-essential|--force-depends"],
        true,
        REMOVES,
    ),
    (Kind::Packages, &["apt", "apt-get", "aptitude"], &["remove|purge|autoremove|autopurge"], false, REMOVES),
    (Kind::Packages, &["dpkg"], &["-r|-P|--purge|--remove"], false, REMOVES),
    (Kind::Packages, &["rpm"], &["-e|--erase"], false, REMOVES),
    (
        Kind::Packages,
        &["yum", "dnf", "zypper", "apk", "snap", "flatpak", "brew", "port", "winget", "choco", "scoop", "emerge"],
        &["remove|erase|rm|del|uninstall|autoremove|-C|--unmerge"],
        false,
        REMOVES,
    ),
    (Kind::Packages, &["pacman", "yay", "paru"], &["-R*|--remove"], false, REMOVES),
    (Kind::System, &["shutdown", "poweroff", "halt", "reboot", "stop-computer", "restart-computer"], &[], true, STOPS),
    (Kind::System, &["init", "telinit"], &["0|1|6|s|S"], true, STOPS),
    (
        Kind::System,
        &["systemctl", "loginctl"],
        &["poweroff|reboot|halt|kexec|rescue|emergency|suspend|hibernate"],
        true,
        STOPS,
    ),
    (Kind::System, &["systemctl"], &["stop|disable|mask|isolate"], false, "stops a service"),
    (Kind::System, &["service"], &["stop"], false, "stops a service"),
    (Kind::System, &["kill"], &["-1"], true, "ends every process"),
    (Kind::System, &["kill"], &["1"], true, "ends the first process"),
    (Kind::System, &["killall5"], &[], true, "ends every process"),
    (Kind::System, &["pkill", "killall"], &["-u|--user|-U", "root|0"], true, "ends every process of a user"),
    (Kind::System, &["pkill", "killall"], &["-u|--user|-U"], false, "ends every process of a user"),
    (Kind::System, &["iptables", "ip6tables", "ebtables"], &["-F|--flush|-X"], false, "opens the firewall"),
    (Kind::System, &["nft"], &["flush"], false, "opens the firewall"),
    (Kind::System, &["ufw"], &["disable|reset"], false, "opens the firewall"),
    (Kind::System, &["setenforce"], &["0|Permissive|permissive"], false, "turns protection of the system off"),
    (
        Kind::System,
        &["csrutil", "spctl"],
        &["disable|--master-disable|--global-disable"],
        false,
        "turns protection of the system off",
    ),
    (Kind::System, &["crontab"], &["-r*"], false, "deletes all scheduled jobs"),
    (Kind::System, &["userdel", "deluser", "groupdel", "delgroup"], &[], false, "removes a user or group"),
    (Kind::System, &["rmmod"], &[], false, "takes a driver out of the kernel"),
    (Kind::System, &["modprobe"], &["-r*"], false, "takes a driver out of the kernel"),
    (Kind::System, &["efibootmgr"], &["-B|-b|-O"], true, "changes how the machine starts"),
    (Kind::System, &["bcdedit", "bootrec"], &["/*"], true, "changes how the machine starts"),
    (Kind::System, &["flashrom"], &["-w|--write|-E|--erase"], true, "changes how the machine starts"),
    (Kind::System, &["cipher", "cipher.exe"], &["/w*|/W*"], true, "writes over a disk's free space"),
    (Kind::System, &["vssadmin", "wmic"], &["delete|shadowcopy"], true, "deletes backups"),
    (Kind::System, &["reg"], &["delete"], false, "deletes settings of the system"),
    (Kind::System, &["tmutil"], &["delete|deletelocalsnapshots|disable"], false, "deletes backups"),
    (
        Kind::Services,
        &["terraform", "tofu", "terragrunt"],
        &["destroy|-destroy", "-auto-approve|--auto-approve"],
        true,
        CLOUD,
    ),
    (
        Kind::Services,
        &["terraform", "tofu", "terragrunt", "pulumi", "cdk", "serverless", "sst"],
        &["destroy|-destroy|remove"],
        false,
        CLOUD,
    ),
    (Kind::Services, &["terraform", "tofu"], &["state", "rm|push"], false, CLOUD),
    (
        Kind::Services,
        &["kubectl", "oc"],
        &["delete", "namespace|namespaces|ns|--all|--all-namespaces|-A|pv|pvc|crd"],
        true,
        CLOUD,
    ),
    (Kind::Services, &["kubectl", "oc"], &["delete|drain"], false, CLOUD),
    (Kind::Services, &["helm"], &["uninstall|delete"], false, CLOUD),
    (Kind::Services, &["docker", "podman", "nerdctl"], &["prune", "system|volume|--volumes"], false, DATA),
    (Kind::Services, &["docker", "podman", "nerdctl"], &["volume", "rm|remove"], false, DATA),
    (Kind::Services, &["docker", "podman", "docker-compose", "podman-compose"], &["down", "-v|--volumes"], false, DATA),
    (Kind::Services, &["aws"], &["s3", "rb|rm", "--force|--recursive"], true, CLOUD),
    (Kind::Services, &["aws"], &["delete-*", "--skip-final-snapshot"], true, CLOUD),
    (Kind::Services, &["gcloud"], &["projects", "delete"], true, CLOUD),
    (Kind::Services, &["az"], &["group", "delete"], true, CLOUD),
    (Kind::Services, &["pulumi"], &["destroy|down", "--yes|-y"], true, CLOUD),
    (Kind::Services, &["aws"], &["delete-*|terminate-*|rb|deregister-*"], false, CLOUD),
    (
        Kind::Services,
        &[
            "gcloud",
            "az",
            "doctl",
            "linode-cli",
            "hcloud",
            "flyctl",
            "fly",
            "heroku",
            "vercel",
            "netlify",
            "wrangler",
            "railway",
        ],
        &["delete|destroy|remove|apps:destroy|pg:reset|rm|sites:delete"],
        false,
        CLOUD,
    ),
    (Kind::Services, &["gsutil"], &["rm|rb", "-r|-R|-f"], true, CLOUD),
    (Kind::Services, &["gh", "glab"], &["repo", "delete"], true, CLOUD),
    (Kind::Services, &["gh", "glab"], &["release|secret|variable|environment|ssh-key", "delete"], false, CLOUD),
    (Kind::Services, &["gh", "glab"], &["api", "DELETE|-XDELETE|--method=DELETE"], false, CLOUD),
    (Kind::Services, &["dropdb", "dropuser"], &[], true, DATA),
    (Kind::Services, &["mysqladmin"], &["drop"], true, DATA),
    (Kind::Services, &["redis-cli", "valkey-cli"], &["flushall|flushdb|FLUSHALL|FLUSHDB"], true, DATA),
    (Kind::Services, &["supabase", "prisma", "drizzle-kit"], &["reset|drop"], false, DATA),
    (Kind::Services, &["rails", "rake", "bin/rails"], &["db:drop*|db:reset|db:purge"], false, DATA),
    (Kind::Services, &["artisan", "php"], &["migrate:fresh|migrate:reset|db:wipe"], false, DATA),
    (
        Kind::Services,
        &["manage.py", "python", "python3", "django-admin"],
        &["flush|reset_db", "manage.py|--noinput|--no-input"],
        false,
        DATA,
    ),
    (Kind::Services, &["vault"], &["delete|destroy"], false, DATA),
    (Kind::Services, &["restic", "borg"], &["forget|prune|delete"], false, DATA),
];

/// Clients of databases that take statements.
const DATABASES: [&str; 11] = [
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "clickhouse-client",
    "duckdb",
    "cockroach",
    "sqlcmd",
    "bq",
    "mongosh",
    "mongo",
];

pub(super) fn check(call: &Call) -> Vec<Finding> {
    let rows = ROWS.iter().filter(|(_, programs, words, ..)| {
        programs.contains(&call.program.as_str()) && words.iter().all(|word| has(call, word))
    });
    let mut found: Vec<Finding> = rows.map(|(kind, _, _, grave, what)| finding(*kind, *grave, call, what)).collect();
    if DATABASES.contains(&call.program.as_str()) {
        found.extend(statement(call));
    }
    // `:(){ :|:& };:`
    if call.multiplies || call.input == Input::Pipe && call.program == ":" {
        found.push(finding(Kind::System, true, call, "starts itself without end"));
    }
    if only_shows(call) { Vec::new() } else { found }
}

/// Returns true if a call says what it would do, and does nothing.
fn only_shows(call: &Call) -> bool {
    let has = |words: &[&str]| super::has(call, words);
    match call.program.as_str() {
        "apt" | "apt-get" | "aptitude" if has(&["-s", "--just-print", "--no-act", "--recon"]) => true,
        "terraform" | "tofu" | "terragrunt" if super::operands(call).next().is_some_and(|sub| sub.text == "plan") => {
            true
        }
        _ => has(&["--dry-run", "--help", "--simulate", "--dry-run=client", "--dry-run=server", "--dry-run=true"]),
    }
}

fn has(call: &Call, word: &str) -> bool {
    call.args.iter().any(|arg| {
        word.split('|').any(|word| match word.strip_suffix('*') {
            Some(start) => arg.text.starts_with(start),
            None => arg.text == word,
        })
    })
}

/// `DROP`, `TRUNCATE`, and `DELETE` without `WHERE`, in what a client of a database is given.
fn statement(call: &Call) -> Option<Finding> {
    let mut text = call.args.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
    if let Input::Text(input) = &call.input {
        text.push(' ');
        text.push_str(input);
    }
    let grave = text.split(';').any(|statement| {
        let statement = statement.to_ascii_uppercase();
        // What is in a literal is data, unless it is run.
        let runs = ["EXECUTE", "PREPARE", "DO "].iter().any(|word| statement.contains(word));
        let statement = if runs { statement } else { statement.split('\'').step_by(2).collect::<Vec<_>>().join(" ") };
        let words: Vec<&str> =
            statement.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
        let follows = |first: &str, second: &[&str]| {
            words.windows(2).any(|pair| matches!(pair, [a, b] if *a == first && second.contains(b)))
        };
        follows("DROP", &["DATABASE", "SCHEMA", "TABLE", "KEYSPACE"])
            || statement.contains("TRUNCATE ")
            || words.contains(&"DROPDATABASE")
            || follows("DELETE", &["FROM"]) && !words.contains(&"WHERE")
    });
    grave.then(|| finding(Kind::Services, true, call, DATA))
}
