//! Rewrites of imported programs: ops in place of others that compute the same with less work.
//!
//! ```text
//!  program ──► drop unused ops ──► join equal ops ──► simplify ──► combine ──► widen ──► combine
//!                 program ◄── join equal ops ◄── chains ◄── channels last ◄── join ◄──┘
//!
//!   simplify   identities, activations and normalizations from pieces, batch norm into weights
//!   combine    attention, products and convolutions with their epilogues, quantised kernels
//!   widen      half precision to single precision; what was widened is combined once more
//!   join       sums with the normalizations of their rows, heads with attention
//!   chains     what is left of element-wise ops
//! ```
//!
//! The weights of an imported program are known, so rules may compute new ones; and declared input
//! types are checked before a run, so rules may rely on them. A [`RewriteRule`] looks at one op,
//! the last of its pattern, and replaces the first result of this op.
//!
//! # What every rule keeps
//! - The result, up to the rounding of single-precision numbers.
//! - Errors that would be seen: a rule does not apply where the original could fail and the
//!   replacement could not.
//! - The outputs of the program.

pub(crate) mod infer;

pub(crate) mod graph;

mod matching;

mod common;

mod fold;

pub(crate) mod shape_values;

mod known_sizes;

pub(crate) mod budget;

pub(crate) mod symbols;

mod identities;

mod expansions;

mod moves;

mod activations;

mod normalizations;

mod einsum;

mod rotary;

mod attention;

mod epilogues;

mod quantized;

mod heads;

mod sums;

mod layout;

mod widen;

mod chains;

use std::collections::{HashMap, VecDeque};

use tfrt_support::nearest::{did_you_mean, nearest};

use crate::error::ImportError;
use crate::program::declared::name_of_place;
use crate::program::{Program, Value, Weight};

pub use fold::Folding;
pub(crate) use fold::VIEWS;
use graph::Graph;
use infer::{Dim, Known};
pub(crate) use layout::KEEP_CHANNELS;
use symbols::Symbols;

/// The limit for the rewrites of a function, per original op. Rules make programs smaller, so only
/// a faulty one reaches it.
const MAX_REWRITES_PER_OP: usize = 16;

/// A rewrite.
///
/// ```
/// use tfrt_import::rewrite::RewriteRule;
///
/// let rule = RewriteRule::all().find(|rule| rule.name == "fold-batch-norm").unwrap();
/// assert!(rule.summary.starts_with("Scales the weights"));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RewriteRule {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    phase: Phase,
    /// The ops that it looks at.
    roots: &'static [&'static str],
    /// Returns the value that replaces the first result of an op, if the rule applies to the op.
    apply: fn(&mut Graph, usize) -> Option<Value>,
}

/// Rules of a later phase see what those of an earlier phase have left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Simplify,
    Combine,
    Widen,
    Join,
    Layout,
    Chains,
}

impl Phase {
    /// Every phase in order, with the name of the stage that it is.
    const ALL: [(Self, &'static str); 7] = [
        (Self::Simplify, "simplify"),
        (Self::Combine, "combine"),
        (Self::Widen, "widen"),
        // Attention is found as it is, but epilogues are those of single precision.
        (Self::Combine, "combine widened"),
        (Self::Join, "join"),
        (Self::Layout, "layout"),
        (Self::Chains, "chains"),
    ];
}

impl RewriteRule {
    /// Returns every rule.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        let groups: [&'static [Self]; 18] = [
            common::RULES,
            fold::RULES,
            identities::RULES,
            known_sizes::RULES,
            expansions::RULES,
            moves::RULES,
            activations::RULES,
            normalizations::RULES,
            einsum::RULES,
            rotary::RULES,
            attention::RULES,
            epilogues::RULES,
            quantized::RULES,
            widen::RULES,
            heads::RULES,
            sums::RULES,
            layout::RULES,
            chains::RULES,
        ];
        groups.into_iter().flatten()
    }
}

/// The rules that apply.
///
/// ```
/// use tfrt_import::rewrite::RewriteRules;
///
/// assert!(RewriteRules::default().has("fuse-activation"));
/// assert!(!RewriteRules::none().has("fuse-activation"));
/// let rules = RewriteRules::without(["fuse-activation"])?;
/// assert!(!rules.has("fuse-activation") && rules.has("fuse-bias"));
/// let error = RewriteRules::without(["fuse-bios"]).unwrap_err();
/// assert_eq!(error.to_string(), "there is no rule `fuse-bios`; did you mean `fuse-bias`?");
/// # Ok::<(), tfrt_import::ImportError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RewriteRules(Vec<&'static RewriteRule>);

