//! What only grid kernels have: arrays, places in the grid, and barriers.
//!
//! ```text
//!  body                        in Rust, for one block
//!  let half = 128 >> step;     evaluated once: all threads compute the same
//!  let x = tile[i];         ┐  for each thread {
//!  tile[i] = …;             ┘      the statements up to the barrier
//!  grid.barrier();             }
//!  … x …                       another loop: `x` is kept for each thread
//! ```
//!
//! The tree has the statements as they are written. A statement around a barrier is *collective*:
//! its loops and conditions are those of the block, so they may only depend on *uniform* numbers,
//! which are the same for all threads.

mod collective;

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary, ExprIndex, ExprMethodCall, ExprReturn, Ident, Lit, Stmt};

use super::{Both, Translator, operator, ungrouped};
use crate::device::library_call;
use crate::device::scalar::Scalar;
use crate::problems::did_you_mean;

/// An array that the body names.
#[derive(Clone, Debug)]
pub(in crate::device) struct Array {
    pub(in crate::device) ident: Ident,
    pub(in crate::device) kind: ArrayKind,
    pub(in crate::device) ty: Scalar,
    pub(in crate::device) rank: usize,
}

/// What an array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum ArrayKind {
    /// An operand, by its number.
    Operand(usize),
    Result {
        has_initial: bool,
    },
    /// A shared array, by its number.
    Shared(usize),
}

/// What the body of a grid kernel, or its rules, may name.
#[derive(Debug)]
pub(in crate::device) struct GridScope {
    /// The name of the grid; none in rules.
    grid: Option<Ident>,
    arrays: Vec<Array>,
    has_barrier: bool,
    /// Variables that are the same for all threads.
    uniform: BTreeSet<u32>,
    /// Variables of threads that are declared beside barriers.
    kept: Vec<Kept>,
    /// Those that another part than the one of their declaration uses. The first translation finds
    /// them, and the second one keeps them.
    crossing: BTreeSet<u32>,
    part: Part,
    num_parts: usize,
    /// Whether each loop around the statement is collective.
    loops: Vec<bool>,
    has_end: bool,
}

/// A variable of each thread.
#[derive(Debug)]
struct Kept {
    ident: Ident,
    number: u32,
    is_mutable: bool,
    part: usize,
}

/// The statements since the last barrier.
#[derive(Debug, Default)]
struct Part {
    rust: TokenStream,
    used: BTreeSet<u32>,
    declared: Vec<u32>,
}

impl GridScope {
    /// Returns the scope of rules, which name the extents of operands.
    pub(in crate::device) fn of_rules(arrays: Vec<Array>) -> Self {
        Self {
            grid: None,
            arrays,
            has_barrier: false,
            uniform: BTreeSet::new(),
            kept: Vec::new(),
            crossing: BTreeSet::new(),
            part: Part::default(),
            num_parts: 0,
            loops: Vec::new(),
            has_end: false,
        }
    }

    /// Returns the scope of a body.
    pub(in crate::device) fn of_body(
        grid: &Ident,
        arrays: Vec<Array>,
        body: &TokenStream,
        crossing: BTreeSet<u32>,
    ) -> Self {
        Self {
            grid: Some(grid.clone()),
            has_barrier: barrier_in(body.clone()).is_some(),
            crossing,
            ..Self::of_rules(arrays)
        }
    }
}

/// Returns the place of a barrier in tokens, whatever it is called on: no other value has such a
/// method.
fn barrier_in(tokens: TokenStream) -> Option<Span> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token
            && let Some(found) = barrier_in(group.stream())
        {
            return Some(found);
        }
        if let [TokenTree::Punct(dot), TokenTree::Ident(method), ..] = &tokens[index..]
            && dot.as_char() == '.'
            && method == "barrier"
        {
            return Some(method.span());
        }
    }
    None
}

const METHODS: &[&str] = &["barrier", "block", "blocks", "index", "thread", "threads"];

const ATOMICS: &[(&str, &str)] = &[
    ("atomic_add", "Add"),
    ("atomic_and", "And"),
    ("atomic_max", "Max"),
    ("atomic_min", "Min"),
    ("atomic_or", "Or"),
    ("atomic_xor", "Xor"),
];

