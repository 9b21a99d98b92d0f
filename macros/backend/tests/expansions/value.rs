#[derive(Value)]
#[value("!my.buffer", mutable)]
pub struct Buffer<T: Element>(Vec<T>);
