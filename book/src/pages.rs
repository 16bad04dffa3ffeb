//! Pages as mdBook gets them: links lead to pages of the book, and pictures are part of the page.

use lab::chart::inlined;
use pulldown_cmark::{Event, Options, Parser, Tag};
use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// The pages of the book, in a repository.
#[derive(Debug)]
pub(crate) struct Pages {
    root: PathBuf,
    /// Their paths from the root of the repository.
    pub(crate) paths: BTreeSet<PathBuf>,
    /// The table of contents, with links from the root.
    pub(crate) summary: String,
}

impl Pages {
    /// Reads the table of contents.
    pub(crate) fn read(root: &Path) -> Result<Self, Box<dyn Error>> {
        let summary = text(&root.join("book/SUMMARY.md"))?;
        let paths = links(&summary).map(|link| resolved(Path::new("book"), &link.target)).collect();
        Ok(Self { root: root.to_owned(), paths, summary: summary.replace("](../", "](") })
    }

    /// Returns a page with what mdBook needs instead of what a code host shows:
    ///
    /// - a picture, instead of a link to its file, so that it follows the theme of the page
    /// - a piece of HTML, instead of a link to it
    /// - the README of a folder, instead of a link to the folder
    /// - the path of a file, instead of a link to a file that is not a page
    pub(crate) fn converted(&self, page: &Path) -> Result<String, Box<dyn Error>> {
        let text = text(&self.root.join(page))?;
        let folder = page.parent().unwrap_or(Path::new(""));
        let (mut converted, mut done) = (String::new(), 0);
        for link in links(&text) {
            let path = resolved(folder, link.target.split('#').next().unwrap_or_default());
            let place = || format!("{}: {}", page.display(), path.display());
            let instead = self.instead(&link, &path).map_err(|error| format!("{}: {error}", place()))?;
            if let Some(instead) = instead {
                converted.push_str(&text[done..link.range.start]);
                converted.push_str(&instead);
                done = link.range.end;
            }
        }
        converted.push_str(&text[done..]);
        Ok(converted)
    }

    /// Returns what takes the place of a link, unless it stays.
    fn instead(&self, link: &Link<'_>, path: &Path) -> Result<Option<String>, Box<dyn Error>> {
        let Link { text: shown, target, .. } = link;
        if target.starts_with('#') || target.contains(':') || self.paths.contains(path) {
            return Ok(None);
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        Ok(Some(match extension {
            Some("svg") => {
                let picture = inlined(&text(&self.root.join(path))?);
                let label = shown.replace(['\n', '"'], " ");
                // Arrow keys scroll the picture, and do not turn the page.
                format!(
                    "<div class=\"picture\" tabindex=\"0\" role=\"group\" aria-label=\"{label}\" \
                     onkeydown=\"event.stopPropagation()\">\n{picture}</div>"
                )
            }
            Some("html") => text(&self.root.join(path))?,
            _ if self.paths.contains(&path.join("README.md")) => {
                format!("[{shown}]({}/README.md)", target.trim_end_matches('/'))
            }
            _ => {
                fs::metadata(self.root.join(path))?;
                let path = path.display().to_string();
                if shown.trim_matches('`') == path { (*shown).to_owned() } else { format!("{shown} (`{path}`)") }
            }
        }))
    }
}

/// A link, or an image.
struct Link<'a> {
    range: Range<usize>,
    text: &'a str,
    target: String,
}

fn links(page: &str) -> impl Iterator<Item = Link<'_>> {
    Parser::new_ext(page, Options::ENABLE_TABLES).into_offset_iter().filter_map(move |(event, range)| {
        let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event else { return None };
        let source = &page[range.clone()];
        // Not an address between angle brackets.
        let text = source.trim_start_matches('!').strip_prefix('[')?;
        let text = &text[..text.rfind("](")?];
        Some(Link { range, text, target: dest_url.into_string() })
    })
}

/// Returns the path of a link's target from the root of the repository.
fn resolved(folder: &Path, target: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for component in folder.join(target).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            component => path.push(component),
        }
    }
    path
}

fn text(file: &Path) -> Result<String, Box<dyn Error>> {
    Ok(fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?)
}

#[cfg(test)]
mod tests {
    use super::Pages;
    use std::fs;
    use std::path::Path;

    #[test]
    fn a_page_gets_pictures_and_links_that_work_in_the_book() {
        let root = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let file = root.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        file("book/SUMMARY.md", "- [A](../docs/a.md)\n- [B](../b/README.md)\n");
        file("docs/x.svg", "<svg class=\"retry-picture\"/>\n");
        file("docs/form.html", "<form></form>\n");
        file("lab/src/main.rs", "");
        file("docs/a.md", "[B](../b/README.md#c), [b](../b), [web](https://example.com), [here](#a), `[code](none)`\n");
        let converted = || {
            let pages = Pages::read(root.path()).unwrap();
            assert_eq!(pages.summary, "- [A](docs/a.md)\n- [B](b/README.md)\n");
            pages.converted(Path::new("docs/a.md")).map_err(|error| error.to_string())
        };
        let kept =
            "[B](../b/README.md#c), [b](../b/README.md), [web](https://example.com), [here](#a), `[code](none)`\n";
        assert_eq!(converted().unwrap(), kept);
        file(
            "docs/a.md",
            "![the\npicture](x.svg)\n\n[form](form.html)\n\n[the lab](../lab/src/main.rs), [`lab/src/main.rs`](../lab/src/main.rs)\n",
        );
        let converted_page = converted().unwrap();
        let (picture, rest) = converted_page.split_once("</div>").unwrap();
        assert!(picture.starts_with("<div class=\"picture\"") && picture.contains("aria-label=\"the picture\""));
        assert!(picture.contains("<svg class=\"retry-picture\" style="), "{picture}");
        assert_eq!(rest, "\n\n<form></form>\n\n\nthe lab (`lab/src/main.rs`), `lab/src/main.rs`\n");
        file("docs/a.md", "[gone](../gone.rs)\n");
        assert!(converted().unwrap_err().starts_with("docs/a.md: gone.rs: "));
    }
}
