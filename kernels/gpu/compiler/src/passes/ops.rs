//! `--gpu-tfrt-streamify`: ops of `gpu` and `memref` become kernels.
//!
//! Modules of device code and globals become functions that create them, see `modules`. An
//! asynchronous op whose token is a chain and a stream becomes a kernel on this stream; its own
//! token is the new chain and the same stream. Waits join streams, see `waits`. A value in memory
//! that is read inside `tfrt_gpu.streamify` is copied to the host.
//!
//! Cost: linear in the number of ops.

use std::collections::HashMap;

use tfrt_compiler::passes::{Pass, PassScope};
use tfrt_ir::{Attribute, BlockId, Module, OpId, Type, TypeId, ValueId};

use super::edit::{self, BUFFER, Builder, CHAIN, CONTEXT, EVENT, STREAM, TOKEN};
use super::{modules, waits};
use crate::dialects::{HOST_SHARED, Launch, NAME};

/// The pass.
pub const PASS: Pass = Pass {
    name: "gpu-tfrt-streamify",
    summary: "Replace ops of `gpu` and `memref` with GPU kernels",
    scope: PassScope::Module,
    run: |module, root, _| {
        let mut findings = modules::lower(module, root);
        if !findings.is_empty() {
            return findings;
        }
        let mut reasons = HashMap::new();
        for func in module.functions(root).collect::<Vec<_>>() {
            load_on_the_host(module, func);
            if let Some(entry) = module.entry_block(func) {
                let mut lowering = Lowering::new(module, func, entry);
                lowering.region(func);
                reasons.extend(lowering.reasons);
            }
        }
        edit::erase_unused_casts(module, root);
        findings.extend(super::illegal(
            module,
            root,
            |name| {
                name.starts_with("gpu.")
                    || edit::STREAMIFY.contains(&name)
                    || ["memref.global", "memref.get_global"].contains(&name)
            },
            |op| reasons.get(&op).copied(),
        ));
        findings
    },
    ..super::NO_PASS
};

/// The source of a token's cast.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    pub(super) chain: ValueId,
    pub(super) place: Place,
}

/// The location of a token's work.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// On a stream.
    Stream(ValueId),
    /// Before an event.
    Event(ValueId),
}

impl Parts {
    /// Returns the parts of a token, if it was cast from such.
    pub(super) fn of(module: &Module, token: ValueId) -> Option<Self> {
        let &[chain, place] = &edit::cast_source(module, &[token])?[..] else {
            return None;
        };
        if !edit::is_a(module, chain, CHAIN) {
            return None;
        }
        let place = match module.type_spelling(module.value_type(place)) {
            STREAM => Place::Stream(place),
            EVENT => Place::Event(place),
            _ => return None,
        };
        Some(Self { chain, place })
    }
}

/// The state of lowering one function.
pub(super) struct Lowering<'m> {
    pub(super) module: &'m mut Module,
    entry: BlockId,
    /// The context of the function, once it is known.
    context: Option<ValueId>,
    /// The reasons why ops remain.
    pub(super) reasons: HashMap<OpId, &'static str>,
}

impl<'m> Lowering<'m> {
    fn new(module: &'m mut Module, func: OpId, entry: BlockId) -> Self {
        let context = first_context(module, func, entry);
        Self {
            module,
            entry,
            context,
            reasons: HashMap::new(),
        }
    }

    /// Lowers everything in the regions of an op.
    fn region(&mut self, op: OpId) {
        for region in self.module.regions(op).to_vec() {
            for block in self.module.blocks(region).to_vec() {
                let ops = self.module.take_block_ops(block);
                let end = ops.last().copied();
                for op in ops {
                    self.op(block, op, end);
                }
            }
        }
    }

