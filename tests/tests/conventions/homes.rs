//! Every public item of a crate has one path: a crate re-exports the items of private modules, or
//! leaves them where they are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use quote::ToTokens;
use syn::{Attribute, Item, UseTree, Visibility};

use super::sources::CratePath;

/// What an item is, wherever it is named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    /// It is defined in the crate, under this path.
    Own(CratePath),
    Module(CratePath),
    /// It is defined in another crate, or by something that this test does not read.
    Other(CratePath),
}

/// The content of a module.
#[derive(Debug, Default)]
struct Module {
    items: BTreeSet<String>,
    public_items: BTreeSet<String>,
    /// The modules inside it, and whether they are public. Inline ones have their content.
    modules: BTreeMap<String, (bool, Option<Rc<Module>>)>,
    /// Imported paths with the names that they get; the name of a glob is `*`.
    uses: Vec<Use>,
}

#[derive(Clone, Debug)]
struct Use {
    path: Vec<String>,
    name: String,
    is_public: bool,
}

/// The modules of a crate, read when they are first asked for.
struct Crate {
    src: PathBuf,
    modules: BTreeMap<CratePath, Option<Rc<Module>>>,
}

impl Crate {
    fn new(src: impl Into<PathBuf>) -> Self {
        Self {
            src: src.into(),
            modules: BTreeMap::new(),
        }
    }

    fn module(&mut self, path: &[String]) -> Option<Rc<Module>> {
        if let Some(known) = self.modules.get(path) {
            return known.clone();
        }
        let module = match path.split_last() {
            None => read(&self.src.join("lib.rs")),
            Some((name, outer)) => match self.module(outer)?.modules.get(name)? {
                (_, Some(inline)) => Some(Rc::clone(inline)),
                (_, None) => {
                    let file = path.iter().collect::<PathBuf>().with_extension("rs");
                    read(&self.src.join(file))
                }
            },
        };
        self.modules.insert(path.to_vec(), module.clone());
        module
    }

    /// Returns the path from the root of the crate, or `None` for a path into another crate.
    fn absolute(&mut self, module: &[String], path: &[String]) -> Option<CratePath> {
        let supers = path.iter().take_while(|part| *part == "super").count();
        let (outer, rest) = match path.first()?.as_str() {
            "crate" => (&[][..], &path[1..]),
            "self" => (module, &path[1..]),
            "super" => (
                &module[..module.len().checked_sub(supers)?],
                &path[supers..],
            ),
            first => {
                self.module(module)?.modules.get(first)?;
                (module, path)
            }
        };
        Some([outer, rest].concat())
    }

    /// Returns what a name stands for in a module.
    fn identity(&mut self, module: &[String], name: &str, depth: usize) -> Identity {
        let path = [module, &[name.to_owned()]].concat();
        let Some(content) = self.module(module) else {
            return Identity::Other(path);
        };
        if content.items.contains(name) {
            return Identity::Own(path);
        }
        if content.modules.contains_key(name) {
            return Identity::Module(path);
        }
        let imported = content.uses.iter().find(|import| import.name == name);
        match imported {
            Some(import) if depth < 16 => match self.absolute(module, &import.path) {
                Some(path) => match path.split_last() {
                    Some((name, module)) => self.identity(module, name, depth + 1),
                    None => Identity::Module(path),
                },
                None => Identity::Other(import.path.clone()),
            },
            _ => Identity::Other(path),
        }
    }

    /// Collects the public paths below a module that is itself public as `path`.
    fn collect(
        &mut self,
        module: &[String],
        path: &[String],
        found: &mut BTreeMap<Identity, BTreeSet<CratePath>>,
    ) {
        let Some(content) = self.module(module) else {
            return;
        };
        // Modules that re-export each other would be followed for ever.
        if path.len() > 8 {
            return;
        }
        let under = |name: &str| [path, &[name.to_owned()]].concat();
        for name in &content.public_items {
            let item = [module, std::slice::from_ref(name)].concat();
            found
                .entry(Identity::Own(item))
                .or_default()
                .insert(under(name));
        }
        for (name, (is_public, _)) in &content.modules {
            if *is_public {
                let inner = [module, std::slice::from_ref(name)].concat();
                self.collect(&inner, &under(name), found);
            }
        }
        for import in content.uses.iter().filter(|import| import.is_public) {
            let target = self.absolute(module, &import.path);
            if import.name == "*" {
                if let Some(target) = target {
                    self.collect(&target, path, found);
                }
                continue;
            }
            // Not by its name here, which may also be that of a module.
            let identity = match target.as_deref().map(<[String]>::split_last) {
                Some(Some((name, outer))) => self.identity(outer, name, 0),
                Some(None) => Identity::Module(Vec::new()),
                None => Identity::Other(import.path.clone()),
            };
            match identity {
                Identity::Module(target) => self.collect(&target, &under(&import.name), found),
                identity => {
                    found
                        .entry(identity)
                        .or_default()
                        .insert(under(&import.name));
                }
            }
        }
    }
}

fn read(file: &Path) -> Option<Rc<Module>> {
    let text = fs::read_to_string(file).ok()?;
    let file = syn::parse_file(&text).expect("the compiler accepts it");
    Some(Rc::new(content(&file.items)))
}

