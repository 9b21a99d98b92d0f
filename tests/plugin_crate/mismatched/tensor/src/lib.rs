//! A type with the path, the spelling and the layout of one of the runtime's, but nothing else in
//! common with it.
#![forbid(unsafe_code)]

pub mod dense {
    //! As `tfrt_tensor::dense`.

    use tfrt::prelude::*;

    const NUM_WORDS: usize = size_of::<real::DenseHostTensor>() / size_of::<usize>();

    /// As `tfrt_tensor::DenseHostTensor`.
    #[derive(Value)]
    #[value("!t.tensor")]
    pub struct DenseHostTensor(pub [usize; NUM_WORDS]);

    impl Drop for DenseHostTensor {
        fn drop(&mut self) {
            assert_eq!(self.0, [7; NUM_WORDS], "dropped as what it is");
        }
    }

    impl Default for DenseHostTensor {
        fn default() -> Self {
            Self([7; NUM_WORDS])
        }
    }
}
