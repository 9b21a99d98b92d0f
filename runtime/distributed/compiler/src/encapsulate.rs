//! Remote execution of functions of the program: sends each function to its task, as text.
//!
//! Preconditions: the program is verified.
//!
//! ```text
//!  %c, %rc, %t = tfrt_dist.remote_execute_func [%ch, %ctx, %w] @f(%h)
//!    : (!corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle)
//!
//!  becomes, with %x#0 for %rc and %x#2 for %t
//!
//!  %r = tfrt_dist.register_tfrt_function (%ch, %ctx, %w) "f" "…text of @f…"
//!  %s = tfrt_dist.create_remote_execute_spec %ctx {output_devices = ["D", "D"]}
//!  %i = tfrt_dist.get_remote_object_id_from_th %h
//!  %c, %x:3 = tfrt_dist.remote_execute_th [%r, %ctx, %w, %s, 1] "f"(%i)
//! ```
//!
//! The text holds the callee and all that it refers to by symbol. A callee that executes remote
//! functions itself is done first, so its text holds theirs.
//!
//! A result of the callee is on the device that its attribute `tfrt.device` names, and otherwise on
//! the first CPU of the task that the attribute `host` of the callee names.
//!
//! Ops of one block send a callee to a task only once, the first one. The others wait for that, and
//! for their own chains.
//!
//! An op that is refused stays as it is. Cost: linear in the size of the program and of the
//! texts, which double in length with each callee of a callee, up to `MAX_DEPTH`.

use std::collections::{HashMap, HashSet};

use tfrt_ir::symbols::{RESULT_ATTRIBUTES, SYMBOL_VISIBILITY};
use tfrt_ir::{
    AttrId, Attribute, BlockId, Module, OpId, ParseOptions, PrintOptions, ValueId, parse, print,
    print_op,
};
use tfrt_support::Diagnostic;

use crate::builder::{Builder, dialect_type, is_of_type};
use crate::names;

/// The operands in front of the arguments of the callee: chain, context and task.
const NUM_FIXED: usize = 3;

/// Replaces every remote execution of a function in `root`. Returns what cannot be replaced.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_distributed_compiler::encapsulate;
/// use tfrt_ir::{ParseOptions, Registry, parse};
///
/// let registry = Arc::new(Registry::new([], [])?);
/// let source = r#"
///   "builtin.func"() ({
///   ^bb0(%c: !tfrt.chain, %ctx: !tfrt_dist.dist_context, %w: !tfrt_dist.task_handle):
///     %d, %rc = "tfrt_dist.remote_execute_func"(%c, %ctx, %w) {callee = @missing}
///       : (!tfrt.chain, !tfrt_dist.dist_context, !tfrt_dist.task_handle) -> (!tfrt.chain, !tfrt.chain)
///     "tfrt.return"() : () -> ()
///   }) {sym_name = "f", type = (!tfrt.chain, !tfrt_dist.dist_context, !tfrt_dist.task_handle) -> ()} : () -> ()"#;
/// let options = ParseOptions { allow_unregistered_dialects: true };
/// let mut module = parse(source, "p.mlir", &registry, &options).map_err(|errors| errors[0].to_string())?;
/// let root = module.root();
/// let refused = encapsulate(&mut module, root);
/// assert_eq!(refused[0].message, "callee function missing is not found");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn encapsulate(module: &mut Module, root: OpId) -> Vec<Diagnostic> {
    let mut pass = Encapsulation::default();
    let functions = module.walk(root).into_iter();
    let functions: Vec<OpId> = functions.filter(|op| module.is_func(*op)).collect();
    for func in functions {
        pass.visit(module, func);
    }
    pass.refused
}

#[derive(Default)]
struct Encapsulation {
    /// The functions that were visited, or are being visited.
    visited: HashSet<OpId>,
    /// The text of each callee.
    texts: HashMap<OpId, String>,
    refused: Vec<Diagnostic>,
    /// How many texts are being made, each within the one before.
    depth: usize,
}

