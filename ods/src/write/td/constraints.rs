//! Constraints on types and attributes, with their MLIR names.

use crate::catalogue::{Catalogue, dialect_type};
use crate::constraint::{AttrKind, EnumDef, FloatKind, TypeConstraint};
use crate::op::{AttrDef, AttrDefault};

use super::names::{self, Symbols};
use super::quoted;

pub(super) struct Constraints<'a> {
    symbols: &'a Symbols,
    /// The record of shape attributes.
    shape: String,
    /// The enumerations, each with its dialect.
    enums: Vec<(&'static str, &'static EnumDef)>,
}

impl<'a> Constraints<'a> {
    pub(super) fn new(catalogue: &Catalogue<'_>, symbols: &'a Symbols) -> Self {
        let mut dialects = catalogue.dialects().iter();
        let shape = dialects.find_map(|dialect| {
            let keyword = dialect.shape_attribute?;
            let prefix = symbols.dialect(dialect.name);
            Some(format!("{prefix}_{}Attr", names::camel(keyword)))
        });
        Self {
            symbols,
            shape: shape.unwrap_or_else(|| "AnyAttr".into()),
            enums: super::enums(catalogue),
        }
    }

    /// Returns the enumerations, each with its record and its C++ namespace.
    pub(super) fn enums(&self) -> Vec<(&'static EnumDef, String, String)> {
        self.enums
            .iter()
            .map(|(dialect, def)| (*def, self.enum_record(def), names::namespace(dialect)))
            .collect()
    }

    /// Returns the record of an enumeration. Two with the same name in a dialect are distinguished
    /// by a number.
    fn enum_record(&self, def: &EnumDef) -> String {
        let Some(index) = self.enums.iter().position(|(_, other)| *other == def) else {
            return "AnyAttr".into();
        };
        let (dialect, _) = self.enums[index];
        let is_namesake = |other: &&(&str, &EnumDef)| {
            other.0 == dialect && names::camel(other.1.name) == names::camel(def.name)
        };
        let before = self.enums[..index].iter().filter(is_namesake).count();
        let number = if before == 0 {
            String::new()
        } else {
            format!("_{}", before + 1)
        };
        format!(
            "{}_{}Attr{number}",
            self.symbols.dialect(dialect),
            names::camel(def.name)
        )
    }

    /// Returns the constraint on types of values.
    pub(super) fn ty(&self, ty: TypeConstraint) -> String {
        match ty {
            TypeConstraint::Exact(spelling) => self.spelled(spelling),
            TypeConstraint::OneOf(spellings) => {
                let types: Vec<_> = spellings
                    .iter()
                    .map(|spelling| self.spelled(spelling))
                    .collect();
                format!("AnyTypeOf<[{}]>", types.join(", "))
            }
            // Traits determine the type.
            TypeConstraint::Any | TypeConstraint::SameAs(_) => "AnyType".into(),
        }
    }

    fn spelled(&self, spelling: &str) -> String {
        if let Some((dialect, name)) = dialect_type(spelling) {
            return self.symbols.ty(dialect, name).to_owned();
        }
        let element = spelling
            .strip_prefix("complex<")
            .and_then(|rest| rest.strip_suffix('>'));
        if let Some(element) = element {
            return format!("Complex<{}>", self.spelled(element));
        }
        match spelling {
            "bf16" | "f16" | "f32" | "f64" => return spelling.to_ascii_uppercase(),
            "index" => return "Index".into(),
            "none" => return "NoneType".into(),
            _ => {}
        }
        for (prefix, class) in [("si", "SI"), ("ui", "UI"), ("i", "I")] {
            let width = spelling
                .strip_prefix(prefix)
                .and_then(|width| width.parse::<u32>().ok());
            match width {
                Some(width @ (1 | 8 | 16 | 32 | 64)) => return format!("{class}{width}"),
                Some(width) => return format!("{class}<{width}>"),
                None => {}
            }
        }
        format!("TFRT_SpelledType<{}>", quoted(spelling))
    }

    /// Returns the constraint on an attribute, with the default.
    pub(super) fn attribute(&self, def: &AttrDef) -> String {
        let kind = self.kind(&def.kind);
        match (&def.default, &def.kind) {
            (None, _) => kind,
            (Some(AttrDefault::Absent), _) => format!("OptionalAttr<{kind}>"),
            (Some(AttrDefault::String(text)), _) => {
                // The text is a C++ string inside a TableGen string: TableGen itself quotes the
                // former.
                format!(
                    "DefaultValuedStrAttr<{kind}, {}>",
                    quoted(&cpp_escaped(text))
                )
            }
            (Some(default), kind_of) => {
                let value = match default {
                    AttrDefault::Bool(value) => value.to_string(),
                    AttrDefault::Int(value) => match kind_of {
                        AttrKind::Enum(of) => self.case(of, *value),
                        AttrKind::Int {
                            width: 64,
                            is_unsigned: true,
                        } => format!("{value}ULL"),
                        _ => value.to_string(),
                    },
                    AttrDefault::Float(value) => cpp_float(*value),
                    AttrDefault::EmptyArray | AttrDefault::String(_) | AttrDefault::Absent => {
                        "{}".into()
                    }
                };
                format!("DefaultValuedAttr<{kind}, {}>", quoted(&value))
            }
        }
    }

    /// Returns the C++ name of a case.
    fn case(&self, def: &EnumDef, value: i128) -> String {
        let dialect = self.enums.iter().find(|(_, other)| *other == def);
        let namespace = dialect.map_or_else(String::new, |(dialect, _)| names::namespace(dialect));
        let keyword = def.keyword_of(value).unwrap_or_default();
        format!(
            "{namespace}::{}::{}",
            names::camel(def.name),
            names::camel(keyword)
        )
    }

    fn kind(&self, kind: &AttrKind) -> String {
        match kind {
            AttrKind::Int {
                width: 1,
                is_unsigned: false,
            } => "BoolAttr".into(),
            AttrKind::Int { width, is_unsigned } => {
                format!("{}I{width}Attr", if *is_unsigned { "U" } else { "" })
            }
            AttrKind::Float(FloatKind::Bf16) => "TFRT_BF16Attr".into(),
            AttrKind::Float(FloatKind::F16) => "TFRT_F16Attr".into(),
            AttrKind::Float(FloatKind::F32) => "F32Attr".into(),
            AttrKind::Float(FloatKind::F64) => "F64Attr".into(),
            AttrKind::String => "StrAttr".into(),
            AttrKind::Type => "TypeAttr".into(),
            AttrKind::Array(AttrKind::Any) | AttrKind::Aggregate => "ArrayAttr".into(),
            AttrKind::Array(element) => {
                let words = super::super::prose::Kind(**element);
                let summary = quoted(&format!("list, each element {words}"));
                format!("TypedArrayAttrBase<{}, {summary}>", self.kind(element))
            }
            AttrKind::Dense => "ElementsAttr".into(),
            AttrKind::Shape => self.shape.clone(),
            AttrKind::CompilationUnit => "SymbolRefAttr".into(),
            AttrKind::Enum(def) => self.enum_record(def),
            AttrKind::Any => "AnyAttr".into(),
        }
    }
}

/// Escapes a text for a C++ string literal.
fn cpp_escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
        .replace('\t', "\\t")
}

fn cpp_float(value: f64) -> String {
    if value.is_nan() {
        "std::numeric_limits<double>::quiet_NaN()".into()
    } else if value.is_infinite() {
        let sign = if value < 0.0 { "-" } else { "" };
        format!("{sign}std::numeric_limits<double>::infinity()")
    } else {
        format!("{value:?}")
    }
}
