//! Dumps: a file printed for people, byte by byte accounted for, with what is wrong with it.
//!
//! Not a disassembler whose output is read again: that is decoding to MLIR. A dump takes any bytes. It walks the sections as
//! they are laid out and prints a line for each record, with names instead of offsets where tables allow; so it shows as much
//! of a damaged file as can be read. What the readers and the verifier object to is printed behind the record at which they
//! do.
//!
//! ```text
//!  00000003  section 0 Strings, 30 bytes             absolute offset, then what is there
//!  00000005    str+0 "f"
//!            error at 0x23: expected …, found …       behind the last record that starts there or before
//! ```

mod bodies;

mod listing;

mod table;

mod model;

mod sections;

mod text;

use std::collections::BTreeSet;
use std::fmt;
use std::io;

use crate::error::BefError;
use crate::read::BefFile;
use listing::Listing;
use model::Model;

/// The spelling of the type that a kernel declares for a result: by the name of the kernel and the position of the result. None
/// where the kernel is unknown, or may give a value of another type.
pub type DeclaredResults<'a> = &'a dyn Fn(&str, usize) -> Option<String>;

/// What a dump shows beside the records.
#[derive(Clone, Copy, Default)]
pub struct DumpOptions<'a> {
    /// Whether each record is printed with its bytes.
    pub hex: bool,
    /// What kernels declare. Registers with another type in the RegisterTypes section get a remark.
    pub declared_results: Option<DeclaredResults<'a>>,
}

impl fmt::Debug for DumpOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DumpOptions")
            .field("hex", &self.hex)
            .field("declared_results", &self.declared_results.is_some())
            .finish()
    }
}

/// Prints what `bytes` hold, as a BEF file; returns how many errors there are in it.
///
/// Takes time linear in the size of the file, but for locations that many kernels share.
///
/// # Errors
/// Those of `out` alone: a damaged file is what a dump is for.
///
/// ```
/// use tfrt_bef::dump::{DumpOptions, dump};
///
/// let mut text = Vec::new();
/// let num_errors = dump(b"\x0b\xef\0\x00\x04f\0\x02\x02\0\x03\x02\0\x04\x03", DumpOptions::default(), &mut text)?;
/// assert_eq!(num_errors, 1);
/// assert_eq!(String::from_utf8_lossy(&text), "\
/// 00000000  BEF, format version 0, 15 bytes
/// 00000003  section 0 Strings, 2 bytes
/// 00000005    str+0 \"f\"
/// 00000007  section 2 Kernels, 1 byte
/// 00000009    0 kernels
/// 0000000a  section 3 Types, 1 byte
/// 0000000c    0 types
/// 0000000d  section 4 FunctionIndex
///           error at 0xf: expected the alignment of the section, found the end
/// ");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn dump(bytes: &[u8], options: DumpOptions<'_>, out: impl io::Write) -> io::Result<usize> {
    let file = BefFile::from_bytes(bytes);
    let model = Model::read(file.bytes());
    let mut listing = Listing::new(file.bytes(), options.hex, errors(&file), out);
    sections::print(&model, options, &mut listing)?;
    listing.finish()
}

/// What readers and verifier object to: offset and text, ascending, each once.
fn errors(file: &BefFile) -> BTreeSet<(usize, String)> {
    let mut errors = BTreeSet::new();
    let mut note = |error: BefError| errors.insert((error.offset(), error.detail().to_owned()));
    match file.verify() {
        Err(error) => {
            note(error);
        }
        Ok(bef) => {
            for function in bef.functions().filter(|function| function.kind.has_body()) {
                bef.function(function.id).err().map(&mut note);
            }
            bef.attribute_types().err().map(&mut note);
            bef.attribute_names().err().map(&mut note);
            bef.register_types().err().map(&mut note);
        }
    }
    errors
}
