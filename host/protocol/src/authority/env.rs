//! The environment variables that a hook may set for a session.

use serde_json::Value;

use crate::{
    json::{Object, shorten},
    output::{Note, same_key},
};

/// Grants every name.
pub(super) const ANY: &str = "*";

/// Names that make programs run other code: through loaders, shells, interpreters or compilers, through files that they
/// read at the start, or through editors, pagers and helpers that they run. hookbox's own names too. `*` is any text.
const REFUSED: &[&str] = &[
    // hookbox and the agents.
    "HOOKBOX_* CLAUDE_* CODEBUDDY_* BLADE_* PICOCLAW_* CODEX_* GEMINI_* COPILOT_* OPENCODE_*",
    // Loaders and the C library.
    "LD_* DYLD_* _RLD* LIBPATH SHLIB_PATH *_PRELOAD *_LIBRARY_PATH GCONV_PATH GETCONF_DIR GLIBC_* MALLOC_*",
    "LOCPATH NLSPATH HOSTALIASES LOCALDOMAIN RES_OPTIONS RESOLV_* NIS_PATH TZDIR TERMINFO* TERMCAP OPENSSL_*",
    "SSL_* *_CA_BUNDLE *_PLUGIN_PATH *_MODULES *_MODULE_PATH",
    // Search paths of programs and settings.
    "PATH PATHEXT HOME USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA XDG_* SYSTEMROOT WINDIR COMSPEC",
    "__COMPAT_LAYER",
    // Shells.
    "ENV SHELL SHELLOPTS BASH* IFS PS0 PS1 PS2 PS3 PS4 PROMPT* CDPATH FPATH MODULE_PATH ZDOTDIR ZSH* FCEDIT",
    "HISTFILE INPUTRC MAILPATH PSMODULEPATH *_SHELL *_COMMAND FZF_* PWD OLDPWD",
    // Editors, pagers and other helpers.
    "EDITOR VISUAL PAGER BROWSER LESS LESSOPEN LESSCLOSE LESSKEY* LESSEDIT MORE MANPAGER *_EDITOR *_PAGER *_BROWSER *_ASKPASS *_RSH *_SSH",
    "*_PROXY_COMMAND EXINIT VIMINIT GVIMINIT VIMRUNTIME MYVIMRC VIM NVIM_* EMACS* SCREENRC SYSSCREENRC TMUX*",
    "HG* GNUPGHOME KUBECONFIG DOCKER_* AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE CLOUDSDK_* TAR_OPTIONS",
    "GREP_OPTIONS ZIPOPT UNZIP RSYNC_* WGETRC CURL_HOME SUDO_*",
    // Interpreters and package installers.
    "PYTHON* PIP_* PIPENV_* PIPX_* UV_* POETRY_* CONDA_* VIRTUAL_ENV PERL* RUBY* GEM_* BUNDLE* NODE_* NPM_* YARN_* PNPM_*",
    "COREPACK_* BUN_* DENO_* TS_NODE_* ELECTRON_* JAVA_* _JAVA_* JDK_* CLASSPATH MAVEN_* GRADLE_* ANT_* SBT_*",
    "KOTLIN_* GROOVY_* PHP* COMPOSER* LUA_* R_* RPROFILE JULIA_* GUILE_* TCL* ERL_* ELIXIR_* AWKPATH AWKLIBPATH",
    "DOTNET_* CORECLR_* COR_* COMPLUS_* MONO_* NUGET_* HOMEBREW_*",
    // Compilers and build tools.
    "CC CXX CPP LD AR AS CFLAGS CXXFLAGS CPPFLAGS LDFLAGS COMPILER_PATH GCC_* CGO_* MAKE MAKEFILES MAKEFLAGS",
    "MFLAGS GNUMAKEFLAGS RUSTC* RUSTDOC* RUSTFLAGS RUSTUP_* CARGO* *_WRAPPER *_RUNNER *_LINKER GOFLAGS GOROOT",
    "GOPATH GOENV GOTOOLCHAIN GOPROXY GOSUMDB GONOSUMDB GOINSECURE GOBIN PKG_CONFIG* CMAKE_* CONFIG_SITE",
    "ACLOCAL_PATH CONFIG_SHELL",
    "GOCACHEPROG GOVCS GOAUTH GOFIPS* GODEBUG GOEXPERIMENT GO111MODULE GOPRIVATE GONOPROXY GOMODCACHE GOCACHE GOTMPDIR",
    "LEX YACC FLEX BISON* M4 M4PATH AUTOM4TE AUTOCONF AUTOMAKE AUTOHEADER AUTORECONF ACLOCAL LIBTOOL* INSTALL RANLIB STRIP NM",
    "OBJCOPY OBJDUMP FC F77 FFLAGS NVCC NINJA* MESON* BAZEL* SCCACHE* CCACHE* DISTCC* ICECC* SCONS* VALGRIND_OPTS ASAN_OPTIONS",
    "LSAN_OPTIONS MSAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS LLVM_* CLANG_* SWIFT* XCODE* SDKROOT DEVELOPER_DIR ZIG_* NIM_* OPAM* OCAML*",
    "CAML_* GHC* CABAL_* STACK_* HASKELL_* DUB_* DFLAGS VCPKG_* CONAN_*",
    // Package managers, test runners, linters and tools of operators. Their options or settings can name programs.
    "APT_* DPKG_* DEB_* DEBIAN_* RPM_* YUM_* DNF_* PACMAN* PORTAGE_* EMERGE_* MAKEPKG_* NIX_* GUIX_* SNAP* FLATPAK_*",
    "PYTEST_* TOX_* NOX_* COVERAGE_* MYPY* RUFF_* BLACK_* FLAKE8* PYLINT* PRE_COMMIT* JEST_* VITEST* MOCHA_* KARMA_* ESLINT_*",
    "PRETTIER_* TSC_* WEBPACK_* VITE_* TURBO_* NX_* LERNA_* PLAYWRIGHT_* CYPRESS_* PUPPETEER_* CHROME_* CHROMIUM_* FIREFOX_* MOZ_*",
    "JUNIT_* TESTNG_* RSPEC* SPEC_OPTS MINITEST_* TESTOPTS PROVE_* HARNESS_*",
    "SSH_* SCP_* SFTP_* AUTOSSH_* MOSH_* GPG_* PINENTRY_* KRB5* GSS_* PKCS11_* P11_* SOFTHSM2_CONF",
    "ANSIBLE_* TF_* TERRAGRUNT_* VAULT_* PULUMI_* PACKER_* VAGRANT_* HELM_* KUSTOMIZE_* SKAFFOLD_* BUILDAH_* PODMAN_* CONTAINER*",
    "COMPOSE_* BUILDKIT* AZURE_CONFIG_DIR SVN_* CVS* BZR* FOSSIL_* P4* REPO_*",
    "PGSERVICEFILE PGSYSCONFDIR PSQL* MYSQL_HOME SQLITE_HISTORY ODBC* TNS_ADMIN MANPATH MANOPT GROFF_* TEXINPUTS TEXMF* MAGICK_*",
    "FONTCONFIG_*",
    "GTK* QT* GDK_* GIO_* GST_* LADSPA_PATH DBUS_* DISPLAY WAYLAND_* XAUTHORITY X11* CUDA_* OPENCL_* OCL_* VK_* MESA_* LIBGL_* EGL_*",
    "*_PLUGIN *_PLUGINS *_OPTS *_OPTIONS *_FLAGS *_ADDOPTS *_CONFIG_FILE *_HELPER *_PROG *_PROGRAM *_EXE *_EXEC *_CMD *_HOOK",
    "*_HOOKS *_STARTUP *_LOADER",
    // git runs about a dozen programs, and reads settings that name more.
    "GIT_*",
];

