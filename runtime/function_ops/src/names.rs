//! The ops, types and attributes that this crate reads and writes by name.
//!
//! Other passes identify ops only by their declarations. These passes cannot: they rewrite the
//! dialect of the Core Runtime into ops of the same dialect.

use tfrt_ir::{Module, Type, TypeId};

/// Runs an op of a handler, by name.
pub(crate) const EXECUTE: &str = "corert.executeop";
/// Runs an op of a handler, by name, in an order.
pub(crate) const EXECUTE_IN_ORDER: &str = "corert.executeop.seq";
/// Makes a handle of a tensor that is written in the program.
pub(crate) const CONSTANT: &str = "corert.const_dense_tensor";
/// Finds a handler by its name.
pub(crate) const GET_HANDLER: &str = "corert.get_op_handler";
/// Makes a handler of a device.
pub(crate) const HANDLER_OF_DEVICE: &str = "corert.handler_of_device";
/// Copies a handle to a device.
pub(crate) const COPY_TO_DEVICE: &str = "corert.copy_to_device";
/// Returns the tensor of a handle, as an op takes it.
pub(crate) const OPERAND: &str = "corert.operand";
/// Returns a tensor, as an op takes it.
pub(crate) const OPERAND_OF_TENSOR: &str = "corert.operand_of_tensor";
/// Makes a handle of a tensor.
pub(crate) const HANDLE_OF_TENSOR: &str = "corert.handle_of_tensor";
/// Makes a rendezvous.
pub(crate) const RENDEZVOUS: &str = "corert.rendezvous";
/// Sends a value over an edge of a rendezvous.
pub(crate) const SEND: &str = "corert.send";
/// Receives a value over an edge of a rendezvous.
pub(crate) const RECEIVE: &str = "corert.receive";
/// Aborts a rendezvous when a value is an error.
pub(crate) const ABORT_IF_ERROR: &str = "corert.abort_if_error";
/// Calls a function.
pub(crate) const CALL: &str = "tfrt.call";
/// Ends a function.
pub(crate) const RETURN: &str = "tfrt.return";
/// Starts an order.
pub(crate) const NEW_CHAIN: &str = "tfrt.new.chain";

/// The ops that call a function of the program, which their attribute `f` names: without effects,
/// and with them.
pub(crate) const FUNCTION_CALLS: [&str; 2] = ["tf.PartitionedCall", "tf.StatefulPartitionedCall"];
/// The attribute that names the function.
pub(crate) const CALLED_FUNCTION: &str = "f";

/// On a function: the types of the tensors that its handles are of, as far as they are known.
pub(crate) const ARGUMENTS: &str = "corert.arguments";
/// On a function: the devices that it may use. The first is that of the host.
pub(crate) const DEVICES: &str = "corert.devices";
/// On a function: those of its devices that a device scope names, where one is in force.
pub(crate) const DEVICES_IN_SCOPE: &str = "corert.devices_in_scope";
/// On a function: an op that no device in scope has may run on another one.
pub(crate) const SOFT_PLACEMENT: &str = "corert.soft_placement";
/// On a function, as text: the largest number of elements for which an op on integers stays on the
/// host.
pub(crate) const MAX_SMALL_ELEMENTS: &str = "corert.max_small_elements";
/// On a function: the costs of copies between its devices. See the module `costs`.
pub(crate) const LINKS: &str = "corert.links";
/// On a function: the speeds of its devices. See the module `costs`.
pub(crate) const DEVICE_SPEEDS: &str = "corert.device_speeds";
/// On a function: the device of each handle that it takes.
pub(crate) const ARGUMENT_DEVICES: &str = "corert.argument_devices";
/// On an op: the types of the tensors that its handles are of, as far as they are known.
pub(crate) const RESULTS: &str = "corert.results";
/// On an op: the device that it runs on. Before it is placed, a part of a name will do.
pub(crate) const DEVICE: &str = "corert.device";
/// On an op: what other ops call it.
pub(crate) const NAME: &str = "corert.name";
/// On an op: it runs on the device of the op of this name.
pub(crate) const COLOCATE_WITH: &str = "corert.colocate_with";

/// The device of the host.
pub(crate) const HOST_DEVICE: &str = "CPU:0";

pub(crate) const CHAIN_TYPE: &str = "!tfrt.chain";
pub(crate) const HANDLE_TYPE: &str = "!corert.tensorhandle";
pub(crate) const HANDLER_TYPE: &str = "!corert.ophandler";
pub(crate) const TENSOR_TYPE: &str = "!t.tensor";
pub(crate) const RENDEZVOUS_TYPE: &str = "!corert.rendezvous";

/// Returns the type of a dialect that is spelled so.
pub(crate) fn dialect_type(module: &mut Module, spelling: &str) -> TypeId {
    let (dialect, body) = spelling
        .trim_start_matches('!')
        .split_once('.')
        .unwrap_or((spelling, ""));
    module.intern_type(Type::Dialect {
        dialect: dialect.into(),
        body: body.into(),
    })
}
