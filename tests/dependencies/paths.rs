//! The paths in a Rust source, made absolute through its `use` declarations.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Fields, ImplItem, Item, Signature, TraitItem, Visibility};

/// A path as its segments.
pub type Path = Vec<String>;

/// A source file without its tests.
pub struct Source {
    module: Path,
    items: Vec<Item>,
    names: BTreeMap<String, Path>,
    /// Modules that are imported with `*`.
    globs: Vec<Path>,
}

impl Source {
    /// Parses the file of a module, such as `["crate", "dialect", "claude"]`.
    pub fn parse(module: &[&str], text: &str) -> syn::Result<Self> {
        let mut items = syn::parse_file(text)?.items;
        remove_tests(&mut items);
        let mut source = Self {
            module: module.iter().map(ToString::to_string).collect(),
            items,
            names: BTreeMap::new(),
            globs: vec![],
        };
        let tokens = source.items.iter().map(ToTokens::to_token_stream).collect();
        let mut names = Vec::new();
        imported(tokens, &mut names);
        for (name, path) in names {
            let path = source.absolute(path);
            if name == "*" {
                source.globs.push(path);
            } else {
                source.names.insert(name, path);
            }
        }
        Ok(source)
    }

    /// Returns every path in the source, including those in macros.
    pub fn paths(&self) -> BTreeSet<String> {
        self.resolve(self.items.iter().map(ToTokens::to_token_stream).collect())
    }

    /// Returns every path in `pub` signatures, fields and re-exports. A glob import counts, because it may bring in any path.
    pub fn public_paths(&self) -> BTreeSet<String> {
        let mut tokens = TokenStream::new();
        public(&self.items, &mut tokens);
        let mut found = self.resolve(tokens);
        found.extend(self.globs.iter().map(|glob| standard(glob.clone()).join("::")));
        found
    }

    fn resolve(&self, tokens: TokenStream) -> BTreeSet<String> {
        let mut found = Vec::new();
        written(tokens, &mut found);
        let absolute = |path: Path| match path.first().and_then(|first| self.names.get(first)) {
            // The declaration imports the first segment under the same name.
            Some(imported) if imported.first() == path.first() => path,
            Some(imported) => imported.iter().chain(path.iter().skip(1)).cloned().collect(),
            None => self.absolute(path),
        };
        found.into_iter().map(|path| standard(absolute(path)).join("::")).collect()
    }

    /// Resolves `self` and `super` in a path.
    fn absolute(&self, path: Path) -> Path {
        let mut base: Option<Path> = None;
        let mut rest = Vec::new();
        for segment in path {
            match (segment.as_str(), rest.is_empty()) {
                ("self", true) => base = Some(base.unwrap_or_else(|| self.module.clone())),
                ("super", true) => {
                    let mut above = base.unwrap_or_else(|| self.module.clone());
                    above.pop();
                    base = Some(above);
                }
                _ => rest.push(segment),
            }
        }
        base.unwrap_or_default().into_iter().chain(rest).collect()
    }
}

/// Replaces `core` and `alloc` by `std`, which contains them.
fn standard(mut path: Path) -> Path {
    if let Some(first) = path.first_mut().filter(|first| ["core", "alloc"].contains(&first.as_str())) {
        *first = "std".into();
    }
    path
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.to_token_stream().to_string().replace(' ', "") == "#[cfg(test)]"
    })
}

fn remove_tests(items: &mut Vec<Item>) {
    items.retain(|item| match item {
        Item::Mod(item) => !is_test(&item.attrs),
        Item::Fn(item) => !is_test(&item.attrs),
        Item::Use(item) => !is_test(&item.attrs),
        Item::Impl(item) => !is_test(&item.attrs),
        _ => true,
    });
    for item in items {
        if let Item::Mod(module) = item
            && let Some((_, items)) = &mut module.content
        {
            remove_tests(items);
        }
    }
}

