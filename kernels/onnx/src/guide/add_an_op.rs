//! Add an ONNX op.
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
