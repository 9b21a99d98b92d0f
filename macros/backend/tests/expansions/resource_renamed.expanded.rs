#[automatically_derived]
impl self::runtime::__private::Resource for Counter {
    const SCOPE: self::runtime::__private::ResourceScope = self::runtime::__private::ResourceScope::Client;
    fn create(
        _: &self::runtime::__private::ExecutionContext,
    ) -> self::runtime::__private::Result<Self, self::runtime::__private::Error> {
        self::runtime::__private::Ok(
            <Self as self::runtime::__private::Default>::default(),
        )
    }
}
