//! TableGen: declarations as `mlir-tblgen` reads them, for C++ programs that use MLIR.
//!
//! The document contains, in this order: definitions shared by all ops, the dialects, their types,
//! shape attributes and enumerations, then the ops. It includes only files of MLIR, so
//! `mlir-tblgen -I include …` generates op classes and documentation from it.
//!
//! | declaration | TableGen |
//! |---|---|
//! | type of a dialect | `TypeDef` without parameters |
//! | type constraint | the type, `AnyTypeOf`, `AnyType`, `AllTypesMatch` |
//! | optional, variadic | `Optional`, `Variadic`. There is at most one of a kind, so no op needs segment sizes |
//! | chain that programs may omit | `Optional`, if the op has no custom form |
//! | operand that is written | `Arg<…, [MemRead, MemWrite]>` |
//! | ordered effect | `MemoryEffects<[MemRead, MemWrite]>`, and the class in `effectClass` |
//! | attribute, default | the constraint of that name, `DefaultValuedAttr` |
//! | function by symbol, region | `FlatSymbolRefAttr`, `AnyRegion` |
//! | assembly format | `assemblyFormat` if all elements are MLIR's; otherwise `hasCustomAssemblyFormat`, with the text in `runtimeFormat` |
//! | verifier, folder | `hasVerifier`, `hasFolder`, which must be implemented in C++ |
//! | properties without an MLIR equivalent | fields of `TFRT_Op` |
//!
//! A file may contain several dialects. Generate the definitions of ops for one at a time, as with
//! `-gen-op-defs -op-include-regex='tfrt\..*'`, because the tool puts shared definitions into the
//! namespace of the first one.
//!
//! Operands and results have the same names in C++. An underscore is added to a name that two of
//! them share or that C++ reserves.

mod constraints;

mod format;

mod names;

mod traits;

use std::fmt::Write as _;

use crate::catalogue::{Catalogue, CatalogueEntry, Execution};
use crate::constraint::{AttrKind, EnumDef, EnumSign, TypeConstraint};
use crate::op::{Arity, FunctionForm, OpDef, SourcePlace};
use crate::traits::OpTraits;

use constraints::Constraints;
use names::{OpNames, Symbols};

/// The dialect and the name of the type of chains.
const CHAIN: (&str, &str) = ("tfrt", "chain");

const PRELUDE: &str = r#"include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// An op of the runtime, with what MLIR has no word for.
class TFRT_Op<Dialect dialect, string mnemonic, list<Trait> traits = []> : Op<dialect, mnemonic, traits> {
  // The class within which program order is kept; empty if there is none.
  string effectClass = "";
  // Where the op runs: "inline", "async", "blocking", "sync", "terminator" or "nowhere".
  string execution = "inline";
  // The traits of the declaration.
  list<string> runtimeTraits = [];
  // Operands that may come later when the op runs non-strictly.
  list<string> references = [];
  // Results that share memory with an operand: "result = operand".
  list<string> aliases = [];
  // How programs write the op, where that is not a format of MLIR.
  string runtimeFormat = "";
  // Where the op is declared.
  string sourceFile = "";
  int sourceLine = 0;
}

// A type that only its spelling tells.
class TFRT_SpelledType<string spelling> :
    Type<CPred<"$_self == ::mlir::parseType(\"" # spelling # "\", $_self.getContext())">, "'" # spelling # "'">,
    BuildableType<"::mlir::parseType(\"" # spelling # "\", $_builder.getContext())">;

def TFRT_F16Attr : FloatAttrBase<F16, "16-bit float attribute">;
def TFRT_BF16Attr :
    TypedAttrBase<BF16, "FloatAttr",
                  And<[CPred<"::llvm::isa<::mlir::FloatAttr>($_self)">,
                       CPred<"::llvm::cast<::mlir::FloatAttr>($_self).getType().isBF16()">]>,
                  "bfloat16 attribute"> {
  let storageType = "::mlir::FloatAttr";
  let returnType = "::llvm::APFloat";
}
"#;

