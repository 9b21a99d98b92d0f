//! Results and workspace that are allocated before a kernel runs.
//!
//! ```text
//!  operands ──Shaped::metadata──► metadata function ──► Preallocated::allocate ──► the kernel fills the results
//!        and attributes     └───► workspace function ─► Workspace ───────────────► and uses the workspace
//! ```
//!
//! The two functions are part of the declaration, where they can be called without a kernel: see
//! [`tfrt_ods::metadata`].

use tfrt_async::Value;
use tfrt_ods::{MetadataQuery, NoMetadata};
use tfrt_support::Error;
use tfrt_support::IntoError;
use tfrt_support::TensorMetadata;

use crate::kernel::attribute::AttrParam;
use crate::services::execution::ExecutionContext;

/// A value that has metadata, as tensors do.
///
/// ```
/// use tfrt_async::Value;
/// use tfrt_host::kernel::Shaped;
/// use tfrt_support::DType;
/// use tfrt_support::TensorMetadata;
///
/// struct Samples(Vec<f32>);
///
/// impl Value for Samples {
///     const MLIR_TYPE: &'static str = "!my.samples";
/// }
///
/// impl Shaped for Samples {
///     fn metadata(&self) -> TensorMetadata {
///         TensorMetadata::new(DType::F32, [self.0.len()])
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the metadata of `{Self}` is unknown",
    label = "not `Shaped`",
    note = "a metadata function takes the metadata of each operand that the kernel takes as `&T` \
            or `&mut T`; take operands other than tensors by value, or implement `Shaped`"
)]
pub trait Shaped: Value {
    /// Returns the metadata.
    fn metadata(&self) -> TensorMetadata;
}

/// A value that is allocated before a kernel fills it: the referent of a parameter with `#[out]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be allocated before the kernel fills it",
    label = "not `Preallocated`",
    note = "`#[out]` is only for tensors: return other results"
)]
pub trait Preallocated: Shaped + Sized {
    /// Allocates a value with this metadata and unspecified elements.
    ///
    /// # Errors
    /// If there is no memory, or no value of this type can have such metadata.
    fn allocate(ctx: &ExecutionContext, metadata: &TensorMetadata) -> Result<Self, Error>;
}

/// The possible return types of a metadata function for `N` results.
#[diagnostic::on_unimplemented(
    message = "a metadata function cannot return `{Self}` for the {N} `#[out]` parameters of this \
               kernel",
    label = "does not match the `#[out]` parameters",
    note = "return a `TensorMetadata` for one `#[out]` parameter, a tuple of them for several, or \
            a `Result` of either"
)]
pub trait MetadataAnswer<const N: usize> {
    /// Returns the metadata of each result.
    ///
    /// # Errors
    /// The error that the function returned.
    #[doc(hidden)]
    fn into_metadata(self) -> Result<[TensorMetadata; N], Error>;
}

impl MetadataAnswer<1> for TensorMetadata {
    #[inline]
    fn into_metadata(self) -> Result<[TensorMetadata; 1], Error> {
        Ok([self])
    }
}

impl<const N: usize, T: MetadataAnswer<N>, E: IntoError> MetadataAnswer<N> for Result<T, E> {
    #[inline]
    fn into_metadata(self) -> Result<[TensorMetadata; N], Error> {
        self.map_err(IntoError::into_error)?.into_metadata()
    }
}

macro_rules! impl_metadata_answer {
    ($($count:literal: ($($value:ident: $ty:ty),*);)*) => {$(
        impl MetadataAnswer<$count> for ($($ty,)*) {
            #[inline]
            fn into_metadata(self) -> Result<[TensorMetadata; $count], Error> {
                let ($($value,)*) = self;
                Ok([$($value),*])
            }
        }
    )*};
}

impl_metadata_answer! {
    2: (a: TensorMetadata, b: TensorMetadata);
    3: (a: TensorMetadata, b: TensorMetadata, c: TensorMetadata);
    4: (a: TensorMetadata, b: TensorMetadata, c: TensorMetadata, d: TensorMetadata);
}

/// The possible return types of a workspace function.
#[diagnostic::on_unimplemented(
    message = "a workspace function cannot return `{Self}`",
    label = "not a number of elements",
    note = "return a `usize`, or a `Result` of one"
)]
pub trait WorkspaceAnswer {
    /// Returns the number of elements of the workspace.
    ///
    /// # Errors
    /// The error that the function returned.
    #[doc(hidden)]
    fn into_len(self) -> Result<usize, Error>;
}

