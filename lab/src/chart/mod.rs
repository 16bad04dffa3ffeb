//! Pictures of results, as SVG.
//!
//! A picture is text that depends on its report alone. It has its own style sheet, with colours for light and for dark
//! backgrounds. The colours are those of Okabe and Ito, and dashes and markers tell the lines apart, too.

mod curves;
mod dots;
mod lines;
mod looks;
mod parts;
mod pictures;
mod rows;
mod scale;
mod svg;

pub use parts::Missing;
pub use pictures::{picture, schedule};

#[cfg(test)]
mod tests;
