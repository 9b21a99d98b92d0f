#[automatically_derived]
impl ::tfrt::__private::Resource for Counter {
    const SCOPE: ::tfrt::__private::ResourceScope = ::tfrt::__private::ResourceScope::Request;
    fn create(
        _: &::tfrt::__private::ExecutionContext,
    ) -> ::tfrt::__private::Result<Self, ::tfrt::__private::Error> {
        ::tfrt::__private::Ok(<Self as ::tfrt::__private::Default>::default())
    }
}
