//! Trace files against the description of their format, "Trace Event Format", as the viewers of
//! Chrome and Perfetto read it: what each kind of event must have, and what belongs together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use tfrt_tests::golden::require_status;
use tfrt_tests::{golden, programs, tool};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("a_trace_tells_all_there_is", a_trace_tells_all_there_is),
        Trial::test("a_wrong_trace_is_noticed", a_wrong_trace_is_noticed),
        Trial::test(
            "an_asynchronous_kernel_lasts_until_its_result_is_there",
            an_asynchronous_kernel_lasts_until_its_result_is_there,
        ),
    ];
    for program in [
        "05-chains.mlir",
        "07-calls.mlir",
        "10-repeat.mlir",
        "13-parallel.mlir",
        "14-async.mlir",
        "15-blocking.mlir",
        "16-errors.mlir",
        "19-cancel.mlir",
        "20-sync.mlir",
        "21-native.mlir",
    ] {
        for queue in ["s", "mstd:3,2"] {
            let name = format!("trace_of_{program}_under_{queue}");
            trials.push(Trial::test(name, move || {
                let file = record(&golden::path(program), queue)?;
                Ok(Trace::read(&file)?.check()?)
            }));
        }
    }
    trials
}

/// Runs a program and returns the trace of that.
fn record(program: &Path, queue: &str) -> Result<Value, Failed> {
    let name = program.file_stem().and_then(|stem| stem.to_str());
    let name = format!(
        "{}-{}.json",
        name.unwrap_or("trace"),
        queue.replace([':', ','], "-")
    );
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let directory = program.parent().unwrap_or(Path::new("."));
    let mut command = tool::command("tfrt", directory)?;
    command.arg("trace").arg(&path);
    command.args(["--work_queue_type", queue]).arg(program);
    require_status(0, &tool::run(command)?)?;
    Ok(serde_json::from_slice(&fs::read(&path)?)?)
}

/// A trace, sorted by what its events are.
#[derive(Debug, Default)]
struct Trace {
    /// The name of each thread.
    threads: BTreeMap<u64, String>,
    processes: BTreeSet<u64>,
    slices: Vec<Slice>,
    /// By their numbers: where arrows start, and where they end.
    starts: BTreeMap<u64, Point>,
    ends: BTreeMap<u64, Point>,
    /// By their numbers: names, starts and ends of spans of asynchronous kernels.
    spans: BTreeMap<u64, (String, u64, Option<u64>)>,
    /// Names of curves.
    counters: BTreeSet<String>,
    num_instants: usize,
}

#[derive(Debug)]
struct Slice {
    name: String,
    category: String,
    tid: u64,
    start_ns: u64,
    end_ns: u64,
    args: Value,
}

/// A time on a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Point {
    tid: u64,
    at_ns: u64,
}

impl Trace {
    /// Reads what the description demands of each event by itself.
    fn read(file: &Value) -> Result<Self, String> {
        let mut trace = Self::default();
        let unit = file["displayTimeUnit"].as_str();
        require(matches!(unit, Some("ms" | "ns")), || {
            format!("`displayTimeUnit` is {unit:?}")
        })?;
        let events = file["traceEvents"]
            .as_array()
            .ok_or("expected a list `traceEvents`")?;
        let mut last_ns: BTreeMap<u64, u64> = BTreeMap::new();
        for event in events {
            let within = |error| format!("{error} in {event}");
            trace.read_event(event).map_err(within)?;
            // Spans are on tracks of their own.
            if event["cat"] != "pending"
                && let (Some(tid), Ok(at_ns)) = (event["tid"].as_u64(), ns(event, "ts"))
            {
                let last = last_ns.insert(tid, at_ns).unwrap_or(0);
                require(last <= at_ns, || format!("time goes back at {event}"))?;
            }
        }
        Ok(trace)
    }

