#[automatically_derived]
impl<
    A: my::tfrt::__private::Send + my::tfrt::__private::Sync + 'static,
    const N: usize,
> my::tfrt::__private::Value for Pair<A, N> {
    const MLIR_TYPE: &'static str = "!my.pair";
    const IS_MUTABLE: bool = false;
}
#[automatically_derived]
impl<
    A: my::tfrt::__private::Send + my::tfrt::__private::Sync + 'static,
    const N: usize,
> my::tfrt::__private::Immutable for Pair<A, N> {}
