//! The functions of MPI that are used, and the constants of its two ABIs.
//!
//! In both ABIs, handles are pointers. In the standard ABI, the predefined ones are small numbers,
//! in Open MPI the addresses of objects of the library.
//!
//! Invariants:
//!
//! L1. The library is never unloaded: functions and handles stay valid.
//! L2. [`Mpi`] stays on the thread that initialized MPI, which makes all calls. Upheld by `Mpi`
//! being neither `Send` nor `Sync`, for it contains raw pointers.
//! L3. Memory that MPI reads or writes belongs to a [`Transfer`] until MPI is done with it. A
//! transfer that is dropped before leaves the memory to MPI for ever.
#![expect(unsafe_code, reason = "calls functions of a C library")]

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use bytes::Bytes;
use libloading::Library;
use tfrt_support::Error;
use tfrt_tensor::OwnedElementsMut;

/// A handle of MPI.
type Handle = *mut c_void;

/// The files that MPI may have, the ABI of Open MPI first.
const FILES: [&str; 4] = [
    "libmpi.so.40",
    "libmpi_abi.so.1",
    "libmpi_abi.so",
    "libmpi.so",
];

/// Names the file of MPI.
const FILE_VARIABLE: &str = "TFRT_MPI";

/// The largest transfer: lengths are 32-bit numbers in MPI.
pub(crate) const MAX_TRANSFER_BYTES: usize = 1 << 26;

/// The result of success.
const SUCCESS: c_int = 0;

/// A status in either ABI: the source comes first in both. Larger than both.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Status {
    source: c_int,
    tag: c_int,
    error: c_int,
    rest: [c_int; 13],
}

impl Status {
    const EMPTY: Self = Self {
        source: 0,
        tag: 0,
        error: 0,
        rest: [0; 13],
    };
}

macro_rules! functions {
    ($($field:ident = $name:literal($($ty:ty),*);)+) => {
        /// The functions.
        struct Functions {
            $($field: unsafe extern "C" fn($($ty),*) -> c_int,)+
        }

        impl Functions {
            fn find(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    // SAFETY: the functions have these types in every MPI whose handles are
                    // pointers, and `Mpi::load` looks for such a library alone. L1: they stay.
                    $($field: unsafe { *library.get(concat!($name, "\0").as_bytes())? },)+
                })
            }
        }
    };
}

