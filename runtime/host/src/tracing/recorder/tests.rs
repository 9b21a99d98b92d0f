use std::sync::Barrier;

use serde_json::Value;
use tfrt_support::Place;

use super::*;
use crate::{ExecutionContext, HostContext, RequestContextBuilder};

/// A file whose tokens are lines.
#[derive(Debug)]
struct Lines;

impl LocationSource for Lines {
    fn place(&self, token: u32) -> Place {
        Place::file("a \"b\".mlir", token, 1)
    }

    fn debug_name(&self, token: u32) -> Option<String> {
        (token == 1).then(|| "first\n".to_owned())
    }
}

fn ctx(source: Arc<Lines>) -> ExecutionContext {
    let request = RequestContextBuilder::new(HostContext::builder().build()).build();
    ExecutionContext::new(request).for_callee(source)
}

/// Runs a kernel of invocation 7 located in line `token`.
fn run(recorder: &TraceRecorder, token: u32, operands: &[u32], results: &[u32]) {
    run_of(&Arc::new(Lines), recorder, token, operands, results);
}

fn run_of(
    source: &Arc<Lines>,
    recorder: &TraceRecorder,
    token: u32,
    operands: &[u32],
    results: &[u32],
) {
    recorder.begin(Activity {
        name: format!("kernel {token}").into(),
        kernel: Some(KernelRun {
            name: "test.kernel",
            ctx: &ctx(Arc::clone(source)),
            location_token: token,
            invocation: 7,
            stream: Some(3),
            operands,
            results,
        }),
    });
    recorder.end();
}

fn scope(name: &'static str) -> Activity<'static> {
    Activity {
        name: name.into(),
        kernel: None,
    }
}

fn events(recorder: &TraceRecorder) -> Vec<Value> {
    let mut file = Vec::new();
    recorder.write(&mut file).expect("memory is writable");
    let mut file: Value = serde_json::from_slice(&file).expect("the file is JSON");
    match file["traceEvents"].take() {
        Value::Array(events) => events,
        other => panic!("expected a list of events, found {other}"),
    }
}

fn of_kind<'a>(events: &'a [Value], ph: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["ph"] == ph).collect()
}

#[test]
fn a_kernel_has_its_place_its_stream_and_its_name() {
    let recorder = TraceRecorder::new();
    run(&recorder, 1, &[], &[0]);
    let events = events(&recorder);
    let [slice] = of_kind(&events, "X")[..] else {
        panic!("expected one slice, found {events:?}");
    };
    assert_eq!(slice["name"], "kernel 1");
    assert_eq!(slice["cat"], "kernel");
    assert_eq!(
        slice["args"],
        serde_json::json!({"location": "a \"b\".mlir:1:1", "op": "first\n", "stream": 3, "invocation": 7})
    );
}

#[test]
fn arrows_lead_from_producers_to_consumers() {
    let recorder = TraceRecorder::new();
    run(&recorder, 1, &[], &[0]);
    run(&recorder, 2, &[0, 0], &[1]);
    run(&recorder, 3, &[0, 1, 9], &[2]);
    let events = events(&recorder);
    let mut slice = "";
    let mut ends = Vec::new();
    for event in &events {
        match event["ph"].as_str() {
            Some("X") => slice = event["name"].as_str().expect("slices have names"),
            Some(ph @ ("s" | "f")) => ends.push((event["id"].as_u64(), ph, slice)),
            _ => {}
        }
    }
    ends.sort_unstable();
    let (id, ends): (Vec<_>, Vec<_>) = ends
        .into_iter()
        .map(|(id, ph, slice)| (id, (ph, slice)))
        .unzip();
    assert_eq!(id, [Some(1), Some(1), Some(2), Some(2), Some(3), Some(3)]);
    assert_eq!(
        ends,
        [
            ("f", "kernel 2"),
            ("s", "kernel 1"),
            ("f", "kernel 3"),
            ("s", "kernel 1"),
            ("f", "kernel 3"),
            ("s", "kernel 2"),
        ]
    );
}

#[test]
fn no_arrow_leads_back_in_time() {
    let recorder = TraceRecorder::new();
    run(&recorder, 1, &[0], &[1]);
    // With a coarse clock both could start at the same time.
    let before = recorder.now_ns();
    while recorder.now_ns() == before {}
    run(&recorder, 2, &[], &[0]);
    let events = events(&recorder);
    assert_eq!(of_kind(&events, "s").len() + of_kind(&events, "f").len(), 0);
}

#[test]
fn scopes_nest_and_open_ones_end_with_the_file() {
    let recorder = TraceRecorder::new();
    recorder.begin(scope("outer"));
    recorder.begin(scope("inner"));
    recorder.event("half way");
    recorder.end();
    let events = events(&recorder);
    let [outer, inner] = of_kind(&events, "X")[..] else {
        panic!("expected two slices, found {events:?}");
    };
    let time = |event: &Value, member: &str| event[member].as_f64().expect("times are numbers");
    assert!(time(outer, "ts") <= time(inner, "ts"));
    // Sums of microseconds with three decimals are accurate to far less than a nanosecond.
    let end = |event| time(event, "ts") + time(event, "dur");
    assert!(end(inner) <= end(outer) + 0.0001);
    assert_eq!(of_kind(&events, "i")[0]["name"], "half way");
}