/// How deep callees may execute further callees remotely. A text within a text needs more escapes
/// at each level, so that it doubles in length.
const MAX_DEPTH: usize = 16;

/// A callee that was sent to a task.
struct Sent {
    /// The chain that the op which sends it follows.
    follows: ValueId,
    chain: ValueId,
}

/// The callees that the ops of a block send: by callee, context and task.
type SentInBlock = HashMap<(BlockId, OpId, ValueId, ValueId), Sent>;

impl Encapsulation {
    /// Replaces the ops of a function, those of its callees first.
    fn visit(&mut self, module: &mut Module, func: OpId) {
        if !self.visited.insert(func) {
            return;
        }
        let mut sent = SentInBlock::new();
        for op in module.walk(func) {
            if module.op_name(op) != names::REMOTE_EXECUTE_FUNC {
                continue;
            }
            if let Err(why) = self.replace(module, op, &mut sent) {
                let place = module.place(module.op_location(op));
                self.refused.push(Diagnostic::error(place, why));
            }
        }
    }

    fn replace(
        &mut self,
        module: &mut Module,
        op: OpId,
        sent: &mut SentInBlock,
    ) -> Result<(), String> {
        let reference = module.attr(op, names::CALLEE);
        let name = reference.and_then(|name| module.attribute_flat_symbol(name));
        let name = name.unwrap_or_default().to_owned();
        let callee = reference.and_then(|reference| module.resolve_symbol(op, reference));
        let callee = callee.filter(|callee| module.is_func(*callee));
        let callee = callee.ok_or_else(|| format!("callee function {name} is not found"))?;

        let devices = devices_of_results(module, callee, &name)?;
        let num_results = module.results(op).len().saturating_sub(1);
        if num_results == 0 {
            return Err(format!(
                "expected a remote chain as the first result of the callee function {name}, found none"
            ));
        }
        if num_results != devices.len() {
            return Err(format!(
                "expected {} results of the callee function {name} after the chain, found \
                 {num_results}",
                devices.len()
            ));
        }
        let handles = &module.results(op)[2..];
        let other = handles
            .iter()
            .find(|result| !is_of_type(module, **result, names::HANDLE_TYPE));
        if let Some(&other) = other {
            let found = module.type_spelling(module.value_type(other));
            return Err(format!(
                "callee result type should be TensorHandle, found `{found}`"
            ));
        }
        let is_argument = |value: &ValueId| {
            is_of_type(module, *value, names::ID_TYPE)
                || is_of_type(module, *value, names::HANDLE_TYPE)
        };
        if !module.operands(op)[NUM_FIXED..].iter().all(is_argument) {
            return Err(
                "callee argument type should be either TensorHandle or RemoteObjectId".to_owned(),
            );
        }
        let text = self.text(module, callee, &name)?;
        carry_out(module, op, (callee, &name, &text), &devices, sent);
        Ok(())
    }

    /// Returns the text of a callee and of all that it refers to.
    fn text(&mut self, module: &mut Module, callee: OpId, name: &str) -> Result<String, String> {
        if let Some(text) = self.texts.get(&callee) {
            return Ok(text.clone());
        }
        if self.depth >= MAX_DEPTH {
            return Err(format!(
                "failed to serialize the callee function {name}: more than {MAX_DEPTH} functions \
                 execute each other remotely"
            ));
        }
        self.depth += 1;
        // What they execute remotely is no longer referred to afterwards.
        for symbol in needed_symbols(module, callee) {
            for func in module.walk(symbol) {
                if module.is_func(func) {
                    self.visit(module, func);
                }
            }
        }
        self.depth -= 1;
        let needed = needed_symbols(module, callee);
        // An op that is left was refused, or belongs to a function that executes itself remotely:
        // the text of such a function would hold itself.
        let is_complete = !needed
            .iter()
            .any(|symbol| executes_remotely(module, *symbol));
        let text = is_complete
            .then(|| text_of(module, callee, &needed))
            .flatten();
        let text = text.ok_or_else(|| format!("failed to serialize the callee function {name}"))?;
        self.texts.insert(callee, text.clone());
        Ok(text)
    }
}

