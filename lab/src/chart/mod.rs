//! Pictures of results, as SVG.
//!
//! A picture is text that depends on its reports alone. It has its own style sheet, with colours for light and for dark
//! backgrounds. The colours are those of Okabe and Ito, except for a red that is farther from their orange, and dashes
//! and markers tell the lines apart, too. A strategy has the same look in all pictures. Other crates share one, and have
//! their names beside it.

mod bars;
mod copy;
mod curves;
mod dots;
mod faults;
mod fleets;
mod lines;
mod looks;
pub(crate) mod parts;
mod pictures;
mod recovery;
mod retry_loop;
mod rows;
pub(crate) mod scale;
mod svg;
mod tail;
mod timeline;
pub(crate) mod worlds;

pub use parts::Missing;
pub use pictures::{TABLES_ONLY, picture, schedule};
pub use recovery::recovery;
pub use retry_loop::retry_loop;
pub use svg::inlined;
pub use timeline::timeline;

#[cfg(test)]
mod tests;
