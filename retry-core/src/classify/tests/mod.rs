//! Headers against an independent reading of the RFCs.

mod header_grammar;
mod header_oracle;
