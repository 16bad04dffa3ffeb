//! The numbers that the example programs print.

#[path = "../../examples/bulk_copy/noun.rs"]
mod noun;

use noun::noun;

#[test]
fn only_one_thing_has_the_singular() {
    assert_eq!(noun(1_u32, "object", "objects"), "object");
    assert_eq!(noun(1_usize, "process", "processes"), "process");
    for count in [0_u32, 2, 11, 21, 101] {
        assert_eq!(noun(count, "retry", "retries"), "retries", "{count}");
    }
}
