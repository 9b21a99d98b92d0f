//! A proxy between tasks, which delays, limits, drops and cuts.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How a network behaves in both directions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Behaviour {
    /// The time that bytes take.
    pub delay: Duration,
    /// The most bytes in a second, if there is a limit.
    pub bytes_per_second: Option<u64>,
    /// How many of a thousand pieces of up to 4 KiB cut their connection.
    pub cuts_per_mille: u64,
    /// The seed of the random numbers.
    pub seed: u64,
    /// Whether tasks behind it seem to be of a version without calls on data connections and
    /// streams of heartbeats.
    pub is_old: bool,
}

/// The end of the greeting of a task that takes data connections, and calls on them.
const TAKES_CALLS: &[u8] = b"\x30\x01\x38\x01";

/// The last field of the greeting of a task that sends streams of heartbeats.
const IS_WATCHABLE: &[u8] = b"\x58\x01";

/// Forwards connections to an address, until they are cut or frozen.
pub struct Proxy {
    pub address: String,
    open: Arc<Mutex<Vec<TcpStream>>>,
    faults: Faults,
}

/// What the directions of all connections share.
#[derive(Clone)]
struct Faults {
    behaviour: Behaviour,
    /// Whether bytes are dropped instead.
    is_frozen: Arc<AtomicBool>,
    /// The number of directions in which a connection is open.
    num_open: Arc<AtomicUsize>,
    /// The number of connections that were cut by chance.
    num_cuts: Arc<AtomicUsize>,
    random: Arc<AtomicU64>,
}

impl Faults {
    fn cuts(&self) -> bool {
        let step = |state: u64| state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let update = |state| Some(step(state));
        let drawn = self
            .random
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, update);
        let drawn = step(drawn.unwrap_or_default()) >> 33;
        drawn % 1000 < self.behaviour.cuts_per_mille
    }
}

impl Proxy {
    pub fn to(address: &str) -> Self {
        Self::with(address, Behaviour::default())
    }

    pub fn with(address: &str, behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap().to_string();
        let open = Arc::new(Mutex::new(Vec::new()));
        let (streams, address) = (Arc::clone(&open), address.to_owned());
        let faults = Faults {
            behaviour,
            is_frozen: Arc::default(),
            num_open: Arc::default(),
            num_cuts: Arc::default(),
            random: Arc::new(AtomicU64::new(behaviour.seed)),
        };
        let shared = faults.clone();
        // Ends with the process.
        thread::spawn(move || {
            for here in listener.incoming() {
                let (Ok(here), Ok(there)) = (here, TcpStream::connect(&address)) else {
                    return;
                };
                let mut streams = streams.lock().unwrap();
                for stream in [&here, &there] {
                    streams.push(stream.try_clone().unwrap());
                }
                let copies = (here.try_clone().unwrap(), there.try_clone().unwrap());
                forward(copies.0, copies.1, &shared);
                forward(there, here, &shared);
            }
        });
        Self {
            address: own,
            open,
            faults,
        }
    }

    /// Keeps all connections open, and drops what is sent.
    pub fn freeze(&self) {
        self.faults.is_frozen.store(true, Ordering::SeqCst);
    }

    /// Forwards again what is sent from now on.
    pub fn thaw(&self) {
        self.faults.is_frozen.store(false, Ordering::SeqCst);
    }

    /// Cuts all connections.
    pub fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            // It may be closed already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Returns the number of directions in which a connection is open.
    pub fn num_open(&self) -> usize {
        self.faults.num_open.load(Ordering::SeqCst)
    }

    /// Returns the number of connections that were cut by chance.
    pub fn num_cuts(&self) -> usize {
        self.faults.num_cuts.load(Ordering::SeqCst)
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, faults: &Faults) {
    let faults = faults.clone();
    faults.num_open.fetch_add(1, Ordering::SeqCst);
    // As many pieces as a long link holds; then the sender waits.
    let (pieces, due) = sync_channel::<(Instant, Vec<u8>)>(64);
    let other = to.try_clone().unwrap();
    let Behaviour {
        delay,
        bytes_per_second,
        is_old,
        ..
    } = faults.behaviour;
    thread::spawn(move || {
        for (time, piece) in due {
            thread::sleep(time.saturating_duration_since(Instant::now()));
            if to.write_all(&piece).is_err() {
                return;
            }
            if let Some(rate) = bytes_per_second {
                let nanos = piece.len() as u64 * 1_000_000_000 / rate;
                thread::sleep(Duration::from_nanos(nanos));
            }
        }
        // The end comes after the last bytes.
        let _ = to.shutdown(Shutdown::Both);
    });
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            if faults.is_frozen.load(Ordering::SeqCst) {
                continue;
            }
            if faults.cuts() {
                faults.num_cuts.fetch_add(1, Ordering::SeqCst);
                for stream in [&from, &other] {
                    // It may be closed already.
                    let _ = stream.shutdown(Shutdown::Both);
                }
                break;
            }
            let mut piece = buffer[..n].to_vec();
            if is_old
                && let Some(start) = piece
                    .windows(TAKES_CALLS.len())
                    .position(|part| part == TAKES_CALLS)
            {
                piece[start + 3] = 0;
                let watchable = piece
                    .windows(IS_WATCHABLE.len())
                    .rposition(|part| part == IS_WATCHABLE);
                if let Some(start) = watchable {
                    piece[start + 1] = 0;
                }
            }
            if pieces.send((Instant::now() + delay, piece)).is_err() {
                break;
            }
        }
        faults.num_open.fetch_sub(1, Ordering::SeqCst);
    });
}
