#[automatically_derived]
impl<
    T: Element + ::tfrt::__private::Send + ::tfrt::__private::Sync + 'static,
> ::tfrt::__private::Value for Buffer<T> {
    const MLIR_TYPE: &'static str = "!my.buffer";
    const IS_MUTABLE: bool = true;
}