    /// Returns a builder at the end of `block`, for what replaces `op`.
    pub(super) fn builder(&mut self, block: BlockId, op: OpId) -> Builder<'_> {
        Builder {
            location: self.module.op_location(op),
            module: self.module,
            block,
        }
    }

    /// Returns the context of the function: that of its stream, which is its second argument.
    pub(super) fn context(&mut self, op: OpId) -> Option<ValueId> {
        if self.context.is_none() {
            let &[_, stream, ..] = self.module.block_arguments(self.entry) else {
                return None;
            };
            if !edit::is_a(self.module, stream, STREAM) {
                return None;
            }
            let mut state =
                tfrt_ir::OpState::new("tfrt_gpu.stream.get_context", self.module.op_location(op));
            state.operands.push(stream);
            state.result_types.push(edit::type_of(self.module, CONTEXT));
            let get = self.module.create_op(state);
            self.module.insert_op(self.entry, 0, get);
            self.context = Some(self.module.results(get)[0]);
        }
        self.context
    }

    /// Appends `op`, which is not in a block, or its replacement. `end` is the terminator of the
    /// block.
    fn op(&mut self, block: BlockId, op: OpId, end: Option<OpId>) {
        let is_lowered = match self.module.op_name(op) {
            "gpu.wait" => waits::lower(self, block, op, end),
            "memref.get_global" => self.get_global(block, op),
            name if name.starts_with("gpu.") => self.on_stream(block, op).is_some(),
            _ if edit::is_streamify(self.module, op) => self.streamify(block, op, end).is_some(),
            _ => false,
        };
        if is_lowered {
            self.module.erase_op(op);
            return;
        }
        self.module.append_op(block, op);
        self.region(op);
    }

    /// `memref.get_global`
    fn get_global(&mut self, block: BlockId, op: OpId) -> bool {
        let name = self.module.attr(op, NAME);
        let name = name.and_then(|name| self.module.attribute_flat_symbol(name));
        let (Some(name), &[result]) = (name.map(str::to_owned), self.module.results(op)) else {
            return false;
        };
        let Some(context) = self.context(op) else {
            return false;
        };
        let ty = self.module.value_type(result);
        let mut builder = self.builder(block, op);
        let buffer = builder.once(&name, context, BUFFER);
        let memory = builder.cast(&[buffer], &[ty])[0];
        self.module.replace_all_uses(result, memory);
        true
    }

    /// Returns the chain and the stream from which an asynchronous op continues after `tokens`.
    /// Streams other than that of the first token must be joined by `gpu.wait`.
    fn start(
        &mut self,
        block: BlockId,
        op: OpId,
        tokens: &[ValueId],
    ) -> Option<(ValueId, ValueId)> {
        let parts: Option<Vec<Parts>> = tokens
            .iter()
            .map(|&token| Parts::of(self.module, token))
            .collect();
        let parts = parts?;
        let Place::Stream(stream) = parts.first()?.place else {
            return None;
        };
        let is_other =
            |parts: &Parts| matches!(parts.place, Place::Stream(other) if other != stream);
        if parts.iter().any(is_other) {
            self.reasons.insert(op, waits::MORE_THAN_ONE_STREAM);
            return None;
        }
        let mut builder = self.builder(block, op);
        Some((waits::join(&mut builder, &parts, stream), stream))
    }

    /// Lowers an op on a stream. Returns `None` if it is not one that can be lowered; nothing has
    /// changed then.
    fn on_stream(&mut self, block: BlockId, op: OpId) -> Option<()> {
        let operands = self.module.operands(op).to_vec();
        let is_token = |value: &&ValueId| edit::is_a(self.module, **value, TOKEN);
        let num_tokens = operands.iter().take_while(is_token).count();
        let (tokens, values) = operands.split_at(num_tokens);
        let results = self.module.results(op).to_vec();
        let (&token, others) = results.split_last()?;
        if !edit::is_a(self.module, token, TOKEN) {
            return None;
        }
        match (self.module.op_name(op), values, others) {
            ("gpu.memset", &[memory, value], []) => {
                let ty = self.module.value_type(value);
                if bits(self.module, ty) != Some(32) {
                    return None;
                }
                let (chain, stream) = self.start(block, op, tokens)?;
                let mut builder = self.builder(block, op);
                let buffer = builder.buffer(memory);
                let operands = [buffer, value, stream, chain];
                let chain = builder.value("tfrt_gpu.mem.set", &operands, &[], CHAIN);
                self.finish(block, op, token, chain, stream);
            }
            ("gpu.memcpy", &[to, from], []) => {
                let (chain, stream) = self.start(block, op, tokens)?;
                let is_empty = num_elements(self.module, self.module.value_type(to)) == Some(0);
                let mut builder = self.builder(block, op);
                let mut done = chain;
                if !is_empty {
                    let (to, from) = (builder.buffer(to), builder.buffer(from));
                    let operands = [to, from, stream, chain];
                    done = builder.value("tfrt_gpu.mem.copy", &operands, &[], CHAIN);
                }
                self.finish(block, op, token, done, stream);
            }
            ("gpu.dealloc", &[memory], []) => {
                let (chain, stream) = self.start(block, op, tokens)?;
                let mut builder = self.builder(block, op);
                let buffer = builder.buffer(memory);
                let operands = [buffer, stream, chain];
                let chain = builder.value("tfrt_gpu.mem.deallocate", &operands, &[], CHAIN);
                self.finish(block, op, token, chain, stream);
            }
            // Memory that the host shares is of another kind.
            ("gpu.alloc", ..) if self.module.has_attr(op, HOST_SHARED) => return None,
            ("gpu.alloc", [], &[memory]) => {
                let ty = self.module.value_type(memory);
                let size = num_bytes(self.module, ty)?;
                let (chain, stream) = self.start(block, op, tokens)?;
                let mut builder = self.builder(block, op);
                let context = builder.value("tfrt_gpu.stream.get_context", &[stream], &[], CONTEXT);
                let allocator = builder.value(
                    "tfrt_gpu.allocator.create",
                    &[context],
                    &[],
                    "!tfrt_gpu.allocator",
                );
                let size = builder.constant("i64", size);
                let operands = [allocator, stream, size, chain];
                let buffer = builder.value("tfrt_gpu.mem.allocate", &operands, &[], BUFFER);
                let cast = builder.cast(&[buffer], &[ty])[0];
                self.module.replace_all_uses(memory, cast);
                self.finish(block, op, token, chain, stream);
            }
            ("gpu.launch_func", ..) => return self.launch(block, op, token),
            _ => return None,
        }
        Some(())
    }

    /// Makes the token of an op: `chain` and `stream`.
    fn finish(
        &mut self,
        block: BlockId,
        op: OpId,
        token: ValueId,
        chain: ValueId,
        stream: ValueId,
    ) {
        let new = self.builder(block, op).token(chain, stream);
        self.module.replace_all_uses(token, new);
    }

    fn launch(&mut self, block: BlockId, op: OpId, token: ValueId) -> Option<()> {
        let launch = Launch::of(self.module, op)?;
        let (tokens, sizes) = (launch.tokens.to_vec(), launch.sizes.to_vec());
        let (shared, arguments) = (launch.shared, launch.arguments.to_vec());
        let [of, name] = launch.kernel.map(str::to_owned);
        let context = self.context(op)?;
        let (chain, stream) = self.start(block, op, &tokens)?;
        let mut builder = self.builder(block, op);
        let loaded = builder.once(&of, context, edit::MODULE);
        let name = builder.module.string_attr(name);
        let function = builder.value(
            "tfrt_gpu.module.get_function",
            &[loaded],
            &[("name", name)],
            "!tfrt_gpu.function",
        );
        let mut operands = vec![stream, function];
        let size = edit::type_of(builder.module, "ui64");
        for value in sizes {
            operands.extend(builder.cast(&[value], &[size]));
        }
        match shared {
            None => operands.push(builder.constant("ui32", 0)),
            Some(value) => {
                let ty = edit::type_of(builder.module, "ui32");
                operands.extend(builder.cast(&[value], &[ty]));
            }
        }
        operands.push(chain);
        for argument in arguments {
            let ty = builder.module.value_type(argument);
            let is_memory = matches!(builder.module.ty(ty), Type::MemRef { .. });
            operands.push(if is_memory {
                builder.buffer(argument)
            } else {
                argument
            });
        }
        let chain = builder.value("tfrt_gpu.function.launch", &operands, &[], CHAIN);
        self.finish(block, op, token, chain, stream);
        Some(())
    }

    /// Puts the ops of a region on a stream in the place of the region.
    fn streamify(&mut self, block: BlockId, op: OpId, end: Option<OpId>) -> Option<()> {
        let tokens = self.module.operands(op).to_vec();
        let results = self.module.results(op).to_vec();
        let (&token, values) = results.split_last()?;
        let &[region] = self.module.regions(op) else {
            return None;
        };
        let &[body] = self.module.blocks(region) else {
            return None;
        };
        if !edit::is_a(self.module, token, TOKEN) || self.module.block_arguments(body).len() != 2 {
            return None;
        }
        let returned = self.module.last_op(body)?;
        if self.module.operands(returned).len() != values.len() + 1 {
            return None;
        }
        let (chain, stream) = self.start(block, op, &tokens)?;
        let &[chain_argument, stream_argument] = self.module.block_arguments(body) else {
            return None;
        };
        self.module.replace_all_uses(chain_argument, chain);
        self.module.replace_all_uses(stream_argument, stream);
        for inner in self.module.take_block_ops(body) {
            if inner != returned {
                self.op(block, inner, end);
            }
        }
        let operands = self.module.operands(returned).to_vec();
        let (&chain, returned_values) = operands.split_first()?;
        for (&value, &new) in values.iter().zip(returned_values) {
            self.module.replace_all_uses(value, new);
        }
        self.module.erase_op(returned);
        self.finish(block, op, token, chain, stream);
        Some(())
    }
}

