//! The files that are mutated.

use crate::compiled::is_compiled;
use crate::rewrite::{self, Constants, Rewritten};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders and files whose functions are mutated.
const MUTATED: [&str; 7] = [
    "retry-core/src/config",
    "retry-core/src/limit",
    "retry-core/src/operation",
    "retry-core/src/quota",
    "retry-core/src/strategy",
    "retry-core/src/tower",
    "retry-fleet/src",
];

/// What is not, because only real servers test it.
const EXCLUDED: [&str; 4] =
    ["retry-fleet/src/joined.rs", "retry-fleet/src/lib.rs", "retry-fleet/src/redis1", "retry-fleet/src/task.rs"];

/// A file that is mutated.
pub(crate) struct Source {
    /// Below the root of the workspace.
    pub(crate) path: String,
    text: String,
    parsed: syn::File,
}

/// All files that are mutated.
pub(crate) struct Sources {
    pub(crate) files: Vec<Source>,
    /// By crate.
    constants: BTreeMap<String, Constants>,
}

impl Sources {
    /// Reads the files below the root of the workspace.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let mut paths = Vec::new();
        for place in MUTATED {
            find(&root.join(place), &mut paths).map_err(|error| format!("{place}: {error}"))?;
        }
        paths.sort();
        let mut files = Vec::new();
        for path in paths {
            let name = path.strip_prefix(root).expect("found there").to_string_lossy().into_owned();
            if EXCLUDED.iter().any(|excluded| Path::new(&name).starts_with(excluded)) {
                continue;
            }
            let text = fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
            let parsed = syn::parse_file(&text).map_err(|error| format!("{name}: {error}"))?;
            files.push(Source { path: name, text, parsed });
        }
        let tests: Vec<_> = files.iter().flat_map(|file| uncompiled(&file.path, &file.parsed)).collect();
        files.retain(|file| !tests.iter().any(|test| Path::new(&file.path).starts_with(test)));
        let mut constants = BTreeMap::<_, Constants>::new();
        for file in &files {
            constants.entry(package(&file.path).to_string()).or_default().extend(rewrite::constants(&file.parsed));
        }
        Ok(Self { files, constants })
    }

    /// Rewrites all files. The mutants are numbered through all of them.
    pub(crate) fn rewrite(&self, is_left_out: &dyn Fn(&str, &str, &str) -> bool) -> Vec<Rewritten> {
        let mut first = 0;
        let mut rewritten = Vec::new();
        for Source { path, text, parsed } in &self.files {
            let constants = &self.constants[package(path)];
            let file = rewrite::rewrite(text, parsed, first, constants, &|function, change| {
                is_left_out(path, function, change)
            });
            first += u32::try_from(file.mutants.len()).expect("few mutants");
            rewritten.push(file);
        }
        rewritten
    }
}

/// Returns the folder of the package that a file belongs to.
pub(crate) fn package(path: &str) -> &str {
    path.split('/').next().unwrap_or_default()
}

fn find(place: &Path, paths: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(place)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
    Ok(())
}

/// Returns the paths of the modules that a file declares and that are not compiled, such as tests: the file, and the folder.
fn uncompiled(path: &str, file: &syn::File) -> Vec<String> {
    let path = Path::new(path);
    let folder = match path.file_stem() {
        Some(stem) if stem != "mod" && stem != "lib" => path.with_extension(""),
        _ => path.parent().unwrap_or(Path::new("")).to_path_buf(),
    };
    let mut found = Vec::new();
    for item in &file.items {
        if let syn::Item::Mod(module) = item
            && module.content.is_none()
            && !is_compiled(&module.attrs)
        {
            let child = folder.join(module.ident.to_string());
            found.push(child.with_extension("rs").to_string_lossy().into_owned());
            found.push(child.to_string_lossy().into_owned());
        }
    }
    found
}
