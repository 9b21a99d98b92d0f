//! Declarations of `coo.*`: sparse tensors in coordinate form.

use tfrt::prelude::*;

tfrt::declare_op! {
    /// Prints a sparse tensor.
    "coo.print_tensor",
    effect = "io",
    operands(tensor: "!t.tensor", in_chain: Chain),
    results(out_chain: Chain),
    format = "operands attr-dict"
}