/// Collects the tokens that users of the crate see.
fn public(items: &[Item], to: &mut TokenStream) {
    let is_public = |visibility: &Visibility| matches!(visibility, Visibility::Public(_));
    let fields = |fields: &Fields, all: bool, to: &mut TokenStream| {
        fields.iter().filter(|field| all || is_public(&field.vis)).for_each(|field| field.ty.to_tokens(to));
    };
    for item in items {
        match item {
            Item::Fn(item) if is_public(&item.vis) => signature(&item.sig, to),
            Item::Use(item) if is_public(&item.vis) => item.to_tokens(to),
            Item::Type(item) if is_public(&item.vis) => item.to_tokens(to),
            Item::Const(item) if is_public(&item.vis) => item.ty.to_tokens(to),
            Item::Static(item) if is_public(&item.vis) => item.ty.to_tokens(to),
            Item::Struct(item) if is_public(&item.vis) => {
                item.generics.to_tokens(to);
                fields(&item.fields, false, to);
            }
            Item::Enum(item) if is_public(&item.vis) => {
                item.variants.iter().for_each(|variant| fields(&variant.fields, true, to));
            }
            Item::Trait(item) if is_public(&item.vis) => {
                item.supertraits.to_tokens(to);
                for member in &item.items {
                    match member {
                        TraitItem::Fn(method) => signature(&method.sig, to),
                        TraitItem::Type(ty) => ty.to_tokens(to),
                        TraitItem::Const(constant) => constant.ty.to_tokens(to),
                        _ => {}
                    }
                }
            }
            Item::Impl(item) if item.trait_.is_none() => {
                for member in &item.items {
                    match member {
                        ImplItem::Fn(method) if is_public(&method.vis) => signature(&method.sig, to),
                        ImplItem::Const(constant) if is_public(&constant.vis) => constant.ty.to_tokens(to),
                        _ => {}
                    }
                }
            }
            Item::Mod(item) if is_public(&item.vis) => {
                if let Some((_, items)) = &item.content {
                    public(items, to);
                }
            }
            _ => {}
        }
    }
}

/// Writes a signature without the function's name.
fn signature(signature: &Signature, to: &mut TokenStream) {
    signature.generics.to_tokens(to);
    signature.generics.where_clause.to_tokens(to);
    signature.inputs.to_tokens(to);
    signature.output.to_tokens(to);
}

/// A token, in the kinds that matter for paths.
enum Token {
    Name(String),
    Colon,
    Group(Delimiter, TokenStream),
    Other(String),
}

fn tokens(stream: TokenStream) -> Vec<Token> {
    let token = |tree| match tree {
        TokenTree::Ident(name) => Token::Name(name.to_string().trim_start_matches("r#").to_owned()),
        TokenTree::Punct(mark) if mark.as_char() == ':' => Token::Colon,
        TokenTree::Group(group) => Token::Group(group.delimiter(), group.stream()),
        other => Token::Other(other.to_string()),
    };
    stream.into_iter().map(token).collect()
}

/// Collects the paths in the source. Groups of `use` are taken apart.
fn written(stream: TokenStream, found: &mut Vec<Path>) {
    tree(&tokens(stream), &[], &mut |path, _| found.push(path));
}

/// Collects the names that `use` declarations import, and their paths.
fn imported(stream: TokenStream, found: &mut Vec<(String, Path)>) {
    let tokens = tokens(stream);
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Name(name) if name == "use" => {
                let end =
                    tokens.iter().skip(index).position(|token| matches!(token, Token::Other(mark) if mark == ";"));
                let declaration = &tokens[index + 1..end.map_or(tokens.len(), |end| index + end)];
                tree(declaration, &[], &mut |path, name| {
                    if let Some(name) = name.or_else(|| path.last().cloned()) {
                        found.push((name, path));
                    }
                });
            }
            Token::Group(_, inner) => imported(inner.clone(), found),
            _ => {}
        }
    }
}

/// Passes every path and the name after its `as` to the function.
fn tree(tokens: &[Token], prefix: &[String], give: &mut dyn FnMut(Path, Option<String>)) {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Name(name) => {
                let mut path: Path = prefix.iter().cloned().chain([name.clone()]).collect();
                at += 1;
                let mut grouped = false;
                while let [Token::Colon, Token::Colon, next, ..] = &tokens[at..] {
                    match next {
                        Token::Name(name) => path.push(name.clone()),
                        Token::Other(mark) if mark == "*" => path.push(mark.clone()),
                        Token::Group(Delimiter::Brace, inner) => {
                            tree(&self::tokens(inner.clone()), &path, give);
                            grouped = true;
                        }
                        _ => break,
                    }
                    at += 3;
                }
                let renamed = match &tokens[at..] {
                    [Token::Name(_), Token::Name(_), Token::Colon, ..] => None,
                    [Token::Name(word), Token::Name(name), ..] if word == "as" => Some(name.clone()),
                    _ => None,
                };
                if renamed.is_some() {
                    at += 2;
                }
                if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
                    path.pop();
                }
                if !grouped {
                    give(path, renamed);
                }
            }
            Token::Group(_, inner) => {
                tree(&self::tokens(inner.clone()), prefix, give);
                at += 1;
            }
            Token::Colon | Token::Other(_) => at += 1,
        }
    }
}