impl Default for RewriteRules {
    fn default() -> Self {
        Self(RewriteRule::all().collect())
    }
}

impl RewriteRules {
    /// Returns no rule.
    #[must_use]
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// Returns the rules of these names alone.
    ///
    /// # Errors
    /// If no rule has one of the names.
    pub fn only<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, ImportError> {
        let mut rules = Self::none();
        for name in names {
            let rule = RewriteRule::all().find(|rule| rule.name == name);
            rules.0.push(rule.ok_or_else(|| unknown(name))?);
        }
        Ok(rules)
    }

    /// Returns all rules except those of these names.
    ///
    /// # Errors
    /// If no rule has one of the names.
    pub fn without<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, ImportError> {
        let mut rules = Self::default();
        for name in names {
            let before = rules.0.len();
            rules.0.retain(|rule| rule.name != name);
            if rules.0.len() == before && RewriteRule::all().all(|rule| rule.name != name) {
                return Err(unknown(name));
            }
        }
        Ok(rules)
    }

    /// Returns these rules but for those that move the channels of images.
    ///
    /// ```
    /// use tfrt_import::rewrite::RewriteRules;
    ///
    /// let rules = RewriteRules::default().without_layouts();
    /// assert!(rules.has("fuse-bias") && !rules.has("channels-last-convolution"));
    /// ```
    #[must_use]
    pub fn without_layouts(mut self) -> Self {
        self.0.retain(|rule| rule.phase != Phase::Layout);
        self
    }

    /// Returns `true` if the rule of a name is among them.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|rule| rule.name == name)
    }
}

/// Returns the names of ops that rules know by lists of names, so that a test finds names that no
/// op has.
#[doc(hidden)]
pub fn listed_ops() -> impl Iterator<Item = &'static str> {
    let lists = [
        expansions::BROADCASTING,
        expansions::ELEMENT_WISE,
        fold::LINEAR,
        fold::VIEWS,
        layout::KEEP_CHANNELS,
        moves::OF_TWO,
        widen::OF_ONE_TYPE,
        widen::OF_FIRST_TYPE,
    ];
    let listed = lists.into_iter().flatten().copied();
    listed.chain(infer::op_names())
}

#[cold]
fn unknown(name: &str) -> ImportError {
    let hint = did_you_mean(&nearest(name, RewriteRule::all().map(|rule| rule.name)));
    ImportError::new(format!("there is no rule `{name}`{hint}"))
}

/// A rule that was applied.
///
/// ```
/// use tfrt_import::program::{Attr, ProgramBuilder};
/// use tfrt_import::{InputDim, InputType};
/// use tfrt_import::rewrite::RewriteRules;
///
/// let mut builder = ProgramBuilder::default();
/// let matrix = InputType { dtype: None, dims: Some(vec![InputDim::Unknown; 2]) };
/// let x = builder.declared_input("x", matrix);
/// let order = || [("perm", Attr::Ints(vec![1, 0]))];
/// let there = builder.call("nn.Transpose", &[x], &order(), 1, "node 'there'");
/// let back = builder.call("nn.Transpose", &there, &order(), 1, "node 'back'");
/// let mut program = builder.finish(&[("y", back[0])]);
/// let applied = program.rewrite(&RewriteRules::default());
/// assert_eq!(applied[0].to_string(), "`join-transposes` at node 'back'");
/// assert_eq!(program.num_ops, 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// The name of the rule.
    pub rule: &'static str,
    /// The op that it was applied to.
    pub place: String,
}

/// A rule that nearly applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missed {
    /// The name of the rule.
    pub rule: &'static str,
    /// The op that it nearly applied to.
    pub place: String,
    /// Why it did not apply.
    pub reason: &'static str,
}

impl std::fmt::Display for Missed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            rule,
            place,
            reason,
        } = self;
        write!(f, "`{rule}` does not apply at {place}: {reason}")
    }
}

/// The outcome of the rewrites of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rewriting {
    /// The rules that were applied, in order.
    pub applied: Vec<Applied>,
    /// The rules that nearly applied.
    pub missed: Vec<Missed>,
    /// The number of ops of the program's function after each stage, in order: `fold`, `equal ops`,
    /// and so on. No two stages have one name.
    pub stages: Vec<(&'static str, usize)>,
}

