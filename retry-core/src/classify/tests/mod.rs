//! Tests that compare the header parser with an independent one.

mod header_grammar;
mod header_oracle;
