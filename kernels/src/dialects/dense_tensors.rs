//! Declarations of `tfrt_dht.*` and `tfrt_dht_sync.*`: dense tensors with elements of types ui16
//! and ui64.

use tfrt::prelude::*;

tfrt::declare_op! {
    /// Creates a tensor whose elements are not set yet.
    "tfrt_dht_sync.create_uninitialized_tensor.{T}.{RANK}",
    T = [ui16, ui64],
    RANK = [0, 1, 2, 3, 4],
    sync,
    attrs(shape: &[i64]),
    results(tensor: "!t.tensor"),
    format = "typed($shape) attr-dict"
}

tfrt::declare_op! {
    /// Sets all elements to one value.
    "tfrt_dht.fill_tensor_with_constant.{T}",
    T = [ui16, ui64],
    operands(tensor: mut "!t.tensor", in_chain: Chain),
    attrs(value: any),
    results(out_chain: Chain),
    format = "operands typed($value)"
}

tfrt::declare_op! {
    /// Sets each element to its value.
    "tfrt_dht_sync.set_tensor_with_constant_values.{T}",
    T = [ui16, ui64],
    sync,
    operands(tensor: mut "!t.tensor"),
    attrs(values: [any]),
    format = "operands typed($values) attr-dict"
}

tfrt::declare_op! {
    /// Creates a tensor from a buffer, without copying it.
    "tfrt_dht.make_tensor.{T}",
    T = [ui16, ui64],
    operands(buffer: "!ht.host_buffer", shape: "!ts.shape", in_chain: Chain),
    results(tensor: "!t.tensor", out_chain: Chain),
    format = "operands attr-dict"
}

tfrt::declare_op! {
    /// Creates a tensor from a buffer, without copying it.
    "tfrt_dht_sync.make_tensor.{T}",
    T = [ui16, ui64],
    sync,
    operands(buffer: "!ht.host_buffer", shape: "!ts.shape"),
    results(tensor: "!t.tensor"),
    format = "operands attr-dict"
}

tfrt::declare_op! {
    /// Returns whether two tensors are equal.
    "tfrt_dht.tensor_equal.{T}",
    T = [ui16, ui64],
    operands(a: "!t.tensor", b: "!t.tensor", in_chain: Chain),
    results(are_equal: bool, out_chain: Chain),
    format = "operands attr-dict"
}
