//! The objects to copy: the files of a folder, repeated under different keys until there are enough objects.

use crate::noun::noun;
use crate::service::Objects;
use crate::text::{mebibytes, thousands};
use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders to skip.
const SKIPPED: [&str; 2] = ["target", ".git"];

/// The maximum size of a bucket in bytes. Both buckets are held in memory.
const MAX_TOTAL: u64 = 512 << 20;

/// One object of the source bucket.
#[derive(Debug)]
pub(crate) struct Object {
    /// The name of the object. All keys have the prefix `data/`, and a number makes each key unique.
    pub(crate) key: String,
    content: Bytes,
    checksum: [u8; 32],
}

impl Object {
    /// Returns true if the content that arrived is that of this object.
    pub(crate) fn is_intact(&self, arrived: Option<&Bytes>) -> bool {
        arrived.is_some_and(|content| checksum(content) == self.checksum)
    }
}

/// The objects to copy.
#[derive(Debug)]
pub(crate) struct Source {
    /// The folder of the files.
    folder: PathBuf,
    /// The number of files read.
    files: usize,
    /// The objects, in the order of their keys; at least one.
    pub(crate) objects: Vec<Object>,
    /// The total size of all objects.
    bytes: u64,
}

impl Source {
    /// Reads the files of a folder in the order of their names, no more than needed, and makes `count` objects of them.
    pub(crate) fn load(folder: &Path, count: usize) -> Result<Self, SourceError> {
        let folder = folder.canonicalize().map_err(|error| SourceError::Unreadable(folder.to_owned(), error))?;
        if !folder.is_dir() {
            return Err(SourceError::Unreadable(folder, io::ErrorKind::NotADirectory.into()));
        }
        let files = read_files(&folder, count)?;
        if files.is_empty() {
            return Err(SourceError::Empty(folder));
        }
        let objects: Vec<Object> =
            files.iter().cycle().take(count).enumerate().map(|(n, file)| file.object(n)).collect();
        let bytes = objects.iter().map(|object| object.content.len() as u64).sum();
        if bytes > MAX_TOTAL {
            return Err(SourceError::TooLarge(folder));
        }
        Ok(Self { folder, files: files.len(), objects, bytes })
    }

    /// Returns the keys of all objects.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.objects.iter().map(|object| object.key.clone()).collect()
    }

    /// Returns the content of the source bucket.
    pub(crate) fn contents(&self) -> Objects {
        self.objects.iter().map(|object| (object.key.clone(), object.content.clone())).collect()
    }
}

/// Writes what there is to copy, as part of a sentence.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}, {} MiB in total, from {} {} of the folder {}{}",
            thousands(self.objects.len()),
            noun(self.objects.len(), "object", "objects"),
            mebibytes(self.bytes),
            thousands(self.files),
            noun(self.files, "file", "files"),
            self.folder.file_name().unwrap_or(self.folder.as_os_str()).display(),
            if self.files < self.objects.len() { ", repeated" } else { "" },
        )
    }
}

/// One file of the folder.
struct File {
    /// The path within the folder, reduced to characters that need no escaping in a URL.
    name: String,
    content: Bytes,
    checksum: [u8; 32],
}

impl File {
    fn object(&self, number: usize) -> Object {
        Object {
            key: format!("data/{number:06}-{}", self.name),
            content: self.content.clone(),
            checksum: self.checksum,
        }
    }
}

/// Reads at most `count` files of a folder and its subfolders. Links are not followed.
fn read_files(folder: &Path, count: usize) -> Result<Vec<File>, SourceError> {
    let mut files = Vec::new();
    let mut total = 0;
    let mut stack = vec![folder.to_owned()];
    while let Some(path) = stack.pop() {
        if files.len() == count {
            break;
        }
        let unreadable = |error| SourceError::Unreadable(path.clone(), error);
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            // The file was removed after its folder was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(error)),
        };
        if metadata.is_dir() {
            let entries = fs::read_dir(&path).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(unreadable)?;
            let kept = entries.iter().filter(|entry| !SKIPPED.iter().any(|name| entry.file_name() == *name));
            let mut paths: Vec<PathBuf> = kept.map(fs::DirEntry::path).collect();
            paths.sort_unstable_by(|a, b| b.cmp(a));
            stack.append(&mut paths);
        } else if metadata.is_file() {
            total += metadata.len();
            if total > MAX_TOTAL {
                return Err(SourceError::TooLarge(folder.to_owned()));
            }
            let content = match fs::read(&path) {
                Ok(content) => Bytes::from(content),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(unreadable(error)),
            };
            let name = plain_name(path.strip_prefix(folder).unwrap_or(&path));
            files.push(File { name, checksum: checksum(&content), content });
        }
    }
    Ok(files)
}

fn plain_name(path: &Path) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
    path.to_string_lossy().chars().map(plain).collect()
}

fn checksum(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}

/// Why a folder can't be copied.
#[derive(Debug)]
pub(crate) enum SourceError {
    /// The folder, or an entry of it, can't be read.
    Unreadable(PathBuf, io::Error),
    /// The folder has no files.
    Empty(PathBuf),
    /// The objects would exceed [`MAX_TOTAL`].
    TooLarge(PathBuf),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, error) => write!(
                f,
                "invalid value for '[FOLDER]': '{}' can't be read ({error}); it must be an existing folder whose files \
                and subfolders can be read",
                path.display()
            ),
            Self::Empty(folder) => write!(
                f,
                "invalid value for '[FOLDER]': '{}' has no files to copy; it must have at least one file outside {}",
                folder.display(),
                SKIPPED.join(" and ")
            ),
            Self::TooLarge(folder) => write!(
                f,
                "invalid value for '[FOLDER]': the objects of '{}' exceed {} MiB, and they are held in memory; \
                name a smaller folder, or fewer objects with '--objects <N>'",
                folder.display(),
                MAX_TOTAL >> 20
            ),
        }
    }
}

impl std::error::Error for SourceError {}
