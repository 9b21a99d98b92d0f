/// Returns what is in a slot.
#[tfrt_kernel("my.look", reads = "slot", kernel_set = Look)]
pub fn look(slot: i32, #[attr] fallback: Option<&str>) -> i32 {
    slot
}
