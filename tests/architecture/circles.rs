//! No circle of files: of two files, one may need the other. Only a module and its own child may need each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use syn::visit::{self, Visit};
use syn::{Attribute, File, Item, ItemUse, UseTree, Visibility};

use crate::{root, rust_files};

/// The names from a crate down to a module, or to an item of it.
type Names = Vec<String>;

/// What one file imports, re-exports and names.
#[derive(Default)]
struct Module {
    path: PathBuf,
    names: Names,
    imports: BTreeMap<String, Names>,
    exports: BTreeMap<String, Names>,
    used: Vec<Names>,
}

type Modules = BTreeMap<Names, Module>;

impl Module {
    fn read(crate_name: &str, src: &Path, path: &Path) -> Self {
        let inner = path.strip_prefix(src).unwrap().with_extension("");
        let parts = inner.iter().map(|part| part.to_string_lossy().into_owned());
        let parts = parts.filter(|part| !["lib", "mod"].contains(&&**part));
        let mut module = Self {
            path: path.strip_prefix(root()).unwrap().to_owned(),
            names: std::iter::once(crate_name.to_owned()).chain(parts).collect(),
            ..Self::default()
        };
        let text = std::fs::read_to_string(path).unwrap();
        let file: File = syn::parse_file(&text).unwrap();
        module.visit_file(&file);
        module
    }

    /// The path from the crate's name on; none for one that begins with a name of another crate or of this file.
    fn absolute(&self, path: &[String]) -> Option<Names> {
        let mut names = self.names.clone();
        for (at, part) in path.iter().enumerate() {
            match &**part {
                "crate" => names.truncate(1),
                "super" => drop(names.pop()),
                "self" => {}
                _ if at > 0 => return Some([&names[..], &path[at..]].concat()),
                first if first.starts_with("retrial_") => return Some(path.to_owned()),
                first => {
                    let base = self.imports.get(first)?;
                    return Some([&base[..], &path[1..]].concat());
                }
            }
        }
        Some(names)
    }

    fn import(&mut self, prefix: &[String], tree: &UseTree, exported: bool) {
        let (name, last) = match tree {
            UseTree::Path(path) => {
                let prefix = [prefix, &[path.ident.to_string()]].concat();
                return self.import(&prefix, &path.tree, exported);
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.import(prefix, tree, exported));
            }
            UseTree::Name(name) => (name.ident.to_string(), name.ident.to_string()),
            UseTree::Rename(rename) => (rename.rename.to_string(), rename.ident.to_string()),
            UseTree::Glob(_) => ("*".to_owned(), "*".to_owned()),
        };
        let path = match &*last {
            "self" => prefix.to_vec(),
            _ => [prefix, &[last]].concat(),
        };
        let name = match &*name {
            "self" => prefix.last().unwrap().clone(),
            _ => name,
        };
        let child = [&self.names[..], &path[..]].concat();
        let Some(absolute) = self.absolute(&path).or(exported.then_some(child)) else {
            return;
        };
        if exported {
            self.exports.insert(name, absolute);
        } else {
            self.used.push(absolute.clone());
            self.imports.insert(name, absolute);
        }
    }
}

fn of_tests(attributes: &[Attribute]) -> bool {
    let written = |attribute: &Attribute| {
        let list = attribute.meta.require_list().ok()?;
        let condition = list.tokens.to_string();
        Some(
            list.path.is_ident("cfg")
                && condition.split(' ').any(|word| word == "test" || word == "(test"),
        )
    };
    attributes.iter().any(|attribute| written(attribute) == Some(true))
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !of_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let exported = !matches!(item.vis, Visibility::Inherited);
        self.import(&[], &item.tree, exported);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Names = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if names.len() > 1 {
            self.used.extend(self.absolute(&names));
        }
        visit::visit_path(self, path);
    }
}

/// The module that holds an item, and the item's name, through re-exports. None for a module by itself: what is used
/// of it decides.
fn holder<'a>(modules: &'a Modules, path: &[String]) -> Option<(&'a Module, String)> {
    let (module, rest) = (1..=path.len()).rev().find_map(|length| {
        let module = modules.get(&path[..length])?;
        Some((module, &path[length..]))
    })?;
    let first = rest.first()?;
    match module.exports.get(first) {
        Some(inner) => holder(modules, &[&inner[..], &rest[1..]].concat()),
        None => Some((module, first.clone())),
    }
}

fn with_parent<'a>(modules: &'a Modules, child: &'a Module) -> Option<(&'a Path, &'a Path)> {
    let parent = modules.get(&child.names[..child.names.len() - 1])?;
    Some((&child.path, &parent.path))
}

fn modules() -> Modules {
    let mut crates = vec![("retrial".to_owned(), root().join("src"))];
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().replace('-', "_");
        crates.push((format!("retrial_{name}"), path.join("src")));
    }
    let mut modules = Modules::new();
    for (name, src) in crates {
        for path in rust_files(&src) {
            let module = Module::read(&name, &src, &path);
            modules.insert(module.names.clone(), module);
        }
    }
    modules
}

#[test]
fn no_circle_of_files() {
    let modules = modules();
    let mut names: BTreeMap<(&Path, &Path), BTreeSet<String>> = BTreeMap::new();
    let mut graph: DiGraphMap<&Path, ()> = DiGraphMap::new();
    for module in modules.values() {
        for used in &module.used {
            match holder(&modules, used) {
                Some((other, name)) if other.path != module.path => {
                    graph.add_edge(&module.path, &other.path, ());
                    let pair = (&*module.path, &*other.path);
                    names.entry(pair).or_default().insert(name);
                }
                _ => {}
            }
        }
    }
    for (child, parent) in modules.values().filter_map(|child| with_parent(&modules, child)) {
        if graph.contains_edge(parent, child) {
            graph.remove_edge(child, parent);
        }
    }
    let mut circles = String::new();
    for circle in tarjan_scc(&graph).iter().filter(|files| files.len() > 1) {
        circles.push_str("\na circle:\n");
        for ((from, to), names) in &names {
            if circle.contains(from) && circle.contains(to) && graph.contains_edge(from, to) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let names = names.join(", ");
                writeln!(circles, "  {} uses {}: {names}", from.display(), to.display()).unwrap();
            }
        }
    }
    assert!(circles.is_empty(), "{circles}");
}
