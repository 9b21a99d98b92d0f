#[automatically_derived]
impl ::tfrt::__private::Value for Point {
    const MLIR_TYPE: &'static str = "!my.point";
    const IS_MUTABLE: bool = false;
    const INDEX_CELL: ::tfrt::__private::Option<
        fn() -> &'static ::tfrt::__private::IndexCell<Self>,
    > = {
        static CELL: ::tfrt::__private::IndexCell<Point> = ::tfrt::__private::IndexCell::new();
        ::tfrt::__private::Some(|| &CELL)
    };
    const PASSING: ::tfrt::__private::Passing<Self> = ::tfrt::__private::Passing::<
        Self,
    >::COPIED;
    const DISPLAY: ::tfrt::__private::Option<::tfrt::__private::DisplayFn<Self>> = ::tfrt::__private::Some(
        <Self as ::tfrt::__private::Display>::fmt,
    );
}
#[automatically_derived]
impl ::tfrt::__private::Immutable for Point {}
