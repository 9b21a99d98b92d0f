//! Those of `tfrt_dht.*` and `tfrt_dht_sync.*`: dense tensors of elements of types ui16 and ui64.

use tfrt::ods::{AttrKind, OpDef, OpTraits};

use super::{CHAIN, HOST_BUFFER, PLAIN, SHAPE, SIZES, TENSOR, attribute, mutated, operand, result};

tfrt::declare_op! {
    /// Makes a tensor whose elements are not set yet.
    #[names(
        "tfrt_dht.create_uninitialized_tensor.ui16.0",
        "tfrt_dht.create_uninitialized_tensor.ui16.1",
        "tfrt_dht.create_uninitialized_tensor.ui16.2",
        "tfrt_dht.create_uninitialized_tensor.ui16.3",
        "tfrt_dht.create_uninitialized_tensor.ui16.4",
        "tfrt_dht.create_uninitialized_tensor.ui64.0",
        "tfrt_dht.create_uninitialized_tensor.ui64.1",
        "tfrt_dht.create_uninitialized_tensor.ui64.2",
        "tfrt_dht.create_uninitialized_tensor.ui64.3",
        "tfrt_dht.create_uninitialized_tensor.ui64.4",
    )]
    const CREATE: OpDef = OpDef {
        attributes: &[attribute("shape", SIZES)],
        results: &[result("tensor", TENSOR)],
        assembly_format: Some("typed($shape)"),
        ..OpDef::new("")
    };
}

tfrt::declare_op! {
    #[names(
        "tfrt_dht_sync.create_uninitialized_tensor.ui16.0",
        "tfrt_dht_sync.create_uninitialized_tensor.ui16.1",
        "tfrt_dht_sync.create_uninitialized_tensor.ui16.2",
        "tfrt_dht_sync.create_uninitialized_tensor.ui16.3",
        "tfrt_dht_sync.create_uninitialized_tensor.ui16.4",
        "tfrt_dht_sync.create_uninitialized_tensor.ui64.0",
        "tfrt_dht_sync.create_uninitialized_tensor.ui64.1",
        "tfrt_dht_sync.create_uninitialized_tensor.ui64.2",
        "tfrt_dht_sync.create_uninitialized_tensor.ui64.3",
        "tfrt_dht_sync.create_uninitialized_tensor.ui64.4",
    )]
    const SYNC_CREATE: OpDef = OpDef {
        traits: OpTraits::SYNC,
        assembly_format: Some("typed($shape) attr-dict"),
        ..CREATE
    };
}

tfrt::declare_op! {
    /// Sets all elements to one value.
    #[names(
        "tfrt_dht.fill_tensor_with_constant.ui16",
        "tfrt_dht.fill_tensor_with_constant.ui64",
    )]
    const FILL: OpDef = OpDef {
        operands: &[mutated("tensor", TENSOR), operand("in_chain", CHAIN)],
        attributes: &[attribute("value", AttrKind::Any)],
        results: &[result("out_chain", CHAIN)],
        assembly_format: Some("operands typed($value)"),
        ..OpDef::new("")
    };
}

tfrt::declare_op! {
    /// Sets the elements, each to its value.
    #[names(
        "tfrt_dht.set_tensor_with_constant_values.ui16",
        "tfrt_dht.set_tensor_with_constant_values.ui64",
    )]
    const SET: OpDef = OpDef {
        operands: &[mutated("tensor", TENSOR), operand("in_chain", CHAIN)],
        attributes: &[attribute("values", AttrKind::Array(&AttrKind::Any))],
        results: &[result("out_chain", CHAIN)],
        assembly_format: Some("operands typed($values)"),
        ..OpDef::new("")
    };
}

tfrt::declare_op! {
    #[names(
        "tfrt_dht_sync.set_tensor_with_constant_values.ui16",
        "tfrt_dht_sync.set_tensor_with_constant_values.ui64",
    )]
    const SYNC_SET: OpDef = OpDef {
        operands: &[mutated("tensor", TENSOR)],
        results: &[],
        traits: OpTraits::SYNC,
        assembly_format: Some("operands typed($values) attr-dict"),
        ..SET
    };
}

tfrt::declare_op! {
    /// Makes a tensor of a buffer, without copying it.
    #[names(
        "tfrt_dht.make_tensor.ui16",
        "tfrt_dht.make_tensor.ui64",
    )]
    const MAKE: OpDef = OpDef {
        operands: &[
            operand("buffer", HOST_BUFFER),
            operand("shape", SHAPE),
            operand("in_chain", CHAIN),
        ],
        results: &[result("tensor", TENSOR), result("out_chain", CHAIN)],
        assembly_format: PLAIN,
        ..OpDef::new("")
    };
}

tfrt::declare_op! {
    #[names(
        "tfrt_dht_sync.make_tensor.ui16",
        "tfrt_dht_sync.make_tensor.ui64",
    )]
    const SYNC_MAKE: OpDef = OpDef {
        operands: &[operand("buffer", HOST_BUFFER), operand("shape", SHAPE)],
        results: &[result("tensor", TENSOR)],
        traits: OpTraits::SYNC,
        ..MAKE
    };
}

tfrt::declare_op! {
    /// Whether two tensors are equal.
    #[names(
        "tfrt_dht.tensor_equal.ui16",
        "tfrt_dht.tensor_equal.ui64",
    )]
    const EQUAL: OpDef = OpDef {
        operands: &[
            operand("a", TENSOR),
            operand("b", TENSOR),
            operand("in_chain", CHAIN),
        ],
        results: &[result("are_equal", "i1"), result("out_chain", CHAIN)],
        assembly_format: PLAIN,
        ..OpDef::new("")
    };
}
