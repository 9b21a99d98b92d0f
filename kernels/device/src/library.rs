//! The device functions that methods stand for, where they are not instructions.

use crate::math::{double, single};
use crate::tree::{DeviceFunction, Function, NumberMethod, Scalar};

/// Returns the device function of a method for a type, if there is one.
pub(crate) fn function(method: NumberMethod, ty: Scalar) -> Option<&'static Function> {
    macro_rules! table {
        ($($ty:ident $module:ident: $($method:ident $name:ident),+;)+) => {
            match (ty, method) {
                $($((Scalar::$ty, NumberMethod::$method) => {
                    Some(<$module::$name as DeviceFunction>::FUNCTION)
                })+)+
                _ => None,
            }
        };
    }
    table! {
        F32 single: Acos acos, Asin asin, Atan atan, Atan2 atan2, Cbrt cbrt, Cos cos, Cosh cosh,
            Exp exp, Exp2 exp2, ExpM1 exp_m1, Hypot hypot, Ln ln, Ln1p ln_1p, Log10 log10,
            Log2 log2, Powf powf, Powi powi, Round round, Signum signum, Sin sin, Sinh sinh,
            Tan tan, Tanh tanh;
        F64 double: Acos acos, Asin asin, Atan atan, Atan2 atan2, Cosh cosh, Exp exp,
            ExpM1 exp_m1, Ln ln, Ln1p ln_1p, Powi powi, Round round, Signum signum, Sinh sinh,
            Tanh tanh;
    }
}