impl WorkspaceAnswer for usize {
    #[inline]
    fn into_len(self) -> Result<usize, Error> {
        Ok(self)
    }
}

impl<E: IntoError> WorkspaceAnswer for Result<usize, E> {
    #[inline]
    fn into_len(self) -> Result<usize, Error> {
        self.map_err(IntoError::into_error)
    }
}

/// A metadata or workspace function that can be called with `Arguments`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not take the expected parameters",
    label = "expected a function with the parameters `{Arguments}`",
    note = "a metadata or workspace function takes, in the order of the parameters, a \
            `&TensorMetadata` for each operand that the kernel takes as `&T` or `&mut T`, and \
            each attribute with the type of its parameter; for an op, it takes a \
            `&TensorMetadata` for every operand"
)]
pub trait AskedFunction<Arguments> {
    /// Its return type.
    type Answer;

    /// Calls it.
    fn ask(&self, arguments: Arguments) -> Self::Answer;
}

macro_rules! impl_asked_function {
    ($(($($ty:ident $value:ident),*);)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<F: Fn($($ty),*) -> R, R, $($ty),*> AskedFunction<($($ty,)*)> for F {
            type Answer = R;

            #[inline]
            fn ask(&self, ($($value,)*): ($($ty,)*)) -> R {
                self($($value),*)
            }
        }
    )*};
}

impl_asked_function! {
    ();
    (A a);
    (A a, B b);
    (A a, B b, C c);
    (A a, B b, C c, D d);
    (A a, B b, C c, D d, E e);
    (A a, B b, C c, D d, E e, G g);
    (A a, B b, C c, D d, E e, G g, H h);
    (A a, B b, C c, D d, E e, G g, H h, I i);
    (A a, B b, C c, D d, E e, G g, H h, I i, J j);
    (A a, B b, C c, D d, E e, G g, H h, I i, J j, K k);
    (A a, B b, C c, D d, E e, G g, H h, I i, J j, K k, L l);
    (A a, B b, C c, D d, E e, G g, H h, I i, J j, K k, L l, M m);
}

/// The arguments of a metadata or workspace function. Their types are known before the function,
/// which must then fit.
#[derive(Debug)]
pub struct Asked<Arguments>(Arguments);

/// Wraps the arguments of a metadata or workspace function.
#[inline]
pub fn asked_with<Arguments>(arguments: Arguments) -> Asked<Arguments> {
    Asked(arguments)
}

impl<Arguments> Asked<Arguments> {
    /// Calls the function.
    #[inline]
    pub fn says<F: AskedFunction<Arguments>>(self, function: &F) -> F::Answer {
        function.ask(self.0)
    }
}

/// Returns the metadata that a metadata function computed for `N` results.
///
/// # Errors
/// The error that the function returned.
#[inline]
pub fn metadata<const N: usize>(
    answer: impl MetadataAnswer<N>,
) -> Result<[TensorMetadata; N], Error> {
    answer.into_metadata()
}

/// Returns the answer to a query for metadata.
///
/// # Errors
/// Never.
pub fn answer<const N: usize>(
    metadata: [TensorMetadata; N],
) -> Result<Vec<TensorMetadata>, NoMetadata> {
    Ok(Vec::from(metadata))
}

/// Returns the number of elements that a workspace function computed.
///
/// # Errors
/// The error that the function returned.
#[inline]
pub fn workspace_len(answer: impl WorkspaceAnswer) -> Result<usize, Error> {
    answer.into_len()
}

/// Returns the answer to a query for the workspace, whose elements take `element_bytes` each.
///
/// # Errors
/// If the size exceeds the address space.
pub fn answer_bytes(len: usize, element_bytes: usize) -> Result<usize, NoMetadata> {
    let num_bytes = len.checked_mul(element_bytes);
    num_bytes.ok_or_else(|| NoMetadata::Refused(Error::new("the workspace is too large")))
}

/// Returns the attribute at `index` of the queried op.
///
/// # Errors
/// If it is missing, or its bytes do not hold an `A`.
pub fn queried<'a, A: AttrParam + ?Sized>(
    query: &MetadataQuery<'a>,
    index: usize,
) -> Result<A::Value<'a>, NoMetadata> {
    match query.attributes.get(index) {
        Some(&offset) => Ok(A::read(query.section, offset)?),
        None => Err(NoMetadata::Unknown),
    }
}