fn executes_remotely(module: &Module, symbol: OpId) -> bool {
    let mut ops = module.walk(symbol).into_iter();
    ops.any(|op| module.op_name(op) == names::REMOTE_EXECUTE_FUNC)
}

/// Returns the device of each result of a function.
fn devices_of_results(module: &Module, func: OpId, name: &str) -> Result<Vec<String>, String> {
    let num_results = module
        .signature(func)
        .map_or(0, |(_, results)| results.len());
    let attributes = match module
        .attr(func, RESULT_ATTRIBUTES)
        .map(|list| module.attribute(list))
    {
        Some(Attribute::Array(attributes)) => attributes.to_vec(),
        _ => Vec::new(),
    };
    let host = module.attr(func, names::HOST);
    let host = host.and_then(|host| module.attribute_str(host));
    let device = |result: usize| {
        let named = attributes.get(result);
        let named = named.and_then(|&dictionary| entry(module, dictionary, names::VALUE_DEVICE));
        match (named, host) {
            (Some(device), _) => Ok(device.to_owned()),
            (None, Some(host)) => Ok(format!("{host}{}", names::FIRST_CPU)),
            (None, None) => Err(format!(
                "callee function {name} should have the host attribute"
            )),
        }
    };
    (0..num_results).map(device).collect()
}

/// Returns a text in a dictionary.
pub(crate) fn entry<'a>(module: &'a Module, dictionary: AttrId, key: &str) -> Option<&'a str> {
    let Attribute::Dictionary(entries) = module.attribute(dictionary) else {
        return None;
    };
    let found = entries.iter().find(|(name, _)| module.name(*name) == key);
    module.attribute_str(found?.1)
}

/// Returns a function and all symbols that it refers to, also through others, in the order of the
/// program.
fn needed_symbols(module: &Module, func: OpId) -> Vec<OpId> {
    let Some(table) = module.nearest_symbol_table(func) else {
        return vec![func];
    };
    let mut found = HashSet::from([func]);
    let mut pending = vec![func];
    while let Some(symbol) = pending.pop() {
        for op in module.walk(symbol) {
            let attributes = module.attributes(op).iter().map(|(_, value)| *value);
            for root in attributes.flat_map(|attribute| roots_in(module, attribute)) {
                let referred = module.lookup_symbol(table, &root);
                if let Some(referred) = referred
                    && found.insert(referred)
                {
                    pending.push(referred);
                }
            }
        }
    }
    let ops = module.entry_block(table).map(|body| module.block_ops(body));
    let ops = ops.into_iter().flatten().copied();
    ops.filter(|op| found.contains(op)).collect()
}

/// Returns the outermost names of the symbols that an attribute refers to.
fn roots_in(module: &Module, attribute: AttrId) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![attribute];
    while let Some(attribute) = pending.pop() {
        match module.attribute(attribute) {
            Attribute::Array(elements) => pending.extend(elements.iter()),
            Attribute::Dictionary(entries) => {
                pending.extend(entries.iter().map(|(_, value)| value))
            }
            Attribute::SymbolRef { root, .. } => found.push(root.to_string()),
            _ => {}
        }
    }
    found
}

/// Returns a program of these symbols, of which only the callee is public. None if it would not be
/// read again.
fn text_of(module: &mut Module, callee: OpId, symbols: &[OpId]) -> Option<String> {
    let private = module.string_attr("private");
    let mut text = String::new();
    for &symbol in symbols {
        let visibility = module.remove_attr(symbol, SYMBOL_VISIBILITY);
        if symbol != callee && module.is_func(symbol) {
            module.set_attr(symbol, SYMBOL_VISIBILITY, private);
        }
        text.push_str(&print_op(module, symbol, &PrintOptions::default()));
        text.push('\n');
        module.remove_attr(symbol, SYMBOL_VISIBILITY);
        if let Some(visibility) = visibility {
            module.set_attr(symbol, SYMBOL_VISIBILITY, visibility);
        }
    }
    let options = ParseOptions {
        allow_unregistered_dialects: true,
    };
    let program = parse(&text, "-", module.registry(), &options).ok()?;
    Some(print(&program, &PrintOptions::default()))
}

