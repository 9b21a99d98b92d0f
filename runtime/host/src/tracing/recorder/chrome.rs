//! Chrome's trace event format, as read by Perfetto's viewer: a JSON object with a list of events.
//!
//! | event | `ph` | where |
//! |---|---|---|
//! | name of the process or of a thread | `M` | at the start of its track |
//! | slice, with its length | `X` | in the order in which the slices began |
//! | start and end of an arrow | `s`, `f` | immediately after the slice where it starts or ends, with that slice's time: the viewer takes the slice that began last |
//! | event without length | `i` | on the track of its thread |
//! | span of an asynchronous kernel, from its start until its last result is available | `b`, `e` | after the slices; viewers show it on a separate track |
//! | span of a draw from a stage of an input pipeline | `b`, `e` | after those, on a track of the stage |
//! | work of a device, with its length | `X` | after those, on a track of the stream |
//! | sample of a quantity | `C` | where it was taken; the curve is that of the process |
//!
//! Times never decrease along a track, although viewers would sort them. Times are microseconds
//! with three decimals, so they keep every nanosecond.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{self, Write};
use std::iter::Peekable;
use std::ops::Deref;
use std::vec;

use super::{DeviceWork, Event, Kernel, Records, Sample, Slice};

/// The location of a slice: the number of its thread, and of the slice within it.
type SliceId = (usize, usize);

/// The arrows that begin and end at a slice.
#[derive(Default)]
struct Arrows {
    outgoing: HashMap<SliceId, Vec<usize>>,
    incoming: HashMap<SliceId, Vec<usize>>,
}

/// Writes a trace of the named threads.
pub(super) fn write<R: Deref<Target = Records>>(
    threads: &[(&str, R)],
    now_ns: u64,
    out: impl Write,
) -> io::Result<()> {
    let arrows = Arrows::find(threads);
    let mut out = EventList::begin(out)?;
    out.event(format_args!(
        r#""ph":"M","name":"process_name","args":{{"name":"tfrt"}}"#
    ))?;
    for (thread, (name, records)) in threads.iter().enumerate() {
        let tid = thread + 1;
        out.event(format_args!(
            r#""ph":"M","tid":{tid},"name":"thread_name","args":{{"name":{}}}"#,
            Text(name)
        ))?;
        let mut moments = Moments::of(records);
        for (number, slice) in records.slices.iter().enumerate() {
            moments.write_before(slice.start_ns, tid, &mut out)?;
            write_slice(&mut out, tid, slice, now_ns)?;
            let ts = Micros(slice.start_ns);
            for id in at(&arrows.incoming, (thread, number)) {
                out.event(format_args!(
                    r#""ph":"f","bp":"e","id":{id},"tid":{tid},"ts":{ts},"cat":"value","name":"value""#
                ))?;
            }
            for id in at(&arrows.outgoing, (thread, number)) {
                out.event(format_args!(
                    r#""ph":"s","id":{id},"tid":{tid},"ts":{ts},"cat":"value","name":"value""#
                ))?;
            }
        }
        moments.write_before(u64::MAX, tid, &mut out)?;
    }
    write_spans(&mut out, threads)?;
    write_named_spans(&mut out, threads)?;
    write_device_work(&mut out, threads)?;
    out.end()
}

/// Writes a span for each kernel that left a result unavailable.
fn write_spans<R: Deref<Target = Records>>(
    out: &mut EventList<impl Write>,
    threads: &[(&str, R)],
) -> io::Result<()> {
    let mut producers: HashMap<(u64, u32), (SliceId, u64)> = HashMap::new();
    for (id, start_ns, kernel) in kernels(threads) {
        for &register in &kernel.results {
            producers.insert((kernel.invocation, register), (id, start_ns));
        }
    }
    // Keyed by the identity of the kernel, in order of start.
    let mut spans: BTreeMap<(u64, SliceId, u64, u32), Span<'_>> = BTreeMap::new();
    for (thread, (_, records)) in threads.iter().enumerate() {
        for arrived in &records.arrivals {
            let register = (arrived.invocation, arrived.register);
            // A slice that was not kept because of the capacity still has results.
            let (key, start_ns, thread) = match producers.get(&register) {
                Some(&(id, start_ns)) => ((start_ns, id, 0, 0), start_ns, id.0),
                None => {
                    let (invocation, register) = register;
                    let key = (arrived.since_ns, (thread, usize::MAX), invocation, register);
                    (key, arrived.since_ns, thread)
                }
            };
            let span = spans.entry(key).or_insert(Span {
                kernel: arrived.kernel,
                thread,
                start_ns,
                end_ns: arrived.at_ns,
            });
            span.end_ns = span.end_ns.max(arrived.at_ns);
        }
    }
    for (number, span) in spans.values().enumerate() {
        let (id, tid, name) = (number + 1, span.thread + 1, Text(span.kernel));
        for (ph, at_ns) in [("b", span.start_ns), ("e", span.end_ns)] {
            let ts = Micros(at_ns);
            out.event(format_args!(
                r#""ph":"{ph}","id":{id},"tid":{tid},"ts":{ts},"cat":"pending","name":{name}"#
            ))?;
        }
    }
    Ok(())
}