/// Writes a catalogue as TableGen.
///
/// ```
/// use tfrt_ods::catalogue::{Catalogue, CatalogueEntry};
/// use tfrt_ods::{OpDef, OpTraits, ResultDef, TypeConstraint};
///
/// static NEW: OpDef = OpDef {
///     summary: "Starts a chain.",
///     results: &[ResultDef::new("chain", TypeConstraint::Exact("!my.chain"))],
///     traits: OpTraits::PURE,
///     assembly_format: Some("attr-dict"),
///     ..OpDef::new("my.new")
/// };
///
/// let text = tfrt_ods::write::td::td(&Catalogue::new([], [CatalogueEntry::kernel(&NEW)]));
/// assert!(text.contains("def My_NewOp : TFRT_Op<My_Dialect, \"new\", [Pure]> {"));
/// assert!(text.contains("let results = (outs My_ChainType:$chain);"));
/// ```
#[must_use]
pub fn td(catalogue: &Catalogue<'_>) -> String {
    let mut types = catalogue.types();
    if catalogue
        .entries()
        .iter()
        .any(|entry| left_out_chain(entry.op).is_some())
    {
        types.push(CHAIN);
    }
    types.sort_unstable();
    types.dedup();
    let symbols = Symbols::new(catalogue, &types);
    let mut writer = Writer {
        constraints: Constraints::new(catalogue, &symbols),
        symbols: &symbols,
        out: String::from(
            "// Generated from the declarations of kernels. Changes belong there.\n\n",
        ),
    };
    writer.out += PRELUDE;
    writer.dialects(catalogue, &types);
    writer.types(&types);
    writer.shape_attributes(catalogue);
    writer.enums();
    for section in catalogue.sections() {
        let _ = write!(writer.out, "\n// {}\n", section.dialect.name);
        section.entries.iter().for_each(|entry| writer.op(entry));
    }
    writer.out
}

/// Returns the optional chain at the end of the operands, and whether it is also at the end of the
/// results. Custom forms show everything, and next to another group that may be empty it would be
/// ambiguous.
fn left_out_chain(def: &OpDef) -> Option<LeftOut> {
    let is_single = |arity: Arity| arity == Arity::One;
    let is_plain = def.assembly_format.is_none()
        && def.operands.iter().all(|operand| is_single(operand.arity))
        && def.results.iter().all(|result| is_single(result.arity));
    if !is_plain {
        None
    } else if def.traits.contains(OpTraits::OPTIONAL_CHAIN) {
        Some(LeftOut::Declared)
    } else if def.traits.contains(OpTraits::EXTRA_CHAIN) {
        Some(LeftOut::Undeclared)
    } else {
        None
    }
}

/// An optional chain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeftOut {
    /// The last operand and the last result.
    Declared,
    /// An additional operand.
    Undeclared,
}

struct Writer<'a> {
    symbols: &'a Symbols,
    constraints: Constraints<'a>,
    out: String,
}

