//! The results of a call that is not done: promises, and the handles that are promised.

use tfrt_async::{AnyRef, AsyncValueRef, IndirectPromise, Promise};
use tfrt_host::device::DeviceRef;
use tfrt_support::Error;

use crate::core_op::OpInvocation;
use crate::handle::{MetadataValue, TensorHandle, fill_metadata};
use crate::op::ResultMetadata;

/// Promises for the results and the chain of one call.
pub(super) struct Outputs {
    results: Vec<Output>,
    chain: Option<IndirectPromise>,
}

struct Output {
    tensor: IndirectPromise,
    /// The promised tensor, which tells its own metadata where nothing else does.
    promised: AnyRef,
    metadata: Option<Promise<MetadataValue>>,
}

impl Outputs {
    /// Promises every result of a call. What `metadata` tells is known at once.
    pub(super) fn new(
        device: &DeviceRef,
        metadata: &ResultMetadata,
        invocation: &mut OpInvocation<'_>,
        has_chain: bool,
    ) -> Self {
        let mut results = Vec::with_capacity(invocation.results.len());
        for (index, handle) in invocation.results.iter_mut().enumerate() {
            let (tensor, promised) = AnyRef::indirect();
            let known = metadata.get(index).cloned().flatten();
            let promise = match known {
                Some(metadata) => {
                    *handle = TensorHandle::new(device.clone(), metadata, promised.clone());
                    None
                }
                None => {
                    let (promise, pending) = AsyncValueRef::unconstructed();
                    *handle = TensorHandle::new(device.clone(), pending, promised.clone());
                    Some(promise)
                }
            };
            results.push(Output {
                tensor,
                promised,
                metadata: promise,
            });
        }
        let chain = invocation
            .chain
            .as_deref_mut()
            .filter(|_| has_chain)
            .map(|slot| {
                let (promise, chain) = AnyRef::indirect();
                *slot = chain;
                promise
            });
        Self { results, chain }
    }

    pub(super) fn len(&self) -> usize {
        self.results.len()
    }

    /// Keeps the promises of metadata that is known now.
    pub(super) fn publish(&mut self, metadata: &ResultMetadata) {
        for (output, metadata) in self.results.iter_mut().zip(metadata) {
            if let Some(metadata) = metadata
                && let Some(promise) = output.metadata.take()
            {
                promise.emplace(MetadataValue(metadata.clone()));
            }
        }
    }

    /// Keeps every promise with an error.
    pub(super) fn fail(self, error: &Error) {
        for output in self.results {
            // First the tensor: who waits for the metadata asks it for the error.
            output.tensor.set_error(error.clone());
            if let Some(metadata) = output.metadata {
                metadata.set_error(error.clone());
            }
        }
        if let Some(chain) = self.chain {
            chain.set_error(error.clone());
        }
    }

    /// Fulfils every promise with the results of the op. Pending metadata is taken from the
    /// tensors.
    pub(super) fn forward(self, tensors: impl Iterator<Item = AnyRef>, chain: Option<AnyRef>) {
        for (output, tensor) in self.results.into_iter().zip(tensors) {
            if let Some(error) = tensor.error_if_present().cloned() {
                drop(output.promised);
                output.tensor.forward_to(tensor);
                if let Some(metadata) = output.metadata {
                    metadata.set_error(error);
                }
                continue;
            }
            if let Some(metadata) = output.metadata {
                fill_metadata(metadata, &tensor);
            }
            drop(output.promised);
            output.tensor.forward_to(tensor);
        }
        if let Some(promise) = self.chain {
            promise.forward_to(chain.unwrap_or_else(AnyRef::ready_chain));
        }
    }
}
