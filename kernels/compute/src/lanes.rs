//! Floating-point elements as vectors of the processor.
//!
//! [`pulp::Simd`] names its operations by element type; [`Lanes`] names them once for `f32` and
//! `f64`, so a micro-kernel is written only once.

use pulp::{Arch, Simd, WithSimd};

/// An element type that vectors are made of: `f32` or `f64`.
pub(crate) trait Lanes: Copy + Send + Sync + 'static {
    /// As many elements as one register of `S` holds.
    type Vector<S: Simd>: Copy;

    const ZERO: Self;
    const ONE: Self;
    const MINUS_ZERO: Self;

    fn lanes<S: Simd>() -> usize {
        size_of::<Self::Vector<S>>() / size_of::<Self>()
    }

    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;
    fn fused_mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    fn mul<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn add<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// Returns the sum of the elements.
    fn sum<S: Simd>(simd: S, a: Self::Vector<S>) -> Self;
    /// Returns `floor` where `value < floor`, else `value`: a NaN stays.
    fn at_least<S: Simd>(
        simd: S,
        value: Self::Vector<S>,
        floor: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// Returns `ceiling` where `value > ceiling`, else `value`: a NaN stays.
    fn at_most<S: Simd>(
        simd: S,
        value: Self::Vector<S>,
        ceiling: Self::Vector<S>,
    ) -> Self::Vector<S>;

    /// Creates a vector of a slice's elements, padded with zeros.
    fn load_partial<S: Simd>(simd: S, slice: &[Self]) -> Self::Vector<S>;
    /// Stores as many elements as the slice has, at most those of a vector.
    fn store_partial<S: Simd>(simd: S, slice: &mut [Self], value: Self::Vector<S>);

    /// Returns the whole vectors at the front of a slice, and the elements left over.
    fn vectors<S: Simd>(slice: &[Self]) -> (&[Self::Vector<S>], &[Self]);
    fn vectors_mut<S: Simd>(slice: &mut [Self]) -> (&mut [Self::Vector<S>], &mut [Self]);
}

macro_rules! lanes {
    ($T:ty, $Vector:ident, $splat:ident, $mul_add:ident, $mul:ident, $add:ident, $sum:ident, $less:ident, $greater:ident, $select:ident,
     $load:ident, $store:ident, $vectors:ident, $vectors_mut:ident) => {
        impl Lanes for $T {
            type Vector<S: Simd> = S::$Vector;

            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const MINUS_ZERO: Self = -0.0;

            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> S::$Vector {
                simd.$splat(value)
            }
            #[inline(always)]
            fn fused_mul_add<S: Simd>(
                simd: S,
                a: S::$Vector,
                b: S::$Vector,
                c: S::$Vector,
            ) -> S::$Vector {
                simd.$mul_add(a, b, c)
            }
            #[inline(always)]
            fn mul<S: Simd>(simd: S, a: S::$Vector, b: S::$Vector) -> S::$Vector {
                simd.$mul(a, b)
            }
            #[inline(always)]
            fn add<S: Simd>(simd: S, a: S::$Vector, b: S::$Vector) -> S::$Vector {
                simd.$add(a, b)
            }
            #[inline(always)]
            fn sum<S: Simd>(simd: S, a: S::$Vector) -> Self {
                simd.$sum(a)
            }
            #[inline(always)]
            fn at_least<S: Simd>(simd: S, value: S::$Vector, floor: S::$Vector) -> S::$Vector {
                simd.$select(simd.$less(value, floor), floor, value)
            }
            #[inline(always)]
            fn at_most<S: Simd>(simd: S, value: S::$Vector, ceiling: S::$Vector) -> S::$Vector {
                simd.$select(simd.$greater(value, ceiling), ceiling, value)
            }
            #[inline(always)]
            fn load_partial<S: Simd>(simd: S, slice: &[Self]) -> S::$Vector {
                simd.$load(slice)
            }
            #[inline(always)]
            fn store_partial<S: Simd>(simd: S, slice: &mut [Self], value: S::$Vector) {
                simd.$store(slice, value);
            }
            #[inline(always)]
            fn vectors<S: Simd>(slice: &[Self]) -> (&[S::$Vector], &[Self]) {
                S::$vectors(slice)
            }
            #[inline(always)]
            fn vectors_mut<S: Simd>(slice: &mut [Self]) -> (&mut [S::$Vector], &mut [Self]) {
                S::$vectors_mut(slice)
            }
        }
    };
}