impl Writer<'_> {
    fn dialects(&mut self, catalogue: &Catalogue<'_>, types: &[(&str, &str)]) {
        for name in self.symbols.dialect_names() {
            let def = catalogue.dialect(name);
            let _ = write!(
                self.out,
                "\ndef {}_Dialect : Dialect {{\n  let name = {};\n  let cppNamespace = {};\n",
                self.symbols.dialect(name),
                quoted(name),
                quoted(&names::namespace(name)),
            );
            self.documentation(def.summary, def.description);
            if types.iter().any(|(dialect, _)| *dialect == name) {
                self.out += "  let useDefaultTypePrinterParser = 1;\n";
            }
            if def.shape_attribute.is_some() {
                self.out += "  let useDefaultAttributePrinterParser = 1;\n";
            }
            self.out += "}\n";
        }
    }

    fn documentation(&mut self, summary: &str, description: &str) {
        if !summary.is_empty() {
            let _ = writeln!(self.out, "  let summary = {};", quoted(summary));
        }
        if !description.is_empty() {
            let _ = writeln!(self.out, "  let description = {};", block(description));
        }
    }

    fn types(&mut self, types: &[(&str, &str)]) {
        for &(dialect, name) in types {
            let _ = write!(
                self.out,
                "\ndef {} : TypeDef<{}_Dialect, {}> {{\n  let mnemonic = {};\n}}\n",
                self.symbols.ty(dialect, name),
                self.symbols.dialect(dialect),
                quoted(&names::camel(name)),
                quoted(name),
            );
        }
    }

    fn shape_attributes(&mut self, catalogue: &Catalogue<'_>) {
        for dialect in catalogue.dialects() {
            let Some(keyword) = dialect.shape_attribute else {
                continue;
            };
            let prefix = self.symbols.dialect(dialect.name);
            let _ = write!(
                self.out,
                "\n// `#{0}.{keyword}<2x?x3>`, `<>` of rank 0, `<*>` of unknown rank. A size that is not known is -1.\n\
                 def {prefix}_{1}Attr : AttrDef<{prefix}_Dialect, \"{1}\"> {{\n  let mnemonic = \"{keyword}\";\n  \
                 let parameters = (ins \"bool\":$ranked, ArrayRefParameter<\"int64_t\">:$sizes);\n  \
                 let hasCustomAssemblyFormat = 1;\n}}\n",
                dialect.name,
                names::camel(keyword),
            );
        }
    }

    fn enums(&mut self) {
        for (def, name, namespace) in self.constraints.enums() {
            let case = |case: &crate::constraint::EnumCase| {
                let symbol = names::camel(case.keyword);
                match def.width {
                    32 | 64 => format!(
                        "I{}EnumAttrCase<{}, {}, {}>",
                        def.width,
                        quoted(&symbol),
                        case.value,
                        quoted(case.keyword)
                    ),
                    width => format!(
                        "IntEnumAttrCaseBase<I{width}, {}, {}, {}>",
                        quoted(&symbol),
                        quoted(case.keyword),
                        case.value
                    ),
                }
            };
            let cases: Vec<_> = def.cases.iter().map(case).collect();
            let class = match def.width {
                32 | 64 => format!("I{}EnumAttr<", def.width),
                width => format!("IntEnumAttr<I{width}, "),
            };
            // The classes of MLIR know signless integers only.
            let prefix = match def.sign {
                EnumSign::Signless => None,
                EnumSign::Signed => Some("si"),
                EnumSign::Unsigned => Some("ui"),
            };
            let integer_type = prefix.map_or(String::new(), |prefix| {
                format!(
                    "  // That of the integers in custom forms.\n  string integerType = \"{prefix}{}\";\n",
                    def.width
                )
            });
            let _ = write!(
                self.out,
                "\ndef {name} : {class}{}, \"\", [\n  {}\n]> {{\n  let cppNamespace = {};\n{integer_type}}}\n",
                quoted(&names::camel(def.name)),
                cases.join(",\n  "),
                quoted(&namespace),
            );
        }
    }

    fn op(&mut self, entry: &CatalogueEntry<'_>) {
        let def = entry.op;
        let names = OpNames::new(def);
        let mnemonic = def.name.split_once('.').map_or("", |(_, rest)| rest);
        let _ = writeln!(
            self.out,
            "\ndef {} : TFRT_Op<{}_Dialect, {}, [{}]> {{",
            self.symbols.op(def.name),
            self.symbols.dialect(def.dialect()),
            quoted(mnemonic),
            traits::traits(def, &names).join(", "),
        );
        self.documentation(def.summary, def.description);
        self.list("arguments", "ins", self.arguments(def, &names));
        self.list("results", "outs", self.results(def, &names));
        let regions = def
            .functions
            .iter()
            .zip(&names.functions)
            .filter(|(function, _)| function.form == FunctionForm::Region)
            .map(|(_, name)| format!("AnyRegion:${name}"));
        self.list("regions", "region", regions.collect());
        self.syntax(def, &names);
        if def.verifier.is_some() {
            self.out += "  let hasVerifier = 1;\n";
        }
        if def.folder.is_some() {
            self.out += "  let hasFolder = 1;\n";
        }
        self.facts(entry);
        self.out += "}\n";
    }

    fn list(&mut self, field: &str, operator: &str, entries: Vec<String>) {
        if !entries.is_empty() {
            let entries = entries.join(", ");
            let _ = writeln!(self.out, "  let {field} = ({operator} {entries});");
        }
    }

    fn arguments(&self, def: &OpDef, names: &OpNames) -> Vec<String> {
        let left_out = left_out_chain(def);
        let last = def.operands.len().wrapping_sub(1);
        let operands = def.operands.iter().zip(&names.operands).enumerate();
        let operands = operands.map(|(index, (operand, name))| {
            let arity = if index == last && left_out == Some(LeftOut::Declared) {
                Arity::Optional
            } else {
                operand.arity
            };
            let ty = self.values(operand.ty, arity);
            if operand.is_mutated {
                format!("Arg<{ty}, \"written into\", [MemRead, MemWrite]>:${name}")
            } else {
                format!("{ty}:${name}")
            }
        });
        let extra = (left_out == Some(LeftOut::Undeclared)).then(|| {
            let chain = self.symbols.ty(CHAIN.0, CHAIN.1);
            format!("Optional<{chain}>:${}", names.extra_chain)
        });
        let attributes = def.attributes.iter().map(|attribute| {
            let constraint = self.constraints.attribute(attribute);
            format!("{constraint}:${}", attribute.name)
        });
        let functions = def.functions.iter().filter_map(|function| {
            let constraint = match function.form {
                FunctionForm::Symbol => "FlatSymbolRefAttr",
                FunctionForm::OptionalSymbol => "OptionalAttr<FlatSymbolRefAttr>",
                FunctionForm::SymbolList => "FlatSymbolRefArrayAttr",
                FunctionForm::Region => return None,
            };
            Some(format!("{constraint}:${}", function.name))
        });
        operands
            .chain(extra)
            .chain(attributes)
            .chain(functions)
            .collect()
    }

    fn results(&self, def: &OpDef, names: &OpNames) -> Vec<String> {
        let left_out = left_out_chain(def);
        let last = def.results.len().wrapping_sub(1);
        let results = def.results.iter().zip(&names.results).enumerate();
        results
            .map(|(index, (result, name))| {
                let arity = if index == last && left_out == Some(LeftOut::Declared) {
                    Arity::Optional
                } else {
                    result.arity
                };
                format!("{}:${name}", self.values(result.ty, arity))
            })
            .collect()
    }

    fn values(&self, ty: TypeConstraint, arity: Arity) -> String {
        let ty = self.constraints.ty(ty);
        match arity {
            Arity::One => ty,
            Arity::Optional => format!("Optional<{ty}>"),
            Arity::Variadic => format!("Variadic<{ty}>"),
        }
    }

    fn syntax(&mut self, def: &OpDef, names: &OpNames) {
        let Some(text) = def.assembly_format else {
            return;
        };
        match format::translate(def, names) {
            Some(format) => {
                let _ = writeln!(self.out, "  let assemblyFormat = {};", quoted(&format));
            }
            None => {
                self.out += "  let hasCustomAssemblyFormat = 1;\n";
                let _ = writeln!(self.out, "  let runtimeFormat = {};", quoted(text));
            }
        }
    }

    fn facts(&mut self, entry: &CatalogueEntry<'_>) {
        let def = entry.op;
        if let Some(class) = def.effect.class() {
            let _ = writeln!(self.out, "  let effectClass = {};", quoted(class));
        }
        let execution = match entry.execution() {
            Execution::Inline => None,
            Execution::Async => Some("async"),
            Execution::Blocking => Some("blocking"),
            Execution::Sync => Some("sync"),
            Execution::Terminator => Some("terminator"),
            Execution::Nowhere => Some("nowhere"),
        };
        if let Some(execution) = execution {
            let _ = writeln!(self.out, "  let execution = {};", quoted(execution));
        }
        self.strings(
            "runtimeTraits",
            def.traits.iter().map(|def| quoted(def.name)).collect(),
        );
        let references = def.operands.iter().filter(|operand| operand.is_reference);
        self.strings(
            "references",
            references.map(|operand| quoted(operand.name)).collect(),
        );
        let aliases = def.results.iter().filter_map(|result| {
            let operand = result.alias_of?;
            Some(quoted(&format!("{} = {operand}", result.name)))
        });
        self.strings("aliases", aliases.collect());
        if def.place != SourcePlace::UNKNOWN {
            let _ = write!(
                self.out,
                "  let sourceFile = {};\n  let sourceLine = {};\n",
                quoted(def.place.file),
                def.place.line
            );
        }
    }

    fn strings(&mut self, field: &str, entries: Vec<String>) {
        if !entries.is_empty() {
            let _ = writeln!(self.out, "  let {field} = [{}];", entries.join(", "));
        }
    }
}

/// Returns every enumeration used by an attribute of an op, with the dialect that uses it first.
fn enums<'a>(catalogue: &Catalogue<'a>) -> Vec<(&'static str, &'static EnumDef)> {
    fn of(kind: &AttrKind) -> Option<&'static EnumDef> {
        match kind {
            AttrKind::Enum(def) => Some(def),
            AttrKind::Array(element) => of(element),
            _ => None,
        }
    }
    let mut enums: Vec<(&'static str, &'static EnumDef)> = Vec::new();
    for entry in catalogue.entries() {
        for def in entry.op.attributes.iter().filter_map(|one| of(&one.kind)) {
            if !enums.iter().any(|(_, other)| *other == def) {
                enums.push((entry.op.dialect(), def));
            }
        }
    }
    enums
}

/// Formats a TableGen string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            // Nothing else can be escaped, and other control characters have no meaning in a text.
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Formats a text of several lines as a block, unless it contains the end marker of one.
fn block(text: &str) -> String {
    if text.contains("}]") {
        return quoted(text);
    }
    let lines: String = text
        .lines()
        .map(|line| format!("    {line}").trim_end().to_owned() + "\n")
        .collect();
    format!("[{{\n{lines}  }}]")
}
