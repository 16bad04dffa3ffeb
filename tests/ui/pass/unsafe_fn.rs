use retry_core::{RetryInfo, retryable};

#[derive(Debug, RetryInfo)]
struct Failed;

unsafe fn read(place: *const u32) -> u32 {
    unsafe { *place }
}

#[retryable(strategy = "standard")]
async unsafe fn get(place: &u32) -> Result<u32, Failed> {
    Ok(unsafe { read(place) })
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(unsafe { get(&7) }).unwrap(), 7);
}
