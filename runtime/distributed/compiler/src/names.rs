//! The ops, types and attributes that this crate reads and writes by name.

/// Executes a function of the program on another task.
pub(crate) const REMOTE_EXECUTE_FUNC: &str = "tfrt_dist.remote_execute_func";
/// Executes a program of a task, with handles of its last results.
pub(crate) const REMOTE_EXECUTE: &str = "tfrt_dist.remote_execute_th";
/// Sends a program to a task.
pub(crate) const REGISTER: &str = "tfrt_dist.register_tfrt_function";
/// Lists the devices of the results of a remote function.
pub(crate) const CREATE_SPEC: &str = "tfrt_dist.create_remote_execute_spec";
/// Returns the id of the object that the tensor of a handle is.
pub(crate) const ID_OF_HANDLE: &str = "tfrt_dist.get_remote_object_id_from_th";
/// Returns the context of the request.
pub(crate) const GET_CONTEXT: &str = "tfrt_dist.get_distributed_context";
/// Returns a context for one invocation of a function over several tasks.
pub(crate) const BEGIN_INVOCATION: &str = "tfrt_dist.begin_invocation";
/// Returns the key of a value in one invocation.
pub(crate) const INVOCATION_KEY: &str = "tfrt_dist.invocation_key";
/// Returns a task by its name.
pub(crate) const GET_TASK: &str = "tfrt_dist.get_task_handle";
/// Creates the record of the last chain of each task.
pub(crate) const CREATE_CHAINS: &str = "tfrt_dist.test_create_remote_chain_manager";
/// Returns the last chain of a task.
pub(crate) const GET_CHAIN: &str = "tfrt_dist.get_chain_for_task_handle";
/// Records the last chain of a task.
pub(crate) const SET_CHAIN: &str = "tfrt_dist.set_chain_for_task_handle";
/// Sends a payload.
pub(crate) const SEND: &str = "tfrt_dist.send_bytes";
/// Receives a payload.
pub(crate) const RECEIVE: &str = "tfrt_dist.recv_bytes";
/// Converts a handle to a payload, and back.
pub(crate) const CONVERT_HANDLE: [&str; 2] = ["tfrt_dist.serialize_th", "tfrt_dist.deserialize_th"];
/// Converts a chain to a payload, and back.
pub(crate) const CONVERT_CHAIN: [&str; 2] =
    ["tfrt_dist.serialize_chain", "tfrt_dist.deserialize_chain"];
/// Cancels the request if a chain becomes an error.
pub(crate) const CANCEL_IF_ERROR: &str = "tfrt_dist.cancel_if_error";
/// Returns the handler of ops that has a name.
pub(crate) const GET_HANDLER: &str = "corert.get_op_handler";
/// Ends the body of a function.
pub(crate) const RETURN: &str = "tfrt.return";
/// Merges chains.
pub(crate) const MERGE_CHAINS: &str = "tfrt.merge.chains";
/// Starts an order.
pub(crate) const NEW_CHAIN: &str = "tfrt.new.chain";
/// Finds a device by its name.
pub(crate) const GET_DEVICE: &str = "tfrt.get_device";
/// Returns the kind that a tensor has on a device.
pub(crate) const TENSOR_TYPE_ON_DEVICE: &str = "corert.get_dst_tensor_type";
/// Copies a handle to a device, as a tensor of a kind.
pub(crate) const TRANSFER: &str = "corert.transfer";

/// The function that an op refers to.
pub(crate) const CALLEE: &str = "callee";
/// On a function: the task that it runs on.
pub(crate) const HOST: &str = "host";
/// On an op, or among the attributes of the op that it runs: its device.
pub(crate) const DEVICE: &str = "device";
/// On an argument or a result of a function: its device.
pub(crate) const VALUE_DEVICE: &str = "tfrt.device";
/// The attributes of the op that an op runs: pairs of a name and a value.
pub(crate) const OP_ATTRIBUTES: &str = "op_attrs";
/// The name of the device that an op finds.
pub(crate) const DEVICE_NAME: &str = "device_name";

/// On an op: it starts before its operands are available, and is given errors.
pub(crate) const NON_STRICT: &str = "bef.nonstrict";
/// The name of the task that a key or an op finds.
pub(crate) const TASK_NAME: &str = "task_name";
/// The name of a value in keys.
pub(crate) const KEY_NAME: &str = "name";
/// The task of devices that belong to no cluster.
pub(crate) const LOCALHOST: &str = "/job:localhost/task:0";
/// The name of the first CPU of a task, after the name of the task.
pub(crate) const FIRST_CPU: &str = "/device:CPU:0";

pub(crate) const CHAIN_TYPE: &str = "!tfrt.chain";
pub(crate) const HANDLE_TYPE: &str = "!corert.tensorhandle";
pub(crate) const DEVICE_TYPE: &str = "!tfrt.device";
pub(crate) const TENSOR_KIND_TYPE: &str = "!tfrt.tensor_type";
pub(crate) const HANDLER_TYPE: &str = "!corert.ophandler";
pub(crate) const CONTEXT_TYPE: &str = "!tfrt_dist.dist_context";
pub(crate) const TASK_TYPE: &str = "!tfrt_dist.task_handle";
pub(crate) const CHAINS_TYPE: &str = "!tfrt_dist.remote_chain_manager";
pub(crate) const PAYLOAD_TYPE: &str = "!tfrt_dist.payload";
pub(crate) const STRING_TYPE: &str = "!tfrt.string";
pub(crate) const ID_TYPE: &str = "!tfrt_dist.remote_object_id";
pub(crate) const SPEC_TYPE: &str = "!tfrt_dist.remote_execute_spec";
