use tfrt::prelude::*;

#[derive(Value)]
#[value("!my.log", mutable)]
struct Log(Vec<i64>);

#[tfrt_kernel("my.len", non_strict)]
fn len(log: AsyncValueRef<Log>) -> i64 {
    log.get().map_or(0, |log| log.0.len() as i64)
}

fn main() {
    let value = AnyRef::available(Log(Vec::new()));
    let _ = value.as_result::<Log>();
}
