//! Collective statements: those that all threads of a block run together, and the loops over the
//! threads between barriers.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Block, Expr, Ident, Pat, Stmt};

use super::super::{Both, Translator, assigned, ungrouped};
use super::{Kept, barrier_in};

impl Translator<'_> {
    /// Translates the body of a loop.
    pub(in crate::device::body) fn loop_body(
        &mut self,
        body: &Block,
        number: u32,
        is_collective: bool,
    ) -> Both {
        if let Some(scope) = &mut self.grid {
            scope.loops.push(is_collective);
            if is_collective {
                scope.uniform.insert(number);
            }
        }
        let both = self.branch_body(body, is_collective);
        if let Some(scope) = &mut self.grid {
            scope.loops.pop();
        }
        both
    }

    /// Translates the body of an `if`.
    pub(in crate::device::body) fn branch_body(
        &mut self,
        body: &Block,
        is_collective: bool,
    ) -> Both {
        if !is_collective {
            return self.braces(body);
        }
        let Both { rust, tree } = self.collective(&body.stmts);
        Both {
            rust: quote_spanned!(body.brace_token.span.join()=> { #rust }),
            tree,
        }
    }

    /// Translates statements with barriers between them.
    pub(super) fn collective(&mut self, statements: &[Stmt]) -> Both {
        let device = self.device.clone();
        let outer_names = self.names.len();
        let outer_kept = self.grid.as_ref().map_or(0, |scope| scope.kept.len());
        let (mut rust, mut trees) = (TokenStream::new(), Vec::new());
        for statement in statements {
            let both = self.collective_statement(statement, &mut rust);
            trees.push(both.tree);
        }
        self.finish_part(&mut rust);
        self.names.truncate(outer_names);
        if let Some(scope) = &mut self.grid {
            scope.kept.truncate(outer_kept);
        }
        Both {
            rust,
            tree: quote! {
                #device::CodeBlock { statements: &[#(#trees),*], value: #device::None }
            },
        }
    }

    fn collective_statement(&mut self, statement: &Stmt, rust: &mut TokenStream) -> Both {
        let device = self.device.clone();
        let has_barrier = self.has_barrier(statement);
        match statement {
            Stmt::Expr(Expr::MethodCall(call), _)
                if self.is_grid(&call.receiver) && call.method == "barrier" =>
            {
                if !call.args.is_empty() {
                    return self.refuse(&call.args, "a barrier takes no arguments");
                }
                self.finish_part(rust);
                return Both {
                    rust: TokenStream::new(),
                    tree: quote!(#device::Statement::Barrier),
                };
            }
            Stmt::Expr(Expr::ForLoop(each), _) if has_barrier && self.has_uniform_bounds(each) => {
                self.finish_part(rust);
                let both = self.for_loop(each, true);
                rust.extend(both.rust);
                return Both {
                    rust: TokenStream::new(),
                    tree: both.tree,
                };
            }
            Stmt::Expr(Expr::If(branch), _)
                if has_barrier && self.has_uniform_conditions(branch) =>
            {
                self.finish_part(rust);
                let Both { rust: inner, tree } = self.branch(branch, true);
                rust.extend(inner);
                return Both {
                    rust: TokenStream::new(),
                    tree: quote!(#device::Statement::Expr(&#tree)),
                };
            }
            Stmt::Local(local) if self.splits() => {
                let value = local.init.as_ref().map(|init| &*init.expr);
                let is_uniform = value.is_some_and(|value| self.is_uniform(value));
                let pattern = match &local.pat {
                    Pat::Type(typed) => &*typed.pat,
                    pattern => pattern,
                };
                let Pat::Ident(pattern) = pattern else {
                    return self.variable(local);
                };
                let is_mutable = pattern.mutability.is_some();
                if is_uniform && !is_mutable {
                    self.finish_part(rust);
                    let both = self.variable(local);
                    rust.extend(both.rust);
                    let number = self.local(&pattern.ident);
                    if let Some(scope) = &mut self.grid {
                        scope.uniform.extend(number);
                    }
                    return Both {
                        rust: TokenStream::new(),
                        tree: both.tree,
                    };
                }
                return self.kept_variable(local, &pattern.ident, is_mutable);
            }
            _ => {}
        }
        let both = self.statement(statement);
        if let Some(scope) = &mut self.grid {
            let inner = &both.rust;
            // A statement that ends a block may have no semicolon.
            scope.part.rust.extend(quote!(#inner;));
        }
        Both {
            rust: TokenStream::new(),
            tree: both.tree,
        }
    }

    /// Declares a variable of each thread.
    fn kept_variable(&mut self, local: &syn::Local, ident: &Ident, is_mutable: bool) -> Both {
        let is_taken = self.grid.as_ref().is_some_and(|scope| {
            let mut kept = scope.kept.iter();
            kept.any(|kept| kept.ident == *ident)
        });
        if is_taken {
            let message = format!(
                "`{ident}` is declared twice: the variables of a kernel with barriers have names \
                 of their own"
            );
            return self.refuse(ident, &message);
        }
        let both = self.variable(local);
        let number = self.local(ident);
        if let (Some(scope), Some(number)) = (&mut self.grid, number) {
            scope.part.rust.extend(both.rust);
            scope.part.declared.push(number);
            scope.kept.push(Kept {
                ident: ident.clone(),
                number,
                is_mutable,
                part: scope.num_parts,
            });
        }
        Both {
            rust: TokenStream::new(),
            tree: both.tree,
        }
    }

    /// Ends the loop over the threads.
    fn finish_part(&mut self, rust: &mut TokenStream) {
        let device = self.device.clone();
        let Some(scope) = &mut self.grid else {
            return;
        };
        let part = std::mem::take(&mut scope.part);
        scope.num_parts += 1;
        if part.rust.is_empty() {
            return;
        }
        let (mut declared, mut loads, mut stores) = (Vec::new(), Vec::new(), Vec::new());
        for kept in &scope.kept {
            let number = kept.number;
            if !scope.crossing.contains(&number) {
                continue;
            }
            let (ident, place) = (&kept.ident, format_ident!("__kept{number}"));
            let is_declared = part.declared.contains(&number);
            if is_declared {
                declared.push(quote! {
                    let mut #place = [#device::Default::default(); __THREADS];
                });
            } else if part.used.contains(&number) {
                let mutability = kept.is_mutable.then(|| quote!(mut));
                loads.push(quote!(let #mutability #ident = #place[__lane];));
            }
            if is_declared || (kept.is_mutable && part.used.contains(&number)) {
                stores.push(quote!(#place[__lane] = #ident;));
            }
        }
        let lane = (!loads.is_empty() || !stores.is_empty())
            .then(|| quote!(let __lane = #device::Grid::lane(&__grid);));
        let label = scope.has_end.then(|| quote!('__threads:));
        let body = part.rust;
        rust.extend(quote! {
            #(#declared)*
            #label for __grid in #device::threads(&__grid) {
                #lane
                #(#loads)*
                #body
                #(#stores)*
            }
        });
    }

    /// Returns `true` if the body has barriers.
    fn splits(&self) -> bool {
        self.grid.as_ref().is_some_and(|scope| scope.has_barrier)
    }

    fn has_barrier(&self, tokens: &impl ToTokens) -> bool {
        let is_in_grid = self.grid.as_ref().is_some_and(|scope| scope.grid.is_some());
        is_in_grid && barrier_in(tokens.to_token_stream()).is_some()
    }

    fn has_uniform_bounds(&self, each: &syn::ExprForLoop) -> bool {
        let Expr::Range(range) = ungrouped(&each.expr) else {
            return false;
        };
        let mut bounds = range.start.iter().chain(&range.end);
        bounds.all(|bound| self.is_uniform(bound))
    }

    fn has_uniform_conditions(&self, branch: &syn::ExprIf) -> bool {
        let rest = match &branch.else_branch {
            Some((_, other)) => match &**other {
                Expr::If(next) => self.has_uniform_conditions(next),
                _ => true,
            },
            None => true,
        };
        rest && self.is_uniform(&branch.cond)
    }

    /// Returns `true` if all threads of a block compute the same number.
    fn is_uniform(&self, expr: &Expr) -> bool {
        match ungrouped(expr) {
            Expr::Lit(_) => true,
            Expr::Path(path) => match path.path.get_ident().and_then(|name| self.local(name)) {
                Some(number) => {
                    let scope = self.grid.as_ref();
                    scope.is_some_and(|scope| scope.uniform.contains(&number))
                }
                None => true,
            },
            Expr::Unary(unary) => self.is_uniform(&unary.expr),
            Expr::Binary(binary) => {
                assigned(&binary.op).is_none()
                    && self.is_uniform(&binary.left)
                    && self.is_uniform(&binary.right)
            }
            Expr::Cast(cast) => self.is_uniform(&cast.expr),
            Expr::Call(call) => call.args.iter().all(|argument| self.is_uniform(argument)),
            Expr::MethodCall(call) if self.is_grid(&call.receiver) => {
                let name = call.method.to_string();
                ["block", "blocks", "threads"].contains(&name.as_str())
            }
            Expr::MethodCall(call) if self.array_of(&call.receiver).is_some() => {
                call.method == "extent"
            }
            Expr::MethodCall(call) => {
                self.is_uniform(&call.receiver)
                    && call.args.iter().all(|argument| self.is_uniform(argument))
            }
            _ => false,
        }
    }
}