/// Returns the context that a function gets from its stream. Its op moves to the start, so that the
/// whole function can use it.
fn first_context(module: &mut Module, func: OpId, entry: BlockId) -> Option<ValueId> {
    let ops = module.walk(func).into_iter();
    let mut gets = ops.filter(|&op| {
        let stream = module.operands(op).first();
        module.op_name(op) == "tfrt_gpu.stream.get_context"
            && stream.is_some_and(|stream| module.block_arguments(entry).contains(stream))
    });
    let get = gets.next()?;
    module.detach_op(get);
    module.insert_op(entry, 0, get);
    Some(module.results(get)[0])
}

/// Replaces `memref.load` in regions on a stream: the value is copied to memory that the host can
/// read. What comes later in the region continues from the copy.
fn load_on_the_host(module: &mut Module, func: OpId) {
    let wrappers: Vec<OpId> = module.walk(func);
    for wrapper in wrappers {
        let Some(body) = module.entry_block(wrapper) else {
            continue;
        };
        if !edit::is_streamify(module, wrapper) || module.block_arguments(body).len() != 2 {
            continue;
        }
        let mut chains = current_chains(module, body);
        // The chain of the last copy that continued from a chain.
        let mut copies = HashMap::new();
        for op in module.take_block_ops(body) {
            if let Some(&(_, chain)) = chains.last()
                && module.op_name(op) == "memref.load"
            {
                let after = copies.get(&chain).copied().unwrap_or(chain);
                if let Some(copied) = load(module, body, op, after) {
                    copies.insert(chain, copied);
                    module.erase_op(op);
                    continue;
                }
            }
            if !copies.is_empty() {
                replace_operands(module, op, &copies);
            }
            module.append_op(body, op);
            chains.pop_if(|(user, _)| *user == op);
        }
    }
}

