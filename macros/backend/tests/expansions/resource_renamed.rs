#[derive(Default, Resource)]
#[resource(client, crate = self::runtime)]
struct Counter(u64);
