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

pub(crate) const CHAIN_TYPE: &str = "!tfrt.chain";
pub(crate) const HANDLE_TYPE: &str = "!corert.tensorhandle";
pub(crate) const DEVICE_TYPE: &str = "!tfrt.device";
pub(crate) const TENSOR_KIND_TYPE: &str = "!tfrt.tensor_type";
pub(crate) const ID_TYPE: &str = "!tfrt_dist.remote_object_id";
pub(crate) const SPEC_TYPE: &str = "!tfrt_dist.remote_execute_spec";
