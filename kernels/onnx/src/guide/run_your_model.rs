//! Run your model.
//!
//! ```text
//! tfrt import model.onnx                                            what it is, and whether everything is supported
//! tfrt run model.onnx --input image=cat.npy                         a line for each output
//! tfrt run model.onnx --input image=cat.npy --output scores=s.npy   outputs to files
//! ```
//!
//! Inputs are NumPy files (`.npy`, `.npz`), safetensors, or single ONNX tensors (`.pb`);
//! `weights.npz#KEY` names one of several tensors. An input must have the element type that the
//! model expects; `--cast-inputs` converts it.
//!
//! `tfrt import --report r.json model.onnx` writes what the model is, how it was rewritten, how
//! much memory a run takes, and every node that needs an unsupported feature. Sizes are expressions
//! over the symbols of the inputs: an output may be `f32 [batch, past+step, 768]`.
//! `tfrt inspect model.onnx` shows documentation, metadata, and what an import ignores.
//!
//! A run that does not end within `--deadline 2s` is cancelled, and the error names the node that
//! ran.
//!
//! # Is it right?
//! `tfrt test-model DIR` runs a model on recorded inputs and compares the outputs with recorded
//! ones: DIR has `model.onnx` and folders `test_data_set_0` with `input_0.pb` and `output_0.pb`, in
//! the format of the ONNX project. It compares element types and shapes exactly, and numbers within
//! a tolerance.
//!
//! # How fast is it?
//! ```text
//! tfrt bench model.onnx                               the times of a run, and of each kernel
//! tfrt bench --threads 2 model.onnx                   on two threads
//! tfrt bench --per-node model.onnx                    each node by itself
//! tfrt trace trace.json model.onnx                    a run, for a viewer of traces
//! ```
//!
//! Inputs that are not given are random numbers of the declared shape; `--dim length=128` is the
//! value of a symbolic dimension.
//!
//! # How soon is it ready?
//! A model is imported, rewritten and packed each time. A program is imported once, and may have
//! its weights in the order in which the kernels read them:
//!
//! ```text
//! tfrt import --pack --weights net.safetensors -o net.bef model.onnx
//! tfrt run net.bef --input image=cat.npy
//! ```
//!
//! Packed weights are for processors with registers of the same width; the program has the plain
//! ones for all others. Its files are mapped, so that a run begins before all weights are read.
//! `--dim batch=8` gives a symbolic dimension a number, and `--shape image=1x3x224x224` replaces a
//! declared shape: rewrites and packing can rely on more, and other inputs are refused.
//! `--stage ops` writes the program before the rewrites, and `--stage onnx` the nodes of the model.
//!
//! # How much memory does it take?
//! Commands map the file of a model: its weights take no memory before they are used. Do not change
//! the file while a command runs. When a program is loaded, the weights of convolutions and
//! products are packed in the order in which the processor reads them, and the memory of the
//! originals is given back. Filters of 3 x 3 with many channels are kept twice from the second run
//! on. Otherwise, a model takes little more memory than its weights and the results of its ops.
//!
//! # Rewrites
//! Before a model runs, ops are replaced by others that compute the same with less work: batch
//! norms become part of weights, biases, sums and activations part of convolutions and products,
//! and activations, normalizations and attention are recognised in their pieces. Attention reads
//! heads inside of the rows of products, and sums and embeddings are computed where their rows are
//! normalized. Regions of convolutions work on images whose channels come last. What lies between
//! the dequantization and the quantization of tensors is computed on integers.
//!
//! `tfrt import --explain model.onnx` lists each rewrite with its node. `--no-fuse` switches off
//! all of them, `--no-fuse=RULE,…` some, and `--layout as-is` those that move channels: see
//! [`RewriteRule`](tfrt_import::rewrite::RewriteRule).
//!
//! # Programs of StableHLO
//! JAX and other systems write their programs as text of StableHLO, which the same commands take:
//!
//! ```text
//! python -c 'import jax, jax.numpy as jnp; print(jax.jit(jnp.sin).lower(jnp.ones(3)).as_text())' > sin.mlir
//! tfrt import sin.mlir                                 what it is, and whether everything is supported
//! tfrt run sin.mlir --input arg0=x.npy                 a line for each result
//! tfrt test-model cases/abs.mlir                       a program that compares what it computes
//! ```
//!
//! A file is a program of StableHLO if its text has functions `func.func` and ops `stablehlo.…` or
//! `chlo.…`. The function `@main` is run; its inputs are called `arg0`, `arg1`, …, its outputs
//! `result0`, `result1`, …. In a case, calls such as `@check.expect_close` compare two values;
//! `tfrt run` leaves them out. From Rust, the crate `tfrt_stablehlo` reads such texts. Portable
//! artifacts, which are bytecode, are not read: write the module as text.
//!
//! # From Rust
//! A [`Model`](crate::Model) is a file that was read and checked. Importing it creates a program,
//! and a [`Session`](tfrt_import::Session) runs the program on a host whose kernels include those
//! of `tfrt_kernels` and `tfrt_model_ops`:
//!
//! ```no_run
//! # use std::sync::Arc;
//! use tfrt_import::{Limits, Session};
//! use tfrt_onnx::Model;
//! use tfrt_onnx::import::Options;
//! # fn example(host: &Arc<tfrt_host::HostContext>, image: tfrt_tensor::DenseHostTensor) -> Result<(), Box<dyn std::error::Error>> {
//!
//! let model = Model::open("model.onnx", &Limits::default())?;
//! let session = Session::load(model.import(&Options::default())?, "model.onnx", host)?;
//! let outputs = session.run(&[("image", image)])?;
//! # Ok(())
//! # }
//! ```
//!
//! The first run with inputs of given types and shapes prepares the program for them; later runs of
//! the same kind reuse it. Shapes need not be known in advance: every op computes those of its
//! results. The session keeps the memory of intermediate results for later runs; a run in a request
//! of its own, with a deadline or limits, uses it if
//! [`Session::request`](tfrt_import::Session::request) began the request.
//!
//! [`Session::start`](tfrt_import::Session::start) begins a run that is awaited later, by a thread
//! or a task of any executor. [`Session::bind`](tfrt_import::Session::bind) checks inputs once, and
//! runs on what they contain as often as you like.
//!
//! # Files that you do not trust
//! All contents of a file are checked before they are used. A file can refer only to other files in
//! its own folder, and every size that it chooses has a limit, which an option of `tfrt import`
//! raises: see [`Limits`](tfrt_import::Limits).
