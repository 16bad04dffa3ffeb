//! Builds the book from the pages of the repository, by mdBook. `book/build` runs it.

mod links;
mod pages;

use mdbook_driver::MDBook;
use mdbook_driver::config::Config;
use pages::Pages;
use std::error::Error;
use std::path::{Path, PathBuf, absolute};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let (Some(output), Some(playground), None) = (arguments.next(), arguments.next(), arguments.next()) else {
        return Err("expected two arguments: the directory of the book, and that of the built playground".into());
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let pages = Pages::read(root)?;
    build(root, &pages, &playground, absolute(&output)?)?;
    match links::check(&output)? {
        Ok(links) => println!("a book of {} pages, whose {links} links lead to what exists", pages.paths.len()),
        Err(broken) => return Err(broken.join("\n").into()),
    }
    Ok(())
}

/// Builds the book in a directory, whose old files are removed.
fn build(root: &Path, pages: &Pages, playground: &Path, output: PathBuf) -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let source = directory.path().join("src");
    fs::create_dir(&source)?;
    fs::write(source.join("SUMMARY.md"), &pages.summary)?;
    for page in &pages.paths {
        let copy = source.join(page);
        copy.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(copy, pages.converted(page)?)?;
    }
    // mdBook copies files that are not pages.
    for file in fs::read_dir(playground)? {
        let file = file?;
        fs::copy(file.path(), source.join("playground").join(file.file_name()))?;
    }
    fs::copy(root.join("book/book.css"), directory.path().join("book.css"))?;
    let mut config = Config::from_disk(root.join("book/book.toml"))?;
    config.build.build_dir = output;
    MDBook::load_with_config(directory.path(), config)?.build()?;
    Ok(())
}
