//! The links of the built book lead to what exists, and to one place each.

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// Checks all links and anchors of the pages in a directory, and returns the number of links, or a line for each mistake.
pub(crate) fn check(directory: &Path) -> io::Result<Result<usize, Vec<String>>> {
    let mut pages = BTreeMap::new();
    let mut files = BTreeSet::new();
    read(directory, Path::new(""), &mut files, &mut pages)?;
    let (mut checked, mut broken) = (0, Vec::new());
    for (page, content) in &pages {
        broken.extend(content.twice.borrow().iter().map(|id| format!("{}: #{id} is given twice", page.display())));
        for link in content.links.borrow().iter() {
            if link.contains(':') {
                continue;
            }
            checked += 1;
            let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = target.split('?').next().unwrap_or_default();
            let target = if target.is_empty() { page.clone() } else { resolved(page, target) };
            let is_there = match pages.get(&target) {
                Some(content) => anchor.is_empty() || content.ids.borrow().contains(anchor),
                None => files.contains(&target),
            };
            if !is_there {
                broken.push(format!("{}: {link} leads to nothing", page.display()));
            }
        }
    }
    Ok(if broken.is_empty() { Ok(checked) } else { Err(broken) })
}

/// Reads all files below a folder.
fn read(
    directory: &Path,
    folder: &Path,
    files: &mut BTreeSet<PathBuf>,
    pages: &mut BTreeMap<PathBuf, Content>,
) -> io::Result<()> {
    for entry in fs::read_dir(directory.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            read(directory, &path, files, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            pages.insert(path, Content::of(&fs::read_to_string(entry.path())?));
        } else {
            files.insert(path);
        }
    }
    Ok(())
}

fn resolved(page: &Path, target: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for component in page.parent().unwrap_or(Path::new("")).join(target).components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::ParentDir => {
                path.pop();
            }
            // The root of the book, as of the page for addresses that do not exist.
            Component::RootDir => path.clear(),
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
    if target.ends_with('/') {
        path.push("index.html");
    }
    path
}

/// The anchors and the links of a page.
#[derive(Debug, Default)]
struct Content {
    ids: RefCell<BTreeSet<String>>,
    twice: RefCell<Vec<String>>,
    links: RefCell<Vec<String>>,
}

impl Content {
    fn of(page: &str) -> Self {
        let tokenizer = Tokenizer::new(Self::default(), TokenizerOpts::default());
        let input = BufferQueue::default();
        input.push_back(page.into());
        let _ = tokenizer.feed(&input);
        tokenizer.end();
        tokenizer.sink
    }
}

impl TokenSink for Content {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let Token::TagToken(Tag { kind: TagKind::StartTag, name, attrs, .. }) = token else {
            return TokenSinkResult::Continue;
        };
        for attribute in attrs {
            let value = attribute.value.to_string();
            match &*attribute.name.local {
                "id" if self.ids.borrow().contains(&value) => self.twice.borrow_mut().push(value),
                "id" => drop(self.ids.borrow_mut().insert(value)),
                "href" | "src" => self.links.borrow_mut().push(value),
                _ => {}
            }
        }
        match &*name {
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "style" => TokenSinkResult::RawData(RawKind::Rawtext),
            _ => TokenSinkResult::Continue,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use std::fs;

    #[test]
    fn broken_links_and_anchors_that_are_given_twice_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let page = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        fs::create_dir(directory.path().join("docs")).unwrap();
        page(
            "index.html",
            "<a href=\"docs/a.html#b1\">a</a> <img src=\"x.svg\"> <a href=\"https://example.com\">b</a>",
        );
        page("x.svg", "");
        page(
            "docs/a.html",
            "<a id=\"b1\"></a> <a href=\"../index.html?highlight=b1\">c</a> <script>'<a href=\"no\">'</script>",
        );
        assert_eq!(check(directory.path()).unwrap(), Ok(3));
        page("docs/a.html", "<a id=\"b2\"></a> <a id=\"b2\"></a> <a href=\"#b3\">c</a> <a href=\"b.html\">d</a>");
        let mistakes = [
            "docs/a.html: #b2 is given twice",
            "docs/a.html: #b3 leads to nothing",
            "docs/a.html: b.html leads to nothing",
            "index.html: docs/a.html#b1 leads to nothing",
        ];
        assert_eq!(check(directory.path()).unwrap(), Err(mistakes.map(str::to_owned).to_vec()));
    }
}
