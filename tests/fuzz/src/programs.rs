//! Targets that need the whole runtime: text, its way to a file and back, and running what nobody
//! vouches for.
//!
//! A target says whether it accepted the input, and panics if something is wrong. Programs run
//! against the standard kernels, except those that sleep, read files, keep a processor busy for as
//! long as they are told, or leak because that is what they are for: these are replaced by kernels
//! that only complete their chains.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use tfrt::async_value::live_values;
use tfrt::bef::BefFile;
use tfrt::executor::Program;
use tfrt::host::{FunctionKind, Limits, RequestContextBuilder, ResourceContext};
use tfrt::kernel::DialectRegistration;
use tfrt::kernel::KernelDescriptor;
use tfrt::prelude::*;
use tfrt_compiler::{EncodeOptions, decode, encode};
use tfrt_ir::{Module, ParseOptions, PrintOptions, Registry, VerifyOptions, parse, print, verify};
use tfrt_support::Diagnostics;

tfrt::link!(tfrt_kernels);

/// Kernels that programs of strangers must not have here, by parts of their names.
const REPLACED: [&str; 6] = [
    "sleep",
    "with_delay",
    "benchmark",
    "from_file",
    "memory_leak",
    "logging",
];

/// Kernels that print, by parts of their names.
const PRINTING: [&str; 4] = ["print", "resource", "vt.", "test_cost"];

/// The native functions, which cannot be listed.
const NATIVES: [&str; 5] = [
    "native_sink",
    "native_async_sink",
    "native_add",
    "native_async_add",
    "native_error",
];

/// Whether programs may print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printing {
    /// Yes; who runs the target sends that to `/dev/null`.
    Real,
    /// No: in tests nobody wants to read it.
    Silent,
}

/// What programs are read against and run on. Made once.
#[derive(Debug)]
struct Bench {
    registry: Arc<Registry>,
    host: Arc<HostContext>,
}

static BENCH: OnceLock<Bench> = OnceLock::new();

/// The request that runs, and how often the canceller has seen it.
static RUNNING: Mutex<Option<(Arc<RequestContext>, u32)>> = Mutex::new(None);

/// What a kernel of ours said when it panicked.
static PANICKED: Mutex<Option<String>> = Mutex::new(None);

/// Makes the kernels and the host. Without this call the first target does it, and programs print.
pub fn set_up(printing: Printing) {
    BENCH.get_or_init(|| Bench::new(printing));
}

fn bench() -> &'static Bench {
    BENCH.get_or_init(|| Bench::new(Printing::Real))
}

