//! A parsed program: functions with inputs and outputs.

use std::fmt;

use tfrt_compiler::element_type::dtype_of;
use tfrt_import::ImportError;
use tfrt_import::names::shown;
use tfrt_ir::symbols::SYMBOL_VISIBILITY;
use tfrt_ir::{Module, OpId, ParseOptions, PrintOptions, Type, TypeId, parse, print};
use tfrt_support::DType;
use tfrt_support::nearest::{did_you_mean, nearest};

use crate::text;

/// The name of the function that an import uses by default.
pub const MAIN: &str = "main";

/// A StableHLO program.
///
/// ```
/// use tfrt_stablehlo::HloModel;
///
/// let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
///   %y = stablehlo.abs %x : tensor<2xf32>
///   return %y : tensor<2xf32>
/// }";
/// let model = HloModel::from_text(text, "model.mlir")?;
/// let main = model.function("main")?;
/// assert_eq!(main.inputs[0].to_string(), "tensor<2xf32>");
/// # Ok::<(), tfrt_import::ImportError>(())
/// ```
#[derive(Clone, Debug)]
pub struct HloModel {
    pub(crate) module: Module,
}

/// A function of a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Function {
    /// The name of the function.
    pub name: String,
    /// The types of its arguments.
    pub inputs: Vec<HloType>,
    /// The types of its results.
    pub outputs: Vec<HloType>,
    /// Whether the function is public.
    pub is_entry: bool,
    pub(crate) op: OpId,
}

/// The type of a value: a tensor type, or another type known only by its spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HloType {
    spelling: String,
    known: Option<(DType, Vec<usize>)>,
}

impl HloType {
    pub(crate) fn of(module: &Module, ty: TypeId) -> Self {
        Self {
            spelling: module.type_spelling(ty).to_owned(),
            known: static_tensor(module, ty),
        }
    }

    /// Returns the element type and extents of a tensor type, if the element type is supported and
    /// the shape is static.
    #[must_use]
    pub fn known(&self) -> Option<(DType, &[usize])> {
        self.known.as_ref().map(|(dtype, dims)| (*dtype, &dims[..]))
    }
}

impl fmt::Display for HloType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelling)
    }
}

fn visibility(module: &Module, op: OpId) -> Option<&str> {
    module.attribute_str(module.attr(op, SYMBOL_VISIBILITY)?)
}

/// Returns the element type of a type of one element, or `None` if no op here computes with it.
pub(crate) fn element_type(module: &Module, ty: TypeId) -> Option<DType> {
    match module.ty(ty) {
        Type::Integer { .. } | Type::Float(_) => dtype_of(module, ty),
        _ => None,
    }
}

/// Returns the element type and the extents of the type of a tensor, if they are known.
pub(crate) fn static_tensor(module: &Module, ty: TypeId) -> Option<(DType, Vec<usize>)> {
    let Type::Tensor { dims, element, .. } = module.ty(ty) else {
        return None;
    };
    let dims = dims.iter().map(|dim| usize::try_from((*dim)?).ok());
    Some((
        element_type(module, *element)?,
        dims.collect::<Option<Vec<_>>>()?,
    ))
}

/// Returns `true` if a text contains `func.func` and ops of StableHLO or CHLO, outside comments.
///
/// ```
/// use tfrt_stablehlo::is_stablehlo;
///
/// assert!(is_stablehlo("func.func @main() { stablehlo.return }"));
/// assert!(!is_stablehlo("func @main() { tfrt.return } // not func.func with stablehlo.add"));
/// ```
#[must_use]
pub fn is_stablehlo(text: &str) -> bool {
    let (mut has_function, mut has_op) = (false, false);
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or_default();
        has_function |= code.contains("func.func");
        has_op |= ["stablehlo.", "chlo."]
            .iter()
            .any(|dialect| code.contains(dialect));
        if has_function && has_op {
            return true;
        }
    }
    false
}

impl HloModel {
    /// Parses a program.
    ///
    /// # Errors
    /// Returns the first error in the text, with its place.
    pub fn from_text(text: &str, file_name: &str) -> Result<Self, ImportError> {
        let options = ParseOptions {
            allow_unregistered_dialects: true,
        };
        let parsed = parse(text, file_name, &text::registry(), &options);
        let module = parsed.map_err(|errors| {
            let first = &errors[0];
            ImportError::new(first.message.clone()).within(first.place.to_string())
        })?;
        Ok(Self { module })
    }

    /// Prints the program, with all ops in the generic form if `is_generic` is true, and otherwise
    /// in their custom assembly formats.
    #[must_use]
    pub fn to_text(&self, is_generic: bool) -> String {
        let options = PrintOptions {
            generic: is_generic,
            func_dialect: true,
            ..PrintOptions::default()
        };
        print(&self.module, &options)
    }

    /// Returns the functions, in the order of the text.
    #[must_use]
    pub fn functions(&self) -> Vec<Function> {
        let module = &self.module;
        let named = module.functions(module.root()).filter_map(|op| {
            let (inputs, outputs) = module.signature(op)?;
            let types = |types: &[TypeId]| {
                let types = types.iter().map(|&ty| HloType::of(module, ty));
                types.collect()
            };
            Some(Function {
                name: module.symbol_name(op)?.to_owned(),
                is_entry: visibility(module, op) != Some("private"),
                inputs: types(inputs),
                outputs: types(outputs),
                op,
            })
        });
        named.collect()
    }

    /// Returns the function with a name.
    ///
    /// # Errors
    /// If the program has no such function. The error suggests the nearest name.
    pub fn function(&self, name: &str) -> Result<Function, ImportError> {
        let functions = self.functions();
        let names = functions.iter().map(|function| function.name.as_str());
        let hint = did_you_mean(&nearest(name, names));
        let mut all = functions.into_iter();
        all.find(|function| function.name == name).ok_or_else(|| {
            ImportError::new(format!("there is no function `@{}`{hint}", shown(name)))
        })
    }

    /// Returns the number of StableHLO and CHLO ops of each name, sorted by name.
    #[must_use]
    pub fn op_counts(&self) -> Vec<(String, usize)> {
        let mut counts = std::collections::BTreeMap::<&str, usize>::new();
        for op in self.module.walk(self.module.root()) {
            let name = self.module.op_name(op);
            if name.starts_with("stablehlo.") || name.starts_with("chlo.") {
                *counts.entry(name).or_default() += 1;
            }
        }
        let counts = counts.into_iter();
        counts
            .map(|(name, count)| (name.to_owned(), count))
            .collect()
    }
}
