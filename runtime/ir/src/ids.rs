//! The ids of the parts of a program.

tfrt_support::define_id! {
    /// An op of a [`Module`](crate::Module).
    pub struct OpId("op");
}

tfrt_support::define_id! {
    /// A block of a [`Module`](crate::Module).
    pub struct BlockId("block");
}

tfrt_support::define_id! {
    /// A region of a [`Module`](crate::Module).
    pub struct RegionId("region");
}

tfrt_support::define_id! {
    /// A value of a [`Module`](crate::Module).
    pub struct ValueId("value");
}

tfrt_support::define_id! {
    /// The name of an op or of an attribute in a [`Module`](crate::Module); equal ids mean equal
    /// names.
    pub struct NameId("name");
}

tfrt_support::define_id! {
    /// A type of a [`Module`](crate::Module); equal ids mean equal types.
    pub struct TypeId("type");
}

tfrt_support::define_id! {
    /// An attribute of a [`Module`](crate::Module); equal ids mean equal attributes.
    pub struct AttrId("attr");
}

tfrt_support::define_id! {
    /// A location of a [`Module`](crate::Module); equal ids mean equal locations.
    pub struct LocationId("loc");
}