/// Returns the chain that is current in front of each op of a region on a stream, for the ops that
/// make it another one and for the last op, in reverse order.
///
/// The region returns its last chain, and that is found backwards from there: the current chain in
/// front of an op that made a chain is the first chain that the op takes. Without one, it is the
/// chain of the region.
fn current_chains(module: &Module, body: BlockId) -> Vec<(OpId, ValueId)> {
    let first = module.block_arguments(body)[0];
    let ops = module.block_ops(body).iter().enumerate();
    let positions: HashMap<OpId, usize> = ops.map(|(index, &op)| (op, index)).collect();
    let mut chains = Vec::new();
    let mut next = module.last_op(body);
    while let Some(op) = next.take() {
        let mut operands = module.operands(op).iter().copied();
        let chain = operands.find(|&value| edit::is_a(module, value, CHAIN));
        let chain = chain.unwrap_or(first);
        chains.push((op, chain));
        let at = positions.get(&op);
        let before = module.defining_op(chain);
        next = before.filter(|before| positions.contains_key(before) && positions.get(before) < at);
    }
    chains
}

/// Replaces operands of an op and of the ops inside it.
fn replace_operands(module: &mut Module, op: OpId, new: &HashMap<ValueId, ValueId>) {
    for op in module.walk(op) {
        for (index, value) in module.operands(op).to_vec().into_iter().enumerate() {
            if let Some(&value) = new.get(&value) {
                module.set_operand(op, index, value);
            }
        }
    }
}

