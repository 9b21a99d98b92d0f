//! The types of all expressions of a device function.
//!
//! The compiler has checked the same body as Rust. Here, types are inferred once more by the same
//! rules: a literal takes the type of what it is used with, and without any it is an `i32` or
//! `f64`.

use tfrt_support::{Error, ErrorCode};

use crate::tree::{
    AtomicOp, BinaryOp, CodeBlock, Expr, Function, GridArray, GridPosition, NumberMethod, Scalar,
    Statement, UnaryOp, Value,
};

/// A type variable.
pub(crate) type Var = u32;

/// An expression with its type.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) var: Var,
    pub(crate) op: Op,
}

/// The kinds of expressions.
#[derive(Debug)]
pub(crate) enum Op {
    Local(u32),
    /// An integer; its bits.
    Int(u64),
    /// The text of a float.
    Float(&'static str),
    Value(Value),
    Unary(UnaryOp, Box<Node>),
    Binary(BinaryOp, Box<Node>, Box<Node>),
    Cast(Box<Node>),
    If(Box<Node>, Lines, Option<Lines>),
    Block(Lines),
    Call(&'static Function, Vec<Node>),
    Method(NumberMethod, Vec<Node>),
    Position(GridPosition, u32),
    Extent(GridArray, u32),
    Load(GridArray, Vec<Node>),
}

/// Statements, and the value after them.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(crate) statements: Vec<Line>,
    pub(crate) value: Option<Box<Node>>,
}

/// A statement.
#[derive(Debug)]
pub(crate) enum Line {
    /// Declares or assigns.
    Set(u32, Node),
    For {
        local: u32,
        start: Node,
        end: Node,
        is_inclusive: bool,
        body: Lines,
    },
    Return(Node),
    Break,
    Continue,
    Expr(Node),
    Store {
        memory: GridArray,
        ty: Scalar,
        index: Vec<Node>,
        op: Option<BinaryOp>,
        value: Node,
    },
    Atomic {
        memory: GridArray,
        ty: Scalar,
        index: Vec<Node>,
        op: AtomicOp,
        value: Node,
    },
    Barrier,
    End,
}

/// A function whose types are known.
#[derive(Debug)]
pub(crate) struct Typed {
    pub(crate) function: &'static Function,
    pub(crate) body: Lines,
    locals: Vec<Var>,
    /// The type of each variable; none for expressions without a value.
    types: Vec<Option<Scalar>>,
}

impl Typed {
    /// Infers the types of a function.
    ///
    /// # Errors
    /// If the tree is not one that the macro writes.
    pub(crate) fn new(function: &'static Function) -> Result<Self, Error> {
        let mut inference = Inference {
            function,
            slots: Vec::new(),
            locals: Vec::new(),
            related: Vec::new(),
        };
        for index in 0..function.num_locals as usize {
            let var = match function.parameters.get(index) {
                Some(parameter) => inference.known(parameter.ty),
                None => inference.fresh(Slot::Any),
            };
            inference.locals.push(var);
        }
        let body = inference.block(&function.body)?;
        if let Some(value) = &body.value {
            let result = inference.known(function.result);
            inference.unify(value.var, result)?;
        }
        let types = inference.finish()?;
        Ok(Self {
            function,
            body,
            locals: inference.locals,
            types,
        })
    }

    /// Returns the type of an expression; none if it has no value.
    pub(crate) fn ty(&self, node: &Node) -> Option<Scalar> {
        self.types.get(node.var as usize).copied().flatten()
    }

    /// Returns the type of a parameter or variable.
    pub(crate) fn local(&self, local: u32) -> Option<Scalar> {
        let var = self.locals.get(local as usize)?;
        self.types.get(*var as usize).copied().flatten()
    }
}

/// What is known of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    /// The same as another one.
    Link(Var),
    Any,
    /// An integer literal.
    Int,
    /// A float literal.
    Float,
    Known(Scalar),
    /// There is no value.
    Unit,
}

/// Two variables of which one determines the other.
#[derive(Clone, Copy, Debug)]
enum Related {
    /// A float and the integer of its size.
    Bits(Var, Var),
    /// An integer, and the one without a sign of its size.
    Unsigned(Var, Var),
}

struct Inference {
    function: &'static Function,
    slots: Vec<Slot>,
    locals: Vec<Var>,
    related: Vec<Related>,
}

impl Inference {
    fn error(&self, message: &str) -> Error {
        Error::new(format!(
            "device function `{}`: {message}",
            self.function.name
        ))
        .with_code(ErrorCode::Internal)
    }

    fn fresh(&mut self, slot: Slot) -> Var {
        self.slots.push(slot);
        (self.slots.len() - 1) as Var
    }