/// Replaces an op that is not refused.
fn carry_out(
    module: &mut Module,
    op: OpId,
    (callee, name, text): (OpId, &str, &str),
    devices: &[String],
    sent: &mut SentInBlock,
) {
    let operands = module.operands(op).to_vec();
    let old_results = module.results(op).to_vec();
    let (chain, context, task) = (operands[0], operands[1], operands[2]);
    let program_name = module.string_attr(name);
    let kept = module.attributes(op).iter();
    let kept = kept.map(|(name, value)| (module.name(*name).to_owned(), *value));
    let mut attributes: Vec<_> = kept.filter(|(name, _)| name != names::CALLEE).collect();
    let num_handles = devices.len() - 1;
    let counts = module.integer_attr(num_handles as i128, 32);
    attributes.push(("num_tensorhandle_output".to_owned(), counts));
    attributes.push(("program_name".to_owned(), program_name));

    let key = module
        .op_block(op)
        .map(|block| (block, callee, context, task));
    let mut build = Builder::before(module, op);
    let chain = match key.as_ref().and_then(|key| sent.get(key)) {
        Some(known) if known.follows == chain => known.chain,
        Some(known) => {
            let both = vec![known.chain, chain];
            build.value(names::MERGE_CHAINS, both, Vec::new(), names::CHAIN_TYPE)
        }
        None => {
            let program = build.module.string_attr(text);
            let program = vec![
                ("program".to_owned(), program),
                ("program_name".to_owned(), program_name),
            ];
            let to_task = vec![chain, context, task];
            let registered = build.value(names::REGISTER, to_task, program, names::CHAIN_TYPE);
            if let Some(key) = key {
                let known = Sent {
                    follows: chain,
                    chain: registered,
                };
                sent.insert(key, known);
            }
            registered
        }
    };
    let devices: Vec<AttrId> = devices
        .iter()
        .map(|device| build.module.string_attr(device))
        .collect();
    let num_ids = devices.len();
    let devices = build
        .module
        .intern_attribute(Attribute::Array(devices.into()));
    let devices = vec![("output_devices".to_owned(), devices)];
    let spec = build.value(names::CREATE_SPEC, vec![context], devices, names::SPEC_TYPE);
    let mut new_operands = vec![chain, context, task, spec];
    for &argument in &operands[NUM_FIXED..] {
        let is_id = is_of_type(build.module, argument, names::ID_TYPE);
        new_operands.push(match is_id {
            true => argument,
            false => build.value(
                names::ID_OF_HANDLE,
                vec![argument],
                Vec::new(),
                names::ID_TYPE,
            ),
        });
    }
    let id_type = dialect_type(build.module, names::ID_TYPE);
    let handle_type = dialect_type(build.module, names::HANDLE_TYPE);
    let mut types = vec![dialect_type(build.module, names::CHAIN_TYPE)];
    types.extend(std::iter::repeat_n(id_type, num_ids));
    types.extend(std::iter::repeat_n(handle_type, num_handles));
    let execution = build.op(names::REMOTE_EXECUTE, new_operands, attributes, types);
    // The chain, the id of the remote chain, and the handles, which come after all ids.
    let results = module.results(execution).to_vec();
    let of_handles = results[1 + num_ids..].iter();
    let replacing = results[..2].iter().chain(of_handles);
    for (old, new) in old_results.into_iter().zip(replacing) {
        module.replace_all_uses(old, *new);
    }
    module.erase_op(op);
}
