//! Random functions: PTX computes what an evaluation of the tree computes, with the operators of
//! `tfrt_device::numbers`.

mod common;

use common::{Random, canonical, run};
use tfrt_device::numbers;
use tfrt_device::tree::{
    BinaryOp, CodeBlock, Expr, Function, NumberMethod, Parameter, Scalar, Statement, ToValue,
    UnaryOp, Value,
};

const TYPES: [Scalar; 7] = [
    Scalar::Bool,
    Scalar::I32,
    Scalar::U32,
    Scalar::I64,
    Scalar::U64,
    Scalar::F32,
    Scalar::F64,
];

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// A function that is being made.
struct Maker {
    random: Random,
    /// The types of the variables; none for those out of scope. Numbers are not used twice, as in
    /// trees of the macro.
    locals: Vec<Option<Scalar>>,
}

impl Maker {
    fn ty(&mut self) -> Scalar {
        TYPES[self.random.below(TYPES.len())]
    }

    fn leaf(&mut self, ty: Scalar) -> Expr {
        let fitting: Vec<u32> = (0..self.locals.len() as u32)
            .filter(|local| self.locals[*local as usize] == Some(ty))
            .collect();
        if !fitting.is_empty() && self.random.below(4) > 0 {
            return Expr::Local(fitting[self.random.below(fitting.len())]);
        }
        let small = self.random.below(70);
        match ty {
            Scalar::Bool => Expr::Bool(small.is_multiple_of(2)),
            Scalar::F32 => Expr::Float(["0.0", "1.5", "0.1", "3e20", "1e-40"][small % 5], Some(ty)),
            Scalar::F64 => Expr::Float(
                ["0.0", "2.5", "0.1", "3e200", "1e-310"][small % 5],
                Some(ty),
            ),
            _ => Expr::Int(small as u64, Some(ty)),
        }
    }

    fn boxed(&mut self, ty: Scalar, depth: usize) -> &'static Expr {
        leak(self.expr(ty, depth))
    }

    fn expr(&mut self, ty: Scalar, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        let is_float = matches!(ty, Scalar::F32 | Scalar::F64);
        match self.random.below(8) {
            0 => self.leaf(ty),
            1 => Expr::If(
                self.boxed(Scalar::Bool, depth),
                self.block(ty, depth),
                Some(self.block(ty, depth)),
            ),
            2 if ty != Scalar::Bool => {
                let from = loop {
                    let from = self.ty();
                    if from != Scalar::Bool || !is_float {
                        break from;
                    }
                };
                Expr::Cast(self.boxed(from, depth), ty)
            }
            3 if ty == Scalar::Bool => {
                let of = self.ty();
                use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
                let op = [Eq, Ge, Gt, Le, Lt, Ne][self.random.below(6)];
                Expr::Binary(op, self.boxed(of, depth), self.boxed(of, depth))
            }
            4 => match ty {
                Scalar::Bool => Expr::Unary(UnaryOp::Not, self.boxed(ty, depth)),
                Scalar::U32 | Scalar::U64 => Expr::Unary(UnaryOp::Not, self.boxed(ty, depth)),
                _ => Expr::Unary(UnaryOp::Neg, self.boxed(ty, depth)),
            },
            5 if ty != Scalar::Bool => {
                use NumberMethod::{Abs, Floor, Max, Min, MulAdd, Sqrt};
                let arguments = |this: &mut Self, count: usize| -> &'static [Expr] {
                    Box::leak((0..count).map(|_| this.expr(ty, depth)).collect())
                };
                match (self.random.below(6), is_float) {
                    (0, _) => Expr::Method(Min, arguments(self, 2)),
                    (1, true) => Expr::Method(MulAdd, arguments(self, 3)),
                    (2, true) => Expr::Method(Sqrt, arguments(self, 1)),
                    (3, true) => Expr::Method(Floor, arguments(self, 1)),
                    (4, _) if !matches!(ty, Scalar::U32 | Scalar::U64) => {
                        Expr::Method(Abs, arguments(self, 1))
                    }
                    _ => Expr::Method(Max, arguments(self, 2)),
                }
            }
            _ => {
                use BinaryOp::{
                    Add, And, BitAnd, BitOr, BitXor, Div, Mul, Or, Rem, ShiftLeft, ShiftRight, Sub,
                };
                let ops: &[BinaryOp] = match ty {
                    Scalar::Bool => &[And, Or, BitAnd, BitOr, BitXor],
                    _ if is_float => &[Add, Sub, Mul, Div],
                    _ => &[
                        Add, Sub, Mul, Div, Rem, BitAnd, BitOr, BitXor, ShiftLeft, ShiftRight,
                    ],
                };
                let op = ops[self.random.below(ops.len())];
                let other = match op {
                    ShiftLeft | ShiftRight => TYPES[1 + self.random.below(4)],
                    _ => ty,
                };
                Expr::Binary(op, self.boxed(ty, depth), self.boxed(other, depth))
            }
        }
    }

    /// Returns some statements and a value.
    fn block(&mut self, ty: Scalar, depth: usize) -> CodeBlock {
        let mut statements = Vec::new();
        let outer = self.locals.len();
        for _ in 0..self.random.below(3) {
            let of = self.ty();
            let value = self.boxed(of, depth / 2);
            let assigned: Vec<u32> = (0..self.locals.len() as u32)
                .filter(|local| self.locals[*local as usize] == Some(of))
                .collect();
            if assigned.is_empty() || self.random.below(2) == 0 {
                statements.push(Statement::Let {
                    local: self.locals.len() as u32,
                    ty: None,
                    value,
                });
                self.locals.push(Some(of));
            } else {
                let local = assigned[self.random.below(assigned.len())];
                statements.push(Statement::Assign { local, value });
            }
        }
        let value = self.boxed(ty, depth);
        self.locals[outer..].fill(None);
        CodeBlock {
            statements: Box::leak(statements.into_boxed_slice()),
            value: Some(value),
        }
    }
}