    fn known(&mut self, ty: Scalar) -> Var {
        self.fresh(Slot::Known(ty))
    }

    fn root(&self, mut var: Var) -> Var {
        while let Some(Slot::Link(next)) = self.slots.get(var as usize) {
            var = *next;
        }
        var
    }

    fn slot(&self, var: Var) -> Slot {
        self.slots[self.root(var) as usize]
    }

    fn unify(&mut self, a: Var, b: Var) -> Result<(), Error> {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return Ok(());
        }
        let merged = match (self.slots[a as usize], self.slots[b as usize]) {
            (Slot::Any, other) | (other, Slot::Any) => other,
            (one, other) if one == other => one,
            (Slot::Int, Slot::Known(ty)) | (Slot::Known(ty), Slot::Int)
                if !ty.is_float() && ty != Scalar::Bool =>
            {
                Slot::Known(ty)
            }
            (Slot::Float, Slot::Known(ty)) | (Slot::Known(ty), Slot::Float) if ty.is_float() => {
                Slot::Known(ty)
            }
            (one, other) => {
                return Err(self.error(&format!("the types {one:?} and {other:?} differ")));
            }
        };
        self.slots[a as usize] = Slot::Link(b);
        self.slots[b as usize] = merged;
        Ok(())
    }

    fn local(&self, local: u32) -> Result<Var, Error> {
        let var = self.locals.get(local as usize);
        var.copied()
            .ok_or_else(|| self.error("a variable is not declared"))
    }

    fn block(&mut self, block: &'static CodeBlock) -> Result<Lines, Error> {
        let statements = block.statements.iter().map(|line| self.statement(line));
        let statements = statements.collect::<Result<_, _>>()?;
        let value = block.value.map(|value| self.expr(value)).transpose()?;
        Ok(Lines {
            statements,
            value: value.map(Box::new),
        })
    }

    /// Returns the type of a block.
    fn value_of(&mut self, lines: &Lines) -> Var {
        if let Some(value) = &lines.value {
            return value.var;
        }
        let is_left = matches!(
            lines.statements.last(),
            Some(Line::Return(_) | Line::Break | Line::Continue | Line::End)
        );
        self.fresh(if is_left { Slot::Any } else { Slot::Unit })
    }

    fn statement(&mut self, statement: &'static Statement) -> Result<Line, Error> {
        Ok(match statement {
            Statement::Let { local, ty, value } => {
                let value = self.expr(value)?;
                let var = self.local(*local)?;
                self.unify(var, value.var)?;
                if let Some(ty) = ty {
                    let ty = self.known(*ty);
                    self.unify(var, ty)?;
                }
                Line::Set(*local, value)
            }
            Statement::Assign { local, value } => {
                let value = self.expr(value)?;
                let var = self.local(*local)?;
                self.unify(var, value.var)?;
                Line::Set(*local, value)
            }
            Statement::For {
                local,
                start,
                end,
                is_inclusive,
                body,
            } => {
                let (start, end) = (self.expr(start)?, self.expr(end)?);
                self.unify(start.var, end.var)?;
                let var = self.local(*local)?;
                self.unify(var, start.var)?;
                Line::For {
                    local: *local,
                    start,
                    end,
                    is_inclusive: *is_inclusive,
                    body: self.block(body)?,
                }
            }
            Statement::Return(value) => {
                let value = self.expr(value)?;
                let result = self.known(self.function.result);
                self.unify(value.var, result)?;
                Line::Return(value)
            }
            Statement::Break => Line::Break,
            Statement::Continue => Line::Continue,
            Statement::Expr(value) => Line::Expr(self.expr(value)?),
            Statement::Store {
                memory,
                ty,
                index,
                op,
                value,
            } => {
                let index = self.index(index)?;
                let value = self.expr(value)?;
                // The amount of a shift has a type of its own.
                if !matches!(op, Some(BinaryOp::ShiftLeft | BinaryOp::ShiftRight)) {
                    let element = self.known(*ty);
                    self.unify(value.var, element)?;
                }
                Line::Store {
                    memory: *memory,
                    ty: *ty,
                    index,
                    op: *op,
                    value,
                }
            }
            Statement::Atomic {
                memory,
                ty,
                index,
                op,
                value,
            } => {
                let index = self.index(index)?;
                let value = self.expr(value)?;
                let element = self.known(*ty);
                self.unify(value.var, element)?;
                Line::Atomic {
                    memory: *memory,
                    ty: *ty,
                    index,
                    op: *op,
                    value,
                }
            }
            Statement::Barrier => Line::Barrier,
            Statement::End => Line::End,
        })
    }

    /// Indices are `u32`.
    fn index(&mut self, index: &'static [Expr]) -> Result<Vec<Node>, Error> {
        let mut nodes = Vec::with_capacity(index.len());
        for index in index {
            let node = self.expr(index)?;
            let ty = self.known(Scalar::U32);
            self.unify(node.var, ty)?;
            nodes.push(node);
        }
        Ok(nodes)
    }

    fn boxed(&mut self, expr: &'static Expr) -> Result<Box<Node>, Error> {
        self.expr(expr).map(Box::new)
    }

    fn expr(&mut self, expr: &'static Expr) -> Result<Node, Error> {
        let (var, op) = match expr {
            Expr::Local(local) => (self.local(*local)?, Op::Local(*local)),
            Expr::Int(bits, ty) => {
                let var = self.fresh(ty.map_or(Slot::Int, Slot::Known));
                (var, Op::Int(*bits))
            }
            Expr::Float(digits, ty) => {
                let var = self.fresh(ty.map_or(Slot::Float, Slot::Known));
                (var, Op::Float(digits))
            }
            Expr::Bool(truth) => {
                let value = Value {
                    ty: Scalar::Bool,
                    bits: u64::from(*truth),
                };
                (self.known(Scalar::Bool), Op::Value(value))
            }
            Expr::Constant(value) => {
                let value = value();
                (self.known(value.ty), Op::Value(value))
            }
            Expr::Typed(inner, ty) => {
                let inner = self.expr(inner)?;
                let ty = self.known(*ty);
                self.unify(inner.var, ty)?;
                return Ok(inner);
            }
            Expr::Unary(unary, operand) => {
                let operand = self.boxed(operand)?;
                (operand.var, Op::Unary(*unary, operand))
            }
            Expr::Binary(binary, left, right) => {
                let (left, right) = (self.boxed(left)?, self.boxed(right)?);
                if !matches!(binary, BinaryOp::ShiftLeft | BinaryOp::ShiftRight) {
                    self.unify(left.var, right.var)?;
                }
                let var = if binary.is_comparison() {
                    self.known(Scalar::Bool)
                } else {
                    left.var
                };
                (var, Op::Binary(*binary, left, right))
            }
            Expr::Cast(operand, ty) => {
                let takes_type = takes_type_of_cast(operand, *ty);
                let operand = self.boxed(operand)?;
                let var = self.known(*ty);
                if takes_type {
                    self.unify(operand.var, var)?;
                }
                (var, Op::Cast(operand))
            }
            Expr::If(condition, then, otherwise) => {
                let condition = self.boxed(condition)?;
                let truth = self.known(Scalar::Bool);
                self.unify(condition.var, truth)?;
                let then = self.block(then)?;
                let value = self.value_of(&then);
                let otherwise = match otherwise {
                    Some(otherwise) => {
                        let otherwise = self.block(otherwise)?;
                        let other = self.value_of(&otherwise);
                        self.unify(value, other)?;
                        Some(otherwise)
                    }
                    None => {
                        let unit = self.fresh(Slot::Unit);
                        self.unify(value, unit)?;
                        None
                    }
                };
                (value, Op::If(condition, then, otherwise))
            }
            Expr::Block(block) => {
                let block = self.block(block)?;
                (self.value_of(&block), Op::Block(block))
            }
            Expr::Call(callee, arguments) => {
                if callee.parameters.len() != arguments.len() {
                    return Err(self.error(&format!(
                        "expected {} arguments of `{}`, found {}",
                        callee.parameters.len(),
                        callee.name,
                        arguments.len()
                    )));
                }
                let mut nodes = Vec::with_capacity(arguments.len());
                for (argument, parameter) in arguments.iter().zip(callee.parameters) {
                    let argument = self.expr(argument)?;
                    let ty = self.known(parameter.ty);
                    self.unify(argument.var, ty)?;
                    nodes.push(argument);
                }
                (self.known(callee.result), Op::Call(callee, nodes))
            }
            Expr::Method(method, arguments) => {
                let nodes = arguments.iter().map(|argument| self.expr(argument));
                let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
                (self.method(*method, &nodes)?, Op::Method(*method, nodes))
            }
            Expr::Position(position, axis) => {
                (self.known(Scalar::U32), Op::Position(*position, *axis))
            }
            Expr::Extent(memory, axis) => (self.known(Scalar::U32), Op::Extent(*memory, *axis)),
            Expr::Load(memory, ty, index) => {
                let index = self.index(index)?;
                (self.known(*ty), Op::Load(*memory, index))
            }
        };
        Ok(Node { var, op })
    }

    fn method(&mut self, method: NumberMethod, arguments: &[Node]) -> Result<Var, Error> {
        use NumberMethod as M;
        let Some((receiver, rest)) = arguments.split_first() else {
            return Err(self.error("a method has no receiver"));
        };
        let receiver = receiver.var;
        let num_arguments = match method {
            M::Clamp | M::MulAdd => 2,
            M::AbsDiff
            | M::Atan2
            | M::Copysign
            | M::Hypot
            | M::Max
            | M::Min
            | M::Powf
            | M::Powi
            | M::RotateLeft
            | M::RotateRight => 1,
            _ => 0,
        };
        if rest.len() != num_arguments {
            return Err(self.error(&format!("wrong number of arguments of {method:?}")));
        }
        for argument in rest {
            match method {
                M::Powi => {
                    let ty = self.known(Scalar::I32);
                    self.unify(argument.var, ty)?;
                }
                M::RotateLeft | M::RotateRight => {
                    let ty = self.known(Scalar::U32);
                    self.unify(argument.var, ty)?;
                }
                _ => self.unify(argument.var, receiver)?,
            }
        }
        Ok(match method {
            M::IsFinite | M::IsInfinite | M::IsNan | M::IsSignNegative | M::IsSignPositive => {
                self.known(Scalar::Bool)
            }
            M::CountOnes | M::LeadingZeros | M::TrailingZeros => self.known(Scalar::U32),
            M::ToBits => {
                let bits = self.fresh(Slot::Any);
                self.related.push(Related::Bits(receiver, bits));
                bits
            }
            M::FromBits => {
                let float = self.fresh(Slot::Float);
                self.related.push(Related::Bits(float, receiver));
                float
            }
            M::AbsDiff => {
                let unsigned = self.fresh(Slot::Any);
                self.related.push(Related::Unsigned(receiver, unsigned));
                unsigned
            }
            _ => receiver,
        })
    }

    /// Resolves related types, then literals that nothing determines.
    fn finish(&mut self) -> Result<Vec<Option<Scalar>>, Error> {
        let mut related = std::mem::take(&mut self.related);
        loop {
            let before = related.len();
            let mut rest = Vec::new();
            for relation in related {
                if !self.relate(relation)? {
                    rest.push(relation);
                }
            }
            related = rest;
            if related.is_empty() {
                break;
            }
            if related.len() == before {
                // Only literals are left: they have their defaults.
                let (Related::Bits(one, other) | Related::Unsigned(one, other)) = related[0];
                for var in [one, other] {
                    let root = self.root(var) as usize;
                    match self.slots[root] {
                        Slot::Int => self.slots[root] = Slot::Known(Scalar::I32),
                        Slot::Float => self.slots[root] = Slot::Known(Scalar::F64),
                        _ => {}
                    }
                }
                if !self.relate(related[0])? {
                    return Err(self.error("a type cannot be inferred"));
                }
                related.remove(0);
            }
        }
        let vars = 0..self.slots.len() as Var;
        Ok(vars
            .map(|var| match self.slot(var) {
                Slot::Known(ty) => Some(ty),
                Slot::Int => Some(Scalar::I32),
                Slot::Float => Some(Scalar::F64),
                Slot::Any | Slot::Unit | Slot::Link(_) => None,
            })
            .collect())
    }

    /// Infers one side of a relation from the other; returns `false` if neither is known.
    fn relate(&mut self, relation: Related) -> Result<bool, Error> {
        let (var, ty) = match relation {
            Related::Bits(float, bits) => match (self.slot(float), self.slot(bits)) {
                (Slot::Known(Scalar::F32), _) => (bits, Scalar::U32),
                (Slot::Known(Scalar::F64), _) => (bits, Scalar::U64),
                (_, Slot::Known(Scalar::U32)) => (float, Scalar::F32),
                (_, Slot::Known(Scalar::U64)) => (float, Scalar::F64),
                _ => return Ok(false),
            },
            Related::Unsigned(integer, unsigned) => match self.slot(integer) {
                Slot::Known(Scalar::I32 | Scalar::U32) => (unsigned, Scalar::U32),
                Slot::Known(Scalar::I64 | Scalar::U64) => (unsigned, Scalar::U64),
                _ => return Ok(false),
            },
        };
        let ty = self.known(ty);
        self.unify(var, ty)?;
        Ok(true)
    }
}

/// Returns `true` for a literal without a suffix, to which the compiler gives the type of the `as`
/// behind it.
fn takes_type_of_cast(expr: &Expr, ty: Scalar) -> bool {
    match expr {
        Expr::Int(_, None) => !ty.is_float() && ty != Scalar::Bool,
        Expr::Float(_, None) => ty.is_float(),
        // The compiler refuses the negation of an unsigned literal.
        Expr::Unary(UnaryOp::Neg, operand) => {
            (ty.is_signed() || ty.is_float()) && takes_type_of_cast(operand, ty)
        }
        Expr::Unary(UnaryOp::Not, operand) => takes_type_of_cast(operand, ty),
        _ => false,
    }
}
