//! The methods of numbers that device functions may call.

use tfrt_support::nearest::nearest;

/// A method: its name, the function of the device library that replaces it, the variant of
/// `Method`, and the number of arguments besides the receiver.
pub(super) struct MethodDef {
    pub(super) name: &'static str,
    pub(super) function: &'static str,
    pub(super) variant: Variant,
    pub(super) num_arguments: usize,
}

/// The node of the tree for a method.
#[derive(Clone, Copy)]
pub(super) enum Variant {
    /// A variant of `Method`.
    Method(&'static str),
    /// A variant of `Binary`: the method is an operator.
    Binary(&'static str),
    /// A variant of `Unary`.
    Unary(&'static str),
}

const fn method(name: &'static str, variant: &'static str, num_arguments: usize) -> MethodDef {
    MethodDef {
        name,
        function: name,
        variant: Variant::Method(variant),
        num_arguments,
    }
}

const fn operator(name: &'static str, function: &'static str, variant: &'static str) -> MethodDef {
    MethodDef {
        name,
        function,
        variant: Variant::Binary(variant),
        num_arguments: 1,
    }
}

const METHODS: &[MethodDef] = &[
    method("abs", "Abs", 0),
    method("abs_diff", "AbsDiff", 1),
    method("acos", "Acos", 0),
    method("asin", "Asin", 0),
    method("atan", "Atan", 0),
    method("atan2", "Atan2", 1),
    method("cbrt", "Cbrt", 0),
    method("ceil", "Ceil", 0),
    method("clamp", "Clamp", 2),
    method("copysign", "Copysign", 1),
    method("cos", "Cos", 0),
    method("cosh", "Cosh", 0),
    method("count_ones", "CountOnes", 0),
    method("exp", "Exp", 0),
    method("exp2", "Exp2", 0),
    method("exp_m1", "ExpM1", 0),
    method("floor", "Floor", 0),
    method("fract", "Fract", 0),
    method("hypot", "Hypot", 1),
    method("is_finite", "IsFinite", 0),
    method("is_infinite", "IsInfinite", 0),
    method("is_nan", "IsNan", 0),
    method("is_sign_negative", "IsSignNegative", 0),
    method("is_sign_positive", "IsSignPositive", 0),
    method("leading_zeros", "LeadingZeros", 0),
    method("ln", "Ln", 0),
    method("ln_1p", "Ln1p", 0),
    method("log10", "Log10", 0),
    method("log2", "Log2", 0),
    method("max", "Max", 1),
    method("min", "Min", 1),
    method("mul_add", "MulAdd", 2),
    method("powf", "Powf", 1),
    method("powi", "Powi", 1),
    method("recip", "Recip", 0),
    method("rotate_left", "RotateLeft", 1),
    method("rotate_right", "RotateRight", 1),
    method("round", "Round", 0),
    method("round_ties_even", "RoundTiesEven", 0),
    method("signum", "Signum", 0),
    method("sin", "Sin", 0),
    method("sinh", "Sinh", 0),
    method("sqrt", "Sqrt", 0),
    method("tan", "Tan", 0),
    method("tanh", "Tanh", 0),
    method("to_bits", "ToBits", 0),
    method("trailing_zeros", "TrailingZeros", 0),
    method("trunc", "Trunc", 0),
    operator("wrapping_add", "add", "Add"),
    operator("wrapping_div", "div", "Div"),
    operator("wrapping_mul", "mul", "Mul"),
    operator("wrapping_rem", "rem", "Rem"),
    operator("wrapping_shl", "shl", "ShiftLeft"),
    operator("wrapping_shr", "shr", "ShiftRight"),
    operator("wrapping_sub", "sub", "Sub"),
    MethodDef {
        name: "wrapping_neg",
        function: "neg",
        variant: Variant::Unary("Neg"),
        num_arguments: 0,
    },
];

/// What to write instead of methods that a device has no counterpart of.
const INSTEAD: &[(&str, &str)] = &[
    ("checked_add", "`+` wraps around: compare before you add"),
    ("checked_div", "`a / 0` is 0: compare before you divide"),
    (
        "checked_mul",
        "`*` wraps around: compare before you multiply",
    ),
    (
        "checked_sub",
        "`-` wraps around: compare before you subtract",
    ),
    ("into", "write `as` with the type"),
    (
        "pow",
        "multiply, or convert to a float and write `.powi(n)`",
    ),
    ("rem_euclid", "write `x - (x / y).floor() * y`"),
    ("saturating_add", "write `a.clamp(…)` before you add"),
    ("saturating_sub", "write `a.max(b) - b`"),
    ("sin_cos", "call `.sin()` and `.cos()`"),
    ("log", "write `x.ln() / base.ln()`"),
    ("mul_hi", "multiply as `u64` and shift"),
    ("clone", "numbers are copied: remove it"),
    ("cmp", "write `<`, `==` or `>`"),
    ("partial_cmp", "write `<`, `==` or `>`"),
    ("total_cmp", "write `<`, `==` or `>`"),
    ("rev", "count upwards and compute the index: `last - i`"),
    (
        "step_by",
        "count the steps and multiply: `start + i * step`",
    ),
];

/// Returns the method of this name.
pub(super) fn find(name: &str) -> Option<&'static MethodDef> {
    METHODS.iter().find(|method| method.name == name)
}

/// Returns the message about a method that is not in the subset.
pub(super) fn unknown(name: &str) -> String {
    if let Some((_, instead)) = INSTEAD.iter().find(|(known, _)| *known == name) {
        return format!("device functions have no method `{name}`: {instead}");
    }
    let names = METHODS.iter().map(|method| method.name);
    match nearest(name, names).first() {
        Some(near) => {
            format!("device functions have no method `{name}`: did you mean `{near}`?")
        }
        None => format!(
            "device functions have no method `{name}`: write a device function, and call it \
             `{name}(x)`"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_sorted_and_unique_and_none_is_refused() {
        for (name, _) in INSTEAD {
            assert!(find(name).is_none(), "{name}");
        }
        let names: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
        for (index, name) in names.iter().enumerate() {
            assert!(!names[..index].contains(name), "{name}");
        }
    }
}
