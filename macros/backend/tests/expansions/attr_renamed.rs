#[derive(Attr)]
#[attr(crate = self::runtime)]
enum Side {
    Left,
}
