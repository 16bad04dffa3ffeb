//! The codes that several clients report.

mod grpc;
mod redis;
mod sqlstate;
