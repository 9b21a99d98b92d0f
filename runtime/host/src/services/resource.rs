//! Resources: named objects that outlive a request.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tfrt_support::{Error, ErrorCode};

/// Named, typed objects that the requests of one client share. Safe to use from any thread.
///
/// Entries are dropped in reverse order of their creation. No method runs code of an object while
/// the table is locked.
///
/// ```
/// use tfrt_host::ResourceContext;
///
/// let resources = ResourceContext::new();
/// let counter = resources.get_or_create("counter", || 41_i32).unwrap();
/// assert_eq!(*counter, 41);
/// assert_eq!(*resources.get::<i32>("counter").unwrap().unwrap(), 41);
/// assert!(resources.get::<String>("counter").is_err(), "it is of another type");
/// ```
#[derive(Default)]
pub struct ResourceContext {
    entries: Mutex<Vec<NamedResource>>,
}

struct NamedResource {
    name: String,
    type_name: &'static str,
    object: Arc<dyn Any + Send + Sync>,
}

impl ResourceContext {
    /// Creates an empty context.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the object with this name, if there is one.
    ///
    /// # Errors
    /// `InvalidArgument` if it has another type.
    pub fn get<T: Any + Send + Sync>(&self, name: &str) -> Result<Option<Arc<T>>, Error> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries
            .iter()
            .find(|entry| entry.name == name)
            .map(NamedResource::downcast)
            .transpose()
    }

    /// Adds `object` under a new name.
    ///
    /// # Errors
    /// `AlreadyExists` if the name is taken; `object` is then dropped.
    pub fn create<T: Any + Send + Sync>(&self, name: &str, object: T) -> Result<Arc<T>, Error> {
        let object = Arc::new(object);
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.iter().any(|entry| entry.name == name) {
            return Err(Error::new(format!("resource `{name}` already exists"))
                .with_code(ErrorCode::AlreadyExists));
        }
        entries.push(NamedResource::new(name, &object));
        Ok(object)
    }

    /// Returns the object with this name, creating it if there is none. If two threads create it
    /// concurrently, the first to finish wins.
    ///
    /// # Errors
    /// `InvalidArgument` if the name holds an object of another type.
    pub fn get_or_create<T: Any + Send + Sync>(
        &self,
        name: &str,
        make: impl FnOnce() -> T,
    ) -> Result<Arc<T>, Error> {
        if let Some(object) = self.get(name)? {
            return Ok(object);
        }
        let made = Arc::new(make());
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.iter().find(|entry| entry.name == name) {
            return entry.downcast();
        }
        entries.push(NamedResource::new(name, &made));
        Ok(made)
    }

    /// Removes the name and returns whether it existed. The object lives as long as it has
    /// references.
    pub fn delete(&self, name: &str) -> bool {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(index) = entries.iter().position(|entry| entry.name == name) else {
            return false;
        };
        let removed = entries.remove(index);
        drop(entries);
        drop(removed);
        true
    }
}

impl NamedResource {
    fn new<T: Any + Send + Sync>(name: &str, object: &Arc<T>) -> Self {
        Self {
            name: name.to_owned(),
            type_name: std::any::type_name::<T>(),
            object: Arc::clone(object) as _,
        }
    }

    fn downcast<T: Any + Send + Sync>(&self) -> Result<Arc<T>, Error> {
        Arc::clone(&self.object).downcast().map_err(|_| {
            let (name, expected, found) = (&self.name, std::any::type_name::<T>(), self.type_name);
            Error::new(format!(
                "resource `{name}`: expected `{expected}`, found `{found}`"
            ))
            .with_code(ErrorCode::InvalidArgument)
        })
    }
}

impl Drop for ResourceContext {
    fn drop(&mut self) {
        let entries = self
            .entries
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        while let Some(entry) = entries.pop() {
            drop(entry);
        }
    }
}

impl fmt::Debug for ResourceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_map()
            .entries(entries.iter().map(|entry| (&entry.name, entry.type_name)))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Noisy(&'static str, Arc<Mutex<Vec<&'static str>>>);

    impl Drop for Noisy {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    #[test]
    fn entries_are_dropped_newest_first() {
        let dropped = Arc::new(Mutex::new(Vec::new()));
        let resources = ResourceContext::new();
        for name in ["a", "b", "c"] {
            resources
                .create(name, Noisy(name, Arc::clone(&dropped)))
                .unwrap();
        }
        drop(resources);
        assert_eq!(*dropped.lock().unwrap(), ["c", "b", "a"]);
    }

    #[test]
    fn a_taken_name_is_refused() {
        let resources = ResourceContext::new();
        resources.create("a", 1_i32).unwrap();
        assert_eq!(
            resources.create("a", 2_i32).unwrap_err().code(),
            ErrorCode::AlreadyExists
        );
        assert!(resources.delete("a") && !resources.delete("a"));
        assert_eq!(resources.get::<i32>("a").unwrap(), None);
    }
}
