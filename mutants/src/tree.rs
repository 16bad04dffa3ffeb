//! The copy of the workspace in which the files are rewritten.

use crate::rewrite::Rewritten;
use crate::sources::Source;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the crates that are rewritten allow, beyond what the original allows.
const ALLOWED: &str =
    "#![allow(warnings, missing_docs, arithmetic_overflow, overflowing_literals, unconditional_panic)] ";

const SWITCH: &str = include_str!("../switch.rs");
const SWITCH_MANIFEST: &str =
    "[package]\nname = \"mutants-switch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[lib]\npath = \"lib.rs\"\n";

/// A copy of the workspace.
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
}

impl Tree {
    /// Brings the copy up to date. A file that is the same already is not touched, so that cargo builds only what has changed.
    pub(crate) fn write(&self, workspace: &Path, sources: &[Source], rewritten: &[Rewritten]) -> Result<(), String> {
        let texts: BTreeMap<_, _> =
            sources.iter().zip(rewritten).map(|(source, file)| (&*source.path, text(file))).collect();
        let paths = tracked(workspace)?;
        self.remove_others(&paths)?;
        for path in paths {
            let Ok(original) = fs::read(workspace.join(&path)) else { continue };
            let changed = match &*path {
                "Cargo.lock" => {
                    self.lock(&original)?;
                    continue;
                }
                "retry-core/Cargo.toml" | "retry-fleet/Cargo.toml" => {
                    let manifest = String::from_utf8_lossy(&original);
                    manifest.replacen(
                        "[dependencies]\n",
                        "[dependencies]\nmutants-switch = { path = \"../mutants-switch\" }\n",
                        1,
                    )
                }
                // It is asked very often.
                "Cargo.toml" => {
                    let manifest = String::from_utf8_lossy(&original);
                    manifest.replacen(
                        "[profile.dev.package]\n",
                        "[profile.dev.package]\nmutants-switch = { opt-level = 3 }\n",
                        1,
                    )
                }
                "retry-core/src/lib.rs" | "retry-fleet/src/lib.rs" => {
                    format!("{ALLOWED}{}", String::from_utf8_lossy(&original))
                }
                _ => {
                    let Some(text) = texts.get(&*path) else {
                        self.put(&path, &original)?;
                        continue;
                    };
                    text.clone()
                }
            };
            self.put(&path, changed.as_bytes())?;
        }
        self.put("mutants-switch/Cargo.toml", SWITCH_MANIFEST.as_bytes())?;
        self.put("mutants-switch/lib.rs", SWITCH.as_bytes())
    }

    /// Removes what was copied before, and is not in the workspace any more.
    fn remove_others(&self, paths: &[String]) -> Result<(), String> {
        let copied = fs::read_to_string(self.root.join("copied")).unwrap_or_default();
        for path in copied.lines().filter(|path| !paths.iter().any(|known| known == path)) {
            _ = fs::remove_file(self.root.join(path));
        }
        self.put("copied", paths.join("\n").as_bytes())
    }

    /// Cargo adds the switch to the lock file of the copy. So it is replaced only if the original has changed.
    fn lock(&self, original: &[u8]) -> Result<(), String> {
        if fs::read(self.root.join("Cargo.lock.original")).is_ok_and(|copied| copied == original) {
            return Ok(());
        }
        self.put("Cargo.lock", original)?;
        self.put("Cargo.lock.original", original)
    }

    fn put(&self, path: &str, content: &[u8]) -> Result<(), String> {
        let place = self.root.join(path);
        if fs::read(&place).is_ok_and(|copied| copied == content) {
            return Ok(());
        }
        let parent = place.parent().expect("it has a folder");
        fs::create_dir_all(parent).and_then(|()| fs::write(&place, content)).map_err(|error| format!("{path}: {error}"))
    }
}

/// Returns the text of a rewritten file.
pub(crate) fn text(file: &Rewritten) -> String {
    file.chunks.iter().map(|chunk| &*chunk.text).collect()
}

/// Returns the files of the workspace that git knows, or would add.
fn tracked(workspace: &Path) -> Result<Vec<String>, String> {
    let output = Command::new("git")
        .current_dir(workspace)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .map_err(|error| format!("git: {error}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).split('\0').filter(|path| !path.is_empty()).map(Into::into).collect())
}
