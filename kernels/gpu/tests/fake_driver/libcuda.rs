//! A driver for tests: `libcuda.so.1` with the functions that the CUDA implementation calls.
//!
//! Every call writes its name to the file that `FAKE_CUDA_LOG` names, and fails if `FAKE_CUDA_FAIL`
//! says so: `NAME=CODE`. Device memory is memory of the process, and work is done when it is
//! enqueued. A kernel adds its second argument to the words at its first one. A handle that does
//! not exist ends the process: the implementation must never pass one on. A new stream gets the
//! number of a destroyed one.
//!
//! With `FAKE_CUDA_LAZY`, an event is done once a call has waited for its stream, or for a stream
//! that waits for the event. Freeing device memory then waits for all events.
#![allow(non_snake_case)]

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::{Condvar, Mutex, MutexGuard};

static LIVE: Mutex<Option<HashMap<u64, &'static str>>> = Mutex::new(None);
/// The numbers of destroyed streams.
static FREE_STREAMS: Mutex<Vec<u64>> = Mutex::new(Vec::new());
static LAZY: Mutex<Lazy> = Mutex::new(Lazy::new());
static HAS_PASSED: Condvar = Condvar::new();
static SIZES: Mutex<Option<HashMap<u64, usize>>> = Mutex::new(None);

/// What is not done yet. Streams are counted from 1, as a number may be used again.
struct Lazy {
    num_streams: u64,
    /// The streams by their numbers.
    streams: BTreeMap<u64, u64>,
    /// The streams of recorded events that are not done.
    events: BTreeMap<u64, u64>,
    /// The events that streams wait for.
    waits: Vec<(u64, u64)>,
}

impl Lazy {
    const fn new() -> Self {
        Self { num_streams: 0, streams: BTreeMap::new(), events: BTreeMap::new(), waits: Vec::new() }
    }

    fn finish(&mut self, stream: u64) {
        let mut streams = vec![stream];
        while let Some(stream) = streams.pop() {
            self.events.retain(|_, of| *of != stream);
            for (_, event) in self.waits.extract_if(.., |(waiting, _)| *waiting == stream) {
                streams.extend(self.events.get(&event));
            }
        }
        HAS_PASSED.notify_all();
    }
}

fn lazy() -> Option<MutexGuard<'static, Lazy>> {
    std::env::var_os("FAKE_CUDA_LAZY").map(|_| LAZY.lock().unwrap())
}

fn make_stream() -> u64 {
    let stream = FREE_STREAMS.lock().unwrap().pop().unwrap_or_else(|| make("stream"));
    with_live(|live| live.insert(stream, "stream"));
    if let Some(mut lazy) = lazy() {
        lazy.num_streams += 1;
        let number = lazy.num_streams;
        lazy.streams.insert(stream, number);
    }
    stream
}

/// Notes a call, and says how it is to end.
fn enter(name: &str) -> c_uint {
    if let Ok(path) = std::env::var("FAKE_CUDA_LOG") {
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        // In one piece: another thread may write a name at the same time.
        file.write_all(format!("{name}\n").as_bytes()).unwrap();
    }
    let fail = std::env::var("FAKE_CUDA_FAIL").unwrap_or_default();
    match fail.split_once('=') {
        Some((failing, code)) if failing == name => code.parse().unwrap(),
        _ => 0,
    }
}

fn with_live<R>(action: impl FnOnce(&mut HashMap<u64, &'static str>) -> R) -> R {
    action(LIVE.lock().unwrap().get_or_insert_default())
}

fn make(kind: &'static str) -> u64 {
    let handle = Box::into_raw(Box::new([0u8; 64])) as u64;
    with_live(|live| live.insert(handle, kind));
    handle
}

fn expect(handle: u64, kind: &str) {
    if with_live(|live| live.get(&handle).copied()) != Some(kind) {
        eprintln!("fake driver: {handle:#x} is not a {kind}");
        std::process::abort();
    }
}

fn end(handle: u64, kind: &str) {
    expect(handle, kind);
    with_live(|live| live.remove(&handle));
}

/// Defines functions: what they are called, what they take, what they do. An early failure does
/// nothing.
macro_rules! functions {
    ($($name:ident($($argument:ident: $ty:ty),*) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $ty),*) -> c_uint {
            let code = enter(stringify!($name));
            if code == 0 {
                $body
            }
            code
        }
    )*};
}