/// Appends what loads a number after `chain`, and returns the chain of its copy. Returns `None` if
/// `op` cannot be lowered.
fn load(module: &mut Module, body: BlockId, op: OpId, chain: ValueId) -> Option<ValueId> {
    let (&[memory], &[result]) = (module.operands(op), module.results(op)) else {
        return None;
    };
    let stream = *module.block_arguments(body).get(1)?;
    let ty = module.value_type(memory);
    let size = num_bytes(module, ty)?;
    let spelling = module.type_spelling(module.value_type(result)).to_owned();
    let ty = module.value_type(result);
    let ty = module.intern_attribute(Attribute::Type(ty));
    if !["i1", "i32"].contains(&&*spelling) {
        return None;
    }
    let mut builder = Builder {
        location: module.op_location(op),
        module,
        block: body,
    };
    let context = builder.value("tfrt_gpu.stream.get_context", &[stream], &[], CONTEXT);
    let size = builder.constant("i64", size);
    let host = builder.value(
        "tfrt_gpu.mem.allocate_host",
        &[context, size, chain],
        &[],
        BUFFER,
    );
    let buffer = builder.buffer(memory);
    let copied = builder.value(
        "tfrt_gpu.mem.copy",
        &[host, buffer, stream, chain],
        &[],
        CHAIN,
    );
    let done = builder.value("tfrt_gpu.stream.synchronize", &[stream, copied], &[], CHAIN);
    let value = builder.value(
        "tfrt_gpu.mem.load",
        &[host, done],
        &[("type", ty)],
        &spelling,
    );
    module.replace_all_uses(result, value);
    Some(done)
}

/// Returns the number of elements of memory of a fixed shape.
pub(super) fn num_elements(module: &Module, memory: TypeId) -> Option<u64> {
    let Type::MemRef {
        dims: Some(dims), ..
    } = module.ty(memory)
    else {
        return None;
    };
    // A product of which one factor is 0 is 0, however large the others are.
    if dims.contains(&Some(0)) {
        return Some(0);
    }
    dims.iter()
        .try_fold(1_u64, |product, dim| product.checked_mul((*dim)?))
}

/// Returns the size of memory of a fixed shape.
pub(super) fn num_bytes(module: &Module, memory: TypeId) -> Option<i128> {
    let element = crate::dialects::element_type(module, memory)?;
    let element = tfrt_ir::dense_element_bytes(module, element)?;
    let bytes = num_elements(module, memory)?.checked_mul(element as u64)?;
    i64::try_from(bytes).ok().map(i128::from)
}

/// Returns the width of a number.
fn bits(module: &Module, ty: TypeId) -> Option<u32> {
    match module.ty(ty) {
        Type::Integer { width, .. } => Some(*width),
        Type::Float(float) => Some(float.width()),
        _ => None,
    }
}
