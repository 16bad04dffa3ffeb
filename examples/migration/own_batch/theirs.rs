//! A batch of which the table refuses a part, in a loop of its own.

use migration::Table;
use std::time::Duration;
use tokio::time::sleep;

async fn put(table: &Table, mut entries: Vec<u32>) -> Result<(), Vec<u32>> {
    for attempt in 0..5 {
        entries = table.put(&entries).await;
        if entries.is_empty() {
            return Ok(());
        }
        sleep(Duration::from_millis(10 << attempt)).await;
    }
    Err(entries)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let table = Table::default();
    let sent = put(&table, (0..20).collect()).await;
    println!("sent: {}, in {} requests", sent.is_ok(), table.requests());
}