functions! {
    cuInit(flags: c_uint) { assert_eq!(flags, 0) }
    cuDriverGetVersion(version: *mut c_int) { unsafe { *version = 12080 } }
    cuDeviceGetCount(count: *mut c_int) { unsafe { *count = 1 } }
    cuDeviceGet(device: *mut c_int, ordinal: c_int) { unsafe { *device = ordinal } }
    cuDeviceGetName(name: *mut c_char, len: c_int, _device: c_int) {
        let text = c"Fake";
        assert!(len as usize > text.count_bytes());
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), name, text.count_bytes() + 1) }
    }
    cuDevicePrimaryCtxRetain(context: *mut u64, _device: c_int) { unsafe { *context = make("primary context") } }
    cuDevicePrimaryCtxRelease_v2(_device: c_int) {
        with_live(|live| live.retain(|_, kind| *kind != "primary context"));
    }
    cuCtxCreate_v2(context: *mut u64, flags: c_uint, _device: c_int) { assert_eq!(flags, 0); unsafe { *context = make("context") } }
    cuCtxDestroy_v2(context: u64) { end(context, "context") }
    cuCtxSetCurrent(context: u64) {
        let kind = with_live(|live| live.get(&context).copied());
        assert!(context == 0 || matches!(kind, Some("context" | "primary context")));
    }
    cuCtxSynchronize() {
        if let Some(mut lazy) = lazy() {
            lazy.events.clear();
            HAS_PASSED.notify_all();
        }
    }
    cuStreamCreate(stream: *mut u64, flags: c_uint) { assert_eq!(flags, 1); unsafe { *stream = make_stream() } }
    cuStreamDestroy_v2(stream: u64) { end(stream, "stream"); FREE_STREAMS.lock().unwrap().push(stream) }
    cuStreamSynchronize(stream: u64) {
        expect(stream, "stream");
        if let Some(mut lazy) = lazy() {
            let stream = lazy.streams[&stream];
            lazy.finish(stream);
        }
    }
    cuStreamQuery(stream: u64) { expect(stream, "stream") }
    cuStreamWaitEvent(stream: u64, event: u64, flags: c_uint) { expect(stream, "stream"); expect(event, "event"); assert_eq!(flags, 0);
        if let Some(mut lazy) = lazy() {
            let stream = lazy.streams[&stream];
            lazy.waits.push((stream, event));
        }
    }
    cuEventCreate(event: *mut u64, _flags: c_uint) { unsafe { *event = make("event") } }
    cuEventDestroy_v2(event: u64) { end(event, "event") }
    cuEventRecord(event: u64, stream: u64) {
        expect(event, "event");
        expect(stream, "stream");
        if let Some(mut lazy) = lazy() {
            let stream = lazy.streams[&stream];
            lazy.events.insert(event, stream);
        }
    }
    cuEventSynchronize(event: u64) { expect(event, "event") }
    cuMemAlloc_v2(pointer: *mut u64, size: usize) { unsafe { *pointer = allocate(size) } }
    cuMemFree_v2(pointer: u64) {
        if let Some(mut lazy) = lazy() {
            while !lazy.events.is_empty() {
                lazy = HAS_PASSED.wait(lazy).unwrap();
            }
        }
        free(pointer)
    }
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize) { unsafe { *free = 1 << 20; *total = 1 << 30 } }
    cuMemHostAlloc(pointer: *mut u64, size: usize, flags: c_uint) { assert_eq!(flags, 2); unsafe { *pointer = allocate(size) } }
    cuMemFreeHost(pointer: u64) { free(pointer) }
    cuMemcpyAsync(to: u64, from: u64, size: usize, stream: u64) {
        expect(stream, "stream");
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, size) }
    }
    cuMemsetD32Async(pointer: u64, value: c_uint, count: usize, stream: u64) {
        expect(stream, "stream");
        (0..count).for_each(|index| unsafe { (pointer as *mut u32).add(index).write(value) });
    }
    cuModuleUnload(module: u64) { end(module, "module") }
    cuModuleGetFunction(function: *mut u64, module: u64, _name: *const c_char) { expect(module, "module"); unsafe { *function = make("function") } }
    cuLaunchKernel(
        function: u64, gx: c_uint, _gy: c_uint, _gz: c_uint, bx: c_uint, _by: c_uint, _bz: c_uint, _shared: c_uint, stream: u64,
        arguments: *mut *mut c_void, _extra: *mut *mut c_void
    ) {
        expect(function, "function");
        expect(stream, "stream");
        let (words, more) = unsafe { (*(*arguments).cast::<*mut u32>(), *(*arguments.add(1)).cast::<u32>()) };
        (0..(gx * bx) as usize).for_each(|index| unsafe { *words.add(index) += more });
    }
}

#[unsafe(no_mangle)]
extern "C" fn cuEventQuery(event: u64) -> c_uint {
    let code = enter("cuEventQuery");
    expect(event, "event");
    match lazy() {
        // CUDA_ERROR_NOT_READY
        Some(lazy) if code == 0 && lazy.events.contains_key(&event) => 600,
        _ => code,
    }
}

/// Knows no address that no one has told it of.
#[unsafe(no_mangle)]
extern "C" fn cuPointerGetAttribute(_data: *mut c_void, _attribute: c_uint, _pointer: u64) -> c_uint {
    enter("cuPointerGetAttribute");
    1
}

/// Returns two parameters: an address and a word. Not in the log, as drivers before 12.4 do not
/// have it.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuFuncGetParamInfo(function: u64, index: usize, _offset: *mut usize, size: *mut usize) -> c_uint {
    expect(function, "function");
    match [8, 4].get(index) {
        Some(bytes) => unsafe { *size = *bytes },
        None => return 1,
    }
    0
}

/// Refuses everything that does not begin with a directive, with a log.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut u64,
    image: *const c_char,
    num_options: c_uint,
    options: *const c_uint,
    values: *const *mut c_void,
) -> c_uint {
    enter("cuModuleLoadDataEx");
    if unsafe { CStr::from_ptr(image) }.to_bytes().starts_with(b".version") {
        unsafe { *module = make("module") };
        return 0;
    }
    for index in 0..num_options as usize {
        // CU_JIT_ERROR_LOG_BUFFER
        if unsafe { *options.add(index) } == 5 {
            let text = c"line 1; expected .version";
            unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), (*values.add(index)).cast(), text.count_bytes() + 1) };
        }
    }
    218
}

fn allocate(size: usize) -> u64 {
    let memory = Box::into_raw(vec![0xffu8; size].into_boxed_slice()).cast::<u8>() as u64;
    SIZES.lock().unwrap().get_or_insert_default().insert(memory, size);
    memory
}

fn free(pointer: u64) {
    let size = SIZES.lock().unwrap().get_or_insert_default().remove(&pointer).expect("memory that is allocated");
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(pointer as *mut u8, size)) });
}
