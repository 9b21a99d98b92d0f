//! The target of ONNX models, their seeds and their mutator.

use std::sync::{Arc, OnceLock};

use prost::Message;
use tfrt::async_value::live_values;
use tfrt::host::HostContext;
use tfrt::prelude::KernelRegistry;
use tfrt_import::Session;
use tfrt_import::rewrite::{Folding, RewriteRules};
use tfrt_onnx::Model;
use tfrt_onnx::import::Options;
use tfrt_onnx::proto::ModelProto;

use crate::data_files::DataFormat;
use crate::mutate::Random;
use crate::mutate_data;

/// The models that the tests of the importer build, and how they damage them.
#[path = "../../../kernels/onnx/tests/common/mod.rs"]
mod common;

use common::{damage, models};

tfrt::link!(tfrt_model_ops);

/// Returns a host that computes constants, on the calling thread.
fn host() -> &'static Arc<HostContext> {
    static HOST: OnceLock<Arc<HostContext>> = OnceLock::new();
    HOST.get_or_init(|| {
        let kernels = KernelRegistry::from_link().expect("kernels have names of their own");
        HostContext::builder().registry(Arc::new(kernels)).build()
    })
}

/// Reads a model, and imports, rewrites and loads it, as it is and fused. Returns `true` if it is
/// imported.
///
/// # Panics
/// If a value was left behind.
pub fn import(bytes: &[u8]) -> bool {
    let limits = damage::limits();
    let Ok(model) = Model::from_bytes(bytes.to_vec(), &limits) else {
        return false;
    };
    let mut options = Options::default();
    options.limits = limits.clone();
    let Ok(program) = model.import(&options) else {
        return false;
    };
    let host = host();
    let num_live = live_values();
    for is_fused in [false, true] {
        let mut program = program.clone();
        if is_fused {
            let folding = Folding::new(host, &limits).expect("a host with a device");
            program.rewrite_and_fold(&RewriteRules::default(), folding);
        }
        // An error is as good as a program that is ready.
        let _ = Session::load_as_is(program, "model.onnx", host);
    }
    let num_left = live_values().wrapping_sub(num_live);
    assert_eq!(num_left, 0, "the model left values behind");
    true
}

/// Returns the models of at most `max_bytes` that the tests of the importer build.
///
/// # Panics
/// If there are none.
#[must_use]
pub fn seeds(max_bytes: usize) -> Vec<Vec<u8>> {
    let models = models::all(2).into_iter();
    let files = models.map(|sample| sample.model().encode_to_vec());
    let files: Vec<Vec<u8>> = files.filter(|file| file.len() <= max_bytes).collect();
    assert!(files.len() > 5, "the models are small");
    files
}

/// Returns a model with something changed: what it says, or its bytes. `other` is another model, to
/// take pieces of.
#[must_use]
pub fn mutate(bytes: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let decoded = ModelProto::decode(bytes).ok();
    match decoded.filter(|_| random.below(4) != 0) {
        Some(mut model) => {
            for _ in 0..=random.below(3) {
                damage::change(&mut model, &mut |bound| random.below(bound));
            }
            model.encode_to_vec()
        }
        None => mutate_data::mutate(DataFormat::Example, bytes, other, random),
    }
}
