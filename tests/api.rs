//! The public API of the libraries, as `docs/api/<crate>.txt` lists it: a change of it is seen in review.
//! `UPDATE_DOCS=1` writes the lists.
//!
//! The list is made of the sources: everything that `lib.rs` reaches by `pub mod` and `pub use`. Items of macros and
//! trait implementations by derive are not in it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use syn::{Attribute, Fields, ImplItem, Item, TraitItem, UseTree, Visibility};

/// The libraries whose API is listed, and their folders.
const CRATES: [(&str, &str); 5] = [
    ("hookbox-protocol", "host/protocol"),
    ("hookbox-sandbox", "host/sandbox"),
    ("hookbox", "host/runtime"),
    ("hookbox-registry", "host/registry"),
    ("hookbox-server", "host/server"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The modules of a crate by their path, such as `dialect::claude`. The root has the empty path.
struct Crate {
    modules: BTreeMap<Vec<String>, Vec<Item>>,
    /// Lines of the list.
    lines: BTreeSet<String>,
    /// Public items that are listed already, by module and name, with their public path.
    listed: BTreeMap<(Vec<String>, String), String>,
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn has(attributes: &[Attribute], text: &str) -> bool {
    attributes.iter().any(|attribute| {
        let written = quote::ToTokens::to_token_stream(attribute).to_string().replace(' ', "");
        written.starts_with(&format!("#[{text}"))
    })
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    has(attributes, "doc(hidden)") || has(attributes, "cfg(test)")
}

/// The item without documentation, bodies and private fields, in one line.
fn printed(item: Item) -> String {
    let mut file: syn::File = syn::parse_quote!();
    file.items.push(item);
    let text = prettyplease::unparse(&file);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace(" {}", "").replace("( ", "(").replace(", )", ")").replace(",)", ")")
}

/// Keeps `#[non_exhaustive]` and `#[must_use]`, which are part of the API.
fn strip(attributes: &mut Vec<Attribute>) {
    attributes.retain(|attribute| attribute.path().is_ident("non_exhaustive"));
}

fn strip_fields(fields: &mut Fields, all: bool) {
    let strip_one = |field: &mut syn::Field| strip(&mut field.attrs);
    match fields {
        Fields::Named(named) => {
            named.named = std::mem::take(&mut named.named).into_iter().filter(|f| all || is_public(&f.vis)).collect();
            named.named.iter_mut().for_each(strip_one);
        }
        Fields::Unnamed(unnamed) => {
            unnamed.unnamed =
                std::mem::take(&mut unnamed.unnamed).into_iter().filter(|f| all || is_public(&f.vis)).collect();
            unnamed.unnamed.iter_mut().for_each(strip_one);
        }
        Fields::Unit => {}
    }
}

fn function(signature: &syn::Signature) -> String {
    printed(syn::parse_quote!(#signature {}))
}

impl Crate {
    fn read(folder: &Path) -> Self {
        let source = folder.join("src");
        let (mut folders, mut modules) = (vec![source.clone()], BTreeMap::new());
        while let Some(next) = folders.pop() {
            for path in fs::read_dir(&next).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let within = path.strip_prefix(&source).unwrap().with_extension("");
                    let names: Vec<String> = within.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
                    let names = if names == ["lib"] { Vec::new() } else { names };
                    let items = syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap().items;
                    add(&mut modules, names, items);
                }
            }
        }
        Self { modules, lines: BTreeSet::new(), listed: BTreeMap::new() }
    }

    fn item(&self, module: &[String], name: &str) -> Vec<Item> {
        let named = |item: &&Item| match item {
            Item::Struct(item) => item.ident == name,
            Item::Enum(item) => item.ident == name,
            Item::Trait(item) => item.ident == name,
            Item::Fn(item) => item.sig.ident == name,
            Item::Type(item) => item.ident == name,
            Item::Const(item) => item.ident == name,
            Item::Static(item) => item.ident == name,
            _ => false,
        };
        self.modules.get(module).into_iter().flatten().filter(named).cloned().collect()
    }

    /// Lists a module under its public path.
    fn module(&mut self, module: &[String], public: &str) {
        for item in self.modules.get(module).cloned().unwrap_or_default() {
            match item {
                Item::Mod(item) if is_public(&item.vis) && !is_hidden(&item.attrs) => {
                    let name = item.ident.to_string();
                    self.module(&[module, std::slice::from_ref(&name)].concat(), &format!("{public}::{name}"));
                }
                Item::Use(item) if is_public(&item.vis) && !is_hidden(&item.attrs) => {
                    self.uses(module, &item.tree, Vec::new(), public);
                }
                other => self.one(module, other, public, None),
            }
        }
    }

    /// Follows a `pub use`.
    fn uses(&mut self, module: &[String], tree: &UseTree, mut path: Vec<String>, public: &str) {
        match tree {
            UseTree::Path(next) => {
                path.push(next.ident.to_string());
                self.uses(module, &next.tree, path, public);
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.uses(module, tree, path.clone(), public));
            }
            UseTree::Name(name) => self.export(module, path, &name.ident.to_string(), None, public),
            UseTree::Rename(rename) => {
                self.export(module, path, &rename.ident.to_string(), Some(rename.rename.to_string()), public);
            }
            UseTree::Glob(_) => {
                let within = self.absolute(module, path.clone());
                match within {
                    Some(within) => self.module(&within, public),
                    None => drop(self.lines.insert(format!("pub use {}::* as {public}", path.join("::")))),
                }
            }
        }
    }

    fn export(&mut self, module: &[String], mut path: Vec<String>, name: &str, alias: Option<String>, public: &str) {
        let (mut target, mut name) = (self.absolute(module, path.clone()), name.to_owned());
        if name == "self" {
            name = path.pop().unwrap_or_default();
            target = self.absolute(module, path.clone());
        }
        let shown = alias.unwrap_or_else(|| name.clone());
        let Some(mut target) = target else {
            path.push(name);
            self.lines.insert(format!("pub use {} as {public}::{shown}", path.join("::")));
            return;
        };
        target.push(name.clone());
        if self.modules.contains_key(&target) {
            return self.module(&target, &format!("{public}::{shown}"));
        }
        target.pop();
        let found = self.item(&target, &name);
        if found.is_empty() {
            // The module exports it by a `pub use` of its own.
            for item in self.modules.get(&target).cloned().unwrap_or_default() {
                if let Item::Use(item) = item {
                    self.through(&target, &item.tree, Vec::new(), &name, &shown, public);
                }
            }
        }
        for item in found {
            self.one(&target, item, public, Some(&shown));
        }
    }

    /// Follows a `use` in another module for one name.
    fn through(
        &mut self,
        module: &[String],
        tree: &UseTree,
        mut path: Vec<String>,
        name: &str,
        shown: &str,
        public: &str,
    ) {
        match tree {
            UseTree::Path(next) => {
                path.push(next.ident.to_string());
                self.through(module, &next.tree, path, name, shown, public);
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.through(module, tree, path.clone(), name, shown, public));
            }
            UseTree::Name(found) if found.ident == name => {
                self.export(module, path, name, Some(shown.to_owned()), public);
            }
            UseTree::Rename(found) if found.rename == name => {
                self.export(module, path, &found.ident.to_string(), Some(shown.to_owned()), public);
            }
            _ => {}
        }
    }

    /// The module of a path within this crate. `None`: another crate.
    fn absolute(&self, module: &[String], path: Vec<String>) -> Option<Vec<String>> {
        let mut path = path.into_iter().peekable();
        let mut base = match path.peek().map(String::as_str) {
            Some("crate") => {
                path.next();
                Vec::new()
            }
            Some("self") => {
                path.next();
                module.to_vec()
            }
            Some(first) if first != "super" => {
                let child = [module, &[first.to_owned()]].concat();
                self.modules.contains_key(&child).then(|| module.to_vec())?
            }
            _ => module.to_vec(),
        };
        for name in path {
            if name == "super" { drop(base.pop()) } else { base.push(name) }
        }
        Some(base)
    }

    /// Lists one item, if it is public.
    fn one(&mut self, module: &[String], mut item: Item, public: &str, alias: Option<&str>) {
        let (visible, hidden, name) = match &mut item {
            Item::Struct(item) => {
                let all = item.fields.len();
                strip_fields(&mut item.fields, false);
                let private = item.fields.len() < all;
                let seen = (is_public(&item.vis), is_hidden(&item.attrs), item.ident.to_string());
                strip(&mut item.attrs);
                if private {
                    let name = format!("{public}::{}", alias.unwrap_or(&seen.2));
                    if seen.0 && !seen.1 {
                        self.lines.insert(format!("{name} has private fields"));
                    }
                }
                seen
            }
            Item::Enum(item) => {
                let seen = (is_public(&item.vis), is_hidden(&item.attrs), item.ident.to_string());
                strip(&mut item.attrs);
                for variant in &mut item.variants {
                    strip(&mut variant.attrs);
                    strip_fields(&mut variant.fields, true);
                }
                seen
            }
            Item::Trait(item) => {
                let seen = (is_public(&item.vis), is_hidden(&item.attrs), item.ident.to_string());
                strip(&mut item.attrs);
                item.items.retain(|member| !matches!(member, TraitItem::Fn(method) if is_hidden(&method.attrs)));
                for member in &mut item.items {
                    if let TraitItem::Fn(method) = member {
                        method.attrs.clear();
                        method.default = method.default.take().map(|_| syn::parse_quote!({}));
                    } else if let TraitItem::Type(member) = member {
                        member.attrs.clear();
                    } else if let TraitItem::Const(member) = member {
                        member.attrs.clear();
                    }
                }
                seen
            }
            Item::Fn(item) => (is_public(&item.vis), is_hidden(&item.attrs), item.sig.ident.to_string()),
            Item::Type(item) => {
                let seen = (is_public(&item.vis), is_hidden(&item.attrs), item.ident.to_string());
                strip(&mut item.attrs);
                seen
            }
            Item::Const(item) => {
                let seen = (is_public(&item.vis), is_hidden(&item.attrs), item.ident.to_string());
                strip(&mut item.attrs);
                item.expr = syn::parse_quote!(_);
                seen
            }
            Item::Static(item) => {
                let seen = (is_public(&item.vis), is_hidden(&item.attrs), item.ident.to_string());
                strip(&mut item.attrs);
                item.expr = syn::parse_quote!(_);
                seen
            }
            _ => return,
        };
        if !visible || hidden {
            return;
        }
        let path = format!("{public}::{}", alias.unwrap_or(&name));
        let key = (module.to_vec(), name.clone());
        if let Some(first) = self.listed.get(&key).filter(|first| **first != path) {
            self.lines.insert(format!("{path} is {first}"));
            return;
        }
        self.listed.insert(key, path.clone());
        let text = match item {
            Item::Fn(item) => function(&item.sig),
            other => printed(other),
        };
        self.lines.insert(format!("{path}: {}", text.trim_end_matches(';').trim_start_matches("pub ")));
        self.methods(&name, &path);
    }

    /// Lists the methods and trait implementations of a type, which may be in any module.
    fn methods(&mut self, name: &str, path: &str) {
        let is_own = |ty: &syn::Type| matches!(ty, syn::Type::Path(ty) if ty.path.segments.last().is_some_and(|last| last.ident == name));
        for item in self.modules.values().flatten() {
            let Item::Impl(item) = item else { continue };
            if !is_own(&item.self_ty) || is_hidden(&item.attrs) {
                continue;
            }
            if let Some((implemented, _)) = &item.trait_ {
                let text = quote::ToTokens::to_token_stream(implemented).to_string().replace(' ', "");
                self.lines.insert(format!("{path}: impl {text}"));
                continue;
            }
            for member in &item.items {
                match member {
                    ImplItem::Fn(method) if is_public(&method.vis) && !is_hidden(&method.attrs) => {
                        self.lines.insert(format!("{path}: {}", function(&method.sig)));
                    }
                    ImplItem::Const(constant) if is_public(&constant.vis) => {
                        let ty = quote::ToTokens::to_token_stream(&constant.ty).to_string().replace(' ', "");
                        self.lines.insert(format!("{path}: const {}: {ty}", constant.ident));
                    }
                    _ => {}
                }
            }
        }
    }
}

fn add(modules: &mut BTreeMap<Vec<String>, Vec<Item>>, path: Vec<String>, items: Vec<Item>) {
    for item in &items {
        if let Item::Mod(item) = item
            && let Some((_, inner)) = &item.content
            && !is_hidden(&item.attrs)
        {
            add(modules, [path.clone(), vec![item.ident.to_string()]].concat(), inner.clone());
        }
    }
    modules.insert(path, items);
}

fn api(name: &str, folder: &Path) -> String {
    let mut all = Crate::read(folder);
    all.module(&[], &name.replace('-', "_"));
    let mut text = format!("# The public API of {name}. Written by `just generate`.\n");
    for line in all.lines {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[test]
fn the_public_api_is_as_listed() {
    for (name, folder) in CRATES {
        let text = api(name, &root().join(folder));
        assert!(text.lines().count() > 20, "{text}");
        let file = root().join(format!("docs/api/{name}.txt"));
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&file, text).unwrap();
            continue;
        }
        let listed = fs::read_to_string(&file).unwrap_or_default();
        let (old, new): (BTreeSet<_>, BTreeSet<_>) = (listed.lines().collect(), text.lines().collect());
        let removed: Vec<_> = old.difference(&new).map(|line| format!("- {line}")).collect();
        let added: Vec<_> = new.difference(&old).map(|line| format!("+ {line}")).collect();
        assert!(
            removed.is_empty() && added.is_empty(),
            "the public API of {name} differs from docs/api/{name}.txt (`just generate` writes it):\n{}",
            [removed, added].concat().join("\n")
        );
    }
}

#[test]
fn a_change_of_the_api_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let list = |text: &str| {
        fs::create_dir_all(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("src/inner.rs"), text).unwrap();
        fs::write(folder.path().join("src/lib.rs"), "mod inner; pub use inner::A;").unwrap();
        api("x", folder.path())
    };
    let before = list("pub struct A { pub b: u8, c: u8 } impl A { pub fn d(&self) {} fn e(&self) {} }");
    assert!(before.contains("x::A: fn d(&self)") && !before.contains("fn e"), "{before}");
    for after in [
        "pub struct A { pub b: u16, c: u8 } impl A { pub fn d(&self) {} }",
        "pub struct A { pub b: u8 } impl A { pub fn d(&self) {} }",
        "pub struct A { pub b: u8, c: u8 } impl A { pub fn d(&mut self) {} }",
        "pub struct A { pub b: u8, c: u8 } impl A { pub fn d(&self) {} } impl Drop for A { fn drop(&mut self) {} }",
    ] {
        assert_ne!(before, list(after));
    }
    let private = "pub struct A { pub b: u8, x: u16 } impl A { pub fn d(&self) { todo!() } fn f(&self) {} }";
    assert_eq!(before, list(private), "private parts are not listed");
}
