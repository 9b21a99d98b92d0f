//! The modules of a crate, as far as its files tell: where they are, what they import, and what
//! they re-export.
//!
//! Files are read as tokens, so imports inside functions and macros count, and text in comments and
//! strings does not. Code for tests does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The path of a module or an item within its crate.
pub type CratePath = Vec<String>;

/// One file of a crate.
#[derive(Debug, Default)]
pub struct Source {
    /// The paths that it names: by `use`, or in code.
    pub named: Vec<CratePath>,
    /// The paths that it makes available under a name of its own.
    pub reexports: BTreeMap<String, CratePath>,
}

/// The files of a crate, by the module that each of them is.
#[derive(Debug, Default)]
pub struct Sources {
    pub modules: BTreeMap<CratePath, Source>,
    /// The modules for tests alone.
    tests: BTreeSet<CratePath>,
}

impl Sources {
    /// Reads the sources below the folder `src` of a crate.
    pub fn read(src: &Path) -> Self {
        let mut texts = BTreeMap::new();
        collect(src, &mut Vec::new(), &mut texts);
        Self::of(&texts)
    }

    /// Reads sources, by the module that each of them is.
    pub fn of(texts: &BTreeMap<CratePath, String>) -> Self {
        let mut sources = Self::default();
        let modules: BTreeSet<&CratePath> = texts.keys().collect();
        for (module, text) in texts {
            let tokens = text
                .parse::<TokenStream>()
                .unwrap_or_else(|error| panic!("{}: {error}", module.join("/")));
            let mut reader = Reader {
                modules: &modules,
                module: module.clone(),
                source: Source::default(),
                tests: &mut sources.tests,
            };
            reader.read(tokens);
            let source = reader.source;
            sources.modules.insert(module.clone(), source);
        }
        let tests = std::mem::take(&mut sources.tests);
        let is_test = |module: &CratePath| tests.iter().any(|test| module.starts_with(test));
        sources.modules.retain(|module, _| !is_test(module));
        sources.tests = tests;
        sources
    }

    /// Returns the module that defines the item at `path`, following re-exports.
    pub fn definer(&self, path: &[String]) -> CratePath {
        let mut path = path.to_vec();
        // No chain of re-exports is longer; a cycle would be an error of the compiler.
        for _ in 0..16 {
            let len = (0..=path.len())
                .rev()
                .find(|&len| self.modules.contains_key(&path[..len]))
                .expect("the root of the crate is a module");
            let (module, item) = path.split_at(len);
            let target = item
                .first()
                .and_then(|name| self.modules[module].reexports.get(name));
            match target {
                Some(target) if !target.starts_with(&path[..len + 1]) => {
                    path = [target, &item[1..]].concat();
                }
                _ => return module.to_vec(),
            }
        }
        panic!("the re-exports of `{}` do not end", path.join("::"));
    }
}

fn collect(folder: &Path, module: &mut CratePath, texts: &mut BTreeMap<CratePath, String>) {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    for path in entries.flatten().map(|entry| entry.path()) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            module.push(stem.into_owned());
            collect(&path, module, texts);
            module.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("the file can be read");
            let is_root = module.is_empty() && stem == "lib";
            module.extend((!is_root).then(|| stem.into_owned()));
            texts.insert(module.clone(), text);
            if !is_root {
                module.pop();
            }
        }
    }
}

/// Reads one file.
struct Reader<'a> {
    modules: &'a BTreeSet<&'a CratePath>,
    module: CratePath,
    source: Source,
    tests: &'a mut BTreeSet<CratePath>,
}

