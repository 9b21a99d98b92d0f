//! Models on one to four threads: the same bits, and nothing is left behind.
//!
//! There is one test, as live values are counted for the whole process.

mod common;

use std::sync::Arc;

use common::models::{self, Sample};
use prost::Message;
use tfrt::async_value::live_values;
use tfrt::host::HostContext;
use tfrt::prelude::KernelRegistry;
use tfrt::queue::create_queue;
use tfrt_import::rewrite::{Folding, RewriteRules};
use tfrt_import::{Limits, Session};
use tfrt_onnx::Model;
use tfrt_onnx::import::Options;
use tfrt_tensor::DenseHostTensor;

tfrt::link!(tfrt_kernels);
tfrt::link!(tfrt_model_ops);

/// Extents are multiples of this, so that loops are divided between threads.
const SCALE: usize = 32;

/// Imports and runs a model, three times. Returns the bytes of its outputs.
fn run(sample: &Sample, host: &Arc<HostContext>, is_fused: bool) -> Vec<Vec<u8>> {
    let model = Model::from_bytes(sample.model().encode_to_vec(), &Limits::default());
    let mut program = model.unwrap().import(&Options::default()).unwrap();
    if is_fused {
        let folding = Folding::new(host, &Limits::default()).unwrap();
        program.rewrite_and_fold(&RewriteRules::default(), folding);
    }
    let session = Session::load_as_is(program, "model.onnx", host).unwrap();
    let inputs = sample.builder.tensors();
    let bytes = |tensor: &DenseHostTensor| tensor.buffer().read().unwrap().to_vec();
    // Weights are packed before the first run or after it, which changes no bit.
    let runs = [(); 3].map(|()| {
        let outputs = session.run(&inputs).unwrap();
        outputs.iter().map(bytes).collect::<Vec<_>>()
    });
    assert_eq!(runs[0], runs[1], "{}", sample.name);
    assert_eq!(runs[0], runs[2], "{}", sample.name);
    runs.into_iter().next().unwrap()
}

#[test]
fn results_have_the_same_bits_on_one_to_four_threads_and_no_values_leak() {
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let num_live = live_values();
    for sample in models::all(SCALE) {
        for is_fused in [false, true] {
            let mut of_one = None;
            for queue in ["s", "mstd:1", "mstd:2", "mstd:3", "mstd:4"] {
                let host = HostContext::builder().registry(Arc::clone(&kernels));
                let host = host.queue(create_queue(queue).unwrap()).build();
                let found = run(&sample, &host, is_fused);
                host.quiesce().unwrap();
                drop(host);
                let expected = of_one.get_or_insert_with(|| found.clone());
                let name = sample.name;
                assert!(found == *expected, "{name} on {queue}, fused: {is_fused}");
                assert_eq!(
                    live_values(),
                    num_live,
                    "{name} on {queue}, fused: {is_fused}"
                );
            }
        }
    }
}