#[test]
fn every_thread_has_a_track_with_its_name() {
    let recorder = TraceRecorder::new();
    let both = Barrier::new(2);
    std::thread::scope(|threads| {
        for name in ["left", "right"] {
            let work = || {
                both.wait();
                recorder.begin(scope("work"));
                recorder.end();
            };
            let builder = std::thread::Builder::new().name(name.to_owned());
            builder
                .spawn_scoped(threads, work)
                .expect("there are threads to be had");
        }
    });
    let events = events(&recorder);
    let tracks = of_kind(&events, "M");
    let mut names: Vec<_> = tracks
        .iter()
        .filter(|event| event["name"] == "thread_name")
        .map(|event| event["args"]["name"].as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, [Some("left"), Some("right")]);
    let slices = of_kind(&events, "X");
    assert_ne!(slices[0]["tid"], slices[1]["tid"]);
}

#[test]
fn samples_make_a_curve() {
    let recorder = TraceRecorder::new();
    recorder.counter("pending tasks", 2);
    recorder.counter("pending tasks", 5);
    let events = events(&recorder);
    let values: Vec<_> = of_kind(&events, "C")
        .iter()
        .map(|event| event["args"]["value"].as_u64())
        .collect();
    assert_eq!(values, [Some(2), Some(5)]);
}

#[test]
fn what_comes_too_late_is_counted() {
    let recorder = TraceRecorder::with_capacity(1);
    recorder.begin(scope("kept"));
    recorder.begin(scope("too late"));
    recorder.end();
    recorder.end();
    assert_eq!(recorder.num_dropped(), 1);
    let events = events(&recorder);
    let slices = of_kind(&events, "X");
    assert_eq!(slices.len(), 1);
    assert_eq!(slices[0]["name"], "kept");
}

#[test]
fn what_was_recorded_goes_with_the_recorder() {
    let recorder = TraceRecorder::new();
    let source = Arc::new(Lines);
    run_of(&source, &recorder, 1, &[], &[0]);
    assert_eq!(Arc::strong_count(&source), 2);
    drop(recorder);
    assert_eq!(Arc::strong_count(&source), 1);
}

#[test]
fn spans_are_on_tracks_of_their_own() {
    let recorder = TraceRecorder::new();
    let (map, batch): (Arc<str>, Arc<str>) = ("stage 1: map".into(), "stage 0: batch".into());
    let first = Instant::now();
    recorder.span(&map, Instant::now());
    recorder.span(&batch, first);
    let events = events(&recorder);
    let spans = |ph: &str| -> Vec<(String, u64, f64)> {
        let events = of_kind(&events, ph).into_iter();
        let facts = events.map(|event| {
            assert_eq!(event["cat"], "stage");
            let name = event["name"].as_str().expect("it has a name").to_owned();
            let id = event["id"].as_u64().expect("it has a number");
            (name, id, event["ts"].as_f64().expect("it has a time"))
        });
        facts.collect()
    };
    let (begins, ends) = (spans("b"), spans("e"));
    // In order of time.
    let names: Vec<(&str, u64)> = begins.iter().map(|(name, id, _)| (&**name, *id)).collect();
    assert_eq!(names, [("stage 0: batch", 1), ("stage 1: map", 2)]);
    for (begin, end) in begins.iter().zip(&ends) {
        assert_eq!((&begin.0, begin.1), (&end.0, end.1));
        assert!(begin.2 <= end.2, "{begin:?}, {end:?}");
    }
}

#[test]
fn work_of_devices_is_on_a_track_for_each_stream() {
    let recorder = TraceRecorder::new();
    let (first, second): (Arc<str>, Arc<str>) = ("GPU:0".into(), "GPU:1".into());
    let at = |micros| Instant::now() + std::time::Duration::from_micros(micros);
    let (early, late) = (at(10), at(2000));
    recorder.device_work(&second, "tf.Relu", late, late);
    recorder.device_work(
        &first,
        "tf.MatMul",
        late,
        late + std::time::Duration::from_micros(5),
    );
    recorder.device_work(&first, "tf.AddV2", early, late);
    let events = events(&recorder);
    let works = of_kind(&events, "X");
    let names: Vec<_> = works.iter().map(|work| work["name"].as_str()).collect();
    assert_eq!(
        names,
        [Some("tf.AddV2"), Some("tf.MatMul"), Some("tf.Relu")]
    );
    assert_eq!(works[1]["dur"].as_f64(), Some(5.0));
    let tracks: Vec<_> = works.iter().map(|work| work["tid"].as_u64()).collect();
    assert_eq!(tracks, [Some(2), Some(2), Some(3)]);
    let named = of_kind(&events, "M");
    let named = named
        .iter()
        .filter_map(|event| event["args"]["name"].as_str());
    let named: Vec<_> = named.filter(|name| name.starts_with("GPU")).collect();
    assert_eq!(named, ["GPU:0", "GPU:1"]);
}
