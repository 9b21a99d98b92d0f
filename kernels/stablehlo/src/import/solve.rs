//! Lowers triangular systems of equations: the op, and calls of BLAS and LAPACK instead of it,
//! which JAX writes for CPUs.
//!
//! | function | how it says which system it solves |
//! |---|---|
//! | `blas_strsm` | by integers in front of the matrices: whether the matrix is on the left and lower, whether it is transposed (1) or also conjugated (2), whether its diagonal is 1; then sizes and a factor |
//! | `lapack_strsm_ffi` | by the letters of these properties, as numbers in `mhlo.backend_config` |
//!
//! The letter after `blas_` or `lapack_` is `s`, `d`, `c` or `z`, for the type of the elements.

use tfrt_import::program::{Attr, Value};
use tfrt_ir::{OpId, ValueId};

use super::{Lowered, Lowering};

/// The properties of a triangular system.
#[derive(Clone, Copy)]
struct System {
    is_left: bool,
    is_lower: bool,
    has_unit_diagonal: bool,
    is_transposed: bool,
    is_conjugated: bool,
}

/// Returns `true` for a function of BLAS or LAPACK that solves triangular systems.
pub(super) fn is_triangular_solve(function: &str) -> bool {
    let name = match function.strip_prefix("lapack_") {
        Some(name) => name.strip_suffix("_ffi"),
        None => function.strip_prefix("blas_"),
    };
    matches!(name, Some("strsm" | "dtrsm" | "ctrsm" | "ztrsm"))
}

impl Lowering<'_> {
    pub(super) fn triangular_solve(&mut self, op: OpId, matrices: [Value; 2]) -> Lowered {
        let mode = self.name_of_kind(op, "transpose_a", "transpose");
        let system = System {
            is_left: self.flag(op, "left_side")?,
            is_lower: self.flag(op, "lower")?,
            has_unit_diagonal: self.flag(op, "unit_diagonal")?,
            is_transposed: matches!(mode, Some("TRANSPOSE" | "ADJOINT")),
            is_conjugated: mode == Some("ADJOINT"),
        };
        Ok(Some(vec![self.solution(op, matrices, system)]))
    }

    /// Lowers a call of a function of BLAS or LAPACK. Layouts of its operands are those in memory,
    /// which have no meaning here.
    pub(super) fn called_triangular_solve(
        &mut self,
        op: OpId,
        function: &str,
        operands: &[Value],
    ) -> Lowered {
        let operands = self.without_shapes(op, operands)?;
        let names = &self.module.operands(op)[..operands.len()];
        let (system, factor, matrices) = match (names, operands) {
            (&[.., factor, _, _], &[_, _, _, _, _, _, _, _, a, b]) => {
                let numbers = [0, 1, 2, 3].map(|index| self.constant_int(names[index]));
                let system = match numbers {
                    [Some(left), Some(lower), Some(transposed), Some(unit)] => Some(System {
                        is_left: left != 0,
                        is_lower: lower != 0,
                        has_unit_diagonal: unit != 0,
                        is_transposed: transposed != 0,
                        is_conjugated: transposed == 2,
                    }),
                    _ => None,
                };
                (system, Some(factor), [a, b])
            }
            (&[_, _, factor], &[a, b, _]) => (self.letters(op), Some(factor), [a, b]),
            (_, &[a, b]) => (self.letters(op), None, [a, b]),
            _ => return self.lacks(op, &format!("to `@{function}`, with these operands")),
        };
        let Some(system) = system else {
            let what = format!("to `@{function}`, for a system that is not known");
            return self.lacks(op, &what);
        };
        if factor.is_some_and(|factor| !self.is_one(factor)) {
            return self.lacks(op, &format!("to `@{function}`, with a factor"));
        }
        Ok(Some(vec![self.solution(op, matrices, system)]))
    }

    /// Returns the system that letters say.
    fn letters(&self, op: OpId) -> Option<System> {
        let letter = |name: &str| {
            let number = self.nested_int(op, "mhlo.backend_config", name)?;
            u8::try_from(number).ok()
        };
        let transposed = letter("trans_x")?;
        Some(System {
            is_left: letter("side")? == b'L',
            is_lower: letter("uplo")? == b'L',
            has_unit_diagonal: letter("diag")? == b'U',
            is_transposed: matches!(transposed, b'T' | b'C'),
            is_conjugated: transposed == b'C',
        })
    }

    fn solution(&mut self, op: OpId, matrices: [Value; 2], system: System) -> Value {
        let attrs = [
            ("left_side", Attr::Bool(system.is_left)),
            ("lower", Attr::Bool(system.is_lower)),
            ("unit_diagonal", Attr::Bool(system.has_unit_diagonal)),
            ("transposed", Attr::Bool(system.is_transposed)),
            ("conjugated", Attr::Bool(system.is_conjugated)),
        ];
        self.emit_one(op, "hlo.TriangularSolve", &matrices, &attrs)
    }

    /// Returns the op that defines a value, if it is a constant.
    fn constant_op(&self, value: ValueId) -> Option<OpId> {
        let op = self.module.defining_op(value)?;
        (self.module.op_name(op) == "stablehlo.constant").then_some(op)
    }

    /// Returns a constant integer.
    fn constant_int(&self, value: ValueId) -> Option<i64> {
        let numbers = self.optional_ints(self.constant_op(value)?, "value");
        numbers.ok()??.first().copied()
    }

    /// Returns `true` for a constant 1 of a floating point type.
    fn is_one(&self, value: ValueId) -> bool {
        let constant = self.constant_op(value);
        let Some(Ok((ty, bytes))) = constant.map(|op| self.constant_bytes(op)) else {
            return false;
        };
        let one = match ty.name {
            "f32" => 1_f32.to_le_bytes().to_vec(),
            "f64" => 1_f64.to_le_bytes().to_vec(),
            _ => return false,
        };
        bytes
            .strip_prefix(&one[..])
            .is_some_and(|imaginary| imaginary.iter().all(|&byte| byte == 0))
    }
}
