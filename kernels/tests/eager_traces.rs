//! What traces say of ops. Tracing is a matter of the whole process, so this test has one of its
//! own.

use std::sync::{Arc, Mutex};

use tfrt::core::EagerContext;
use tfrt::host::tracing::{self, Activity, TracingLevel, TracingSink};
use tfrt::prelude::*;

tfrt::link!(tfrt_kernels);

/// Doubles the elements, and tells metadata by its results.
#[tfrt_op("traces_test.Double", metadata = same)]
fn double(x: &[f32], #[out] y: &mut [f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = 2.0 * x;
    }
}

fn same(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

/// Keeps the names of scopes.
#[derive(Debug, Default)]
struct Names(Mutex<Vec<String>>);

impl TracingSink for Names {
    fn begin(&self, activity: Activity<'_>) {
        self.0.lock().unwrap().push(activity.name.into_owned());
    }

    fn end(&self) {}

    fn event(&self, _name: &str) {}
}

#[test]
fn a_trace_tells_the_metadata_of_results_however_an_op_knows_it() -> Result<()> {
    let names = Arc::new(Names::default());
    tracing::set_sink(Some(Arc::clone(&names) as _));
    tracing::enable(TracingLevel::Debug);
    let host = HostContext::builder().registry(Arc::new(KernelRegistry::from_link()?));
    let eager = EagerContext::builder(host.build()).build()?;
    let x = eager.tensor([1.0_f32, 2.0])?;
    let later = eager.op("tfrt_test.async.noop_no_md")?.call(&[&x])?;
    for x in [&x, &later] {
        let y = eager.op("traces_test.Double")?.call(&[x])?;
        assert_eq!(eager.to_vec::<f32>(&y)?, [2.0, 4.0]);
    }
    {
        let (_outer, _inner) = (eager.name_scope("net"), eager.name_scope("layer1"));
        eager.op("traces_test.Double")?.call(&[&x])?;
    }
    tracing::disable();
    tracing::set_sink(None);
    let names = names.0.lock().unwrap();
    let dispatched: Vec<&String> = names
        .iter()
        .filter(|name| name.starts_with("RunDispatchFunction: traces_test.Double"))
        .collect();
    let text = "RunDispatchFunction: traces_test.Double#op_name=traces_test.Double,Inputs=(f32 \
                [2]),Results=(f32 [2]),Attributes=OpAttrs is empty\n#";
    let in_scope = text.replace("Inputs=", "long_name=net/layer1,Inputs=");
    assert_eq!(dispatched, [text, text, &in_scope]);
    Ok(())
}