impl Translator<'_> {
    /// Makes it the translation of a grid kernel.
    pub(in crate::device) fn enter_grid(&mut self, scope: GridScope) {
        self.grid = Some(scope);
    }

    /// Brings a parameter into scope: a number, or an array, which has no name as a number.
    pub(in crate::device) fn declare_operand(&mut self, ident: &Ident, is_array: bool) {
        if is_array {
            self.reserve();
            return;
        }
        let number = self.declare(ident);
        if let Some(scope) = &mut self.grid {
            scope.uniform.insert(number);
        }
    }

    /// Translates the body of a grid kernel. Also returns the variables that barriers separate
    /// from their declarations.
    pub(in crate::device) fn grid_body(&mut self, statements: &[Stmt]) -> (Both, BTreeSet<u32>) {
        let both = self.collective(statements);
        let scope = self.grid.take();
        let crossing = scope.map(|scope| scope.crossing).unwrap_or_default();
        (both, crossing)
    }

    /// Returns the array of this name, unless a variable has it, too.
    pub(super) fn array_of(&self, expr: &Expr) -> Option<Array> {
        let Expr::Path(path) = ungrouped(expr) else {
            return None;
        };
        let name = path.path.get_ident()?;
        if self.local(name).is_some() {
            return None;
        }
        let arrays = &self.grid.as_ref()?.arrays;
        arrays.iter().find(|array| array.ident == *name).cloned()
    }

    /// Returns `true` for an atomic operation, which has no value.
    pub(super) fn is_atomic(&self, expr: &Expr) -> bool {
        let Expr::MethodCall(call) = expr else {
            return false;
        };
        let is_operation = ATOMICS.iter().any(|(name, _)| call.method == name);
        is_operation && self.array_of(&call.receiver).is_some()
    }

    fn is_grid(&self, expr: &Expr) -> bool {
        let Expr::Path(path) = ungrouped(expr) else {
            return false;
        };
        let Some(name) = path.path.get_ident() else {
            return false;
        };
        let scope = self.grid.as_ref();
        self.local(name).is_none() && scope.is_some_and(|scope| scope.grid.as_ref() == Some(name))
    }

    /// Returns what is wrong with a name as a number.
    pub(super) fn not_a_number(&self, name: &Ident) -> Option<String> {
        let scope = self.grid.as_ref()?;
        if scope.grid.as_ref() == Some(name) {
            return Some(format!(
                "`{name}` is not a number: call its methods, such as `{name}.index(0)`"
            ));
        }
        let array = scope.arrays.iter().find(|array| array.ident == *name)?;
        Some(format!(
            "`{name}` is an array: write one of its elements, `{}`",
            example(array)
        ))
    }

    /// Remembers that a part uses a variable.
    pub(super) fn note_use(&mut self, number: Option<u32>) {
        let (Some(scope), Some(number)) = (&mut self.grid, number) else {
            return;
        };
        let Some(kept) = scope.kept.iter().find(|kept| kept.number == number) else {
            return;
        };
        scope.part.used.insert(number);
        if kept.part != scope.num_parts {
            scope.crossing.insert(number);
        }
    }

    /// Refuses `break` and `continue` outside of loops, and of a loop around a barrier.
    pub(super) fn check_leaving(&mut self, place: Span) {
        let Some(scope) = &self.grid else {
            return;
        };
        let message = match scope.loops.last() {
            Some(false) => return,
            Some(true) => {
                "all threads run a loop around a barrier equally often: put an `if` around the \
                 rest of the work"
            }
            None => "there is no loop to leave: put an `if` around the rest of the work",
        };
        self.problems.at_span(place, message);
    }

    /// Translates the `return` of a grid kernel.
    pub(super) fn end(&mut self, returned: &ExprReturn) -> Both {
        if let Some(value) = &returned.expr {
            return self.refuse(
                value,
                "a grid kernel has no value: write elements of its result",
            );
        }
        let device = self.device.clone();
        let Some(scope) = &mut self.grid else {
            return self.nothing();
        };
        if scope.has_barrier || scope.grid.is_none() {
            return self.refuse(
                returned,
                "a thread that returns does not reach the barriers: put an `if` around the work",
            );
        }
        scope.has_end = true;
        let place = returned.return_token.span;
        Both {
            rust: quote_spanned!(place=> continue '__threads;),
            tree: quote!(#device::Statement::End),
        }
    }

    /// Returns `true` outside of the body.
    fn is_rules(&self) -> bool {
        self.grid.as_ref().is_some_and(|scope| scope.grid.is_none())
    }

    pub(super) fn is_element(&self, target: &Expr) -> bool {
        self.grid.is_some() && matches!(ungrouped(target), Expr::Index(_))
    }

    fn memory(&self, array: &Array) -> TokenStream {
        let device = &self.device;
        match array.kind {
            ArrayKind::Operand(number) => {
                let number = number as u32;
                quote!(#device::GridArray::Operand(#number))
            }
            ArrayKind::Result { .. } => quote!(#device::GridArray::Result),
            ArrayKind::Shared(number) => {
                let number = number as u32;
                quote!(#device::GridArray::Shared(#number))
            }
        }
    }

    /// Translates indices: their array in Rust, and their trees.
    fn indices(&mut self, array: &Array, index: &Expr) -> Option<(TokenStream, TokenStream)> {
        let indices: Vec<&Expr> = match ungrouped(index) {
            Expr::Array(several) => several.elems.iter().collect(),
            one => vec![one],
        };
        let (rank, name) = (array.rank, &array.ident);
        if indices.len() != rank {
            let found = indices.len();
            let example = example(array);
            self.problems.at(
                index,
                format!("`{name}` has {rank} dimensions, found {found} indices: write `{example}`"),
            );
            return None;
        }
        let (rust, trees) = self.arguments(indices.into_iter());
        let place = index.span();
        Some((quote_spanned!(place=> [#(#rust),*]), quote!(&[#(#trees),*])))
    }

    /// Translates the element of an array as a number.
    pub(super) fn element(&mut self, expr: &ExprIndex) -> Both {
        let device = self.device.clone();
        let Some(array) = self.array_of(&expr.expr) else {
            let what = "only the arrays of the kernel have elements";
            return self.refuse(&expr.expr, what);
        };
        if self.is_rules() {
            let what = "a launch depends on the extents of the operands only: write \
                        `x.extent(0)`";
            return self.refuse(expr, what);
        }
        if matches!(array.kind, ArrayKind::Result { .. }) {
            return self.refuse(
                expr,
                "the result is only written: keep the number in a variable or a shared array",
            );
        }
        let Some((rust, trees)) = self.indices(&array, &expr.index) else {
            return self.nothing();
        };
        let (name, memory, variant) = (&array.ident, self.memory(&array), array.ty.variant());
        let place = expr.span();
        let arguments = [quote!(&__grid), quote!(&*#name), rust];
        let call = library_call(&device, "load", place, &arguments);
        Both {
            rust: quote_spanned!(place=> (#call?)),
            tree: quote! {
                #device::Expr::Load(#memory, #device::Scalar::#variant, #trees)
            },
        }
    }

    /// Translates `tile[i] = …;` and `tile[i] += …;`.
    pub(super) fn store(
        &mut self,
        target: &Expr,
        binary: Option<&ExprBinary>,
        value: &Expr,
    ) -> Both {
        let device = self.device.clone();
        let Expr::Index(target) = ungrouped(target) else {
            return self.nothing();
        };
        let Some(array) = self.array_of(&target.expr) else {
            let what = "only the arrays of the kernel have elements";
            return self.refuse(&target.expr, what);
        };
        match (array.kind, binary) {
            (ArrayKind::Operand(_), _) => {
                return self.refuse(
                    target,
                    "operands are only read: write the result or a shared array",
                );
            }
            (ArrayKind::Result { .. }, Some(binary)) => {
                return self.refuse(
                    &binary.op,
                    "the result is only written: compute the number before, or call \
                     `atomic_add`",
                );
            }
            _ => {}
        }
        let op = binary.map(|binary| (super::assigned(&binary.op).unwrap_or(binary.op), binary));
        let operator = match op.as_ref().map(|(op, _)| operator(op)) {
            Some(None) => {
                return self.refuse(target, "device functions have no such operator");
            }
            Some(Some((variant, function))) => Some((variant, function)),
            None => None,
        };
        let Some((at, trees)) = self.indices(&array, &target.index) else {
            return self.nothing();
        };
        let Both { rust, tree } = self.expr(value);
        let (name, rank, variant) = (&array.ident, array.rank, array.ty.variant());
        let ty = array.ty.tokens(value.span());
        let memory = self.memory(&array);
        let place = target.span();
        let declared = match &op {
            // The amount of a shift has a type of its own.
            Some((BinOp::Shl(_) | BinOp::Shr(_), _)) => TokenStream::new(),
            _ => quote!(: #ty),
        };
        let new = match (&op, operator) {
            (Some((op, binary)), Some((_, function))) => {
                let arguments = [quote!(&__grid), quote!(&*#name), quote!(__at)];
                let old = library_call(&device, "load", place, &arguments);
                let arguments = [quote!(#old?), quote!(__value)];
                match function {
                    Some(function) => library_call(&device, function, binary.op.span(), &arguments),
                    None => {
                        let [old, value] = arguments;
                        quote!(#old #op #value)
                    }
                }
            }
            _ => quote!(__value),
        };
        let arguments = [
            quote!(&__grid),
            quote!(&mut *#name),
            quote!(__at),
            quote!(__new),
        ];
        let call = library_call(&device, "store", place, &arguments);
        let op = match operator {
            Some((variant, _)) => {
                let variant = Ident::new(variant, Span::call_site());
                quote!(#device::Some(#device::BinaryOp::#variant))
            }
            None => quote!(#device::None),
        };
        Both {
            rust: quote! {{
                let __at: [u32; #rank] = #at;
                let __value #declared = #rust;
                let __new = #new;
                #call?;
            }},
            tree: quote! {
                #device::Statement::Store {
                    memory: #memory,
                    ty: #device::Scalar::#variant,
                    index: #trees,
                    op: #op,
                    value: &#tree,
                }
            },
        }
    }

    /// Translates a statement that calls a method of an array.
    pub(super) fn array_statement(&mut self, call: &ExprMethodCall) -> Both {
        let device = self.device.clone();
        let Some(array) = self.array_of(&call.receiver) else {
            return self.nothing();
        };
        let name = call.method.to_string();
        let Some((function, variant)) = ATOMICS.iter().find(|(known, _)| *known == name) else {
            let Both { rust, tree } = self.expr(&Expr::MethodCall(call.clone()));
            return Both {
                rust: quote!(#rust;),
                tree: quote!(#device::Statement::Expr(&#tree)),
            };
        };
        match array.kind {
            ArrayKind::Operand(_) => {
                return self.refuse(
                    &call.method,
                    "operands are only read: write the result or a shared array",
                );
            }
            ArrayKind::Result { has_initial: false } => {
                return self.refuse(
                    &call.method,
                    "the elements need a first value: write `initial = 0` among the options of \
                     `grid`",
                );
            }
            _ => {}
        }
        if matches!(array.ty, Scalar::Bool | Scalar::F32 | Scalar::F64) {
            return self.refuse(
                &call.method,
                "atomic operations are for integers: a sum of floats would depend on the order of \
                 the threads",
            );
        }
        let mut arguments = call.args.iter();
        let (Some(index), Some(value), None) =
            (arguments.next(), arguments.next(), arguments.next())
        else {
            let message = format!("write `{}.{name}(index, value)`", array.ident);
            return self.refuse(&call.method, &message);
        };
        let Some((at, trees)) = self.indices(&array, index) else {
            return self.nothing();
        };
        let Both { rust, tree } = self.expr(value);
        let (ident, rank, scalar) = (&array.ident, array.rank, array.ty.variant());
        let (ty, memory) = (array.ty.tokens(value.span()), self.memory(&array));
        let arguments = [
            quote!(&__grid),
            quote!(&mut *#ident),
            quote!(__at),
            quote!(__value),
        ];
        let called = library_call(&device, function, call.method.span(), &arguments);
        let variant = Ident::new(variant, Span::call_site());
        Both {
            rust: quote! {{
                let __at: [u32; #rank] = #at;
                let __value: #ty = #rust;
                #called?;
            }},
            tree: quote! {
                #device::Statement::Atomic {
                    memory: #memory,
                    ty: #device::Scalar::#scalar,
                    index: #trees,
                    op: #device::AtomicOp::#variant,
                    value: &#tree,
                }
            },
        }
    }

    /// Translates a method of the grid or of an array that is a number; none for other receivers.
    pub(super) fn grid_method(&mut self, call: &ExprMethodCall) -> Option<Both> {
        let device = self.device.clone();
        let name = call.method.to_string();
        if let Some(array) = self.array_of(&call.receiver) {
            if name != "extent" {
                let message = match ATOMICS.iter().find(|(known, _)| *known == name) {
                    Some(_) => format!(
                        "`{name}` has no value, as it would depend on the order of the threads: \
                         write it as a statement"
                    ),
                    None => {
                        let known: Vec<&str> = std::iter::once("extent")
                            .chain(ATOMICS.iter().map(|(name, _)| *name))
                            .collect();
                        let hint = did_you_mean(&name, &known);
                        format!("arrays have no method `{name}`: {hint}")
                    }
                };
                return Some(self.refuse(&call.method, &message));
            }
            let rank = array.rank;
            let axis = match self.axis(call, rank) {
                Ok(axis) => axis,
                Err(nothing) => return Some(nothing),
            };
            let (ident, memory, number) = (&array.ident, self.memory(&array), axis as u32);
            let place = call.span();
            let rust = match array.kind {
                ArrayKind::Operand(operand) if self.is_rules() => {
                    let arguments = [quote!(__shapes), quote!(#operand), quote!(#axis)];
                    library_call(&device, "extent", place, &arguments)
                }
                _ => library_call(
                    &device,
                    "extent_of",
                    place,
                    &[quote!(&*#ident), quote!(#axis)],
                ),
            };
            return Some(Both {
                rust,
                tree: quote!(#device::Expr::Extent(#memory, #number)),
            });
        }
        if !self.is_grid(&call.receiver) {
            return None;
        }
        let variant = match name.as_str() {
            "block" => "Block",
            "blocks" => "Blocks",
            "index" => "Index",
            "thread" => "Thread",
            "threads" => "Threads",
            "barrier" => {
                return Some(self.refuse(
                    &call.method,
                    "not all threads of a block reach this barrier together: it is a statement \
                     of the kernel, or of an `if` or `for` whose condition and bounds are the \
                     same for all threads",
                ));
            }
            _ => {
                let hint = did_you_mean(&name, METHODS);
                let message = format!("the grid has no method `{name}`: {hint}");
                return Some(self.refuse(&call.method, &message));
            }
        };
        let axis = match self.axis(call, 3) {
            Ok(axis) => axis,
            Err(nothing) => return Some(nothing),
        };
        let (method, number) = (&call.method, axis as u32);
        let variant = Ident::new(variant, Span::call_site());
        Some(Both {
            rust: quote!(#device::Grid::#method(&__grid, #axis)),
            tree: quote!(#device::Expr::Position(#device::GridPosition::#variant, #number)),
        })
    }

    /// Returns the axis that a method is called with.
    fn axis(&mut self, call: &ExprMethodCall, num_axes: usize) -> Result<usize, Both> {
        let mut arguments = call.args.iter();
        let axis = match (arguments.next(), arguments.next()) {
            (Some(Expr::Lit(literal)), None) => match &literal.lit {
                Lit::Int(number) => number.base10_parse::<usize>().ok(),
                _ => None,
            },
            _ => None,
        };
        match axis {
            Some(axis) if axis < num_axes => Ok(axis),
            _ => {
                let name = &call.method;
                let message = match num_axes {
                    0 | 1 => format!("there is only axis 0: write `{name}(0)`"),
                    _ => format!(
                        "expected the number of an axis, from 0 to {}: write `{name}(0)`",
                        num_axes - 1
                    ),
                };
                Err(match call.args.first() {
                    Some(argument) => self.refuse(argument, &message),
                    None => self.refuse(name, &message),
                })
            }
        }
    }
}

/// Returns how an element of an array is written.
fn example(array: &Array) -> String {
    let name = &array.ident;
    match array.rank {
        0 => format!("{name}[[]]"),
        1 => format!("{name}[i]"),
        2 => format!("{name}[[y, x]]"),
        3 => format!("{name}[[z, y, x]]"),
        rank => format!("{name}[[{}]]", vec!["i"; rank].join(", ")),
    }
}