fn content(items: &[Item]) -> Module {
    let mut module = Module::default();
    for item in items {
        let (attributes, visibility, name) = match item {
            Item::Const(item) => (&item.attrs, &item.vis, item.ident.to_string()),
            Item::Enum(item) => (&item.attrs, &item.vis, item.ident.to_string()),
            Item::Fn(item) => (&item.attrs, &item.vis, item.sig.ident.to_string()),
            Item::Static(item) => (&item.attrs, &item.vis, item.ident.to_string()),
            Item::Struct(item) => (&item.attrs, &item.vis, item.ident.to_string()),
            Item::Trait(item) => (&item.attrs, &item.vis, item.ident.to_string()),
            Item::Type(item) => (&item.attrs, &item.vis, item.ident.to_string()),
            Item::Union(item) => (&item.attrs, &item.vis, item.ident.to_string()),
            Item::Mod(item) if !is_test(&item.attrs) => {
                // What is hidden, or the prelude, repeats names on purpose.
                let is_public =
                    is_public(&item.vis) && !is_hidden(&item.attrs) && item.ident != "prelude";
                let inline = item.content.as_ref();
                let inline = inline.map(|(_, items)| Rc::new(content(items)));
                let name = item.ident.to_string();
                module.modules.insert(name, (is_public, inline));
                continue;
            }
            Item::Use(item) if !is_test(&item.attrs) => {
                let is_public = is_public(&item.vis) && !is_hidden(&item.attrs);
                add_uses(&item.tree, &[], is_public, &mut module.uses);
                continue;
            }
            _ => continue,
        };
        if is_public(visibility) && !is_hidden(attributes) {
            module.public_items.insert(name.clone());
        }
        module.items.insert(name);
    }
    module
}

fn add_uses(tree: &UseTree, prefix: &[String], is_public: bool, uses: &mut Vec<Use>) {
    let mut add = |last: String, name: String| {
        let mut path = prefix.to_vec();
        if last != "self" && last != "*" {
            path.push(last);
        }
        uses.push(Use {
            path,
            name,
            is_public,
        });
    };
    match tree {
        UseTree::Path(tree) => {
            let prefix = [prefix, &[tree.ident.to_string()]].concat();
            add_uses(&tree.tree, &prefix, is_public, uses);
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                add_uses(tree, prefix, is_public, uses);
            }
        }
        UseTree::Name(name) if name.ident == "self" => {
            let name = prefix.last().cloned().unwrap_or_default();
            add("self".to_owned(), name);
        }
        UseTree::Name(name) => add(name.ident.to_string(), name.ident.to_string()),
        UseTree::Rename(tree) => add(tree.ident.to_string(), tree.rename.to_string()),
        UseTree::Glob(_) => add("*".to_owned(), "*".to_owned()),
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("doc")
            && attribute
                .meta
                .to_token_stream()
                .to_string()
                .contains("hidden")
    })
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| super::sources::is_for_tests(attribute.meta.to_token_stream()))
}

/// Returns the public items with several paths, one on each line, and the number of all.
fn doubles(src: &Path) -> (String, usize) {
    let mut found = BTreeMap::new();
    Crate::new(src).collect(&[], &[], &mut found);
    let mut lines = String::new();
    for paths in found.values().filter(|paths| paths.len() > 1) {
        let paths: Vec<String> = paths.iter().map(|path| path.join("::")).collect();
        lines += &format!("  {}\n", paths.join(" and "));
    }
    (lines, found.len())
}

#[test]
fn public_items_have_one_path() {
    let mut found = String::new();
    let mut num_items = 0;
    for manifest in ["runtime", "kernels", "ods", "macros"]
        .iter()
        .flat_map(|folder| crate::files_below(folder, "Cargo.toml"))
    {
        let folder = manifest.parent().expect("a manifest is in a folder");
        let src = crate::root().join(folder).join("src");
        if !src.join("lib.rs").exists() {
            continue;
        }
        let (lines, num) = doubles(&src);
        num_items += num;
        if !lines.is_empty() {
            found += &format!("{}:\n{lines}", folder.display());
        }
    }
    assert!(num_items > 1000, "the items of the workspace are found");
    assert!(
        found.is_empty(),
        "these items have several public paths; make one of the modules private, or remove a \
         re-export:\n{found}"
    );
}

/// A crate whose source is written here.
#[test]
fn items_with_two_paths_are_found() {
    let text = "
        pub mod inner { pub struct Twice; pub struct Once; pub(crate) struct Inside; }
        mod private { pub struct Shown; pub struct Alias; }
        pub use inner::Twice;
        pub use private::{self as shown, Shown};
        #[doc(hidden)] pub mod hidden { pub use super::inner::Once; }
        pub mod front { pub use crate::private::*; }
    ";
    let file = syn::parse_file(text).expect("it is Rust");
    let mut this = Crate::new("");
    let root = Rc::new(content(&file.items));
    this.modules.insert(Vec::new(), Some(root));
    let mut found = BTreeMap::new();
    this.collect(&[], &[], &mut found);
    let paths: Vec<Vec<String>> = found
        .values()
        .map(|paths| paths.iter().map(|path| path.join("::")).collect())
        .collect();
    assert_eq!(
        paths,
        [
            vec!["inner::Once"],
            vec!["Twice", "inner::Twice"],
            vec!["front::Alias", "shown::Alias"],
            vec!["Shown", "front::Shown", "shown::Shown"],
        ]
    );
}
