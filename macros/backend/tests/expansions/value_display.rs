#[derive(Clone, Copy, Value)]
#[value("!my.point", display, copied)]
struct Point {
    x: f32,
    y: f32,
}
