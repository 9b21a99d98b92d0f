#[derive(Value)]
#[value("!my.pair", crate = my::tfrt)]
struct Pair<A, const N: usize>([A; N]);
