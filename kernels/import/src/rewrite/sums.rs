//! Normalizations of the rows of sums, and of rows that are looked up in tables, in one pass over
//! memory.
//!
//! Sums that a product or convolution computes within its own kernel stay there: that saves a pass,
//! too, and the summand is read only once.

use tfrt_support::DType;

use super::graph::Graph;
use super::infer::Dim;
use super::{Phase, RewriteRule, fused_place};
use crate::program::{Attr, Value};

pub(super) const RULES: &[RewriteRule] = &[
    RewriteRule {
        name: "sum-into-norm",
        summary: "Adds tensors and normalizes the rows of their sum in one pass. The sum may have \
                  other users.",
        phase: Phase::Join,
        roots: &[NAME, "nn.LayerNormalization", "nn.RmsNormalization"],
        apply: add,
    },
    RewriteRule {
        name: "gather-into-norm",
        summary: "Looks up the rows that are normalized, or added before that, in the same pass.",
        phase: Phase::Join,
        roots: &[NAME, "nn.LayerNormalization", "nn.RmsNormalization"],
        apply: look_up,
    },
];

/// The op that these rules make. They replace all of its results.
pub(super) const NAME: &str = "nn.SumNormalization";

/// The most summands: exporters add up to three embeddings.
const MAX_SUMMANDS: usize = 8;

/// A normalization of the rows of a sum: the attributes and operands of `nn.SumNormalization`.
struct Norm {
    summands: Vec<Summand>,
    /// A scale and a bias, as far as there are any.
    parameters: Vec<Value>,
    attrs: Vec<(String, Attr)>,
    /// The elements of a row.
    len: usize,
}

#[derive(Clone, Copy)]
struct Summand {
    value: Value,
    /// The indices of the rows of the value that are added.
    indices: Option<Value>,
}

impl From<Value> for Summand {
    fn from(value: Value) -> Self {
        let indices = None;
        Self { value, indices }
    }
}

impl Norm {
    /// Returns the normalization that an op computes.
    fn of(graph: &Graph, number: usize) -> Option<Self> {
        let operands = graph.operands(number).to_vec();
        let y = graph.known(graph.result(number)?);
        let dims = y.dims.filter(|_| y.dtype == Some(DType::F32))?;
        let len = dims.last()?.fixed().filter(|&len| len > 0)?;
        if graph.name(number)? == NAME {
            let mut operands = operands.into_iter();
            let gathers = graph.ints(number, "gathers")?;
            let summands = gathers.iter().map(|&gathers| {
                let value = operands.next()?;
                let indices = (gathers != 0).then(|| operands.next());
                let indices = indices.map_or(Some(None), |found| found.map(Some))?;
                Some(Summand { value, indices })
            });
            return Some(Self {
                summands: summands.collect::<Option<_>>()?,
                parameters: operands.collect(),
                attrs: graph.attrs(number).to_vec(),
                len,
            });
        }
        let (&x, parameters) = operands.split_first()?;
        let axis = super::infer::axis_of(graph.int(number, "axis").unwrap_or(-1), dims.len());
        // What is computed from the sum itself cannot be an operand of what computes the sum.
        let is_row = |&value: &Value| {
            let constant = graph.lazy_constant(value);
            constant.is_some_and(|it| it.dtype() == DType::F32 && it.shape().dims() == [len])
        };
        let is_plain = graph.ints(number, "slots").is_none() && parameters.iter().all(is_row);
        if axis? + 1 != dims.len() || !is_plain || !is_of_rows(graph, x, len) {
            return None;
        }
        let is_centred = graph.name(number)? == "nn.LayerNormalization";
        let attrs = vec![
            (
                "epsilon".to_owned(),
                Attr::Float(graph.float(number, "epsilon")?),
            ),
            ("is_centred".to_owned(), Attr::Bool(is_centred)),
        ];
        Some(Self {
            summands: vec![x.into()],
            parameters: parameters.to_vec(),
            attrs,
            len,
        })
    }

