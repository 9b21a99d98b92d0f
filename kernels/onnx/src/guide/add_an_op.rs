//! Add an ONNX op.
//!
//! # An op of ONNX
//!
//! 1. *The op.* If none of our ops implements it yet, write one in `tfrt_model_ops`: a function
//!    with `#[tfrt_op("nn.Name")]`. Its attributes are canonical and independent of ONNX's history.
//!    Optional operands are passed as a slice, and the attribute `slots` identifies the present
//!    ones.
//! 2. *The lowering.* Add the ONNX op to the table of `import/ops.rs`: to `SAME` if one of our ops
//!    has the same operands; otherwise to `SPECIAL`, with an arm that reads its attributes and
//!    emits calls.
//! 3. *Older versions.* If an attribute became an operand, add a line to the table of
//!    `import/adapt.rs`. Other changes are cases of the arm, depending on the version that the
//!    model uses.
//! 4. *Tests.* Add the behaviour to `tests/running.rs`, and run the recorded cases of the ONNX
//!    project:
//!
//! ```text
//! pip download onnx==1.22.0 --no-deps && unzip -q onnx-1.22.0-*.whl -d onnx
//! tfrt test-model --filter my_op onnx/onnx/backend/test/data/node
//! ```
//!
//! `opset/schemas.txt` already contains ONNX's declaration of each op: its versions, numbers of
//! operands and attributes. Nodes are checked against it before they are lowered.
//!
//! # An op of your own
//!
//! Models have ops of other domains than ONNX's own. To import them, write them in a crate of
//! yours, with [`#[onnx_op]`](macro@crate::onnx_op). On a function with `#[tfrt_op]`, it makes a
//! node a call of this op, with the operands of the node and its attributes, by name:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt_onnx::onnx_op;
//!
//! /// Returns the elements times `alpha`.
//! #[onnx_op(domain = "com.example", name = "Frob", since = 1)]
//! #[tfrt_op("my.Frob", metadata = same)]
//! fn frob(x: &[f32], #[attr(default = 1.0)] alpha: f32, #[out] y: &mut [f32]) {
//!     for (y, x) in y.iter_mut().zip(x) {
//!         *y = alpha * x;
//!     }
//! }
//!
//! fn same(x: &TensorMetadata, _alpha: f32) -> TensorMetadata {
//!     x.clone()
//! }
//! # use std::sync::Arc;
//! # use prost::Message;
//! # use tfrt_import::{Limits, Session};
//! # use tfrt_onnx::Model;
//! # use tfrt_onnx::import::Options;
//! # use tfrt_onnx::proto::{
//! #     AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto,
//! # };
//! # let value = |name: &str| ValueInfoProto { name: Some(name.into()), ..Default::default() };
//! # let alpha = AttributeProto { name: Some("alpha".into()), f: Some(3.0), ..Default::default() };
//! # let node = NodeProto {
//! #     domain: Some("com.example".into()),
//! #     op_type: Some("Frob".into()),
//! #     input: vec!["x".into()],
//! #     output: vec!["y".into()],
//! #     attribute: vec![alpha],
//! #     ..Default::default()
//! # };
//! # let file = ModelProto {
//! #     ir_version: Some(10),
//! #     opset_import: vec![OperatorSetIdProto {
//! #         domain: Some("com.example".into()),
//! #         version: Some(1),
//! #     }],
//! #     graph: Some(GraphProto {
//! #         node: vec![node],
//! #         input: vec![value("x")],
//! #         output: vec![value("y")],
//! #         ..Default::default()
//! #     }),
//! #     ..Default::default()
//! # };
//! # let bytes = file.encode_to_vec();
//!
//! # tfrt::link!(tfrt_kernels);
//! let model = Model::from_bytes(bytes, &Limits::default())?; // Frob(x), with alpha = 3
//! let program = model.import(&Options::default())?;
//! let kernels = Arc::new(KernelRegistry::from_link()?);
//! let host = HostContext::builder().registry(kernels).build();
//! let session = Session::load(program, "model.onnx", &host)?;
//! let y = session.run(&[("x", DenseHostTensor::vector(&[1.0_f32, 2.0])?)])?;
//! assert_eq!(*y[0].elements::<f32>()?, [3.0, 6.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Types of attributes, and what happens to operands that a node omits, are described at
//! [`OnnxLowering::Op`](crate::OnnxLowering::Op).
//!
//! On any other function, `#[onnx_op]` makes it the importer of such nodes. It takes an
//! [`OnnxCall`](crate::OnnxCall), reads the attributes, emits ops, and returns the results:
//!
//! ```
//! use tfrt_import::ImportError;
//! use tfrt_import::program::{Attr, Value};
//! use tfrt_onnx::{OnnxCall, onnx_op};
//!
//! /// `Bend(x)` is `x * tanh(x)`, and since version 2 of the domain `x * sigmoid(x)`.
//! #[onnx_op(domain = "com.example", name = "Bend", since = 1)]
//! #[onnx_op(domain = "com.example", name = "Bend", since = 2)]
//! fn import_bend(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
//!     call.check_attrs(&[])?;
//!     let curve = if call.since() == 1 { "nn.Tanh" } else { "nn.Sigmoid" };
//!     let x = call.operand(0)?;
//!     let bent = call.emit(curve, &[x], &[], 1);
//!     Ok(call.emit("tf.Mul", &[x, bent[0]], &[], 1))
//! }
//! ```
//!
//! The version of the domain that a model imports selects the op: that with the greatest `since`
//! not above it. A function of the model with the name of an op comes before the op.
//!
//! Like kernels, such ops are collected when the program is linked: name the crate in the binary,
//! as with `tfrt::link!`. A kernel library brings its ops along, too:
//! `tfrt run --kernel-library libmy_ops.so model.onnx`, and likewise `import`, `bench` and
//! `test-model`; from Rust, [`OnnxOps::of_kernels`](crate::OnnxOps::of_kernels). This does not hold
//! for importer functions, which must be linked into the program: an import that needs one of a
//! library fails with an error that says so.