impl std::fmt::Display for Applied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` at {}", self.rule, self.place)
    }
}

impl Program {
    /// Applies rules until none applies. Returns what was applied, in order. Ops on constants stay:
    /// see [`rewrite_and_fold`](Self::rewrite_and_fold).
    pub fn rewrite(&mut self, rules: &RewriteRules) -> Vec<Applied> {
        self.rewrite_with(rules, None).applied
    }

    /// Computes ops on constants, and applies rules until none applies.
    pub fn rewrite_and_fold(&mut self, rules: &RewriteRules, folding: Folding) -> Rewriting {
        self.rewrite_with(rules, Some(folding))
    }

    fn rewrite_with(&mut self, rules: &RewriteRules, folding: Option<Folding>) -> Rewriting {
        let mut applied = Vec::new();
        let mut stages = Vec::new();
        // The graph owns the weights meanwhile, so that those that were replaced take no memory
        // while others are made.
        let mut constants: HashMap<Value, _> = HashMap::new();
        let mut names = Vec::with_capacity(self.weights.len());
        let values = std::mem::take(&mut self.body.weights);
        for (&value, weight) in values.iter().zip(self.weights.drain(..)) {
            constants.insert(value, weight.constant);
            names.push(weight.name);
        }
        let mut symbols = Symbols::default();
        let known = known_inputs(self, &mut symbols);
        let ops = std::mem::take(&mut self.body.ops);
        let results = std::mem::take(&mut self.body.results);
        let mut graph = Graph::new(
            ops,
            results,
            constants,
            known,
            symbols,
            self.body.num_values,
        );
        if rules.has(common::UNUSED) {
            common::drop_unused(&mut graph, &mut applied);
        }
        if let Some(mut folding) = folding
            && rules.has(fold::NAME)
        {
            fold::fold(&mut graph, &self.body.functions, &mut folding, &mut applied);
            stages.push(("fold", graph.num_ops()));
        }
        let rewritten = run(graph, rules, &mut applied, &mut stages).finish();
        let missed = rewritten.missed;
        let mut symbols = rewritten.symbols;
        self.body.ops = rewritten.ops;
        self.body.results = rewritten.results;
        self.body.num_values = rewritten.num_values;
        let mut constants = rewritten.constants;
        let kept = values.into_iter().zip(names).filter_map(|(value, name)| {
            let constant = constants.remove(&value)?;
            Some((value, Weight { name, constant }))
        });
        for (value, weight) in kept.chain(rewritten.new_weights) {
            self.body.weights.push(value);
            self.weights.push(weight);
        }
        self.body.drop_unused_functions();
        // In inner functions, weights are among the arguments and not known.
        let simplifications = rules.0.iter().copied();
        let simplifications = simplifications.filter(|rule| rule.phase == Phase::Simplify);
        let simplifications = RewriteRules(simplifications.collect());
        for function in &mut self.body.functions {
            let ops = std::mem::take(&mut function.ops);
            let results = std::mem::take(&mut function.results);
            let num_values = self.body.num_values;
            let mut graph = Graph::new(
                ops,
                results,
                HashMap::new(),
                HashMap::new(),
                symbols.of_next(),
                num_values,
            );
            if rules.has(common::UNUSED) {
                common::drop_unused(&mut graph, &mut applied);
            }
            let rewritten = run(graph, &simplifications, &mut applied, &mut Vec::new()).finish();
            debug_assert!(
                rewritten.new_weights.is_empty(),
                "there are no weights to change"
            );
            symbols = rewritten.symbols;
            function.ops = rewritten.ops;
            function.results = rewritten.results;
            self.body.num_values = rewritten.num_values;
        }
        self.drop_unused_weights();
        self.refresh();
        Rewriting {
            applied,
            missed,
            stages,
        }
    }

    /// Drops weights that nothing uses.
    fn drop_unused_weights(&mut self) {
        let mut used: std::collections::HashSet<Value> =
            self.body.results.iter().copied().collect();
        used.extend(
            self.body
                .ops
                .iter()
                .flat_map(|op| op.operands.iter().copied()),
        );
        let is_used: Vec<bool> = self
            .body
            .weights
            .iter()
            .map(|value| used.contains(value))
            .collect();
        let mut position = is_used.iter();
        self.weights.retain(|_| *position.next().unwrap_or(&true));
        let mut position = is_used.iter();
        self.body
            .weights
            .retain(|_| *position.next().unwrap_or(&true));
    }
}

/// Returns what a model declares of its inputs. A dimension without a name is called by its place,
/// such as `x.0`.
pub(crate) fn known_inputs(program: &Program, symbols: &mut Symbols) -> HashMap<Value, Known> {
    let names = program.symbols();
    let inputs = program.body.inputs.iter().zip(&program.inputs);
    let mut known = HashMap::new();
    for ((&value, input), declared) in inputs.zip(&program.input_types) {
        let Some(declared) = declared else {
            continue;
        };
        let symbol = |axis: usize, name: Option<&str>| {
            let place = || name_of_place(input, axis);
            match name.map_or_else(|| (place(), false), |name| (name.to_owned(), true)) {
                (place, false) if names.contains(&*place) => symbols.unknown(),
                (name, _) => Dim::Symbol(symbols.named(&name)),
            }
        };
        known.insert(value, Known::of_declared(declared, symbol));
    }
    known
}

/// Applies rules, phase by phase.
fn run(
    mut graph: Graph,
    rules: &RewriteRules,
    applied: &mut Vec<Applied>,
    stages: &mut Vec<(&'static str, usize)>,
) -> Graph {
    if rules.has(common::NAME) {
        common::join_equal(&mut graph, applied);
        stages.push(("equal ops", graph.num_ops()));
    }
    for (phase, stage) in Phase::ALL {
        let of_phase: Vec<&'static RewriteRule> = rules
            .0
            .iter()
            .copied()
            .filter(|rule| rule.phase == phase)
            .collect();
        run_phase(&mut graph, &of_phase, applied);
        stages.push((stage, graph.num_ops()));
    }
    // Rules make equal ops, too.
    if rules.has(common::NAME) {
        common::join_equal(&mut graph, applied);
        stages.push(("equal ops made", graph.num_ops()));
    }
    graph
}

fn run_phase(graph: &mut Graph, rules: &[&'static RewriteRule], applied: &mut Vec<Applied>) {
    let mut by_root: HashMap<&str, Vec<&'static RewriteRule>> = HashMap::new();
    for rule in rules {
        for root in rule.roots {
            by_root.entry(root).or_default().push(rule);
        }
    }
    if by_root.is_empty() {
        return;
    }
    let mut pending: VecDeque<usize> = (0..graph.num_numbers()).collect();
    pending
        .make_contiguous()
        .sort_by_key(|&number| graph.order(number));
    let mut left = MAX_REWRITES_PER_OP.saturating_mul(pending.len());
    while let Some(number) = pending.pop_front() {
        let Some(rules) = graph.name(number).and_then(|name| by_root.get(name)) else {
            continue;
        };
        for rule in rules {
            if left == 0 {
                return;
            }
            let (Some(result), place) = (graph.result(number), graph.place(number).to_owned())
            else {
                break;
            };
            // A rule replaces the first result, and all of them if it makes such ops itself.
            if !graph.has_one_result(number) && graph.name(number) != Some(sums::NAME) {
                break;
            }
            graph.take_made();
            let Some(value) = (rule.apply)(graph, number) else {
                continue;
            };
            left -= 1;
            graph.replace(result, value);
            applied.push(Applied {
                rule: rule.name,
                place,
            });
            // What was made may match, and so may what uses it.
            pending.extend(graph.take_made());
            pending.extend(graph.maker(value));
            pending.extend(graph.users(value).iter().copied());
            break;
        }
    }
}

/// Returns the location of an op that replaces two others.
fn fused_place(first: &str, second: &str) -> String {
    match first == second {
        true => first.to_owned(),
        false => format!("{first}, {second}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_have_names_of_their_own() {
        let mut builder = crate::program::ProgramBuilder::default();
        let x = builder.input("x");
        let mut program = builder.finish(&[("y", x)]);
        let stages = program.rewrite_with(&RewriteRules::default(), None).stages;
        let names: std::collections::BTreeSet<&str> = stages.iter().map(|stage| stage.0).collect();
        assert_eq!(names.len(), stages.len());
        assert_eq!(names.len(), Phase::ALL.len() + 2);
    }

    #[test]
    fn rules_have_names_of_their_own() {
        let all: Vec<&RewriteRule> = RewriteRule::all().collect();
        for (index, rule) in all.iter().enumerate() {
            let mut others = all[index + 1..].iter();
            assert!(others.all(|other| other.name != rule.name), "{}", rule.name);
            assert!(rule.summary.ends_with('.'), "{}", rule.name);
        }
    }
}
