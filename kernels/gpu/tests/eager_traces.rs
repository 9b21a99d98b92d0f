//! Ops on a GPU in traces: a row for each device. The sink is that of the process, so this is a
//! process of its own.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use tfrt::core::EagerContext;
use tfrt::host::HostContext;
use tfrt::host::tracing::{self, Activity, TracingLevel, TracingSink};
use tfrt::prelude::KernelRegistry;
use tfrt_gpu::host_device::{HostDevice, Options};
use tfrt_gpu::platform::Gpu;

tfrt::link!(tfrt_kernels);

/// Work of a device: its row, its name, and its time.
type Work = (String, String, Instant, Instant);

#[derive(Debug, Default)]
struct DeviceWork(Mutex<Vec<Work>>);

impl TracingSink for DeviceWork {
    fn begin(&self, _activity: Activity<'_>) {}

    fn end(&self) {}

    fn event(&self, _name: &str) {}

    fn device_work(&self, track: &Arc<str>, name: &str, start: Instant, end: Instant) {
        let work = (track.to_string(), name.to_owned(), start, end);
        self.0.lock().unwrap().push(work);
    }
}

#[test]
fn ops_are_on_the_row_of_their_device() {
    let kernels = Arc::new(KernelRegistry::from_link().expect("names are unique"));
    let host = HostContext::builder().registry(kernels).build();
    Gpu::install(&host, HostDevice::open(Options::default()));
    let gpus = ["GPU:0", "GPU:1"].map(|name| host.device(name).unwrap().0);
    let [first, second] = gpus;
    let builder = EagerContext::builder(Arc::clone(&host));
    let eager = builder.device(first).device(second).build().unwrap();
    let x = eager.tensor([1.0_f32, -2.0]).unwrap();
    let run = |device: &str, op: &str| {
        let _scope = eager.device(device).unwrap();
        let y = eager.op(op).unwrap().ready().unwrap().call(&[&x]).unwrap();
        eager.to_vec::<f32>(&y).unwrap()
    };
    run("GPU:0", "tf.Relu");

    let sink = Arc::new(DeviceWork::default());
    tracing::set_sink(Some(Arc::clone(&sink) as _));
    tracing::enable(TracingLevel::Debug);
    let begin = Instant::now();
    run("GPU:0", "tf.Tanh");
    run("GPU:1", "tf.Relu");
    run("GPU:0", "tf.Softmax");
    host.quiesce().unwrap();
    tracing::disable();
    tracing::set_sink(None);
    run("GPU:0", "tf.Relu");
    host.quiesce().unwrap();

    let mut work = std::mem::take(&mut *sink.0.lock().unwrap());
    work.sort_by_key(|&(.., start, _)| start);
    let rows = |row: &str| -> Vec<&str> {
        let of_row = work.iter().filter(|(track, ..)| track == row);
        of_row.map(|(_, name, ..)| &**name).collect()
    };
    assert_eq!(rows("GPU:0"), ["tf.Tanh", "tf.Softmax"]);
    assert_eq!(rows("GPU:1"), ["tf.Relu"]);
    let now = Instant::now();
    for (_, name, start, end) in &work {
        assert!(begin <= *start && start <= end && *end <= now, "{name}");
    }
}
