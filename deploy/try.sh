#!/usr/bin/env bash
# The daemon on this machine, with one tenant and one hook: `just serve`. usage: try.sh HOOKBOX COMPONENT [FOLDER]
set -euo pipefail
hookbox=$1 component=$2 folder=${3:-$(mktemp -d)}
{ read -r tenant; read -r tenant_hash; } < <("$hookbox" token)
{ read -r operator; read -r operator_hash; } < <("$hookbox" token)
umask 077
mkdir -p "$folder/tenants"
cp "$component" "$folder/tenants/guard.wasm"
cat > "$folder/serve.json" <<END
{ "listen": "127.0.0.1:${PORT:-8750}", "tenants": "tenants/", "state": "state/state.db", "operators": ["$operator_hash"] }
END
cat > "$folder/tenants/acme.json" <<END
{ "tokens": ["$tenant_hash"], "hooks": { "claude": "acme-hooks.json" } }
END
cat > "$folder/tenants/acme-hooks.json" <<END
{ "failClosed": true, "hooks": { "PreToolUse": [ { "matcher": "Bash", "hooks": [ { "type": "wasm", "component": "guard.wasm" } ] } ] } }
END
cat <<END
The page:   http://127.0.0.1:${PORT:-8750}/ui
its token:  $operator

Ask it:     curl -H "Authorization: Bearer $tenant" --data @docs/rm.json http://127.0.0.1:${PORT:-8750}/v1/acme/claude

Its files:  $folder   (change them while it runs)
In Claude Code's settings, with HOOKBOX_TOKEN=$tenant in its environment:

  "hooks": { "PreToolUse": [ { "hooks": [ { "type": "http", "url": "http://127.0.0.1:${PORT:-8750}/v1/acme/claude",
    "headers": { "Authorization": "Bearer \$HOOKBOX_TOKEN" }, "allowedEnvVars": ["HOOKBOX_TOKEN"] } ] } ] }

END
exec "$hookbox" serve --config "$folder/serve.json"