/// Writes the spans that belong to no thread.
fn write_named_spans<R: Deref<Target = Records>>(
    out: &mut EventList<impl Write>,
    threads: &[(&str, R)],
) -> io::Result<()> {
    let spans = threads
        .iter()
        .enumerate()
        .flat_map(|(thread, (_, records))| {
            records.spans.iter().map(move |span| (thread + 1, span))
        });
    let mut spans: Vec<_> = spans.collect();
    spans.sort_by_key(|(_, span)| span.start_ns);
    for (number, (tid, span)) in spans.into_iter().enumerate() {
        let (id, name) = (number + 1, Text(&span.track));
        for (ph, at_ns) in [("b", span.start_ns), ("e", span.end_ns)] {
            let ts = Micros(at_ns);
            out.event(format_args!(
                r#""ph":"{ph}","id":{id},"tid":{tid},"ts":{ts},"cat":"stage","name":{name}"#
            ))?;
        }
    }
    Ok(())
}

/// Writes a track for each stream of a device, after those of threads.
fn write_device_work<R: Deref<Target = Records>>(
    out: &mut EventList<impl Write>,
    threads: &[(&str, R)],
) -> io::Result<()> {
    let mut tracks: BTreeMap<&str, Vec<&DeviceWork>> = BTreeMap::new();
    for work in threads.iter().flat_map(|(_, records)| &records.device_work) {
        tracks.entry(&work.track).or_default().push(work);
    }
    for (number, (track, mut works)) in tracks.into_iter().enumerate() {
        let tid = threads.len() + number + 1;
        out.event(format_args!(
            r#""ph":"M","tid":{tid},"name":"thread_name","args":{{"name":{}}}"#,
            Text(track)
        ))?;
        works.sort_by_key(|work| work.start_ns);
        for work in works {
            let (ts, name) = (Micros(work.start_ns), Text(&work.name));
            let dur = Micros(work.end_ns.saturating_sub(work.start_ns));
            out.event(format_args!(
                r#""ph":"X","tid":{tid},"ts":{ts},"dur":{dur},"cat":"device","name":{name}"#
            ))?;
        }
    }
    Ok(())
}

/// A kernel from its start until its last result is available.
struct Span<'a> {
    kernel: &'a str,
    thread: usize,
    start_ns: u64,
    end_ns: u64,
}

/// Returns the kernels of all threads: location, start time, and properties.
fn kernels<'a, R: Deref<Target = Records>>(
    threads: &'a [(&str, R)],
) -> impl Iterator<Item = (SliceId, u64, &'a Kernel)> {
    threads
        .iter()
        .enumerate()
        .flat_map(|(thread, (_, records))| {
            let slices = records.slices.iter().enumerate();
            slices.filter_map(move |(number, slice)| {
                let kernel = slice.kernel.as_deref()?;
                Some(((thread, number), slice.start_ns, kernel))
            })
        })
}

/// The activities without duration on a track, in order.
struct Moments<'a>(Peekable<vec::IntoIter<Moment<'a>>>);

enum Moment<'a> {
    Event(&'a Event),
    Sample(&'a Sample),
}

impl Moment<'_> {
    fn at_ns(&self) -> u64 {
        match self {
            Self::Event(event) => event.at_ns,
            Self::Sample(sample) => sample.at_ns,
        }
    }
}

impl<'a> Moments<'a> {
    fn of(records: &'a Records) -> Self {
        let events = records.events.iter().map(Moment::Event);
        let samples = records.samples.iter().map(Moment::Sample);
        let mut moments: Vec<_> = events.chain(samples).collect();
        moments.sort_by_key(Moment::at_ns);
        Self(moments.into_iter().peekable())
    }

