//! The signature of a function, and the checks of a call: the numbers of arguments and results, and
//! the types of arguments.
//!
//! Most spellings of types may stand for several payload types; those are left to the kernels that
//! read the arguments. The spellings of numbers, strings and chains stand for one type in every
//! program. Its number is looked up when the file is loaded, so that the check is a single
//! comparison.

use std::sync::Arc;

use half::{bf16, f16};
use tfrt_async::{AnyRef, ByteString, Chain, TypeIndex};
use tfrt_host::kernel::NativeFunction;
use tfrt_support::{Error, ErrorCode, FunctionKind};

/// One function of the file.
#[derive(Debug)]
pub(crate) struct FunctionEntry {
    pub(crate) name: Box<str>,
    pub(crate) kind: FunctionKind,
    /// The spellings of types are shared with the file's table: many functions share a long one.
    pub(crate) argument_types: Box<[Arc<str>]>,
    pub(crate) result_types: Box<[Arc<str>]>,
    /// For each argument, the payload type that its spelling fixes.
    pub(crate) fixed_arguments: Box<[Option<TypeIndex>]>,
    /// The Rust function behind a native function.
    pub(crate) native: Option<NativeFunction>,
}

/// Returns, for each argument, the payload type that its spelling fixes, if it fixes one.
pub(crate) fn fixed_payloads(spellings: &[Arc<str>]) -> Box<[Option<TypeIndex>]> {
    spellings.iter().map(|ty| fixed_payload(ty)).collect()
}

impl FunctionEntry {
    /// Checks that there are as many arguments and results as declared.
    #[inline]
    pub(crate) fn check_counts(
        &self,
        num_arguments: usize,
        num_results: usize,
    ) -> Result<(), Error> {
        if self.has_counts(num_arguments, num_results) {
            Ok(())
        } else {
            let expected = (self.argument_types.len(), self.result_types.len());
            Err(self.wrong_counts(expected, (num_arguments, num_results)))
        }
    }

    /// Returns `true` if there are as many arguments and results as declared.
    #[inline]
    pub(crate) fn has_counts(&self, num_arguments: usize, num_results: usize) -> bool {
        (self.argument_types.len(), self.result_types.len()) == (num_arguments, num_results)
    }

    /// Checks the types of the arguments of a function that waits. There are as many arguments as
    /// declared. An argument that is not available, or is an error, does not have a type yet.
    ///
    /// Another thread may make an indirect argument available at any time. Only a type that is read
    /// after the value was found available counts: `is_concrete` acquires what the producer
    /// released. Reading it once before that is the fast path.
    #[inline]
    pub(crate) fn check_types(&self, arguments: &[AnyRef]) -> Result<(), Error> {
        for (index, (argument, fixed)) in arguments.iter().zip(&self.fixed_arguments).enumerate() {
            if let Some(fixed) = *fixed
                && argument.type_id() != fixed
                && argument.is_concrete()
                && argument.type_id() != fixed
            {
                return Err(self.wrong_type(index, argument));
            }
        }
        Ok(())
    }

    /// Checks that a function that does not wait can be called with these arguments, of which there
    /// are as many as declared.
    #[inline]
    pub(crate) fn check_present(&self, arguments: &[AnyRef]) -> Result<(), Error> {
        for (index, argument) in arguments.iter().enumerate() {
            if !argument.is_concrete() {
                return Err(self.not_present(index, argument));
            }
        }
        self.check_types(arguments)
    }

    #[cold]
    fn wrong_counts(&self, expected: (usize, usize), found: (usize, usize)) -> Error {
        Error::new(format!(
            "Invalid signature for function {}. Expected {} arguments and {} results, but get {} arguments and {} results",
            self.name, expected.0, expected.1, found.0, found.1
        ))
        .with_code(ErrorCode::InvalidArgument)
    }

    #[cold]
    fn wrong_type(&self, index: usize, argument: &AnyRef) -> Error {
        let expected = &*self.argument_types[index];
        // One spelling may denote several Rust types.
        let found = match argument.mlir_type() {
            None => String::from("an untyped value"),
            Some(found) if found == expected => {
                format!("a different type that is also called `{found}`")
            }
            Some(found) => format!("`{found}`"),
        };
        Error::new(format!(
            "argument {index} of function `{}`: expected `{expected}`, found {found}",
            self.name
        ))
        .with_code(ErrorCode::InvalidArgument)
    }

    /// Returns the error of a function that does not wait, for an argument without a payload.
    #[cold]
    fn not_present(&self, index: usize, argument: &AnyRef) -> Error {
        if let Some(error) = argument.error_if_present() {
            return error.clone();
        }
        Error::new(format!(
            "argument {index} of function `{}`: expected an available value of type `{}`, because \
             a synchronous function does not wait",
            self.name, self.argument_types[index]
        ))
        .with_code(ErrorCode::FailedPrecondition)
    }
}

/// Returns the payload type that a spelling stands for in every program.
fn fixed_payload(spelling: &str) -> Option<TypeIndex> {
    Some(match spelling {
        "i1" => TypeIndex::of::<bool>(),
        "i8" => TypeIndex::of::<i8>(),
        "i16" => TypeIndex::of::<i16>(),
        "i32" => TypeIndex::of::<i32>(),
        "i64" => TypeIndex::of::<i64>(),
        "ui8" => TypeIndex::of::<u8>(),
        "ui16" => TypeIndex::of::<u16>(),
        "ui32" => TypeIndex::of::<u32>(),
        "ui64" => TypeIndex::of::<u64>(),
        "f16" => TypeIndex::of::<f16>(),
        "bf16" => TypeIndex::of::<bf16>(),
        "f32" => TypeIndex::of::<f32>(),
        "f64" => TypeIndex::of::<f64>(),
        "!tfrt.chain" => TypeIndex::of::<Chain>(),
        "!tfrt.string" => TypeIndex::of::<ByteString>(),
        _ => return None,
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Barrier;

    use tfrt_async::Value;

    use super::*;

    #[test]
    fn an_argument_that_becomes_available_during_the_check_is_accepted() {
        const NUM_VALUES: usize = 20_000;
        let entry = FunctionEntry {
            name: "f".into(),
            kind: FunctionKind::Async,
            argument_types: ["i32".into()].into(),
            result_types: Box::default(),
            fixed_arguments: fixed_payloads(&["i32".into()]),
            native: None,
        };
        let (promises, values): (Vec<_>, Vec<_>) =
            (0..NUM_VALUES).map(|_| AnyRef::indirect()).unzip();
        let start = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                start.wait();
                for promise in promises {
                    promise.forward_to(AnyRef::available(7_i32));
                }
            });
            start.wait();
            for value in &values {
                while !value.is_available() {
                    entry
                        .check_types(std::slice::from_ref(value))
                        .expect("the value has the declared type as soon as it has one");
                }
            }
        });
    }

    #[test]
    fn spellings_stand_for_the_types_that_are_spelled_so() {
        fn check<T: Value>() {
            assert_eq!(fixed_payload(T::MLIR_TYPE), Some(TypeIndex::of::<T>()));
        }
        check::<bool>();
        check::<i8>();
        check::<i16>();
        check::<i32>();
        check::<i64>();
        check::<u8>();
        check::<u16>();
        check::<u32>();
        check::<u64>();
        check::<f16>();
        check::<bf16>();
        check::<f32>();
        check::<f64>();
        check::<Chain>();
        check::<ByteString>();
        assert_eq!(fixed_payload("!t.tensor"), None);
    }
}
