//! The translation of a body into Rust and into a tree.
//!
//! In the Rust form, operators and methods are calls of the device library, which defines them for
//! the processor and the GPU alike: `+` of integers wraps around, and `exp` has the same bits
//! everywhere. Everything else is as written, with its spans, so the compiler reports wrong types
//! where they are.

pub(super) mod grid;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    BinOp, Block, Expr, ExprBinary, ExprCall, ExprForLoop, ExprIf, ExprLit, ExprMethodCall, Ident,
    Lit, Local, Pat, RangeLimits, Stmt, UnOp,
};

use grid::GridScope;

use super::library_call;
use super::methods::{self, Variant};
use super::scalar::Scalar;
use crate::problems::Problems;

/// Something translated.
pub(super) struct Both {
    /// For the compiler.
    pub(super) rust: TokenStream,
    /// A constant of the device library.
    pub(super) tree: TokenStream,
}

/// The translation of one body.
pub(super) struct Translator<'p> {
    device: TokenStream,
    /// The name of the function, which may not call itself.
    function: Ident,
    problems: &'p mut Problems,
    /// The names in scope, innermost last, and their numbers.
    names: Vec<(Ident, u32)>,
    num_locals: u32,
    /// What only grid kernels have.
    grid: Option<GridScope>,
}

impl<'p> Translator<'p> {
    pub(super) fn new(device: &TokenStream, function: &Ident, problems: &'p mut Problems) -> Self {
        Self {
            device: device.clone(),
            function: function.clone(),
            problems,
            names: Vec::new(),
            num_locals: 0,
            grid: None,
        }
    }

    /// Returns the number of parameters and variables.
    pub(super) fn num_locals(&self) -> u32 {
        self.num_locals
    }

    /// Brings a parameter or variable into scope.
    pub(super) fn declare(&mut self, name: &Ident) -> u32 {
        let number = self.reserve();
        self.names.push((name.clone(), number));
        number
    }

    /// Returns the number of a variable without a name.
    fn reserve(&mut self) -> u32 {
        self.num_locals += 1;
        self.num_locals - 1
    }

    fn local(&self, name: &Ident) -> Option<u32> {
        let mut names = self.names.iter().rev();
        names
            .find(|(known, _)| known == name)
            .map(|(_, number)| *number)
    }

