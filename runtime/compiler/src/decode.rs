//! From a BEF file to IR.
//!
//! ```text
//! 1. verify      `tfrt_bef` checks the file; what it refuses is reported in the words of the decoder of TFRT
//! 2. units       compiled modules come back from the texts that their users carry
//! 3. functions   bodies become blocks, regions go back to the ops that own them
//! ```
//!
//! A file does not hold everything: the names of attributes that refer to functions (which are
//! restored from declarations), costs, visibility, attributes of functions and of the program; and,
//! without its optional sections, the names and types of nearly everything. The result is not
//! verified against the rules of its ops; the caller has to do so.

use std::sync::Arc;

use tfrt_bef::format::SectionId;
use tfrt_bef::{BefError, BefFile, Reason, VerifiedBef};
use tfrt_ir::{Module, Registry};
use tfrt_support::{Diagnostic, Place};

mod functions;

mod names;

mod attributes;

pub use attributes::attribute_of;

mod locations;

mod units;

/// The sections that only decoding needs.
const OPTIONAL_SECTIONS: [SectionId; 3] = [
    SectionId::AttributeTypes,
    SectionId::AttributeNames,
    SectionId::RegisterTypes,
];

/// The result of decoding a file.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_bef::BefFile;
/// use tfrt_compiler::decode;
/// use tfrt_ir::Registry;
///
/// let decoded = decode(&BefFile::from_bytes(b""), "f.bef", &Arc::new(Registry::default()));
/// assert!(decoded.module.is_none());
/// assert!(decoded.diagnostics[0].to_string().starts_with("f.bef:0:0: error: BEF file is empty."));
/// ```
#[derive(Debug)]
pub struct Decoded {
    /// The program; `None` if the file was rejected.
    pub module: Option<Module>,
    /// An error if there is no program, and warnings in any case.
    pub diagnostics: Vec<Diagnostic>,
}

/// Decodes the program in a file named `file_name`.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_bef::BefFile;
/// use tfrt_compiler::{EncodeOptions, decode, encode};
/// use tfrt_ir::{PrintOptions, ParseOptions, Registry, parse, print};
///
/// let registry = Arc::new(Registry::default());
/// let options = ParseOptions { allow_unregistered_dialects: true };
/// let source = "module {\n  func @f(%arg0: i32) -> i32 {\n    \"tfrt.return\"(%arg0) : (i32) -> ()\n  }\n}\n";
/// let module = parse(source, "f.mlir", &registry, &options).map_err(|errors| errors[0].to_string())?;
/// let bytes = encode(&module, &EncodeOptions::default()).map_err(|errors| errors[0].to_string())?;
///
/// let decoded = decode(&BefFile::from_bytes(&bytes), "f.bef", &registry).module.ok_or("no program")?;
/// assert_eq!(print(&decoded, &PrintOptions::default()), source);
/// # Ok::<(), String>(())
/// ```
#[must_use]
pub fn decode(file: &BefFile, file_name: &str, registry: &Arc<Registry>) -> Decoded {
    let mut reporter = Reporter {
        file_name,
        diagnostics: Vec::new(),
    };
    let module = decode_file(file, registry, &mut reporter)
        .map_err(|error| reporter.diagnostics.extend(error))
        .ok();
    Decoded {
        module,
        diagnostics: reporter.diagnostics,
    }
}

/// The reason why there is no program.
type Refusal = Vec<Diagnostic>;

fn decode_file(
    file: &BefFile,
    registry: &Arc<Registry>,
    reporter: &mut Reporter<'_>,
) -> Result<Module, Refusal> {
    let sections = file.sections().map_err(|error| reporter.refusal(&error))?;
    if OPTIONAL_SECTIONS
        .into_iter()
        .any(|id| sections.bytes(id).is_none_or(<[u8]>::is_empty))
    {
        reporter.warn("Missing AttributeTypes, AttributeNames or RegisterTypes sections.");
    }
    // If there are several errors, the first one in this order is reported.
    if sections.bytes(SectionId::Types).is_none() {
        return Err(reporter.error("Invalid Types section."));
    }
    let bef = file.verify().map_err(|error| reporter.refusal(&error))?;
    bef.verify_functions()
        .map_err(|error| reporter.refusal(&error))?;
    let values = attribute_values(&bef, reporter);
    let module = units::module_of_units(&values, registry, reporter)?;
    functions::decode_functions(&bef, &values, module, reporter)
}

/// Returns the attributes that the file describes, by offset.
fn attribute_values(
    bef: &VerifiedBef,
    reporter: &mut Reporter<'_>,
) -> Vec<(u32, tfrt_attr::AttrValue)> {
    let section = bef.attributes();
    let decoded = match bef.attribute_types() {
        Ok(None) => return Vec::new(),
        Ok(Some(types)) => types
            .iter()
            .map(|(offset, code)| {
                // An offset holds 32 bits.
                let offset = tfrt_support::entity::EntityId::index(offset) as u32;
                tfrt_attr::decode::decode(section, offset, code).map(|value| (offset, value))
            })
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    decoded.unwrap_or_else(|error| {
        reporter.warn(format!(
            "Invalid Attributes/AttributeTypes section. ({error})"
        ));
        Vec::new()
    })
}

/// Collects diagnostics, all of which are about the file as a whole.
struct Reporter<'a> {
    file_name: &'a str,
    diagnostics: Vec<Diagnostic>,
}

impl Reporter<'_> {
    fn place(&self) -> Place {
        Place::file(self.file_name, 0, 0)
    }

    fn warn(&mut self, message: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::warning(self.place(), message));
    }

    fn error(&self, message: impl Into<String>) -> Refusal {
        vec![Diagnostic::error(self.place(), message)]
    }

    /// Returns an error with TFRT's message, and with what was expected and found.
    fn detailed_error(&self, message: &str, detail: &str) -> Refusal {
        self.error(format!("{message} ({detail})"))
    }

    /// Returns the errors for a file that the reader rejects.
    fn refusal(&self, error: &BefError) -> Refusal {
        let section = error
            .section()
            .map_or(String::new(), |section| format!("{section} section, "));
        let detail = format!(
            "{section}at offset {:#x}: {}",
            error.offset(),
            error.detail()
        );
        let mut refusal = self.detailed_error(&error.decoder_message(), &detail);
        if error.reason() == Reason::Magic {
            refusal.extend(self.error("Invalid BEF file header."));
        }
        refusal
    }
}