    fn read_event(&mut self, event: &Value) -> Result<(), String> {
        let phase = text(event, "ph")?;
        self.processes.insert(number(event, "pid")?);
        let name = text(event, "name")?;
        match phase {
            "M" => {
                let given = text(&event["args"], "name")?;
                match name {
                    "process_name" => {}
                    "thread_name" => {
                        let before = self.threads.insert(number(event, "tid")?, given.to_owned());
                        require(before.is_none(), || "a second name of a thread".into())?;
                    }
                    other => return Err(format!("`{other}` is no metadata that we know")),
                }
            }
            "X" => {
                let start_ns = ns(event, "ts")?;
                self.slices.push(Slice {
                    name: name.to_owned(),
                    category: text(event, "cat")?.to_owned(),
                    tid: number(event, "tid")?,
                    start_ns,
                    end_ns: start_ns + ns(event, "dur")?,
                    args: event["args"].clone(),
                });
            }
            "s" | "f" => {
                // Events of one arrow have category and name in common.
                require(text(event, "cat")? == "value" && name == "value", || {
                    "an arrow of another category or name".into()
                })?;
                let point = Point {
                    tid: number(event, "tid")?,
                    at_ns: ns(event, "ts")?,
                };
                let ends = if phase == "s" {
                    &mut self.starts
                } else {
                    // Without this, the end is bound to the slice that begins next.
                    require(text(event, "bp")? == "e", || "another binding point".into())?;
                    &mut self.ends
                };
                let before = ends.insert(number(event, "id")?, point);
                require(before.is_none(), || "a second end of this kind".into())?;
            }
            "b" => {
                require(text(event, "cat")? == "pending", || {
                    "a span of another category".into()
                })?;
                number(event, "tid")?;
                let span = (name.to_owned(), ns(event, "ts")?, None);
                let before = self.spans.insert(number(event, "id")?, span);
                require(before.is_none(), || "a second start of a span".into())?;
            }
            "e" => {
                let span = self.spans.get_mut(&number(event, "id")?);
                let (begun, _, end_ns) = span.ok_or("a span ends before it starts")?;
                require(begun == name && text(event, "cat")? == "pending", || {
                    "the two ends of a span differ".into()
                })?;
                let before = end_ns.replace(ns(event, "ts")?);
                require(before.is_none(), || "a second end of a span".into())?;
            }
            "i" => {
                ns(event, "ts")?;
                number(event, "tid")?;
                require(matches!(text(event, "s")?, "g" | "p" | "t"), || {
                    "an unknown scope".into()
                })?;
                self.num_instants += 1;
            }
            "C" => {
                ns(event, "ts")?;
                let args = event["args"].as_object().ok_or("expected members")?;
                require(
                    !args.is_empty() && args.values().all(Value::is_number),
                    || "a curve takes numbers".into(),
                )?;
                self.counters.insert(name.to_owned());
            }
            other => return Err(format!("`{other}` is no phase that we write")),
        }
        Ok(())
    }

    /// Checks what must hold between events.
    fn check(&self) -> Result<(), String> {
        require(self.processes.len() == 1, || {
            format!("processes: {:?}", self.processes)
        })?;
        let mut open: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for slice in &self.slices {
            require(self.threads.contains_key(&slice.tid), || {
                format!("{slice:?} is on a track without a name")
            })?;
            let open = open.entry(slice.tid).or_default();
            while open.pop_if(|end_ns| *end_ns <= slice.start_ns).is_some() {}
            require(
                open.last().is_none_or(|end_ns| slice.end_ns <= *end_ns),
                || format!("{slice:?} ends after the slice around it"),
            )?;
            open.push(slice.end_ns);
        }
        let ids = |ends: &BTreeMap<u64, Point>| ends.keys().copied().collect::<Vec<_>>();
        require(ids(&self.starts) == ids(&self.ends), || {
            "an arrow lacks an end".into()
        })?;
        for (name, start_ns, end_ns) in self.spans.values() {
            // A span starts with its kernel, and does not end before it.
            let kernel = self.slices.iter().find(|slice| {
                slice.category == "kernel" && slice.name == *name && slice.start_ns == *start_ns
            });
            require(
                kernel.is_some_and(|kernel| end_ns.is_some_and(|end_ns| kernel.end_ns <= end_ns)),
                || format!("the span of `{name}` at {start_ns} ns is that of no kernel"),
            )?;
        }
        for (id, start) in &self.starts {
            let end = self.ends[id];
            require(start.at_ns <= end.at_ns, || {
                format!("arrow {id} goes back in time")
            })?;
            for point in [*start, end] {
                require(self.slice_at(point).is_some(), || {
                    format!("arrow {id} is bound to no slice")
                })?;
            }
        }
        Ok(())
    }

