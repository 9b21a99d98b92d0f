//! Add an ONNX op.
//!
//! 1. *The op.* If no op of ours does it yet, write one in `tfrt_model_ops`: a function with
//!    `#[tfrt_op("nn.Name")]`. Its attributes are canonical, so that it knows nothing of ONNX's
//!    history. Operands that may be omitted come as a slice, and the attribute `slots` says which
//!    are there.
//! 2. *The lowering.* Add the ONNX op to the table of `import/ops.rs`: to `SAME` if it is one of
//!    ours, operands and all; else to `SPECIAL`, with an arm that reads its attributes and emits
//!    calls.
//! 3. *Older versions.* Where an attribute became an operand, add a line to the table of
//!    `import/adapt.rs`. Other changes are cases of the arm, by the version that the model means.
//! 4. *Tests.* Add the behaviour to `tests/running.rs`, and run the recorded cases of the ONNX
//!    project:
//!
//! ```text
//! pip download onnx==1.22.0 --no-deps && unzip -q onnx-1.22.0-*.whl -d onnx
//! tfrt test-model --filter my_op onnx/onnx/backend/test/data/node
//! ```
//!
//! What ONNX says of an op, its versions, numbers of operands and attributes, is in
//! `opset/schemas.txt` already: nodes are checked against it before they are lowered.