    /// Translates statements and the value after them.
    pub(super) fn block(&mut self, statements: &[Stmt]) -> Both {
        let outer = self.names.len();
        let (mut rust, mut trees) = (TokenStream::new(), Vec::new());
        let mut value = None;
        for (index, statement) in statements.iter().enumerate() {
            let is_last = index + 1 == statements.len();
            match statement {
                Stmt::Expr(expr, None) if is_last && !is_control(expr) && !self.is_atomic(expr) => {
                    let both = self.expr(expr);
                    rust.extend(both.rust);
                    value = Some(both.tree);
                }
                _ => {
                    let both = self.statement(statement);
                    rust.extend(both.rust);
                    trees.push(both.tree);
                }
            }
        }
        self.names.truncate(outer);
        let device = &self.device;
        let value = match value {
            Some(value) => quote!(#device::Some(&#value)),
            None => quote!(#device::None),
        };
        Both {
            rust,
            tree: quote!(#device::CodeBlock { statements: &[#(#trees),*], value: #value }),
        }
    }

    fn braces(&mut self, block: &Block) -> Both {
        let both = self.block(&block.stmts);
        let rust = both.rust;
        Both {
            rust: quote_spanned!(block.brace_token.span.join()=> { #rust }),
            tree: both.tree,
        }
    }

    fn statement(&mut self, statement: &Stmt) -> Both {
        let device = self.device.clone();
        match statement {
            Stmt::Local(local) => self.variable(local),
            Stmt::Item(item) => self.refuse(item, "declare it outside of the device function"),
            Stmt::Macro(call) => self.refuse(&call.mac.path, MACRO),
            Stmt::Expr(expr, semicolon) => {
                let both = match expr {
                    Expr::Assign(assign) if self.is_element(&assign.left) => {
                        return self.store(&assign.left, None, &assign.right);
                    }
                    Expr::Binary(binary)
                        if assigned(&binary.op).is_some() && self.is_element(&binary.left) =>
                    {
                        return self.store(&binary.left, Some(binary), &binary.right);
                    }
                    Expr::MethodCall(call) if self.array_of(&call.receiver).is_some() => {
                        return self.array_statement(call);
                    }
                    Expr::Assign(assign) => {
                        self.assignment(&assign.left, |this| this.expr(&assign.right))
                    }
                    Expr::Binary(binary) if assigned(&binary.op).is_some() => {
                        let left = &binary.left;
                        self.assignment(left, |this| this.binary(binary))
                    }
                    Expr::ForLoop(each) => return self.for_loop(each, false),
                    Expr::Return(returned) if self.grid.is_some() => return self.end(returned),
                    Expr::Return(returned) => {
                        let Some(value) = &returned.expr else {
                            return self.refuse(returned, "return a number: `return x;`");
                        };
                        let Both { rust, tree } = self.expr(value);
                        let keyword = &returned.return_token;
                        Both {
                            rust: quote!(#keyword #rust),
                            tree: quote!(#device::Statement::Return(&#tree)),
                        }
                    }
                    Expr::Break(leaving) => {
                        if leaving.label.is_some() || leaving.expr.is_some() {
                            return self.refuse(leaving, "write `break` alone");
                        }
                        self.check_leaving(leaving.break_token.span);
                        Both {
                            rust: leaving.to_token_stream(),
                            tree: quote!(#device::Statement::Break),
                        }
                    }
                    Expr::Continue(next) => {
                        if next.label.is_some() {
                            return self.refuse(next, "write `continue` alone");
                        }
                        self.check_leaving(next.continue_token.span);
                        Both {
                            rust: next.to_token_stream(),
                            tree: quote!(#device::Statement::Continue),
                        }
                    }
                    other => {
                        let Both { rust, tree } = self.expr(other);
                        Both {
                            rust,
                            tree: quote!(#device::Statement::Expr(&#tree)),
                        }
                    }
                };
                let rust = both.rust;
                Both {
                    rust: quote!(#rust #semicolon),
                    tree: both.tree,
                }
            }
        }
    }

    fn variable(&mut self, local: &Local) -> Both {
        if let Some(attribute) = local.attrs.first() {
            return self.refuse(attribute, "put the attribute on the function");
        }
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pattern => (pattern, None),
        };
        let pattern = match pattern {
            Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => pattern,
            _ => return self.refuse(pattern, "declare one variable: `let x = …;`"),
        };
        let Some(init) = &local.init else {
            let name = &pattern.ident;
            let message =
                format!("give `{name}` a value where it is declared: `let mut {name} = 0.0;`");
            return self.refuse(name, &message);
        };
        if let Some((keyword, _)) = &init.diverge {
            return self.refuse(keyword, "a number always matches: remove the `else`");
        }
        let ty = match ty.map(Scalar::of) {
            Some(Err(error)) => {
                self.problems.push(error);
                None
            }
            Some(Ok(scalar)) => Some((scalar, ty.map_or_else(Span::call_site, Spanned::span))),
            None => None,
        };
        let value = self.expr(&init.expr);
        let number = self.declare(&pattern.ident);
        let device = &self.device;
        let (declared, known) = match ty {
            Some((scalar, span)) => {
                let (tokens, variant) = (scalar.tokens(span), scalar.variant());
                (
                    quote!(: #tokens),
                    quote!(#device::Some(#device::Scalar::#variant)),
                )
            }
            None => (TokenStream::new(), quote!(#device::None)),
        };
        let (Both { rust, tree }, keyword, end) = (value, &local.let_token, &local.semi_token);
        Both {
            rust: quote!(#keyword #pattern #declared = #rust #end),
            tree: quote!(#device::Statement::Let { local: #number, ty: #known, value: &#tree }),
        }
    }

    fn assignment(&mut self, target: &Expr, value: impl FnOnce(&mut Self) -> Both) -> Both {
        let number = match ungrouped(target) {
            Expr::Path(path) => path.path.get_ident().and_then(|name| self.local(name)),
            _ => None,
        };
        self.note_use(number);
        let Some(number) = number else {
            return self.refuse(
                target,
                "a device function assigns to its own variables only",
            );
        };
        let Both { rust, tree } = value(self);
        let device = &self.device;
        Both {
            rust: quote!(#target = #rust),
            tree: quote!(#device::Statement::Assign { local: #number, value: &#tree }),
        }
    }

    /// Translates a loop. All threads of a grid run a collective one together.
    fn for_loop(&mut self, each: &ExprForLoop, is_collective: bool) -> Both {
        if let Some(label) = &each.label {
            return self.refuse(
                label,
                "loops have no labels: write an inner device function",
            );
        }
        let name = match &*each.pat {
            Pat::Ident(pattern)
                if pattern.by_ref.is_none()
                    && pattern.subpat.is_none()
                    && pattern.mutability.is_none() =>
            {
                Some(pattern.ident.clone())
            }
            Pat::Wild(_) => None,
            other => return self.refuse(other, "the loop counts: write `for i in 0..n`"),
        };
        let range = match ungrouped(&each.expr) {
            Expr::Range(range) => range,
            other => {
                return self.refuse(
                    other,
                    "a loop counts through a range: write `for i in 0..n`",
                );
            }
        };
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            return self.refuse(range, "a loop needs both bounds: write `for i in 0..n`");
        };
        let (start, end) = (self.expr(start), self.expr(end));
        let outer = self.names.len();
        let number = match &name {
            Some(name) => self.declare(name),
            None => self.reserve(),
        };
        let body = self.loop_body(&each.body, number, is_collective);
        self.names.truncate(outer);
        let device = &self.device;
        let is_inclusive = matches!(range.limits, RangeLimits::Closed(_));
        let (pattern, limits) = (&each.pat, &range.limits);
        let (for_token, in_token) = (&each.for_token, &each.in_token);
        let (first, last, inner) = (start.rust, end.rust, body.rust);
        let (start, end, tree) = (start.tree, end.tree, body.tree);
        Both {
            rust: quote!(#for_token #pattern #in_token (#first) #limits (#last) #inner),
            tree: quote! {
                #device::Statement::For {
                    local: #number,
                    start: &#start,
                    end: &#end,
                    is_inclusive: #is_inclusive,
                    body: #tree,
                }
            },
        }
    }

    /// Translates an expression.
    pub(super) fn expr(&mut self, expr: &Expr) -> Both {
        let device = self.device.clone();
        match expr {
            Expr::Group(group) => self.expr(&group.expr),
            Expr::Paren(paren) => {
                let Both { rust, tree } = self.expr(&paren.expr);
                Both {
                    rust: quote_spanned!(paren.paren_token.span.join()=> (#rust)),
                    tree,
                }
            }
            Expr::Lit(literal) => self.literal(literal),
            Expr::Path(path) => {
                let name = path.path.get_ident();
                let number = name.and_then(|name| self.local(name));
                if let (Some(name), None) = (name, number)
                    && let Some(message) = self.not_a_number(name)
                {
                    return self.refuse(name, &message);
                }
                self.note_use(number);
                let tree = match number {
                    Some(number) => quote!(#device::Expr::Local(#number)),
                    None => {
                        let to_value =
                            quote_spanned!(path.span()=> #device::ToValue::to_value(#path));
                        quote!(#device::Expr::Constant(|| #to_value))
                    }
                };
                Both {
                    rust: path.to_token_stream(),
                    tree,
                }
            }
            Expr::Unary(unary) => {
                let operand = self.expr(&unary.expr);
                let (rust, tree) = (operand.rust, operand.tree);
                match unary.op {
                    UnOp::Neg(sign) => {
                        // The compiler checks the range of a literal together with its sign.
                        let rust = match &*unary.expr {
                            Expr::Lit(_) => quote!((#sign #rust)),
                            _ => library_call(&device, "neg", sign.span, &[rust]),
                        };
                        Both {
                            rust,
                            tree: quote!(#device::Expr::Unary(#device::UnaryOp::Neg, &#tree)),
                        }
                    }
                    UnOp::Not(not) => Both {
                        rust: quote!((#not #rust)),
                        tree: quote!(#device::Expr::Unary(#device::UnaryOp::Not, &#tree)),
                    },
                    _ => self.refuse(&unary.op, "there are no references: remove the `*`"),
                }
            }
            Expr::Binary(binary) => match assigned(&binary.op) {
                Some(_) => self.refuse(binary, "an assignment is a statement of its own"),
                None => self.binary(binary),
            },
            Expr::Cast(cast) => {
                let scalar = match Scalar::of(&cast.ty) {
                    Ok(scalar) => scalar,
                    Err(error) => {
                        self.problems.push(error);
                        return self.nothing();
                    }
                };
                let Both { rust, tree } = self.expr(&cast.expr);
                let (keyword, variant) = (&cast.as_token, scalar.variant());
                let ty = scalar.tokens(cast.ty.span());
                Both {
                    rust: quote!((#rust #keyword #ty)),
                    tree: quote!(#device::Expr::Cast(&#tree, #device::Scalar::#variant)),
                }
            }
            Expr::If(branch) => self.branch(branch, false),
            Expr::Block(block) => {
                if let Some(label) = &block.label {
                    return self.refuse(label, "blocks have no labels: use `if`");
                }
                let Both { rust, tree } = self.braces(&block.block);
                Both {
                    rust,
                    tree: quote!(#device::Expr::Block(#tree)),
                }
            }
            Expr::Call(call) => self.call(call),
            Expr::MethodCall(call) => match self.grid_method(call) {
                Some(both) => both,
                None => self.method(call),
            },
            Expr::Index(index) if self.grid.is_some() => self.element(index),
            other => {
                let (place, message) = outside(other);
                match place {
                    Some(place) => self.problems.at_span(place, message),
                    None => self.problems.at(other, message),
                }
                self.nothing()
            }
        }
    }

    fn literal(&mut self, literal: &ExprLit) -> Both {
        let device = &self.device;
        let typed = |suffix: &str| match Scalar::named(suffix) {
            Some(scalar) => {
                let variant = scalar.variant();
                Some(quote!(#device::Some(#device::Scalar::#variant)))
            }
            None if suffix.is_empty() => Some(quote!(#device::None)),
            None => None,
        };
        let unknown = |suffix: &str| {
            format!(
                "device functions do not compute with `{suffix}`: use `i32`, `u32`, `i64`, `u64`, \
                 `f32` or `f64`"
            )
        };
        let tree = match &literal.lit {
            Lit::Bool(truth) => {
                let truth = truth.value;
                quote!(#device::Expr::Bool(#truth))
            }
            Lit::Int(number) if matches!(number.suffix(), "f32" | "f64") => {
                let (digits, ty) = (number.base10_digits(), typed(number.suffix()));
                quote!(#device::Expr::Float(#digits, #ty))
            }
            Lit::Int(number) => {
                let Some(ty) = typed(number.suffix()) else {
                    return self.refuse(literal, &unknown(number.suffix()));
                };
                let Ok(digits) = number.base10_parse::<u64>() else {
                    return self.refuse(literal, "the number does not fit into 64 bits");
                };
                quote!(#device::Expr::Int(#digits, #ty))
            }
            Lit::Float(number) => {
                let Some(ty) = typed(number.suffix()) else {
                    return self.refuse(literal, &unknown(number.suffix()));
                };
                let digits = number.base10_digits();
                quote!(#device::Expr::Float(#digits, #ty))
            }
            _ => {
                return self.refuse(
                    literal,
                    "device functions compute with numbers and Booleans",
                );
            }
        };
        Both {
            rust: literal.to_token_stream(),
            tree,
        }
    }

    fn binary(&mut self, binary: &ExprBinary) -> Both {
        let device = self.device.clone();
        let (left, right) = (self.expr(&binary.left), self.expr(&binary.right));
        let (a, b) = (left.rust, right.rust);
        let (x, y) = (left.tree, right.tree);
        let op = assigned(&binary.op).unwrap_or(binary.op);
        let Some((variant, function)) = operator(&op) else {
            return self.refuse(&binary.op, "device functions have no such operator");
        };
        let rust = match function {
            Some(function) => library_call(&device, function, binary.op.span(), &[a, b]),
            None => quote!((#a #op #b)),
        };
        let variant = Ident::new(variant, Span::call_site());
        Both {
            rust,
            tree: quote!(#device::Expr::Binary(#device::BinaryOp::#variant, &#x, &#y)),
        }
    }

    /// Translates an `if`. All threads of a grid take a collective one together.
    fn branch(&mut self, branch: &ExprIf, is_collective: bool) -> Both {
        let device = self.device.clone();
        if let Expr::Let(pattern) = &*branch.cond {
            return self.refuse(
                pattern,
                "there are only numbers to match: write a comparison",
            );
        }
        let condition = self.expr(&branch.cond);
        let then = self.branch_body(&branch.then_branch, is_collective);
        let (keyword, c, t) = (&branch.if_token, condition.rust, then.rust);
        let (condition, then) = (condition.tree, then.tree);
        let Some((else_token, otherwise)) = &branch.else_branch else {
            return Both {
                rust: quote!(#keyword #c #t),
                tree: quote!(#device::Expr::If(&#condition, #then, #device::None)),
            };
        };
        let (e, otherwise) = match &**otherwise {
            Expr::Block(block) => {
                let Both { rust, tree } = self.branch_body(&block.block, is_collective);
                (rust, tree)
            }
            // `else if`
            other => {
                let Both { rust, tree } = match other {
                    Expr::If(branch) => self.branch(branch, is_collective),
                    other => self.expr(other),
                };
                (
                    rust,
                    quote!(#device::CodeBlock { statements: &[], value: #device::Some(&#tree) }),
                )
            }
        };
        Both {
            rust: quote!(#keyword #c #t #else_token #e),
            tree: quote!(#device::Expr::If(&#condition, #then, #device::Some(#otherwise))),
        }
    }

    fn call(&mut self, call: &ExprCall) -> Both {
        let device = self.device.clone();
        let Expr::Path(callee) = ungrouped(&call.func) else {
            return self.refuse(&call.func, "call a device function by its name");
        };
        let path = &callee.path;
        let segments: Vec<&Ident> = path.segments.iter().map(|segment| &segment.ident).collect();
        if let [ty, name] = segments.as_slice()
            && let Some(scalar) = Scalar::named(&ty.to_string())
        {
            return self.associated(scalar, name, call);
        }
        if path.is_ident(&self.function) {
            return self.refuse(
                path,
                "a device function cannot call itself: write a `for` loop",
            );
        }
        if path
            .segments
            .iter()
            .any(|segment| !segment.arguments.is_none())
        {
            return self.refuse(
                path,
                "device functions are not generic: remove the arguments",
            );
        }
        let (rust, trees) = self.arguments(call.args.iter());
        Both {
            rust: quote!(#path(#(#rust),*)),
            tree: quote! {
                #device::Expr::Call(<#path as #device::DeviceFunction>::FUNCTION, &[#(#trees),*])
            },
        }
    }

    /// Translates `f32::max(a, b)`.
    fn associated(&mut self, scalar: Scalar, name: &Ident, call: &ExprCall) -> Both {
        let device = self.device.clone();
        let text = name.to_string();
        let from_bits = match scalar {
            Scalar::F32 => Some("f32_from_bits"),
            Scalar::F64 => Some("f64_from_bits"),
            _ => None,
        };
        if let (Some(function), "from_bits") = (from_bits, text.as_str()) {
            let (rust, trees) = self.arguments(call.args.iter());
            let variant = scalar.variant();
            return Both {
                rust: library_call(&device, function, name.span(), &rust),
                tree: quote! {
                    #device::Expr::Typed(
                        &#device::Expr::Method(#device::NumberMethod::FromBits, &[#(#trees),*]),
                        #device::Scalar::#variant,
                    )
                },
            };
        }
        if text == "from" {
            return self.refuse(&call.func, "convert with `as`: write `x as f64`");
        }
        let mut arguments = call.args.iter();
        let Some(receiver) = arguments.next() else {
            return self.refuse(call, &methods::unknown(&text));
        };
        let receiver = self.expr(receiver);
        // The type of the receiver is known to be the one that is written.
        let ty = scalar.tokens(name.span());
        let receiver = Both {
            rust: {
                let rust = receiver.rust;
                quote_spanned!(name.span()=> #device::is::<#ty>(#rust))
            },
            tree: {
                let (tree, variant) = (receiver.tree, scalar.variant());
                quote!(#device::Expr::Typed(&#tree, #device::Scalar::#variant))
            },
        };
        let arguments: Vec<&Expr> = arguments.collect();
        self.method_of(name, receiver, &arguments)
    }

    fn method(&mut self, call: &ExprMethodCall) -> Both {
        if let Some(turbofish) = &call.turbofish {
            return self.refuse(turbofish, "methods of numbers are not generic: remove it");
        }
        if methods::find(&call.method.to_string()).is_none() {
            let message = methods::unknown(&call.method.to_string());
            return self.refuse(&call.method, &message);
        }
        let receiver = self.expr(&call.receiver);
        let arguments: Vec<&Expr> = call.args.iter().collect();
        self.method_of(&call.method, receiver, &arguments)
    }

    fn method_of(&mut self, name: &Ident, receiver: Both, arguments: &[&Expr]) -> Both {
        let device = self.device.clone();
        let Some(method) = methods::find(&name.to_string()) else {
            return self.refuse(name, &methods::unknown(&name.to_string()));
        };
        if arguments.len() != method.num_arguments {
            let (expected, found) = (method.num_arguments, arguments.len());
            let message = format!("expected {expected} arguments of `{name}`, found {found}");
            return self.refuse(name, &message);
        }
        let (rust, trees) = self.arguments(arguments.iter().copied());
        let rust: Vec<TokenStream> = std::iter::once(receiver.rust).chain(rust).collect();
        let first = receiver.tree;
        let tree = match method.variant {
            Variant::Method(variant) => {
                let variant = Ident::new(variant, Span::call_site());
                quote!(#device::Expr::Method(#device::NumberMethod::#variant, &[#first, #(#trees),*]))
            }
            Variant::Binary(variant) => {
                let variant = Ident::new(variant, Span::call_site());
                let second = &trees[0];
                quote!(#device::Expr::Binary(#device::BinaryOp::#variant, &#first, &#second))
            }
            Variant::Unary(variant) => {
                let variant = Ident::new(variant, Span::call_site());
                quote!(#device::Expr::Unary(#device::UnaryOp::#variant, &#first))
            }
        };
        Both {
            rust: library_call(&device, method.function, name.span(), &rust),
            tree,
        }
    }

    fn arguments<'e>(
        &mut self,
        arguments: impl Iterator<Item = &'e Expr>,
    ) -> (Vec<TokenStream>, Vec<TokenStream>) {
        let translated = arguments.map(|argument| {
            let Both { rust, tree } = self.expr(argument);
            (rust, tree)
        });
        translated.unzip()
    }

    fn refuse(&mut self, place: &impl ToTokens, message: &str) -> Both {
        self.problems.at(place, message);
        self.nothing()
    }

    /// Returns what stands for an expression that was refused.
    fn nothing(&self) -> Both {
        let device = &self.device;
        Both {
            rust: TokenStream::new(),
            tree: quote!(#device::Expr::Bool(false)),
        }
    }
}

/// Returns the operator of an assignment such as `+=`.
fn assigned(op: &BinOp) -> Option<BinOp> {
    use syn::Token;
    let span = op.span();
    Some(match op {
        BinOp::AddAssign(_) => BinOp::Add(Token![+](span)),
        BinOp::SubAssign(_) => BinOp::Sub(Token![-](span)),
        BinOp::MulAssign(_) => BinOp::Mul(Token![*](span)),
        BinOp::DivAssign(_) => BinOp::Div(Token![/](span)),
        BinOp::RemAssign(_) => BinOp::Rem(Token![%](span)),
        BinOp::BitAndAssign(_) => BinOp::BitAnd(Token![&](span)),
        BinOp::BitOrAssign(_) => BinOp::BitOr(Token![|](span)),
        BinOp::BitXorAssign(_) => BinOp::BitXor(Token![^](span)),
        BinOp::ShlAssign(_) => BinOp::Shl(Token![<<](span)),
        BinOp::ShrAssign(_) => BinOp::Shr(Token![>>](span)),
        _ => return None,
    })
}

/// Returns the variant of `BinaryOp`, and the function of the device library, if there is one.
fn operator(op: &BinOp) -> Option<(&'static str, Option<&'static str>)> {
    Some(match op {
        BinOp::Add(_) => ("Add", Some("add")),
        BinOp::Sub(_) => ("Sub", Some("sub")),
        BinOp::Mul(_) => ("Mul", Some("mul")),
        BinOp::Div(_) => ("Div", Some("div")),
        BinOp::Rem(_) => ("Rem", Some("rem")),
        BinOp::Shl(_) => ("ShiftLeft", Some("shl")),
        BinOp::Shr(_) => ("ShiftRight", Some("shr")),
        BinOp::BitAnd(_) => ("BitAnd", None),
        BinOp::BitOr(_) => ("BitOr", None),
        BinOp::BitXor(_) => ("BitXor", None),
        BinOp::And(_) => ("And", None),
        BinOp::Or(_) => ("Or", None),
        BinOp::Eq(_) => ("Eq", None),
        BinOp::Ne(_) => ("Ne", None),
        BinOp::Lt(_) => ("Lt", None),
        BinOp::Le(_) => ("Le", None),
        BinOp::Gt(_) => ("Gt", None),
        BinOp::Ge(_) => ("Ge", None),
        _ => return None,
    })
}

/// Returns `true` for what is a statement even at the end of a block.
fn is_control(expr: &Expr) -> bool {
    match expr {
        Expr::Assign(_)
        | Expr::ForLoop(_)
        | Expr::Return(_)
        | Expr::Break(_)
        | Expr::Continue(_) => true,
        Expr::Binary(binary) => assigned(&binary.op).is_some(),
        _ => false,
    }
}

fn ungrouped(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => ungrouped(&group.expr),
        Expr::Paren(paren) => ungrouped(&paren.expr),
        other => other,
    }
}

const MACRO: &str = "device functions cannot call macros: to stop early, write an `if`";

/// Returns what to write instead of an expression that is outside of the subset, and its token, if
/// that is not the whole expression.
fn outside(expr: &Expr) -> (Option<Span>, &'static str) {
    const UNBOUNDED: &str = "a loop needs a bound: write `for _ in 0..limit { … }`, and `break` \
                             when it is done";
    match expr {
        Expr::While(each) => (Some(each.while_token.span), UNBOUNDED),
        Expr::Loop(each) => (Some(each.loop_token.span), UNBOUNDED),
        Expr::Match(choice) => (
            Some(choice.match_token.span),
            "write `if x == 0 { … } else if x == 1 { … } else { … }` instead of `match`",
        ),
        Expr::Macro(call) => (Some(call.mac.path.span()), MACRO),
        Expr::Index(_) => (
            None,
            "the function sees one element of each tensor: take the number as a parameter",
        ),
        Expr::Array(_) | Expr::Repeat(_) => (
            None,
            "device functions have no arrays: use a variable for each number",
        ),
        Expr::Tuple(_) => (
            None,
            "device functions have no tuples: use a variable for each number",
        ),
        Expr::Closure(_) => (None, "write a device function instead of the closure"),
        Expr::Reference(reference) => (
            Some(reference.and_token.span),
            "there are no references: pass the number itself",
        ),
        Expr::Struct(_) | Expr::Field(_) => (
            None,
            "device functions have no structs: use a variable for each number",
        ),
        Expr::Assign(assign) => (
            Some(assign.eq_token.span),
            "an assignment is a statement of its own",
        ),
        Expr::Return(returned) => (
            Some(returned.return_token.span),
            "`return` is a statement of its own",
        ),
        Expr::Break(_) | Expr::Continue(_) => {
            (None, "`break` and `continue` are statements of their own")
        }
        Expr::ForLoop(each) => (Some(each.for_token.span), "a loop has no value"),
        Expr::Unsafe(block) => (
            Some(block.unsafe_token.span),
            "device functions are safe: remove `unsafe`",
        ),
        Expr::Await(_) | Expr::Async(_) => (None, "a device function computes at once"),
        Expr::Try(_) => (
            None,
            "device functions have no errors: return a number that marks the case, such as \
             `f32::NAN`",
        ),
        Expr::Range(_) => (None, "a range is only for loops: write `for i in 0..n`"),
        _ => (
            None,
            "device functions consist of arithmetic, comparisons, `if`, `let`, assignments, `for` \
             loops over ranges, math functions, `as`, and calls of device functions",
        ),
    }
}
