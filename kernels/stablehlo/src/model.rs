//! A parsed program: functions with inputs and outputs.

use std::fmt;

use tfrt_compiler::element_type::dtype_of;
use tfrt_import::ImportError;
use tfrt_import::names::shown;
use tfrt_ir::symbols::SYMBOL_VISIBILITY;
use tfrt_ir::{Module, OpId, ParseOptions, PrintOptions, Signedness, Type, TypeId, parse, print};
use tfrt_support::DType;
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_support::small_float::SmallFloat;

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
            known: tensor_type(module, ty)
                .and_then(|known| Some((known.element.dtype, known.known_dims()?))),
        }
    }

    /// Returns the element type and extents of a tensor type, if the element type is supported and
    /// the shape is static. Integers of 2 or 4 bits are held as bytes, and floating point numbers
    /// of up to 8 bits in single precision.
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

/// The type of elements of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ElementType {
    /// The element type of our tensors. Integers of 2 or 4 bits are held as bytes, and floating
    /// point numbers of up to 8 bits in single precision.
    pub(crate) dtype: DType,
    /// The name in scalar programs: of complex numbers, that of their parts.
    pub(crate) name: &'static str,
}

impl ElementType {
    pub(crate) fn of(dtype: DType) -> Option<Self> {
        let name = match dtype {
            DType::I1 => "i1",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::Ui8 => "ui8",
            DType::Ui16 => "ui16",
            DType::Ui32 => "ui32",
            DType::Ui64 => "ui64",
            DType::F16 => "f16",
            DType::Bf16 => "bf16",
            DType::F32 | DType::Complex64 => "f32",
            DType::F64 | DType::Complex128 => "f64",
            _ => return None,
        };
        Some(Self { dtype, name })
    }

    pub(crate) fn is_complex(self) -> bool {
        matches!(self.dtype, DType::Complex64 | DType::Complex128)
    }

    /// Returns `true` for floating point numbers that are not complex.
    pub(crate) fn is_real(self) -> bool {
        !self.is_complex() && self.name.starts_with(['f', 'b'])
    }

    pub(crate) fn is_integer(self) -> bool {
        self.name.starts_with(['i', 'u'])
    }

    /// Returns the width in bits: of complex numbers, that of their parts.
    pub(crate) fn bits(self) -> u32 {
        let digits = self.name.chars().skip_while(|c| !c.is_ascii_digit());
        let digits = digits.map_while(|c| c.to_digit(10));
        digits.fold(0, |number, digit| 10 * number + digit)
    }

    /// Returns the format of a floating point number of up to 8 bits.
    pub(crate) fn small_float(self) -> Option<SmallFloat> {
        SmallFloat::named(self.name)
    }

    /// Returns the name of the type that tensors hold, if it is wider than the element type.
    pub(crate) fn wider(self) -> Option<&'static str> {
        let held = Self::of(self.dtype)?;
        (held.name != self.name).then_some(held.name)
    }
}

/// Returns a type as that of elements of tensors, or `None` if no op here computes with it.
pub(crate) fn element_type(module: &Module, ty: TypeId) -> Option<ElementType> {
    let narrow = |dtype, name| Some(ElementType { dtype, name });
    match *module.ty(ty) {
        Type::Integer { width, signedness } => match (width, signedness) {
            (2, Signedness::Unsigned) => narrow(DType::Ui8, "ui2"),
            (4, Signedness::Unsigned) => narrow(DType::Ui8, "ui4"),
            (2, _) => narrow(DType::I8, "i2"),
            (4, _) => narrow(DType::I8, "i4"),
            _ => ElementType::of(dtype_of(module, ty)?),
        },
        Type::Float(format) if format.width() <= 8 => narrow(DType::F32, format.spelling()),
        Type::Float(_) | Type::Complex(_) => ElementType::of(dtype_of(module, ty)?),
        _ => None,
    }
}

/// The type of a tensor. An extent that is known only at run time is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TensorType {
    pub(crate) element: ElementType,
    pub(crate) dims: Vec<Option<usize>>,
}

impl TensorType {
    /// Returns the extents, if all of them are known.
    pub(crate) fn known_dims(&self) -> Option<Vec<usize>> {
        self.dims.iter().copied().collect()
    }

    /// Returns the extents.
    ///
    /// # Errors
    /// If one of them is unknown.
    pub(crate) fn static_dims(&self) -> Result<Vec<usize>, ImportError> {
        self.known_dims()
            .ok_or_else(|| ImportError::new("expected a tensor of static shape"))
    }

    pub(crate) fn is_scalar(&self) -> bool {
        self.dims.iter().all(|extent| *extent == Some(1))
    }
}

/// Returns `true` for the type of tokens, which only order ops.
pub(crate) fn is_token(module: &Module, ty: TypeId) -> bool {
    matches!(module.ty(ty), Type::Dialect { dialect, body } if (&**dialect, &**body) == ("stablehlo", "token"))
}

/// Returns a type as that of a tensor, or `None` if no op here computes with it. Bounds on extents
/// are not supported.
pub(crate) fn tensor_type(module: &Module, ty: TypeId) -> Option<TensorType> {
    let Type::Tensor {
        dims,
        element,
        encoding,
    } = module.ty(ty)
    else {
        return None;
    };
    let is_dynamic = dims.contains(&None);
    if is_dynamic && encoding.is_some() {
        return None;
    }
    let extent = |dim: &Option<u64>| match dim {
        Some(extent) => usize::try_from(*extent).ok().map(Some),
        None => Some(None),
    };
    Some(TensorType {
        element: element_type(module, *element)?,
        dims: dims.iter().map(extent).collect::<Option<Vec<_>>>()?,
    })
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

/// How to convert a portable artifact, the bytecode that `jax.export` serializes, to text.
pub const BYTECODE_HELP: &str = "\
MLIR bytecode is not supported; with JAX, this command converts it to text: python3 -c \"import sys, \
jaxlib.mlir.ir as ir, jaxlib.mlir.dialects.stablehlo as s; c = ir.Context(); s.register_dialect(c); \
print(s.deserialize_portable_artifact(c, open(sys.argv[1], 'rb').read()))\" MODEL > MODEL.mlir";

/// Returns `true` if bytes are MLIR bytecode, by its first four bytes.
///
/// ```
/// assert!(tfrt_stablehlo::is_bytecode(b"ML\xefR\x0dStableHLO_v1.17.0"));
/// assert!(!tfrt_stablehlo::is_bytecode(b"module {}"));
/// ```
#[must_use]
pub fn is_bytecode(bytes: &[u8]) -> bool {
    bytes.starts_with(b"ML\xefR")
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
            let is_op = name.starts_with("stablehlo.") || name.starts_with("chlo.");
            if is_op && name != "stablehlo.return" {
                *counts.entry(name).or_default() += 1;
            }
        }
        let counts = counts.into_iter();
        counts
            .map(|(name, count)| (name.to_owned(), count))
            .collect()
    }
}
