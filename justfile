# `./just RECIPE` installs what is needed first; plain `just RECIPE` works where that has been done.

set shell := ["bash", "-euo", "pipefail", "-c"]

target := env("CARGO_TARGET_DIR", justfile_directory() / "target")
export CARGO_TARGET_DIR := target
# One profile for everything that runs on this machine: wasmtime is compiled once.
hookbox := target / "debug/hookbox"
bindings_tools := target / "tools/bindings"
deny_version := "0.20.2"
fuzz_version := "0.13.2"
cosign_version := "3.1.3"
wkg_version := "0.16.1"

import 'packaging/dist.just'

[private]
default:
    @just --list --unsorted

# A recorded PreToolUse event, denied by a hook that is built here and now
demo:
    @tools/demo

# Everything that must hold before a change lands
test: needs lint deploy workflows zig-installed python-installed
    cargo test --workspace --no-fail-fast
    just clients
    just bindings-test
    just ui

# What the tests need beside Rust
[private]
needs:
    @tools/needs

# The pieces that live in other programs, behind the command line as it was built; needs Node 20
clients: build
    for client in clients/*/; do \
        npm ci --ignore-scripts --no-audit --no-fund --prefix "$client" && HOOKBOX={{hookbox}} npm test --prefix "$client"; done

# The packages for Node.js and Python, packed, installed into empty folders and used: every vector, their types, and failures of all kinds
bindings-test: bindings-installed
    # With the features that `test` has, as `build`.
    cargo build -p hookbox-cli -p hookbox-guest -p hookbox-node -p hookbox-embed -p hookbox-python --lib --bins --examples
    {{hookbox}} build guest-examples/command-guard --profile guest -o {{target}}/bench-guard.wasm
    bindings/stage {{target}}/bindings {{target}}/debug
    bindings/pack {{target}}/bindings "$(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)"
    TOOLS={{bindings_tools}} GUARD={{target}}/bench-guard.wasm bindings/test {{target}}

# The types of the addon for Node.js, written by its build
bindings-types:
    cargo build -p hookbox-cli -p hookbox-guest -p hookbox-node --lib --bins --examples
    node bindings/node/types.mjs {{target}}/debug/node-types/hookbox-node > bindings/node/native.d.ts

# Adapters in real agents of the Claude Agent SDK, the OpenAI Agents SDK, the Vercel AI SDK, the Microsoft Agent Framework and Pydantic AI,
# and their types by mypy, pyright and tsc; downloads them (1 GB), needs no account
bindings-agents: bindings-test
    [ -d "{{bindings_tools}}-agents/pydantic_ai" ] || python3 -m pip install --quiet --only-binary :all: --upgrade \
        --target "{{bindings_tools}}-agents" -r bindings/agents/requirements.txt
    TOOLS={{bindings_tools}}-agents GUARD={{target}}/bench-guard.wasm bindings/test-agents {{target}}

# The hostile guests that need no grants, through both published packages
bindings-hostile: build bindings-release
    rm -rf {{target}}/bindings/hostile
    HOSTILE_GUESTS={{target}}/bindings/hostile cargo test --quiet --workspace --test hostile
    bindings/test-hostile {{target}}/bindings-release/packages {{target}}/bindings/hostile

# The packages under every CPython that is here, under Node.js 22, 24 and 26 and under Bun, which are downloaded (350 MB)
bindings-interpreters: bindings-test
    TOOLS={{bindings_tools}} GUARD={{target}}/bench-guard.wasm bindings/test-interpreters {{target}}

# The packages as they are published: optimised, for every Linux with this glibc or a later one; prints their sizes
bindings-release glibc="2.28": zig-installed
    [ -d "{{target}}/tools/zigbuild/auditwheel" ] || python3 -m pip install --quiet --require-hashes --only-binary :all: --no-deps \
        --target "{{target}}/tools/zigbuild" -r bindings/requirements-release.txt
    bindings/release {{target}} {{glibc}}

# The published packages beside the Rust library, both optimised: a decision, many at once, the delay of event loops, the speed-up of
# threads. Prints each figure beside its bound and fails if one is missed
bindings-bench: build bindings-release
    {{hookbox}} build guest-examples/command-guard --profile guest -o {{target}}/bench-guard.wasm
    bindings/bench/run bench {{target}} {{target}}/{{arch()}}-unknown-linux-gnu/release/hookbox-measure

# A million decisions through each published package, in the memory that the first took
bindings-soak times="1000000": build bindings-release
    {{hookbox}} build guest-examples/command-guard --profile guest -o {{target}}/bench-guard.wasm
    bindings/bench/run soak {{target}} {{times}}

# The daemon, with a tenant of one hook and a page to watch it on: what it prints says how to ask it
serve: build
    @{{hookbox}} build guest-examples/command-guard --profile guest
    @deploy/try.sh {{hookbox}} guest-examples/command-guard/command-guard.wasm

# The optimised daemon, and the components that it runs under load
[private]
load-parts: build
    {{hookbox}} build guest-examples/command-guard --profile guest -o {{target}}/bench-guard.wasm
    {{hookbox}} build guest-examples/rate-limit --profile guest -o {{target}}/bench-limit.wasm
    # With the features that `build` has.
    cargo build -p hookbox-cli -p hookbox-guest -p hookbox-node -p hookbox --bins --examples
    {{target}}/debug/examples/neighbour {{target}}/bench-endless.wasm
    cargo build --profile dist -p hookbox-cli --bins

# The daemon under load, as ratios; needs wrk
bench-serve: load-parts
    python3 tests/bench/serve.py {{target}}/dist/hookbox {{target}}/bench-guard.wasm \
        --limit {{target}}/bench-limit.wasm --endless {{target}}/bench-endless.wasm

# The daemon beside hostile tenants and strangers for a long time: flat memory, and an honest tenant's p99 within 3 times of quiet
soak-serve minutes="30": load-parts
    python3 tests/bench/soak.py {{target}}/dist/hookbox {{target}}/bench-guard.wasm \
        --limit {{target}}/bench-limit.wasm --endless {{target}}/bench-endless.wasm --minutes {{minutes}}

# The files of the daemon's page, built from host/server/console/src; needs Node 20. They are committed
console folder="dist":
    npm ci --ignore-scripts --no-audit --no-fund --prefix host/server/console
    cd host/server/console && npx tsc --noEmit && node build.mjs {{folder}}

# The committed files of the page are those of its sources
[private]
console-current: (console target / "console")
    for file in index.html app.js app.css icon.svg; do \
        cmp {{target}}/console/$file host/server/console/dist/$file || { echo "error: host/server/console/dist is not current: run \`just console\`" >&2; exit 1; }; done

# The daemon's console in a real browser; needs Node 20 and Chromium. PICTURE: where the picture of the documentation goes,
# PICTURES: a folder for one of each view
ui: build console-current
    {{hookbox}} build guest-examples/command-guard --profile guest
    npm ci --ignore-scripts --no-audit --no-fund --prefix tests/ui
    CHROMIUM="${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}" \
        HOOKBOX={{hookbox}} GUARD={{justfile_directory()}}/guest-examples/command-guard/command-guard.wasm \
        PICTURE="${PICTURE:-}" PICTURES="${PICTURES:-}" npm test --prefix tests/ui

# The console with 100,000 verdicts
ui-load: build
    {{hookbox}} build guest-examples/command-guard --profile guest
    npm ci --ignore-scripts --no-audit --no-fund --prefix tests/ui
    CHROMIUM="${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}" VERDICTS=100000 \
        HOOKBOX={{hookbox}} GUARD={{justfile_directory()}}/guest-examples/command-guard/command-guard.wasm \
        npm test --prefix tests/ui -- load.test.mjs

# The command line
build:
    # These packages and targets have the features that `test` has, so that wasmtime is compiled once.
    cargo build -p hookbox-cli -p hookbox-guest -p hookbox-node --bins --examples

# `hookbox` on your PATH, optimised
install:
    cargo install --path host/cli --locked --profile dist

# Formatting, lints, docs, licences
lint: deny-installed
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    RUSTDOCFLAGS='-D warnings' cargo doc --no-deps -p hookbox-protocol -p hookbox-sandbox -p hookbox -p hookbox-registry -p hookbox-server -p hookbox-guest
    cargo-deny --log-level error check bans licenses sources
    # The packages contain the text of every licence.
    packaging/licences.py x86_64-unknown-linux-musl

# The files to deploy from, each by a linter of its kind
deploy: deploy-installed
    {{target}}/tools/deploy/bin/hadolint deploy/Containerfile
    PYTHONPATH={{target}}/tools/deploy python3 -m kubernetes_validate --strict deploy/kubernetes/*.yaml
    # The program need not be installed here.
    mkdir -p {{target}}/tools/units && sed 's#/usr/local/bin/hookbox#/bin/true#' deploy/hookbox.service > {{target}}/tools/units/hookbox.service
    systemd-analyze verify {{target}}/tools/units/hookbox.service
    systemd-analyze security --offline=true --threshold=20 --no-pager {{target}}/tools/units/hookbox.service > /dev/null
    # Where Prometheus' own tool is there; that every metric exists, a test checks in any case.
    if command -v promtool > /dev/null; then \
        cd deploy/prometheus && promtool check rules hookbox.rules.yaml && promtool test rules hookbox.test.yaml; \
    else echo "the alert rules are not checked: there is no promtool"; fi

# Hostile guests against the sandbox
hostile:
    cargo test --workspace --test hostile --test compile_bombs

# The same compiled for aarch64, in an emulator: Debian's `gcc-aarch64-linux-gnu` and `qemu-user`. An engine of its own is
# compiled, which takes long, and an emulated deadline is not met by much, so the tests run one by one. Left out are those of
# authority, which start an engine for each dialect: for the address space of each the emulator takes 3 GB, and keeps them.
hostile-aarch64:
    rustup target add aarch64-unknown-linux-gnu
    CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
        cargo test --workspace --target aarch64-unknown-linux-gnu --test hostile -- \
            --test-threads 1 --skip powers:: --skip polling_one_thing_a_million_times

# What hookbox costs beside bare wasmtime, in numbers and size; what a hostile neighbour costs an honest tenant
bench: build
    {{hookbox}} build guest-examples/command-guard --profile guest -o {{target}}/bench-guard.wasm
    # The library as its users compile it, and the program as it is installed.
    cargo build --release -p hookbox --examples
    cargo build --profile dist -p hookbox-cli --bins
    {{target}}/release/examples/cost {{target}}/bench-guard.wasm {{target}}/dist/hookbox
    {{target}}/release/examples/neighbour

# Known vulnerabilities; needs the advisory database from the network
audit: deny-installed
    cargo-deny check advisories

# The checked-in schema and tables, written anew from the code
generate:
    UPDATE_SCHEMA=1 cargo test --workspace --lib schema
    UPDATE_DOCS=1 cargo test --workspace --test docs --test api --bin hookbox

# The bundled hooks: their components in `host/catalogue/hooks`, from the sources in `hooks/`; needs Python
bundle: build
    for hook in command-guard file-guard secret-redactor; do \
        {{hookbox}} build hooks/$hook --profile guest -o {{target}}/bundled.wasm && \
        tools/deflate {{target}}/bundled.wasm host/catalogue/hooks/$hook.wasm.deflated; done

# The parts of the SDKs, the sandbox and the command line that follow from `wit/`
bindings:
    cargo run -q -p hookbox-bindings

# Signatures and artifacts of the real cosign and wkg, in both directions, with a registry, a certificate authority and a
# transparency log on this machine. Builds both, which takes some minutes. RECORD=1 writes the recordings of the ordinary tests
interop: needs
    [ -x {{target}}/tools/bin/cosign-{{cosign_version}} ] || packaging/go-tool github.com/sigstore/cosign/v3/cmd/cosign {{cosign_version}}
    [ "$({{target}}/tools/bin/wkg --version 2>/dev/null)" = "wkg {{wkg_version}}" ] || \
        cargo install wkg --version {{wkg_version}} --locked --debug --root {{target}}/tools --target-dir {{target}}/tools/target
    npm ci --ignore-scripts --no-audit --no-fund --prefix tests/interop
    COSIGN={{target}}/tools/bin/cosign-{{cosign_version}} WKG={{target}}/tools/bin/wkg SIGSTORE={{justfile_directory()}}/tests/interop/sigstore.mjs \
        cargo test --workspace --test registry -- --ignored

# 100,000 requests through one process that serves PicoClaw, in the memory it began with
soak:
    HOOKBOX_SOAK=100000 cargo test --workspace --test stdio memory_stays

# The fuzz targets, a minute each; libFuzzer needs a nightly toolchain
fuzz seconds="60": fuzz-installed
    for target in decode merge encode authority component configuration; do \
        mkdir -p fuzz/corpus/$target && cargo +nightly fuzz run $target fuzz/corpus/$target fuzz/seeds/$target --target-dir {{target}}/fuzz -- -max_total_time={{seconds}} -max_len=4096; done

[private]
fuzz-installed:
    @[ "$({{target}}/tools/bin/cargo-fuzz --version 2>/dev/null)" = "cargo-fuzz {{fuzz_version}}" ] || \
        cargo install cargo-fuzz --version {{fuzz_version}} --locked --debug --root {{target}}/tools --target-dir {{target}}/tools/target

# A C compiler for wasm, from a wheel, locked by its hash
[private]
zig-installed:
    @[ -d "{{target}}/tools/python/ziglang" ] || python3 -m pip install --quiet --require-hashes --only-binary :all: \
        --target "{{target}}/tools/python" -r guest-examples/c-guard/requirements.txt

# What packs the SDK for Python, locked by its hash
[private]
python-installed:
    @[ -d "{{target}}/tools/python/flit_core" ] || python3 -m pip install --quiet --require-hashes --only-binary :all: \
        --target "{{target}}/tools/python" -r sdk-guest/python/requirements-build.txt

[private]
bindings-installed:
    @[ -d "{{bindings_tools}}/trio" ] || python3 -m pip install --quiet --only-binary :all: --target "{{bindings_tools}}" \
        -r bindings/python/requirements-test.txt

[private]
deploy-installed:
    @[ -x "{{target}}/tools/deploy/bin/hadolint" ] || python3 -m pip install --quiet --only-binary :all: \
        --target "{{target}}/tools/deploy" -r deploy/requirements.txt

[private]
deny-installed:
    @[ "$({{target}}/tools/bin/cargo-deny --version 2>/dev/null)" = "cargo-deny {{deny_version}}" ] || \
        cargo install cargo-deny --version {{deny_version}} --locked --debug --root {{target}}/tools --target-dir {{target}}/tools/target