/// Exceptions of [`REFUSED`] that only change a program's behaviour.
const HARMLESS: &[&str] =
    &["GIT_AUTHOR_* GIT_COMMITTER_* GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS NODE_ENV CARGO_TERM_*"];

/// Removes variables that are not granted, and variables that no hook may set.
pub(super) fn limit(granted: &[String], env: &mut Object, notes: &mut Vec<Note>) {
    let (mut refused, mut lost) = (Vec::new(), Vec::new());
    env.retain(|name, value| {
        // A line break in a file of variables would end this variable and start another.
        let breaks = value.as_str().is_none_or(|value| value.contains(['\n', '\r', '\0']));
        if !is_name(name) || breaks || is_refused(name) {
            refused.push(shorten(name, 60));
        } else if !granted.iter().any(|granted| granted == ANY || granted == name) {
            lost.push(shorten(name, 60));
        } else {
            return true;
        }
        false
    });
    for (names, why) in [(lost, "this hook may not set"), (refused, "no hook may set")] {
        if let Some((first, more)) = names.split_first() {
            let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            notes.push(Note::dropped(format!("{why} the environment variable {first}{more}")));
        }
    }
}

/// Removes refused variables from fields that this dialect does not know, because another client may know them.
pub(super) fn limit_unknown(extra: &mut Object, notes: &mut Vec<Note>) {
    for (key, value) in extra.iter_mut() {
        match value {
            Value::Object(env) if same_key(key, "env") => limit(&[ANY.to_owned()], env, notes),
            Value::Object(inner) if key == "hookSpecificOutput" => limit_unknown(inner, notes),
            _ => {}
        }
    }
}

/// Returns true for a name of letters, digits and `_`. Other characters are special in some shells.
pub fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns true if no hook may set this name. It ignores case, because Windows and some shells do.
fn is_refused(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let any =
        |patterns: &[&str]| patterns.iter().flat_map(|group| group.split(' ')).any(|pattern| matches(pattern, &name));
    any(REFUSED) && !any(HARMLESS)
}

/// Returns true if a name matches a pattern in which `*` is any text.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let Some((between, end)) = rest.rsplit_once('*') else { return name.ends_with(rest) };
    for part in between.split('*') {
        let Some(at) = name.find(part) else { return false };
        name = name.get(at + part.len()..).unwrap_or_default();
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("CI", "CI", true),
            ("CI", "CI_X", false),
            ("CI_*", "CI_X", true),
            ("CI_*", "CI_", true),
            ("CI_*", "XCI_", false),
            ("*_X", "A_X", true),
            ("*_X", "A_XY", false),
            ("A*B*C", "AxBxC", true),
            ("A*B*C", "AC", false),
            ("A*B*C", "ABC", true),
            ("A*A", "A", false),
            ("*", "", true),
            ("**", "A", true),
            ("ci_*", "CI_X", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