    /// The slice that a viewer binds the end of an arrow to: the innermost one there.
    fn slice_at(&self, point: Point) -> Option<&Slice> {
        let slices = self.slices.iter().filter(|slice| {
            slice.tid == point.tid && slice.start_ns <= point.at_ns && point.at_ns <= slice.end_ns
        });
        slices.max_by_key(|slice| slice.start_ns)
    }

    /// The names of the kernels at the two ends of each arrow.
    fn arrows(&self) -> BTreeSet<(&str, &str)> {
        let arrows = self.starts.iter().filter_map(|(id, start)| {
            let (from, to) = (self.slice_at(*start)?, self.slice_at(self.ends[id])?);
            Some((&*from.name, &*to.name))
        });
        arrows.collect()
    }
}

/// Where results are waited for, and where one is returned as it is.
const LATER: &str = r#"
func @main() -> i32 {
  %x = tfrt.constant.i32 1
  %y = "tfrt_test.async_copy.i32"(%x) : (i32) -> i32
  %z = tfrt.add.i32 %y, %y
  %r = "tfrt_test.async_copy.i32"(%z) : (i32) -> i32
  tfrt.return %r : i32
}
"#;

fn an_asynchronous_kernel_lasts_until_its_result_is_there() -> Result<(), Failed> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("later.mlir");
    fs::write(&path, LATER)?;
    let trace = Trace::read(&record(&path, "s")?)?;
    trace.check()?;
    let names: Vec<&str> = trace.spans.values().map(|(name, ..)| &**name).collect();
    require(names == ["tfrt_test.async_copy.i32"; 2], || {
        format!("{:?}", trace.spans)
    })?;
    // What waits for the first result runs after it is there.
    let ends = trace.spans.values().filter_map(|(_, _, end_ns)| *end_ns);
    let add = trace
        .slices
        .iter()
        .find(|slice| slice.name == "tfrt.add.i32");
    require(
        ends.min()
            .is_some_and(|end_ns| add.is_some_and(|add| end_ns <= add.start_ns)),
        || format!("{:?}, and {add:?}", trace.spans),
    )?;

    let mut command = tool::command("tfrt", Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    command.args(["run", "--tracing-sink=simple", "later.mlir"]);
    let output = tool::run(command)?;
    let log = String::from_utf8_lossy(&output.stderr);
    require(
        log.matches("::: [tfrt_test.async_copy.i32 (pending)]: ")
            .count()
            == 2,
        || log.clone().into_owned(),
    )?;
    Ok(())
}

fn require(condition: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(message()) }
}

fn text<'a>(value: &'a Value, member: &str) -> Result<&'a str, String> {
    value[member]
        .as_str()
        .ok_or_else(|| format!("expected a text `{member}`"))
}

fn number(value: &Value, member: &str) -> Result<u64, String> {
    value[member]
        .as_u64()
        .ok_or_else(|| format!("expected an integer `{member}`"))
}

/// A time in microseconds, as nanoseconds.
fn ns(value: &Value, member: &str) -> Result<u64, String> {
    let micros = value[member].as_f64().filter(|micros| *micros >= 0.0);
    let micros = micros.ok_or_else(|| format!("expected a time `{member}`"))?;
    // Exact: a trace lasts minutes, and the mantissa holds a month of nanoseconds.
    Ok((micros * 1000.0).round() as u64)
}

