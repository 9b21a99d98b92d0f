#[tfrt_kernel("my.apply")]
fn apply(f: Function<(i32,), (i32,)>, body: &Region<(), (f32, f32)>, rest: Vec<FunctionRef>) {}