lanes!(
    f32,
    f32s,
    splat_f32s,
    mul_add_f32s,
    mul_f32s,
    add_f32s,
    reduce_sum_f32s,
    less_than_f32s,
    greater_than_f32s,
    select_f32s,
    partial_load_f32s,
    partial_store_f32s,
    as_simd_f32s,
    as_mut_simd_f32s
);
lanes!(
    f64,
    f64s,
    splat_f64s,
    mul_add_f64s,
    mul_f64s,
    add_f64s,
    reduce_sum_f64s,
    less_than_f64s,
    greater_than_f64s,
    select_f64s,
    partial_load_f64s,
    partial_store_f64s,
    as_simd_f64s,
    as_mut_simd_f64s
);

/// Runs `operation` with the best registers and instructions that this processor has.
#[inline(always)]
pub(crate) fn dispatch<W: WithSimd>(operation: W) -> W::Output {
    #[cfg(test)]
    match forced::instructions() {
        forced::Instructions::Best => {}
        forced::Instructions::Scalar => return forced::with(pulp::Scalar::new(), operation),
        #[cfg(target_arch = "x86_64")]
        forced::Instructions::Avx2(simd) => return forced::with(simd, operation),
    }
    Arch::new().dispatch(operation)
}

/// Runs `body` compiled for the best instructions that this processor has, so that its loops are
/// vectorised for them.
///
/// `body` must be a closure whose callees are all `#[inline(always)]`: code that is not inlined
/// into it is compiled for the least capable processor.
#[inline(always)]
pub(crate) fn vectorised<R>(body: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(body)
}

/// A level of the processor's caches.
#[derive(Clone, Copy)]
pub(crate) enum Cache {
    First,
    Second,
}

/// The bytes of a cache line.
pub(crate) const LINE_BYTES: usize = 64;

/// Prefetches the cache line of an address, which may be any, if the processor has an instruction
/// for that.
#[inline(always)]
pub(crate) fn fetch<V>(place: *const V, into: Cache) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        let place = place.cast();
        match into {
            Cache::First => {
                // SAFETY: the instruction is of SSE, which each of these processors has. It changes
                // no value and accepts every address.
                #[expect(unsafe_code, reason = "a hint to the processor")]
                unsafe {
                    _mm_prefetch::<_MM_HINT_T0>(place)
                };
            }
            Cache::Second => {
                // SAFETY: as above.
                #[expect(unsafe_code, reason = "a hint to the processor")]
                unsafe {
                    _mm_prefetch::<_MM_HINT_T1>(place)
                };
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (place, into);
}

/// The number of elements for which a plain loop takes less time than a call of code that is
/// [compiled for this processor](vectorised).
pub(crate) const FEW: usize = 8;

/// Returns how many elements of `T` fit into one register that [`dispatch`] chooses.
pub(crate) fn native_lanes<T: Lanes>() -> usize {
    struct Count<T>(std::marker::PhantomData<T>);
    impl<T: Lanes> WithSimd for Count<T> {
        type Output = usize;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> usize {
            T::lanes::<S>()
        }
    }
    dispatch(Count::<T>(std::marker::PhantomData))
}

/// Tests of what other processors would run.
#[cfg(test)]
pub(crate) mod forced {
    use std::cell::Cell;

    use pulp::{NullaryFnOnce, Simd, WithSimd};

    /// What [`dispatch`](super::dispatch) chooses on this thread.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum Instructions {
        Best,
        Scalar,
        #[cfg(target_arch = "x86_64")]
        Avx2(pulp::x86::V3),
    }

    thread_local! {
        static INSTRUCTIONS: Cell<Instructions> = const { Cell::new(Instructions::Best) };
    }

    pub(super) fn instructions() -> Instructions {
        INSTRUCTIONS.get()
    }

    /// Returns `true` if tests force no instructions.
    pub(crate) fn is_best() -> bool {
        matches!(instructions(), Instructions::Best)
    }

    /// Returns all that this processor can stand in for.
    pub(crate) fn all() -> Vec<Instructions> {
        let mut all = vec![Instructions::Best, Instructions::Scalar];
        #[cfg(target_arch = "x86_64")]
        all.extend(pulp::x86::V3::try_new().map(Instructions::Avx2));
        all
    }

    /// Runs a test with some instructions.
    pub(crate) fn run(instructions: Instructions, test: impl FnOnce()) {
        INSTRUCTIONS.set(instructions);
        test();
        INSTRUCTIONS.set(Instructions::Best);
    }

    pub(super) fn with<S: Simd, W: WithSimd>(simd: S, operation: W) -> W::Output {
        struct Run<S, W>(S, W);
        impl<S: Simd, W: WithSimd> NullaryFnOnce for Run<S, W> {
            type Output = W::Output;
            #[inline(always)]
            fn call(self) -> W::Output {
                self.1.with_simd(self.0)
            }
        }
        simd.vectorize(Run(simd, operation))
    }
}
