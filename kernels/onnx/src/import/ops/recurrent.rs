//! Recurrent layers.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;

use super::{Attrs, Call, Family, Lowered, many, put, unknown};

/// The ops of this family.
pub(super) const OPS: Family = &[
    ("CausalConvWithState", causal_conv_with_state),
    ("GRU", |call| layer(call, "gru", "Sigmoid,Tanh", 2)),
    ("LSTM", |call| layer(call, "lstm", "Sigmoid,Tanh,Tanh", 3)),
    ("LinearAttention", linear_attention),
    ("RNN", |call| layer(call, "rnn", "Tanh", 2)),
];

fn linear_attention(call: &mut Call<'_, '_>) -> Lowered {
    let rule = call.text("update_rule");
    let mut attrs = vec![
        ("q_heads", Attr::Int(call.int("q_num_heads").unwrap_or(0))),
        ("kv_heads", Attr::Int(call.int("kv_num_heads").unwrap_or(0))),
        (
            "rule",
            Attr::Text(rule.unwrap_or_else(|| "gated_delta".to_owned())),
        ),
        ("scale", Attr::Float(call.float("scale").unwrap_or(0.0))),
    ];
    let (operands, slots) = call.slots()?;
    attrs.extend(slots);
    many(call.emit("nn.LinearAttention", &operands, &attrs, 2))
}

fn causal_conv_with_state(call: &mut Call<'_, '_>) -> Lowered {
    let is_silu = match call.text("activation").as_deref() {
        None | Some("none") => false,
        Some("silu" | "swish") => true,
        other => return Err(unknown("activation", other)),
    };
    let mut attrs = vec![("silu", Attr::Bool(is_silu))];
    let (operands, slots) = call.slots()?;
    attrs.extend(slots);
    many(call.emit("nn.CausalConv", &operands, &attrs, 2))
}

/// Checks the size of the state against the weights of the recurrence, `[directions, gates · size,
/// size]`, if the file contains them.
fn check_hidden_size(call: &Call<'_, '_>) -> Result<(), ImportError> {
    let Some(declared) = call.int("hidden_size") else {
        return Ok(());
    };
    let weights = call.constant(2).map(|weights| weights.shape().dims());
    let found = weights.and_then(|dims| dims.get(2).copied());
    let fits = usize::try_from(declared)
        .is_ok_and(|declared| declared > 0 && found.is_none_or(|found| found == declared));
    if fits {
        return Ok(());
    }
    let expected = match found {
        Some(found) => format!("{found} as in the weights"),
        None => "a positive number".to_owned(),
    };
    Err(ImportError::new(format!(
        "attribute `hidden_size`: expected {expected}, found {declared}"
    )))
}

/// Lowers a layer of cells with these functions by default.
fn layer(call: &mut Call<'_, '_>, cell: &str, functions: &str, num_results: usize) -> Lowered {
    check_hidden_size(call)?;
    let direction = call
        .text("direction")
        .unwrap_or_else(|| "forward".to_owned());
    let functions = match call.texts("activations") {
        Some(functions) if !functions.is_empty() => functions.join(","),
        _ if direction == "bidirectional" => format!("{functions},{functions}"),
        _ => functions.to_owned(),
    };
    // The first version of the gated unit did not ask: it is as without the attribute.
    let mut attrs: Attrs = vec![
        ("cell", Attr::Text(cell.to_owned())),
        ("activations", Attr::Text(functions)),
        ("clip", Attr::Float(call.float("clip").unwrap_or(0.0))),
        ("direction", Attr::Text(direction)),
        ("batch_first", Attr::Bool(call.flag("layout"))),
        (
            "linear_before_reset",
            Attr::Bool(call.flag("linear_before_reset")),
        ),
        ("input_forget", Attr::Bool(call.flag("input_forget"))),
    ];
    let numbers = |name: &str| {
        let given = call.floats(name).filter(|given| !given.is_empty());
        given.map(|given| Attr::Floats(given.to_vec()))
    };
    let (alphas, betas) = (numbers("activation_alpha"), numbers("activation_beta"));
    put(&mut attrs, "alphas", alphas);
    put(&mut attrs, "betas", betas);
    let (operands, slots) = call.slots()?;
    attrs.extend(slots);
    many(call.emit("nn.Recurrent", &operands, &attrs, num_results))
}
