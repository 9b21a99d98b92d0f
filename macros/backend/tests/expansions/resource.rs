#[derive(Default, Resource)]
#[resource(request)]
struct Counter(u64);
