//! Shapes that are known at load time.
//!
//! The metadata functions of declarations compute the shapes and element types of results from
//! those of operands and from attributes. If a body says enough, kernels whose operands do not fit
//! each other are found before anything runs. Unknown shapes are not guessed: a function may still
//! be called with any arguments.

use tfrt_ods::OpDef;
use tfrt_ods::{MetadataQuery, NoMetadata};
use tfrt_support::Error;
use tfrt_support::TensorMetadata;

/// The properties of one kernel that the check needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelShapes<'a> {
    pub(crate) op: &'static OpDef,
    pub(crate) operands: &'a [u32],
    pub(crate) results: &'a [u32],
    pub(crate) attributes: &'a [u32],
}

/// Checks the kernels of a body in program order. Returns the error of the first kernel that cannot
/// run, with its number.
pub(crate) fn check<'a>(
    section: &[u8],
    num_registers: usize,
    kernels: impl Iterator<Item = KernelShapes<'a>>,
) -> Result<(), (usize, Error)> {
    // Most functions hold no tensors, and need no list.
    let mut known: Vec<Option<TensorMetadata>> = Vec::new();
    for (index, kernel) in kernels.enumerate() {
        if kernel.op.metadata.is_none() {
            continue;
        }
        known.resize(num_registers, None);
        let operands: Vec<Option<TensorMetadata>> = kernel
            .operands
            .iter()
            .map(|&register| known[register as usize].clone())
            .collect();
        let query = MetadataQuery {
            operands: &operands,
            section,
            attributes: kernel.attributes,
        };
        match kernel.op.infer_metadata(&query) {
            Ok(results) => {
                for (&register, metadata) in kernel.results.iter().zip(results) {
                    known[register as usize] = Some(metadata);
                }
            }
            Err(NoMetadata::Unknown) => {}
            Err(NoMetadata::Refused(error)) => {
                error.set_kernel_if_unset(kernel.op.name);
                return Err((index, error));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfrt_support::DType;

    static MAKE: OpDef = OpDef {
        metadata: Some(|_| Ok(vec![TensorMetadata::new(DType::F32, [2, 3])])),
        ..OpDef::new("test.make")
    };

    static NEEDS_SQUARE: OpDef = OpDef {
        metadata: Some(|query| {
            let operand = query.operand(0)?;
            if operand.extents[0] != operand.extents[1] {
                return Err(Error::new(format!("{operand} is not square")).into());
            }
            Ok(vec![operand.clone()])
        }),
        ..OpDef::new("test.needs_square")
    };

    static OPAQUE: OpDef = OpDef::new("test.opaque");

    fn kernel<'a>(op: &'static OpDef, operands: &'a [u32], results: &'a [u32]) -> KernelShapes<'a> {
        KernelShapes {
            op,
            operands,
            results,
            attributes: &[],
        }
    }

    fn run(kernels: &[KernelShapes<'_>]) -> Result<(), (usize, String)> {
        check(&[], 4, kernels.iter().copied())
            .map_err(|(index, error)| (index, error.message().to_owned()))
    }

    #[test]
    fn a_known_shape_that_does_not_fit_is_refused() {
        let refused = run(&[kernel(&MAKE, &[], &[1]), kernel(&NEEDS_SQUARE, &[1], &[2])]);
        assert_eq!(refused, Err((1, String::from("f32 [2, 3] is not square"))));
    }

    #[test]
    fn what_is_not_known_is_not_refused() {
        assert_eq!(run(&[kernel(&NEEDS_SQUARE, &[0], &[1])]), Ok(()));
        let hidden = [
            kernel(&MAKE, &[], &[1]),
            kernel(&OPAQUE, &[1], &[2]),
            kernel(&NEEDS_SQUARE, &[2], &[3]),
        ];
        assert_eq!(run(&hidden), Ok(()));
    }
}
