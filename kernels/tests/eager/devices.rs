//! Operands on several devices.

use std::sync::Arc;

use tfrt::core::{HandlePromise, TensorHandle};
use tfrt::host::device::{CpuDevice, DeviceRef};
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::{address, device_of, two_devices};

#[test]
fn operand_whose_device_is_pending_is_copied_when_it_is_known() -> Result<()> {
    let eager = two_devices("s");
    let _scope = eager.device("CPU:1")?;
    for (device, is_copied) in [("CPU:0", true), ("CPU:1", false)] {
        let x = eager.copy_to(&eager.tensor([1.0_f32, -1.0])?, device)?;
        let (promise, later) = HandlePromise::new();
        let same = eager.op("eager_test.Same")?.call(&[&later])?;
        promise.forward_to(&x);
        assert_eq!(device_of(&same), "CPU:1");
        assert_eq!(address(&eager, &same) != address(&eager, &x), is_copied);
    }
    Ok(())
}

/// Returns its operand.
#[tfrt_op("eager_test.Same")]
fn same_tensor(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[test]
fn device_object_of_a_user_is_the_device_of_its_name() -> Result<()> {
    let eager = two_devices("s");
    let x = eager.tensor([1.0_f32])?;
    let own = DeviceRef(Arc::new(CpuDevice::new("CPU:0")));
    let mine = TensorHandle::of_value(own, x.tensor().expect("a tensor").clone());
    let there = eager.copy_to(&mine, "CPU:0")?;
    assert_eq!(address(&eager, &there), address(&eager, &x));
    Ok(())
}