/// Evaluates a tree.
struct Evaluation {
    locals: Vec<Value>,
}

macro_rules! with_type {
    ($ty:expr, $T:ident => $body:expr; $($variant:ident $rust:ident)+) => {
        match $ty {
            $(Scalar::$variant => {
                type $T = $rust;
                $body
            })+
            #[allow(unreachable_patterns, reason = "some lists have all types")]
            other => panic!("no operation of {other}"),
        }
    };
}

macro_rules! numeric {
    ($ty:expr, $T:ident => $body:expr) => {
        with_type!($ty, $T => $body; I32 i32 U32 u32 I64 i64 U64 u64 F32 f32 F64 f64)
    };
}

fn number<T: common::Number>(value: Value) -> T {
    assert_eq!(value.ty, T::TY);
    T::of_bits(value.bits)
}

impl Evaluation {
    fn block(&mut self, block: &CodeBlock) -> Value {
        for statement in block.statements {
            match statement {
                Statement::Let { local, value, .. } | Statement::Assign { local, value } => {
                    let value = self.expr(value);
                    self.locals[*local as usize] = value;
                }
                other => panic!("no random function has {other:?}"),
            }
        }
        self.expr(block.value.unwrap())
    }

    fn truth(&mut self, expr: &Expr) -> bool {
        self.expr(expr).bits != 0
    }