functions! {
    initialized = "MPI_Initialized"(*mut c_int);
    query_thread = "MPI_Query_thread"(*mut c_int);
    init_thread = "MPI_Init_thread"(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
    finalize = "MPI_Finalize"();
    comm_rank = "MPI_Comm_rank"(Handle, *mut c_int);
    comm_size = "MPI_Comm_size"(Handle, *mut c_int);
    comm_set_errhandler = "MPI_Comm_set_errhandler"(Handle, Handle);
    isend = "MPI_Isend"(*const c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    irecv = "MPI_Irecv"(*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    iprobe = "MPI_Iprobe"(c_int, c_int, Handle, *mut c_int, *mut Status);
    get_count = "MPI_Get_count"(*const Status, Handle, *mut c_int);
    test = "MPI_Test"(*mut Handle, *mut c_int, *mut Status);
}

/// The constants in which the ABIs differ.
struct Constants {
    world: Handle,
    byte: Handle,
    errors_return: Handle,
    thread_funneled: c_int,
    thread_multiple: c_int,
}

/// A wildcard in both ABIs.
const ANY_SOURCE: c_int = -1;

impl Constants {
    /// The constants of Open MPI. Fails if the library is another one.
    fn open_mpi(library: &Library) -> Result<Self, libloading::Error> {
        let object = |name: &str| {
            // SAFETY: only the address of the object is used.
            let object = unsafe { library.get::<*mut c_void>(name.as_bytes()) };
            object.map(|object| *object)
        };
        Ok(Self {
            world: object("ompi_mpi_comm_world")?,
            byte: object("ompi_mpi_byte")?,
            errors_return: object("ompi_mpi_errors_return")?,
            thread_funneled: 1,
            thread_multiple: 3,
        })
    }

    /// The constants of the standard ABI.
    fn standard() -> Self {
        Self {
            world: ptr::without_provenance_mut(0x101),
            byte: ptr::without_provenance_mut(0x247),
            errors_return: ptr::without_provenance_mut(0x143),
            thread_funneled: 1024,
            thread_multiple: 4096,
        }
    }
}

/// MPI, initialized. Stays on its thread (L2).
pub(crate) struct Mpi {
    functions: Functions,
    constants: Constants,
    /// Whether this crate has initialized it.
    is_own: bool,
    pub(crate) rank: c_int,
    pub(crate) size: c_int,
}

fn failed(function: &str, code: c_int) -> Error {
    Error::new(format!("{function} failed with error {code}"))
}

impl Mpi {
    /// Loads and initializes MPI. The caller becomes its thread.
    pub(crate) fn load() -> Result<Self, Error> {
        let (functions, constants) = Self::find()?;
        let mut mpi = Self {
            functions,
            constants,
            is_own: false,
            rank: 0,
            size: 0,
        };
        mpi.initialize()?;
        Ok(mpi)
    }

    fn find() -> Result<(Functions, Constants), Error> {
        let named = std::env::var(FILE_VARIABLE).ok();
        let files = match &named {
            Some(file) => vec![&**file],
            None => FILES.to_vec(),
        };
        let mut why = String::new();
        for file in files {
            // SAFETY: what a library does when it is loaded is up to its makers; the user installed
            // it as MPI.
            let library = match unsafe { Library::new(file) } {
                Ok(library) => library,
                Err(error) => {
                    why = format!("{file}: {error}");
                    continue;
                }
            };
            let constants = match Constants::open_mpi(&library) {
                Ok(constants) => constants,
                Err(_) if file.contains("libmpi_abi") && has_standard_abi(&library) => {
                    Constants::standard()
                }
                Err(_) => {
                    why = format!("{file} is neither Open MPI nor an MPI with the standard ABI");
                    // L1 holds for it as well: it may have started threads.
                    std::mem::forget(library);
                    continue;
                }
            };
            let functions = Functions::find(&library);
            // L1.
            std::mem::forget(library);
            match functions {
                Ok(functions) => return Ok((functions, constants)),
                Err(error) => why = format!("{file}: {error}"),
            }
        }
        Err(Error::new(format!("MPI cannot be loaded: {why}")))
    }

    fn initialize(&mut self) -> Result<(), Error> {
        let f = &self.functions;
        let (mut is_initialized, mut level) = (0, 0);
        // SAFETY: may be called at any time, and writes a number.
        let code = unsafe { (f.initialized)(&raw mut is_initialized) };
        check("MPI_Initialized", code)?;
        if is_initialized == 0 {
            let level = &raw mut level;
            let (no_count, no_list) = (ptr::null_mut(), ptr::null_mut());
            // SAFETY: MPI takes null for the arguments of the program, and writes a number. It was
            // not initialized, and L2 says that no other thread of this crate does so now.
            let code = unsafe {
                (f.init_thread)(no_count, no_list, self.constants.thread_funneled, level)
            };
            check("MPI_Init_thread", code)?;
            self.is_own = true;
        } else {
            // SAFETY: MPI is initialized, and writes a number.
            let code = unsafe { (f.query_thread)(&raw mut level) };
            check("MPI_Query_thread", code)?;
            if level < self.constants.thread_multiple {
                return Err(Error::new(
                    "expected MPI to be initialized with MPI_THREAD_MULTIPLE, found a lower level",
                ));
            }
        }
        let world = self.constants.world;
        // SAFETY: the handles are those of the library.
        let code = unsafe { (f.comm_set_errhandler)(world, self.constants.errors_return) };
        check("MPI_Comm_set_errhandler", code)?;
        // SAFETY: MPI writes a number.
        let code = unsafe { (f.comm_rank)(world, &raw mut self.rank) };
        check("MPI_Comm_rank", code)?;
        // SAFETY: as above.
        let code = unsafe { (f.comm_size)(world, &raw mut self.size) };
        check("MPI_Comm_size", code)
    }

    /// Ends MPI, if this crate has initialized it. Waits for the other ranks.
    pub(crate) fn finalize(self) -> Result<(), Error> {
        if !self.is_own {
            return Ok(());
        }
        // SAFETY: this is the thread that initialized MPI, and `self` ends here: nothing is called
        // after it.
        let code = unsafe { (self.functions.finalize)() };
        check("MPI_Finalize", code)
    }

    /// Returns the source and the size of a message with a tag that can be received.
    pub(crate) fn probe(&self, tag: c_int) -> Result<Option<(c_int, usize)>, Error> {
        let (mut is_there, mut status) = (0, Status::EMPTY);
        let world = self.constants.world;
        // SAFETY: MPI writes a number, and a status, which has room for that of either ABI.
        let code = unsafe {
            (self.functions.iprobe)(ANY_SOURCE, tag, world, &raw mut is_there, &raw mut status)
        };
        check("MPI_Iprobe", code)?;
        if is_there == 0 {
            return Ok(None);
        }
        let mut count = 0;
        // SAFETY: the status was written above; MPI writes a number.
        let code = unsafe {
            (self.functions.get_count)(&raw const status, self.constants.byte, &raw mut count)
        };
        check("MPI_Get_count", code)?;
        let count = usize::try_from(count).map_err(|_| failed("MPI_Get_count", count))?;
        Ok(Some((status.source, count)))
    }

    /// Begins to send bytes, of which there are at most [`MAX_TRANSFER_BYTES`].
    pub(crate) fn send(&self, bytes: Bytes, to: c_int, tag: c_int) -> Result<Transfer, Error> {
        let mut request = ptr::null_mut();
        let len = transfer_len(bytes.len())?;
        let (byte, world) = (self.constants.byte, self.constants.world);
        // SAFETY: L3. The bytes are read until the transfer is done, and stay where they are when
        // `Bytes` moves.
        let code = unsafe {
            let start = bytes.as_ptr().cast();
            (self.functions.isend)(start, len, byte, to, tag, world, &raw mut request)
        };
        check("MPI_Isend", code)?;
        Ok(Transfer::new(request, Memory::Sent { _bytes: bytes }))
    }

    /// Begins to receive bytes into memory of their size, at most [`MAX_TRANSFER_BYTES`].
    pub(crate) fn receive(
        &self,
        mut into: Vec<u8>,
        from: c_int,
        tag: c_int,
    ) -> Result<Transfer, Error> {
        let mut request = ptr::null_mut();
        let len = transfer_len(into.len())?;
        let (byte, world) = (self.constants.byte, self.constants.world);
        // SAFETY: L3. The vector is written until the transfer is done, and its elements stay where
        // they are when it moves.
        let code = unsafe {
            let start = into.as_mut_ptr().cast();
            (self.functions.irecv)(start, len, byte, from, tag, world, &raw mut request)
        };
        check("MPI_Irecv", code)?;
        Ok(Transfer::new(request, Memory::Received(into)))
    }

    /// Begins to receive a part of the elements of a buffer.
    pub(crate) fn receive_elements(
        &self,
        mut into: OwnedElementsMut<u8>,
        range: std::ops::Range<usize>,
        from: c_int,
        tag: c_int,
    ) -> Result<Transfer, Error> {
        let mut request = ptr::null_mut();
        let part = &mut into[range];
        let len = transfer_len(part.len())?;
        let (byte, world) = (self.constants.byte, self.constants.world);
        // SAFETY: L3. The elements are borrowed for writing until the transfer is done, and stay
        // where they are when the borrow moves.
        let code = unsafe {
            let start = part.as_mut_ptr().cast();
            (self.functions.irecv)(start, len, byte, from, tag, world, &raw mut request)
        };
        check("MPI_Irecv", code)?;
        Ok(Transfer::new(request, Memory::Elements(into)))
    }

    /// Makes progress. Returns `true` once a transfer is done.
    pub(crate) fn is_done(&self, transfer: &mut Transfer) -> Result<bool, Error> {
        if transfer.is_done {
            return Ok(true);
        }
        let (mut is_done, mut status) = (0, Status::EMPTY);
        // SAFETY: the request is that of a transfer that is not done; MPI writes a number, and a
        // status, which has room for that of either ABI.
        let code = unsafe {
            let request = &raw mut transfer.request;
            (self.functions.test)(request, &raw mut is_done, &raw mut status)
        };
        check("MPI_Test", code)?;
        transfer.is_done = is_done != 0;
        Ok(transfer.is_done)
    }
}

/// Returns `true` for a library with a function that came with the standard ABI.
fn has_standard_abi(library: &Library) -> bool {
    // SAFETY: only its presence is looked at.
    let function = unsafe { library.get::<*mut c_void>(b"MPI_Abi_get_version\0") };
    function.is_ok()
}

fn check(function: &str, code: c_int) -> Result<(), Error> {
    match code {
        SUCCESS => Ok(()),
        code => Err(failed(function, code)),
    }
}

fn transfer_len(len: usize) -> Result<c_int, Error> {
    let limited = Some(len).filter(|len| *len <= MAX_TRANSFER_BYTES);
    let limited = limited.and_then(|len| c_int::try_from(len).ok());
    limited.ok_or_else(|| Error::new(format!("a transfer of {len} bytes is too large for MPI")))
}

/// The memory of a transfer.
enum Memory {
    Sent { _bytes: Bytes },
    Received(Vec<u8>),
    Elements(OwnedElementsMut<u8>),
}

/// Bytes that MPI sends or receives.
pub(crate) struct Transfer {
    request: Handle,
    is_done: bool,
    /// `Some` until it is taken or left to MPI.
    memory: Option<Memory>,
}

impl Transfer {
    fn new(request: Handle, memory: Memory) -> Self {
        Self {
            request,
            is_done: false,
            memory: Some(memory),
        }
    }

    /// Returns the bytes that were received, once the transfer is done.
    pub(crate) fn into_received(mut self) -> Option<Vec<u8>> {
        match self.memory.take_if(|_| self.is_done)? {
            Memory::Received(bytes) => Some(bytes),
            Memory::Sent { .. } | Memory::Elements(_) => None,
        }
    }

    /// Returns the borrow of the elements, once the transfer is done.
    pub(crate) fn into_elements(mut self) -> Option<OwnedElementsMut<u8>> {
        match self.memory.take_if(|_| self.is_done)? {
            Memory::Elements(elements) => Some(elements),
            Memory::Sent { .. } | Memory::Received(_) => None,
        }
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        if !self.is_done {
            // L3.
            std::mem::forget(self.memory.take());
        }
    }
}
