//! Dumps: a file printed for people, accounting for every byte, with its errors.
//!
//! This is not a disassembler whose output is read again: decoding to MLIR is. A dump accepts any
//! bytes. It walks the sections in file order and prints a line for each record, with names instead
//! of offsets where tables permit, so it shows as much of a damaged file as can be read. Errors
//! from the readers and the verifier are printed after the record that they refer to.
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
use crate::file::BefFile;
use listing::Listing;
use model::Model;

/// Returns the spelling of the type that a kernel declares for a result, given the name of the
/// kernel and the position of the result. Returns `None` if the kernel is unknown, or may return
/// values of several types.
pub type DeclaredResults<'a> = &'a dyn Fn(&str, usize) -> Option<String>;

/// The options of a dump.
#[derive(Clone, Copy, Default)]
pub struct DumpOptions<'a> {
    /// `true` to print each record with its bytes.
    pub hex: bool,
    /// The declared results of kernels. A remark is printed for each register whose type in the
    /// RegisterTypes section differs.
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

/// Prints `bytes` as a BEF file, and returns the number of errors in it.
///
/// Takes time linear in the size of the file, except for locations shared by many kernels.
///
/// # Errors
/// Only those of `out`: a damaged file is not an error.
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
///           error at 0xf: expected the alignment of the section, found the end of the data
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

/// Returns the errors of readers and verifier: offset and text, sorted and unique.
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