impl Reader<'_> {
    fn read(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        let mut is_public = false;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    if let Some(TokenTree::Group(attribute)) = tokens.get(at + 1)
                        && is_for_tests(attribute.stream())
                    {
                        at = self.skip_item(&tokens, at + 2);
                        continue;
                    }
                }
                TokenTree::Ident(ident) if ident == "pub" => is_public = true,
                TokenTree::Ident(ident) if ident == "use" => {
                    let end = end_of_item(&tokens, at);
                    let mut paths = Vec::new();
                    read_tree(&tokens[at + 1..end], &[], &mut paths);
                    for (path, name) in paths {
                        self.add_use(path, name, is_public);
                    }
                    (at, is_public) = (end, false);
                    continue;
                }
                TokenTree::Ident(ident) if ident == "mod" => {
                    if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) =
                        (tokens.get(at + 1), tokens.get(at + 2))
                    {
                        self.module.push(name.to_string());
                        self.read(body.stream());
                        self.module.pop();
                        (at, is_public) = (at + 3, false);
                        continue;
                    }
                }
                TokenTree::Ident(ident) if ident == "crate" || ident == "super" => {
                    let (path, end) = plain_path(&tokens, at);
                    if path.len() > 1
                        && let Some(path) = self.absolute(&path)
                    {
                        self.source.named.push(path);
                    }
                    at = end;
                    continue;
                }
                TokenTree::Group(group) => {
                    // The parentheses of `pub(crate)` do not end the visibility.
                    is_public &= group.delimiter() == Delimiter::Parenthesis;
                    self.read(group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Ident(_) | TokenTree::Literal(_) => {
                    is_public = false;
                }
            }
            at += 1;
        }
    }

    fn add_use(&mut self, path: Vec<String>, name: String, is_public: bool) {
        let Some(path) = self.absolute(&path) else {
            return;
        };
        // A module is the front of those inside it, and may say what they define.
        let is_front = is_public && path.starts_with(&self.module);
        if is_public {
            self.source.reexports.insert(name, path.clone());
        }
        if !is_front {
            self.source.named.push(path);
        }
    }

    /// Returns the path from the root of the crate, unless it leads to another crate.
    fn absolute(&self, path: &[String]) -> Option<CratePath> {
        let supers = path.iter().take_while(|part| *part == "super").count();
        if supers > 0 {
            let outer = self.module.len().checked_sub(supers)?;
            return Some([&self.module[..outer], &path[supers..]].concat());
        }
        match path.first()?.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([&self.module, &path[1..]].concat()),
            child => {
                let module = [&self.module[..], &[child.to_owned()]].concat();
                let is_module = self.modules.contains(&module);
                is_module.then(|| [&self.module, path].concat())
            }
        }
    }

    /// Returns the position after an item that only tests have.
    fn skip_item(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let end = end_of_item(tokens, at);
        if let [.., TokenTree::Ident(keyword), TokenTree::Ident(name)] = &tokens[at..end]
            && keyword == "mod"
        {
            let module = [&self.module[..], &[name.to_string()]].concat();
            self.tests.insert(module);
        }
        end + 1
    }
}

/// Returns the position of the semicolon or the block that ends an item.
fn end_of_item(tokens: &[TokenTree], at: usize) -> usize {
    let is_use = matches!(&tokens[at], TokenTree::Ident(ident) if ident == "use");
    let is_end = |token: &TokenTree| match token {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => !is_use && group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    let len = tokens[at..].iter().position(is_end);
    len.map_or(tokens.len(), |len| at + len)
}

/// Reads the paths of a `use` declaration, each with the name that it gets.
fn read_tree(tokens: &[TokenTree], prefix: &[String], paths: &mut Vec<(Vec<String>, String)>) {
    let mut path = prefix.to_vec();
    let mut name = None;
    let mut has_tree = false;
    let mut rest = tokens.iter().peekable();
    while let Some(token) = rest.next() {
        match token {
            TokenTree::Ident(ident) if ident == "as" => {
                name = rest.next().map(ToString::to_string);
            }
            TokenTree::Ident(ident) if ident == "self" && !path.is_empty() => {}
            TokenTree::Ident(ident) => path.push(ident.to_string()),
            TokenTree::Group(group) => {
                has_tree = true;
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let is_comma =
                    |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ',');
                for part in inner.split(is_comma).filter(|part| !part.is_empty()) {
                    read_tree(part, &path, paths);
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    if !has_tree && let Some(last) = path.last() {
        let name = name.unwrap_or_else(|| last.clone());
        paths.push((path, name));
    }
}

/// Reads the path of names that begins at a position, and returns its end.
fn plain_path(tokens: &[TokenTree], mut at: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    while let Some(TokenTree::Ident(ident)) = tokens.get(at) {
        path.push(ident.to_string());
        at += 1;
        let is_colon =
            |at| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
        if !(is_colon(at) && is_colon(at + 1)) {
            break;
        }
        at += 2;
    }
    (path, at)
}

/// Returns `true` for the content of an attribute that leaves an item out of an ordinary build.
pub fn is_for_tests(attribute: TokenStream) -> bool {
    let mut tokens = attribute.into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Ident(ident)), Some(TokenTree::Group(condition))) if ident == "cfg" => {
            !holds(condition.stream())
        }
        _ => false,
    }
}

/// Returns `true` if the condition of a `cfg` holds in an ordinary build with all features.
fn holds(condition: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = condition.into_iter().collect();
    let parts = |group: &proc_macro2::Group| {
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        let is_comma =
            |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ',');
        let parts = inner.split(is_comma).filter(|part| !part.is_empty());
        let parts: Vec<bool> = parts
            .map(|part| holds(part.iter().cloned().collect()))
            .collect();
        parts
    };
    match tokens.as_slice() {
        [TokenTree::Ident(word), TokenTree::Group(group)] if word == "not" => {
            parts(group) != [true]
        }
        [TokenTree::Ident(word), TokenTree::Group(group)] if word == "any" => {
            parts(group).contains(&true)
        }
        [TokenTree::Ident(word), TokenTree::Group(group)] if word == "all" => {
            !parts(group).contains(&false)
        }
        [TokenTree::Ident(word)] => word != "test" && word != "loom",
        _ => true,
    }
}
