#[tfrt_kernel("my.add", crate = crate::runtime)]
pub(crate) fn r#add(r#type: i32) -> i32 {
    r#type
}
