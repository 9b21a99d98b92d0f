//! The places that ops are called from, by the numbers that contexts carry.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use tfrt_host::__runtime::LocationSource;
use tfrt_support::Place;

/// The source locations of callers, by the numbers that contexts carry.
#[derive(Debug)]
pub(super) struct CallerPlaces {
    /// The name scope of the calls.
    pub(super) scope: Option<Arc<str>>,
}

/// The locations with a number, which is the same for all threads.
static PLACES: Mutex<Places> = Mutex::new(Places {
    places: Vec::new(),
    numbers: BTreeMap::new(),
});

struct Places {
    /// The locations, each at its number; numbers start at 1.
    places: Vec<&'static Location<'static>>,
    /// The numbers, by the address of the location.
    numbers: BTreeMap<usize, u32>,
}

thread_local! {
    /// The address of the location that this thread called from last, and its number.
    static LAST: Cell<(usize, u32)> = const { Cell::new((0, 0)) };
    /// All locations that this thread has called from.
    static KNOWN: RefCell<HashMap<usize, u32>> = RefCell::default();
}

/// Returns the number of a location.
#[inline]
pub(super) fn token_of(place: &'static Location<'static>) -> u32 {
    let address = std::ptr::from_ref(place).addr();
    let (last, token) = LAST.get();
    if last == address {
        return token;
    }
    find_token(place, address)
}

fn find_token(place: &'static Location<'static>, address: usize) -> u32 {
    let token = KNOWN.with_borrow_mut(|known| {
        *known.entry(address).or_insert_with(|| {
            let mut known = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
            let Places { places, numbers } = &mut *known;
            *numbers.entry(address).or_insert_with(|| {
                places.push(place);
                // Programs have fewer calls than this.
                u32::try_from(places.len()).unwrap_or(0)
            })
        })
    });
    LAST.set((address, token));
    token
}

impl LocationSource for CallerPlaces {
    fn place(&self, token: u32) -> Place {
        let known = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        let index = (token as usize).checked_sub(1);
        match index.and_then(|index| known.places.get(index)) {
            Some(&place) => Place::from(place),
            None => Place::default(),
        }
    }

    fn debug_name(&self, _token: u32) -> Option<String> {
        self.scope.as_deref().map(str::to_owned)
    }
}