    /// Makes the op in place of another one. Returns its first result.
    ///
    /// The second one is the sum, where `sum` is what it has been so far, if it has other users.
    fn make(
        mut self,
        graph: &mut Graph,
        root: usize,
        sum: Option<Value>,
        place: &str,
    ) -> Option<Value> {
        let (mut operands, mut gathers) = (Vec::new(), Vec::new());
        for Summand { value, indices } in self.summands {
            operands.push(value);
            operands.extend(indices);
            gathers.push(i64::from(indices.is_some()));
        }
        operands.extend(self.parameters);
        self.attrs
            .retain(|(name, _)| !["gathers", "keeps_sum"].contains(&name.as_str()));
        self.attrs.push(("gathers".to_owned(), Attr::Ints(gathers)));
        if sum.is_some() {
            self.attrs.push(("keeps_sum".to_owned(), Attr::Bool(true)));
        }
        let num_results = 1 + usize::from(sum.is_some());
        let results = graph.make(root, NAME, &operands, self.attrs, num_results, place);
        if let (Some(sum), &[_, kept]) = (sum, &results[..]) {
            graph.replace(sum, kept);
        }
        results.first().copied()
    }
}

/// Returns the sum that an op of these rules keeps.
fn kept_sum(graph: &Graph, number: usize) -> Option<Value> {
    let is_kept = graph.flag(number, "keeps_sum");
    graph
        .op(number)?
        .results
        .get(1)
        .copied()
        .filter(|_| is_kept)
}

/// Returns `true` if a value is known to consist of rows of single precision of a length.
fn is_of_rows(graph: &Graph, value: Value, len: usize) -> bool {
    let known = graph.known(value);
    let last = known.dims.and_then(|dims| dims.last().copied());
    known.dtype == Some(DType::F32) && last == Some(Dim::Fixed(len))
}

/// Returns the summands of the sum of rows that makes a value, the one that is a sum itself first.
fn summands(graph: &Graph, sum: Value, len: usize) -> Option<(usize, [Value; 2])> {
    let addition = graph.made_by(sum, "tf.AddV2")?;
    let &[mut a, mut b] = graph.operands(addition) else {
        return None;
    };
    let is_sum = |value: Value| graph.made_by(value, "tf.AddV2").is_some();
    if is_sum(b) && !is_sum(a) {
        (a, b) = (b, a);
    }
    let fits = is_of_rows(graph, a, len) && is_of_rows(graph, b, len);
    fits.then_some((addition, [a, b]))
}

fn add(graph: &mut Graph, number: usize) -> Option<Value> {
    let mut norm = Norm::of(graph, number)?;
    // The first summand alone, so that sums are rounded as they were.
    let &Summand {
        value: sum,
        indices: None,
    } = norm.summands.first()?
    else {
        return None;
    };
    let (addition, parts) = summands(graph, sum, norm.len)?;
    let is_free = graph.is_used_once(sum);
    let kept = match graph.name(number) {
        Some(NAME) => {
            // A part of the sum is not kept. What is broadcast later would be added more than once.
            let y = graph.result(number)?;
            let has_shape = graph.known(sum).dims == graph.known(y).dims;
            if !is_free || !has_shape || norm.summands.len() >= MAX_SUMMANDS {
                return None;
            }
            kept_sum(graph, number)
        }
        _ => (!is_free).then_some(sum),
    };
    norm.summands.splice(..1, parts.map(Summand::from));
    let place = fused_place(graph.place(addition), graph.place(number));
    norm.make(graph, number, kept, &place)
}

fn look_up(graph: &mut Graph, number: usize) -> Option<Value> {
    let mut norm = Norm::of(graph, number)?;
    let len = norm.len;
    let found = norm.summands.iter().enumerate().find_map(|(at, summand)| {
        let gather = graph.made_by(summand.value, "nn.Gather")?;
        let &[table, indices] = graph.operands(gather) else {
            return None;
        };
        let is_matrix = graph.known(table).rank() == Some(2) && is_of_rows(graph, table, len);
        let is_along_rows = graph.int(gather, "axis").unwrap_or(0) == 0;
        let fits = summand.indices.is_none() && is_matrix && is_along_rows;
        (fits && graph.is_used_once(summand.value)).then_some((at, gather, table, indices))
    });
    let (at, gather, value, indices) = found?;
    let indices = Some(indices);
    norm.summands[at] = Summand { value, indices };
    let place = fused_place(graph.place(gather), graph.place(number));
    let kept = kept_sum(graph, number);
    norm.make(graph, number, kept, &place)
}
