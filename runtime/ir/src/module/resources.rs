//! The resources in the file metadata after a program: named elements.
//!
//! ```text
//! {-#
//!   dialect_resources: {
//!     builtin: {
//!       weights: "0x040000000000803F"
//!     }
//!   }
//! #-}
//! ```

use crate::module::Module;

/// The section for the elements of attributes.
pub(crate) const DIALECT_RESOURCES: &str = "dialect_resources";

/// The section for tools.
pub(crate) const EXTERNAL_RESOURCES: &str = "external_resources";

/// The size of the alignment that precedes the elements.
const ALIGNMENT_BYTES: usize = 4;

/// An entry of a section.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) section: &'static str,
    /// The dialect or tool that owns the entry.
    pub(crate) owner: Box<str>,
    pub(crate) key: Box<str>,
    pub(crate) value: ResourceValue,
}

/// The value of an entry.
#[derive(Clone, Debug)]
pub(crate) enum ResourceValue {
    /// `"0x…"`
    Blob(Box<[u8]>),
    /// `"text"`
    Text(Box<[u8]>),
    /// `true` or `false`
    Bool(bool),
}

impl Module {
    pub(crate) fn resources(&self) -> &[Resource] {
        &self.resources
    }

    pub(crate) fn add_resource(&mut self, resource: Resource) {
        self.resources.push(resource);
    }

    /// Returns the packed elements of `dense_resource<key>`, if the text has them.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tfrt_ir::{ParseOptions, Registry, parse};
    ///
    /// let registry = Arc::new(Registry::default());
    /// let source = r#"module {} {-# dialect_resources: { builtin: { w: "0x010000002A07" } } #-}"#;
    /// let module = parse(source, "f.mlir", &registry, &ParseOptions::default()).unwrap();
    /// assert_eq!(module.resource_bytes("w"), Some(&[0x2A, 7][..]));
    /// assert_eq!(module.resource_bytes("v"), None);
    /// ```
    #[must_use]
    pub fn resource_bytes(&self, key: &str) -> Option<&[u8]> {
        let mut found = self.resources.iter();
        let found = found.find(|resource| {
            resource.section == DIALECT_RESOURCES
                && &*resource.owner == "builtin"
                && &*resource.key == key
        });
        match &found?.value {
            ResourceValue::Blob(bytes) => bytes.get(ALIGNMENT_BYTES..),
            _ => None,
        }
    }
}
