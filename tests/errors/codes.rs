//! The codes that several clients report.

mod grpc;
mod mysql;
mod redis;
mod sqlite;
mod sqlstate;
mod storage;