    fn expr(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Local(local) => self.locals[*local as usize],
            Expr::Bool(truth) => truth.to_value(),
            Expr::Int(bits, ty) => Value {
                ty: ty.unwrap(),
                bits: *bits,
            },
            Expr::Float(digits, Some(Scalar::F32)) => digits.parse::<f32>().unwrap().to_value(),
            Expr::Float(digits, _) => digits.parse::<f64>().unwrap().to_value(),
            Expr::If(condition, then, otherwise) => {
                if self.truth(condition) {
                    self.block(then)
                } else {
                    self.block(otherwise.as_ref().unwrap())
                }
            }
            Expr::Cast(operand, to) => {
                let from = self.expr(operand);
                if from.ty == Scalar::Bool {
                    return with_type!(to, T => (from.bits as T).to_value(); I32 i32 U32 u32 I64 i64 U64 u64);
                }
                numeric!(from.ty, F => numeric!(to, T => (number::<F>(from) as T).to_value()))
            }
            Expr::Unary(UnaryOp::Neg, operand) => {
                let x = self.expr(operand);
                with_type!(x.ty, T => numbers::neg(number::<T>(x)).to_value(); I32 i32 I64 i64 F32 f32 F64 f64)
            }
            Expr::Unary(UnaryOp::Not, operand) => {
                let x = self.expr(operand);
                with_type!(x.ty, T => (!number::<T>(x)).to_value(); Bool bool I32 i32 U32 u32 I64 i64 U64 u64)
            }
            Expr::Binary(op, left, right) => self.binary(*op, left, right),
            Expr::Method(method, arguments) => {
                use NumberMethod as M;
                let values: Vec<Value> = arguments
                    .iter()
                    .map(|argument| self.expr(argument))
                    .collect();
                let ty = values[0].ty;
                match method {
                    M::Min => {
                        numeric!(ty, T => numbers::min::<T>(number(values[0]), number(values[1])).to_value())
                    }
                    M::Max => {
                        numeric!(ty, T => numbers::max::<T>(number(values[0]), number(values[1])).to_value())
                    }
                    M::Abs => {
                        with_type!(ty, T => numbers::abs::<T>(number(values[0])).to_value(); I32 i32 I64 i64 F32 f32 F64 f64)
                    }
                    M::Sqrt => {
                        with_type!(ty, T => numbers::sqrt::<T>(number(values[0])).to_value(); F32 f32 F64 f64)
                    }
                    M::Floor => {
                        with_type!(ty, T => numbers::floor::<T>(number(values[0])).to_value(); F32 f32 F64 f64)
                    }
                    _ => {
                        with_type!(ty, T => numbers::mul_add::<T>(number(values[0]), number(values[1]), number(values[2])).to_value(); F32 f32 F64 f64)
                    }
                }
            }
            other => panic!("no random function has {other:?}"),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Value {
        use BinaryOp as B;
        if matches!(op, B::And | B::Or) {
            let left = self.truth(left);
            let result = if (op == B::And) == left {
                self.truth(right)
            } else {
                left
            };
            return result.to_value();
        }
        let (x, y) = (self.expr(left), self.expr(right));
        macro_rules! compare {
            ($op:tt) => {
                with_type!(x.ty, T => (number::<T>(x) $op number::<T>(y)).to_value();
                    Bool bool I32 i32 U32 u32 I64 i64 U64 u64 F32 f32 F64 f64)
            };
        }
        macro_rules! integral {
            ($T:ident => $body:expr) => {
                with_type!(x.ty, $T => $body; I32 i32 U32 u32 I64 i64 U64 u64)
            };
        }
        match op {
            B::Add => numeric!(x.ty, T => numbers::add::<T>(number(x), number(y)).to_value()),
            B::Sub => numeric!(x.ty, T => numbers::sub::<T>(number(x), number(y)).to_value()),
            B::Mul => numeric!(x.ty, T => numbers::mul::<T>(number(x), number(y)).to_value()),
            B::Div => numeric!(x.ty, T => numbers::div::<T>(number(x), number(y)).to_value()),
            B::Rem => integral!(T => numbers::rem::<T>(number(x), number(y)).to_value()),
            B::ShiftLeft => {
                integral!(T => numbers::shl::<T, u32>(number(x), y.bits as u32).to_value())
            }
            B::ShiftRight => {
                integral!(T => numbers::shr::<T, u32>(number(x), y.bits as u32).to_value())
            }
            B::BitAnd => Value {
                ty: x.ty,
                bits: x.bits & y.bits,
            },
            B::BitOr => Value {
                ty: x.ty,
                bits: x.bits | y.bits,
            },
            B::BitXor => Value {
                ty: x.ty,
                bits: x.bits ^ y.bits,
            },
            B::Eq => compare!(==),
            B::Ne => compare!(!=),
            B::Lt => compare!(<),
            B::Le => compare!(<=),
            B::Gt => compare!(>),
            _ => compare!(>=),
        }
    }
}

#[test]
fn random_functions_compute_the_same() {
    for seed in 0..400 {
        let mut maker = Maker {
            random: Random(seed),
            locals: Vec::new(),
        };
        let parameters: Vec<Parameter> = (0..1 + maker.random.below(4))
            .map(|_| Parameter {
                name: "x",
                ty: maker.ty(),
            })
            .collect();
        maker.locals = parameters
            .iter()
            .map(|parameter| Some(parameter.ty))
            .collect();
        let result = maker.ty();
        let body = maker.block(result, 4);
        let function: &'static Function = leak(Function {
            name: "random",
            parameters: Box::leak(parameters.clone().into_boxed_slice()),
            result,
            num_locals: maker.locals.len() as u32,
            body,
        });
        let rows = 40;
        let columns: Vec<Vec<u64>> = parameters
            .iter()
            .map(|parameter| {
                (0..rows)
                    .map(|row| {
                        let random = &mut maker.random;
                        let row = if row < 10 { random.below(14) } else { usize::MAX };
                        with_type!(parameter.ty, T => common::sample::<T>(random, row).to_value().bits;
                            Bool bool I32 i32 U32 u32 I64 i64 U64 u64 F32 f32 F64 f64)
                    })
                    .collect()
            })
            .collect();
        let found = run(function, &columns);
        for row in 0..rows {
            let unset = Value {
                ty: Scalar::Bool,
                bits: 0,
            };
            let mut locals = vec![unset; maker.locals.len()];
            for ((local, column), parameter) in locals.iter_mut().zip(&columns).zip(&parameters) {
                *local = Value {
                    ty: parameter.ty,
                    bits: column[row],
                };
            }
            let expected = Evaluation { locals }.block(&function.body);
            assert_eq!(
                canonical(result, found[row]),
                canonical(result, expected.bits),
                "function {seed}, row {row}: {function:#?}"
            );
        }
    }
}