fn a_trace_tells_all_there_is() -> Result<(), Failed> {
    for (queue, num_threads) in [("s", 1), ("mstd:2,1", 2)] {
        let trace = Trace::read(&record(
            &programs::directory().join("trace-streams.mlir"),
            queue,
        )?)?;
        trace.check()?;
        let kernels: Vec<&Slice> = trace
            .slices
            .iter()
            .filter(|slice| slice.category == "kernel")
            .collect();
        let of = |name: &str| kernels.iter().filter(|kernel| kernel.name == name).count();
        let counts = [
            "tfrt_test.async_constant.i32",
            "tfrt.add.i32",
            "tfrt.call",
            "tfrt.print.i32",
        ]
        .map(of);
        if counts != [2, 3, 2, 1] {
            return Err(format!("under {queue} the kernels are {kernels:#?}").into());
        }
        let calls = kernels.iter().filter(|kernel| kernel.name == "tfrt.call");
        let places: BTreeSet<_> = calls
            .filter_map(|call| call.args["location"].as_str()?.rsplit('/').next())
            .collect();
        if places != BTreeSet::from(["trace-streams.mlir:13:8", "trace-streams.mlir:14:8"]) {
            return Err(format!("the calls are at {places:?}").into());
        }
        let distinct = |member: &str| -> BTreeSet<Option<u64>> {
            let values = kernels.iter().map(|kernel| kernel.args[member].as_u64());
            values.collect()
        };
        // The function, and two calls; and at least two streams.
        if distinct("invocation").len() != 3 || distinct("stream").len() < 2 {
            return Err(format!("under {queue} the kernels are {kernels:#?}").into());
        }
        for arrow in [
            ("tfrt_test.async_constant.i32", "tfrt.call"),
            ("tfrt.call", "tfrt.add.i32"),
            ("tfrt.add.i32", "tfrt.print.i32"),
        ] {
            if !trace.arrows().contains(&arrow) {
                return Err(format!("no arrow {arrow:?} among {:?}", trace.arrows()).into());
            }
        }
        if trace.threads.len() < num_threads || !trace.counters.contains("pending tasks") {
            return Err(format!("{:?} {:?}", trace.threads, trace.counters).into());
        }
    }
    Ok(())
}

/// The check itself is checked, with traces that have one thing wrong each.
fn a_wrong_trace_is_noticed() -> Result<(), Failed> {
    let good = r#"{"displayTimeUnit":"ns","traceEvents":[
        {"pid":1,"ph":"M","tid":1,"name":"thread_name","args":{"name":"main"}},
        {"pid":1,"ph":"X","tid":1,"ts":1.000,"dur":5.000,"cat":"kernel","name":"a"},
        {"pid":1,"ph":"s","id":1,"tid":1,"ts":1.000,"cat":"value","name":"value"},
        {"pid":1,"ph":"C","ts":1.500,"name":"n","args":{"value":3}},
        {"pid":1,"ph":"X","tid":1,"ts":2.000,"dur":3.000,"cat":"kernel","name":"b"},
        {"pid":1,"ph":"f","bp":"e","id":1,"tid":1,"ts":2.000,"cat":"value","name":"value"}]}"#;
    let check = |text: &str| -> Result<(), String> {
        let file = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Trace::read(&file)?.check()
    };
    check(good)?;
    for (part, damaged, complaint) in [
        (r#""ph":"M""#, r#""ph":"Q""#, "`Q` is no phase"),
        (r#""displayTimeUnit":"ns","#, "", "displayTimeUnit"),
        (
            r#""tid":1,"ts":1.000,"dur""#,
            r#""tid":2,"ts":1.000,"dur""#,
            "without a name",
        ),
        (r#""dur":5.000,"#, "", "a time `dur`"),
        (r#""dur":5.000"#, r#""dur":-5.000"#, "a time `dur`"),
        (
            r#""dur":3.000"#,
            r#""dur":9.000"#,
            "ends after the slice around it",
        ),
        (
            r#""ts":2.000,"dur""#,
            r#""ts":0.500,"dur""#,
            "time goes back",
        ),
        (r#""bp":"e","id":1"#, r#""bp":"e","id":2"#, "lacks an end"),
        (r#""bp":"e","#, "", "a text `bp`"),
        (r#"{"value":3}"#, r#"{"value":"3"}"#, "takes numbers"),
        (r#""pid":1,"ph":"C""#, r#""pid":2,"ph":"C""#, "processes"),
    ] {
        let text = good.replace(part, damaged);
        match check(&text) {
            Err(error) if text != good && error.contains(complaint) => {}
            other => return Err(format!("{damaged}: {other:?}").into()),
        }
    }
    Ok(())
}
