//! References into compiled modules, in place.

use crate::bytes::{read_u8, slice};
use crate::code::AttrTypeCode;
use crate::error::{AttrError, AttrProblem};
use crate::read::FromAttr;
use crate::vbr;

/// A symbol of a compiled module, together with the text of the module.
///
/// ```
/// use tfrt_attr::{AttrEncoder, AttrValue, CompilationUnitView, FromAttr, SymbolRefAttr};
///
/// let symbol = SymbolRefAttr { root: "m".into(), nested: vec!["f".into()], text: "module @m {}".into() };
/// let mut encoder = AttrEncoder::new();
/// let offset = encoder.encode(&AttrValue::SymbolRef(symbol))?;
/// let unit = CompilationUnitView::read(encoder.as_bytes(), offset)?;
/// assert_eq!((unit.root(), unit.nested(), unit.text()), ("m", &["f"][..], "module @m {}"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilationUnitView<'a> {
    offset: usize,
    root: &'a str,
    nested: Vec<&'a str>,
    text: &'a str,
}

impl<'a> CompilationUnitView<'a> {
    /// Returns the symbol of the module.
    #[must_use]
    pub fn root(&self) -> &'a str {
        self.root
    }

    /// Returns the symbols inside the module, outermost first.
    #[must_use]
    pub fn nested(&self) -> &[&'a str] {
        &self.nested
    }

    /// Returns the module, printed in generic form.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the offset of the attribute in its section: a key for caches of compiled code, as
    /// long as the section lives.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Reads the attribute at `offset`, and returns where it ends.
    pub(crate) fn parse(section: &'a [u8], offset: usize) -> Result<(Self, usize), AttrError> {
        let mut at = offset;
        let root_len = vbr::read_at(section, &mut at)?;
        let num_nested = vbr::read_at(section, &mut at)?;
        // Every length takes a byte at least: so nothing is allocated for the count before the
        // lengths are read.
        let nested_lens = (0..num_nested)
            .map(|_| vbr::read_at(section, &mut at))
            .collect::<Result<Vec<u64>, AttrError>>()?;
        let text_len = vbr::read_at(section, &mut at)?;
        let mut text_of = |len: u64| {
            let bytes = slice(section, at, len)?;
            let text =
                str::from_utf8(bytes).map_err(|_| AttrError::new(at, AttrProblem::NotUtf8))?;
            at += bytes.len();
            Ok(text)
        };
        let root = text_of(root_len)?;
        let nested = nested_lens
            .into_iter()
            .map(&mut text_of)
            .collect::<Result<Vec<&str>, AttrError>>()?;
        let text = text_of(text_len)?;
        let terminator = read_u8(section, at)?;
        if terminator != 0 {
            let problem = AttrProblem::InvalidValue {
                expected: "a zero byte after the text",
                found: terminator,
            };
            return Err(AttrError::new(at, problem));
        }
        Ok((
            Self {
                offset,
                root,
                nested,
                text,
            },
            at + 1,
        ))
    }
}

impl<'a> FromAttr<'a> for CompilationUnitView<'a> {
    const EXPECTED: &'static str = "symbol reference";

    fn is_stored_as(code: AttrTypeCode) -> bool {
        code == AttrTypeCode::SYMBOL_REF
    }

    fn read(section: &'a [u8], offset: u32) -> Result<Self, AttrError> {
        Self::parse(section, offset as usize).map(|(view, _)| view)
    }
}