/// The kernels that were linked, without those that programs of strangers must not have.
///
/// # Panics
/// If two kernels have one name.
#[must_use]
pub fn harmless_kernels() -> KernelRegistry {
    let linked = KernelRegistry::from_link().unwrap_or_else(|error| panic!("{error}"));
    without_waiting(&linked, Printing::Silent)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bench {
    fn new(printing: Printing) -> Self {
        let linked = KernelRegistry::from_link().unwrap_or_else(|error| panic!("{error}"));
        let registry = Registry::new(linked.ops(), DialectRegistration::linked())
            .unwrap_or_else(|error| panic!("{error}"));
        let limits = Limits {
            max_call_depth: 300,
            max_live_invocations: 10_000,
            max_request_bytes: 64 << 20,
        };
        let host = HostContext::builder()
            .registry(Arc::new(without_waiting(&linked, printing)))
            .limits(limits)
            .diagnostic_handler(note_panic)
            .build();
        thread::spawn(cancel_what_takes_long);
        Self {
            registry: Arc::new(registry),
            host,
        }
    }
}

/// The kernels and native functions that were linked, with harmless ones in place of some.
fn without_waiting(linked: &KernelRegistry, printing: Printing) -> KernelRegistry {
    let mut registry = KernelRegistry::new();
    for kernel in linked.kernels() {
        let has_part = |parts: &[&str]| parts.iter().any(|part| kernel.name().contains(part));
        let is_replaced =
            has_part(&REPLACED) || (printing == Printing::Silent && has_part(&PRINTING));
        let kernel = if is_replaced {
            KernelDescriptor::raw(kernel.op(), complete)
        } else {
            *kernel
        };
        registry
            .add(kernel)
            .unwrap_or_else(|error| panic!("{error}"));
    }
    for name in NATIVES {
        if let Some(native) = linked.native(name) {
            registry
                .add_native(*native)
                .unwrap_or_else(|error| panic!("{error}"));
        }
    }
    registry
}

fn complete(frame: &mut KernelFrame<'_>) {
    for index in 0..frame.num_results() {
        frame.set_result(index, AnyRef::ready_chain());
    }
}

/// Hears of every error that a kernel emits.
fn note_panic(error: &Error) {
    if error.message().contains(" panicked: ") {
        *lock(&PANICKED) = Some(error.to_string());
    }
}

/// Cancels a request that is found running twice.
fn cancel_what_takes_long() {
    loop {
        thread::sleep(Duration::from_millis(10));
        if let Some((request, num_seen)) = &mut *lock(&RUNNING) {
            *num_seen += 1;
            if *num_seen == 2 {
                // Under the lock: whoever counts live values has taken the request away before.
                request.cancel();
            }
        }
    }
}

const ANY_DIALECT: ParseOptions = ParseOptions {
    allow_unregistered_dialects: true,
};

const EVERY_BREACH: VerifyOptions = VerifyOptions {
    stops_at_first: false,
    shows_op: true,
    refuses_stray_attributes: true,
};

/// The ways to print everything there is.
const PRINTINGS: [PrintOptions; 3] = {
    const PLAIN: PrintOptions = PrintOptions {
        func_dialect: false,
        generic: false,
        debug_info: false,
        local_scope: false,
        elide_large_elements: false,
    };
    [
        PLAIN,
        PrintOptions {
            generic: true,
            ..PLAIN
        },
        PrintOptions {
            debug_info: true,
            ..PLAIN
        },
    ]
};

/// The program of a text, verified.
///
/// # Errors
/// What is wrong with it.
pub fn read(text: &str) -> Result<Module, Diagnostics> {
    let module = parse(text, "fuzz.mlir", &bench().registry, &ANY_DIALECT)?;
    let found = verify(&module, &EVERY_BREACH);
    if found.is_empty() {
        Ok(module)
    } else {
        Err(found.into())
    }
}

/// Reads what was printed, which must be possible; none if it names the one type that files and
/// programs may hold and no text may spell.
fn read_again(text: &str, what: &str) -> Option<Module> {
    if text.contains("!ts.fixed_rank_shape.") {
        return None;
    }
    match read(text) {
        Ok(module) => Some(module),
        Err(errors) => panic!("{what} cannot be read: {}\n{text}", errors[0]),
    }
}

/// Parse, verify, print in every form, parse that, print it again: the same text.
pub fn mlir_parse(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let module = match parse(&text, "fuzz.mlir", &bench().registry, &ANY_DIALECT) {
        Ok(module) => module,
        Err(errors) => {
            assert!(!errors.is_empty(), "an error says what is wrong");
            return false;
        }
    };
    let is_sound = verify(&module, &EVERY_BREACH).is_empty();
    for options in PRINTINGS {
        // Diagnostics print what is not sound.
        let printed = print(&module, &options);
        if is_sound && let Some(again) = read_again(&printed, "what was printed") {
            assert_eq!(print(&again, &options), printed, "{options:?}");
        }
    }
    is_sound
}

/// Text to a file, back, and to a file again: the same bytes, unless there is something in the text
/// that files forget.
pub fn text_bef_text(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Ok(module) = read(&text) else {
        return false;
    };
    let encode = |optional_sections| {
        let options = EncodeOptions {
            optional_sections,
            notes: true,
        };
        encode(&module, &options)
    };
    let file = match encode(true) {
        Ok(file) => file,
        Err(errors) => {
            assert!(!errors.is_empty(), "an error says what is wrong");
            return false;
        }
    };
    if let Some(again) = encode_again(&file)
        && again != file
    {
        assert!(
            holds_what_files_forget(&text),
            "{} bytes, then {}:\n{text}",
            file.len(),
            again.len()
        );
        if let Some(at_last) = encode_again(&again) {
            assert!(at_last == again, "no end of changes:\n{text}");
        }
    }
    match encode(false) {
        Ok(file) => drop(decode_own(&file)),
        Err(errors) => panic!("encoding depends on optional sections: {}", errors[0]),
    }
    true
}

/// Whether the text may hold something that a file forgets although the file depends on it: the
/// sign of integers in the spelling of their types, costs, which decide streams, and what unknown
/// ops call their functions. And something that the printer does not show, as the reference does
/// not: that the first dictionary of an op that runs another op is empty.
fn holds_what_files_forget(text: &str) -> bool {
    const SIGNS: [&str; 8] = ["si8", "si16", "si32", "si64", "ui8", "ui16", "ui32", "ui64"];
    const OTHERS: [&str; 4] = ["_tfrt_cost", "= @", "[@", "corert.executeop"];
    SIGNS.iter().chain(&OTHERS).any(|word| text.contains(word))
}

/// The program in a file that was just written.
fn decode_own(file: &[u8]) -> Module {
    let bef = BefFile::from_bytes(file);
    let verified = bef.verify().and_then(|tables| tables.verify_functions());
    if let Err(error) = verified {
        panic!("a file that was written is refused: {error}");
    }
    let decoded = decode(&bef, "fuzz.bef", &bench().registry);
    let diagnostics = decoded.diagnostics;
    decoded.module.unwrap_or_else(|| {
        panic!(
            "a file that was written does not decode: {}",
            diagnostics[0]
        )
    })
}

/// The file of the program in a file; none where a file keeps too little of modules inside of
/// compiled modules.
fn encode_again(file: &[u8]) -> Option<Vec<u8>> {
    let options = PrintOptions {
        debug_info: true,
        ..PrintOptions::default()
    };
    let text = print(&decode_own(file), &options);
    let module = read_again(&text, "what was decoded")?;
    match encode(&module, &EncodeOptions::default()) {
        Ok(file) => Some(file),
        Err(errors) if errors[0].message.contains("::") => None,
        Err(errors) => panic!("what was decoded does not encode: {}\n{text}", errors[0]),
    }
}

/// A file to text: decode, verify, print in every form, and hand that to the parser, which may
/// refuse names that only a damaged file has.
pub fn bef_to_mlir(bytes: &[u8]) -> bool {
    let file = BefFile::from_bytes(bytes);
    let decoded = decode(&file, "fuzz.bef", &bench().registry);
    let Some(module) = decoded.module else {
        assert!(
            !decoded.diagnostics.is_empty(),
            "an error says what is wrong"
        );
        return false;
    };
    let is_sound = verify(&module, &EVERY_BREACH).is_empty();
    for options in PRINTINGS {
        let _ = read(&print(&module, &options));
    }
    is_sound
}

/// Loads a file and runs every function that needs no arguments, on one thread.
///
/// # Panics
/// If a kernel panicked, or a value was left behind.
pub fn verify_run(bytes: &[u8]) -> bool {
    let host = &bench().host;
    let num_live = live_values();
    let Ok(program) = Program::load(host, &BefFile::from_bytes(bytes)) else {
        return false;
    };
    let is_sound = program.verify_all().is_ok();
    for function in program.functions() {
        if function.num_arguments() == 0 {
            run_function(host, &function);
            let num_left = live_values().wrapping_sub(num_live);
            assert_eq!(num_left, 0, "`{}` left values behind", function.name());
        }
    }
    is_sound
}

fn run_function(host: &Arc<HostContext>, function: &FunctionRef) {
    let resources = Arc::new(ResourceContext::new());
    let request = RequestContextBuilder::new(Arc::clone(host))
        .resources(resources)
        .build();
    *lock(&RUNNING) = Some((Arc::clone(&request), 0));
    let ctx = ExecutionContext::new(request);
    match function.kind() {
        FunctionKind::Async | FunctionKind::Native => {
            let results = function.execute(&ctx, &[]);
            host.await_available(&results)
                .unwrap_or_else(|error| panic!("{error}"));
            results
                .iter()
                .filter_map(AnyRef::error_if_present)
                .for_each(note_panic);
        }
        FunctionKind::Sync => {
            let mut results = vec![None; function.num_results()];
            let outcome = function.execute_sync(&ctx, &[], &mut results);
            outcome.as_ref().err().into_iter().for_each(note_panic);
        }
    }
    host.quiesce().unwrap_or_else(|error| panic!("{error}"));
    *lock(&RUNNING) = None;
    if let Some(message) = lock(&PANICKED).take() {
        panic!("in `{}`: {message}", function.name());
    }
}