    /// Writes all events before a time that have not been written yet.
    fn write_before(
        &mut self,
        end_ns: u64,
        tid: usize,
        out: &mut EventList<impl Write>,
    ) -> io::Result<()> {
        while let Some(moment) = self.0.next_if(|moment| moment.at_ns() < end_ns) {
            let ts = Micros(moment.at_ns());
            match moment {
                Moment::Event(event) => out.event(format_args!(
                    r#""ph":"i","s":"t","tid":{tid},"ts":{ts},"name":{}"#,
                    Text(&event.name)
                ))?,
                Moment::Sample(Sample { name, value, .. }) => out.event(format_args!(
                    r#""ph":"C","ts":{ts},"name":{},"args":{{"value":{value}}}"#,
                    Text(name)
                ))?,
            }
        }
        Ok(())
    }
}

fn write_slice(
    out: &mut EventList<impl Write>,
    tid: usize,
    slice: &Slice,
    now_ns: u64,
) -> io::Result<()> {
    let end_ns = slice.end_ns.unwrap_or(now_ns);
    let (ts, dur) = (
        Micros(slice.start_ns),
        Micros(end_ns.saturating_sub(slice.start_ns)),
    );
    let name = Text(&slice.name);
    match &slice.kernel {
        None => out.event(format_args!(
            r#""ph":"X","tid":{tid},"ts":{ts},"dur":{dur},"cat":"scope","name":{name}"#
        )),
        Some(kernel) => out.event(format_args!(
            r#""ph":"X","tid":{tid},"ts":{ts},"dur":{dur},"cat":"kernel","name":{name},"args":{{{}}}"#,
            Facts(kernel)
        )),
    }
}

impl Arrows {
    /// Finds the arrows from each kernel that produced a value to each that reads it, if that
    /// started later.
    fn find<R: Deref<Target = Records>>(threads: &[(&str, R)]) -> Self {
        let mut producers: HashMap<(u64, u32), (SliceId, u64)> = HashMap::new();
        for (id, start_ns, kernel) in kernels(threads) {
            for &register in &kernel.results {
                producers.insert((kernel.invocation, register), (id, start_ns));
            }
        }
        let mut arrows = Self::default();
        let mut num_arrows = 0;
        for (consumer, start_ns, kernel) in kernels(threads) {
            let mut operands = kernel.operands.to_vec();
            operands.sort_unstable();
            operands.dedup();
            for register in operands {
                if let Some(&(producer, produced_ns)) =
                    producers.get(&(kernel.invocation, register))
                    && produced_ns <= start_ns
                {
                    num_arrows += 1;
                    arrows
                        .outgoing
                        .entry(producer)
                        .or_default()
                        .push(num_arrows);
                    arrows
                        .incoming
                        .entry(consumer)
                        .or_default()
                        .push(num_arrows);
                }
            }
        }
        arrows
    }
}

/// Returns the numbers of the arrows with an end at `slice`.
fn at(ends: &HashMap<SliceId, Vec<usize>>, slice: SliceId) -> impl Iterator<Item = usize> {
    ends.get(&slice).into_iter().flatten().copied()
}

/// The list of events during writing.
struct EventList<W> {
    out: W,
    is_empty: bool,
}

impl<W: Write> EventList<W> {
    fn begin(mut out: W) -> io::Result<Self> {
        out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        Ok(Self {
            out,
            is_empty: true,
        })
    }

    /// Writes one event, given the members that not all events share.
    fn event(&mut self, members: fmt::Arguments<'_>) -> io::Result<()> {
        let comma = if self.is_empty { "" } else { "," };
        self.is_empty = false;
        write!(self.out, "{comma}\n{{\"pid\":1,{members}}}")
    }

    fn end(mut self) -> io::Result<()> {
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }
}

/// Nanoseconds, printed as microseconds.
struct Micros(u64);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// The details of a kernel that a viewer shows beside its name.
struct Facts<'a>(&'a Kernel);

impl fmt::Display for Facts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernel = self.0;
        if let Some((source, token)) = &kernel.place {
            write!(
                f,
                r#""location":{},"#,
                Text(&source.place(*token).to_string())
            )?;
            if let Some(name) = source.debug_name(*token) {
                write!(f, r#""op":{},"#, Text(&name))?;
            }
        }
        if let Some(stream) = kernel.stream {
            write!(f, r#""stream":{stream},"#)?;
        }
        write!(f, r#""invocation":{}"#, kernel.invocation)
    }
}

/// A string, printed as a JSON string.
struct Text<'a>(&'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if u32::from(c) < 0x20 => write!(f, "\\u{:04x}", u32::from(c))?,
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}
