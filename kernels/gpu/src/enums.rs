//! Enumerations of the libraries, as attributes.
//!
//! Files and generic forms contain `(value << 2) | platform`; custom forms show the keyword. The
//! collectives are the exception: there the plain value is stored. Attributes of AMD's libraries
//! can be read and written, but not run.

use tfrt::kernel::AttrParam;
use tfrt::ods::AttrKind;
use tfrt::ods::{EnumCase, EnumDef, EnumNumbers, EnumOperandTypes, EnumSign};
use tfrt::prelude::*;

/// Whose device or library it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// No platform.
    None,
    /// That of NVIDIA.
    Cuda,
    /// That of AMD.
    Rocm,
}

impl AttrParam for Platform {
    type Value<'a> = Self;
    const KIND: AttrKind = AttrKind::Enum(&EnumDef {
        cases: &[
            EnumCase {
                keyword: "NONE",
                value: 0,
            },
            EnumCase {
                keyword: "CUDA",
                value: 1,
            },
            EnumCase {
                keyword: "ROCm",
                value: 2,
            },
        ],
        refusals: &["Invalid platform: "],
        sign: EnumSign::Signed,
        ..EnumDef::new("Platform")
    });

    fn read(section: &[u8], offset: u32) -> Result<Self> {
        match <i32 as AttrParam>::read(section, offset)? {
            0 => Ok(Self::None),
            1 => Ok(Self::Cuda),
            2 => Ok(Self::Rocm),
            other => Err(Error::new(format!("unknown value {other} of `Platform`"))
                .with_code(ErrorCode::InvalidArgument)),
        }
    }
}

impl Platform {
    /// Returns how programs spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Cuda => "CUDA",
            Self::Rocm => "ROCm",
        }
    }

    /// Refuses all but CUDA.
    ///
    /// # Errors
    /// `Invalid platform NONE`, `Unsupported platform ROCm`.
    pub fn expect_cuda(self) -> Result<()> {
        let what = match self {
            Self::Cuda => return Ok(()),
            Self::None => "Invalid",
            Self::Rocm => "Unsupported",
        };
        Err(Error::new(format!("{what} platform {}", self.name()))
            .with_code(ErrorCode::InvalidArgument))
    }
}

/// An enumeration with two lists of keywords.
trait Listed {
    /// Its cases, with the stored values.
    const DEF: &'static EnumDef;
}

/// Checks that a stored value is one of an enumeration.
fn check_case(def: &'static EnumDef, stored: i64) -> Result<()> {
    if def.contains(stored.into()) {
        return Ok(());
    }
    Err(
        Error::new(format!("unknown value {stored} of `{}`", def.name))
            .with_code(ErrorCode::InvalidArgument),
    )
}

/// The stored form of plain numbers of AMD's libraries.
const OF_AMD: EnumNumbers = EnumNumbers {
    scale: 4,
    offset: 2,
};

/// The end of the error for a keyword that is to determine the type of scalars.
const NO_SCALARS: &str = "unknown cudaDataType or rocblas_datatype enum";

/// Constants are of the type `i32`, so that signed integers alone would be of no use.
const INTEGERS: &[&str] = &["si32", "i32"];

macro_rules! enumerations {
    ($(
        $(#[$doc:meta])*
        $name:ident: $width:literal as $int:ident, $cuda_name:literal, $rocm_name:literal {
            cuda: $($cuda:literal = $cuda_value:literal),+;
            rocm: $($rocm:literal = $rocm_value:literal),*;
            $(scalars: $scalars:expr;)?
        }
    )+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(i64);

        impl Listed for $name {
            const DEF: &'static EnumDef = &EnumDef {
                width: $width,
                cases: &[
                    $(EnumCase { keyword: $cuda, value: ($cuda_value << 2) + 1 },)+
                    $(EnumCase { keyword: $rocm, value: ($rocm_value << 2) + 2 },)*
                ],
                refusals: &[
                    concat!("Unknown ", $cuda_name, ": "),
                    concat!("Unknown ", $rocm_name, ": "),
                ],
                // Convolutions of AMD's library have numbers.
                numbers: if $width == 64 { Some(OF_AMD) } else { None },
                sign: if $width == 64 { EnumSign::Unsigned } else { EnumSign::Signed },
                $(operand_types: Some(EnumOperandTypes { of_cases: $scalars, refusal: NO_SCALARS }),)?
                ..EnumDef::new(stringify!($name))
            };
        }

        impl $name {
            /// Returns the case that files hold as `stored`.
            ///
            /// # Errors
            /// If there is none.
            pub fn from_stored(stored: i64) -> Result<Self> {
                check_case(Self::DEF, stored)?;
                Ok(Self(stored))
            }

            /// Returns how programs spell it.
            #[must_use]
            pub fn keyword(self) -> &'static str {
                Self::DEF.keyword_of(self.0.into()).unwrap_or_default()
            }

            /// Returns the value in the library of NVIDIA.
            ///
            /// # Errors
            /// `Expected platform to be CUDA, but got ROCm`.
            pub fn cuda(self) -> Result<$int> {
                cuda_value(self.0).map(|value| value as $int)
            }
        }

        impl AttrParam for $name {
            type Value<'a> = Self;
            const KIND: AttrKind = AttrKind::Enum(Self::DEF);

            fn read(section: &[u8], offset: u32) -> Result<Self> {
                let stored = <$int as AttrParam>::read(section, offset)?;
                Self::from_stored(stored.into())
            }
        }
    )+};
}

/// Returns the value of a case of NVIDIA's.
fn cuda_value(stored: i64) -> Result<i64> {
    match stored & 3 {
        1 => Ok(stored >> 2),
        _ => Err(Error::new("Expected platform to be CUDA, but got ROCm")
            .with_code(ErrorCode::InvalidArgument)),
    }
}

enumerations! {
    /// The type of elements of matrices.
    DataType: 32 as i32, "cudaDataType", "rocblas_datatype" {
        cuda: "CUDA_R_32F" = 0, "CUDA_C_32F" = 4, "CUDA_R_64F" = 1, "CUDA_C_64F" = 5, "CUDA_R_16F" = 2, "CUDA_C_16F" = 6,
            "CUDA_R_8I" = 3, "CUDA_C_8I" = 7, "CUDA_R_8U" = 8, "CUDA_C_8U" = 9, "CUDA_R_32I" = 10, "CUDA_C_32I" = 11,
            "CUDA_R_32U" = 12, "CUDA_C_32U" = 13, "CUDA_R_16BF" = 14, "CUDA_C_16BF" = 15, "CUDA_R_4I" = 16, "CUDA_C_4I" = 17,
            "CUDA_R_4U" = 18, "CUDA_C_4U" = 19, "CUDA_R_16I" = 20, "CUDA_C_16I" = 21, "CUDA_R_16U" = 22, "CUDA_C_16U" = 23,
            "CUDA_R_64I" = 24, "CUDA_C_64I" = 25, "CUDA_R_64U" = 26, "CUDA_C_64U" = 27;
        rocm: "rocblas_datatype_f16_r" = 150, "rocblas_datatype_f32_r" = 151, "rocblas_datatype_f64_r" = 152,
            "rocblas_datatype_f16_c" = 153, "rocblas_datatype_f32_c" = 154, "rocblas_datatype_f64_c" = 155,
            "rocblas_datatype_i8_r" = 160, "rocblas_datatype_u8_r" = 161, "rocblas_datatype_i32_r" = 162,
            "rocblas_datatype_u32_r" = 163, "rocblas_datatype_i8_c" = 164, "rocblas_datatype_u8_c" = 165,
            "rocblas_datatype_i32_c" = 166, "rocblas_datatype_u32_c" = 167, "rocblas_datatype_bf16_r" = 168,
            "rocblas_datatype_bf16_c" = 169;
        scalars: &[
            ("CUDA_R_16F", &["f16"]), ("CUDA_R_32F", &["f32"]), ("CUDA_R_64F", &["f64"]), ("CUDA_R_32I", INTEGERS),
            ("CUDA_C_32F", &["complex<f32>"]), ("CUDA_C_64F", &["complex<f64>"]), ("rocblas_datatype_f16_r", &["f16"]),
            ("rocblas_datatype_f32_r", &["f32"]), ("rocblas_datatype_f64_r", &["f64"]), ("rocblas_datatype_i32_r", INTEGERS),
            ("rocblas_datatype_f32_c", &["complex<f32>"]), ("rocblas_datatype_f64_c", &["complex<f64>"]),
        ];
    }

    /// The type in which products are computed.
    ComputeType: 32 as i32, "cublasComputeType_t", "rocblas_datatype" {
        cuda: "CUBLAS_COMPUTE_16F" = 64, "CUBLAS_COMPUTE_16F_PEDANTIC" = 65, "CUBLAS_COMPUTE_32F" = 68,
            "CUBLAS_COMPUTE_32F_PEDANTIC" = 69, "CUBLAS_COMPUTE_32F_FAST_16F" = 74, "CUBLAS_COMPUTE_32F_FAST_16BF" = 75,
            "CUBLAS_COMPUTE_32F_FAST_TF32" = 77, "CUBLAS_COMPUTE_64F" = 70, "CUBLAS_COMPUTE_64F_PEDANTIC" = 71,
            "CUBLAS_COMPUTE_32I" = 72, "CUBLAS_COMPUTE_32I_PEDANTIC" = 73;
        rocm: "rocblas_datatype_f16_r" = 150, "rocblas_datatype_f32_r" = 151, "rocblas_datatype_f64_r" = 152,
            "rocblas_datatype_f16_c" = 153, "rocblas_datatype_f32_c" = 154, "rocblas_datatype_f64_c" = 155,
            "rocblas_datatype_i8_r" = 160, "rocblas_datatype_u8_r" = 161, "rocblas_datatype_i32_r" = 162,
            "rocblas_datatype_u32_r" = 163, "rocblas_datatype_i8_c" = 164, "rocblas_datatype_u8_c" = 165,
            "rocblas_datatype_i32_c" = 166, "rocblas_datatype_u32_c" = 167, "rocblas_datatype_bf16_r" = 168,
            "rocblas_datatype_bf16_c" = 169;
        scalars: &[
            ("CUBLAS_COMPUTE_16F", &["f16"]), ("CUBLAS_COMPUTE_16F_PEDANTIC", &["f16"]), ("CUBLAS_COMPUTE_32F", &["f32"]),
            ("CUBLAS_COMPUTE_32F_PEDANTIC", &["f32"]), ("CUBLAS_COMPUTE_32F_FAST_16F", &["f32"]),
            ("CUBLAS_COMPUTE_32F_FAST_16BF", &["f32"]), ("CUBLAS_COMPUTE_32F_FAST_TF32", &["f32"]),
            ("CUBLAS_COMPUTE_64F", &["f64"]), ("CUBLAS_COMPUTE_64F_PEDANTIC", &["f64"]), ("CUBLAS_COMPUTE_32I", INTEGERS),
            ("CUBLAS_COMPUTE_32I_PEDANTIC", INTEGERS), ("rocblas_datatype_f16_r", &["f16"]),
            ("rocblas_datatype_f32_r", &["f32"]), ("rocblas_datatype_f64_r", &["f64"]), ("rocblas_datatype_i32_r", INTEGERS),
            ("rocblas_datatype_f32_c", &["complex<f32>"]), ("rocblas_datatype_f64_c", &["complex<f64>"]),
        ];
    }

    /// The operation on a matrix before it is multiplied.
    Operation: 32 as i32, "cublasOperation_t", "rocblas_operation" {
        cuda: "CUBLAS_OP_N" = 0, "CUBLAS_OP_T" = 1, "CUBLAS_OP_C" = 2, "CUBLAS_OP_HERMITAN" = 2, "CUBLAS_OP_CONJG" = 3;
        rocm: "rocblas_operation_none" = 111, "rocblas_operation_transpose" = 112,
            "rocblas_operation_conjugate_transpose" = 113;
    }

    /// The triangle of a matrix that is used.
    FillMode: 32 as i32, "cublasFillMode_t", "rocblas_fill" {
        cuda: "CUBLAS_FILL_MODE_LOWER" = 0, "CUBLAS_FILL_MODE_UPPER" = 1, "CUBLAS_FILL_MODE_FULL" = 2;
        rocm: "rocblas_fill_upper" = 121, "rocblas_fill_lower" = 122, "rocblas_fill_full" = 123;
    }

    /// Whether the diagonal of a matrix is all ones.
    DiagonalType: 32 as i32, "cublasDiagType_t", "rocblas_diagonal" {
        cuda: "CUBLAS_DIAG_NON_UNIT" = 0, "CUBLAS_DIAG_UNIT" = 1;
        rocm: "rocblas_diagonal_non_unit" = 131, "rocblas_diagonal_unit" = 132;
    }

    /// On which side of the unknown a matrix stands.
    SideMode: 32 as i32, "cublasSideMode_t", "rocblas_side" {
        cuda: "CUBLAS_SIDE_LEFT" = 0, "CUBLAS_SIDE_RIGHT" = 1;
        rocm: "rocblas_side_left" = 141, "rocblas_side_right" = 142, "rocblas_side_both" = 143;
    }

    /// The algorithm of a product.
    GemmAlgorithm: 32 as i32, "cublasGemmAlgo_t", "rocblas_gemm_algo" {
        cuda: "CUBLAS_GEMM_DEFAULT" = -1, "CUBLAS_GEMM_DFALT" = -1, "CUBLAS_GEMM_ALGO0" = 0, "CUBLAS_GEMM_ALGO1" = 1,
            "CUBLAS_GEMM_ALGO2" = 2, "CUBLAS_GEMM_ALGO3" = 3, "CUBLAS_GEMM_ALGO4" = 4, "CUBLAS_GEMM_ALGO5" = 5,
            "CUBLAS_GEMM_ALGO6" = 6, "CUBLAS_GEMM_ALGO7" = 7, "CUBLAS_GEMM_ALGO8" = 8, "CUBLAS_GEMM_ALGO9" = 9,
            "CUBLAS_GEMM_ALGO10" = 10, "CUBLAS_GEMM_ALGO11" = 11, "CUBLAS_GEMM_ALGO12" = 12, "CUBLAS_GEMM_ALGO13" = 13,
            "CUBLAS_GEMM_ALGO14" = 14, "CUBLAS_GEMM_ALGO15" = 15, "CUBLAS_GEMM_ALGO16" = 16, "CUBLAS_GEMM_ALGO17" = 17,
            "CUBLAS_GEMM_ALGO18" = 18, "CUBLAS_GEMM_ALGO19" = 19, "CUBLAS_GEMM_ALGO20" = 20, "CUBLAS_GEMM_ALGO21" = 21,
            "CUBLAS_GEMM_ALGO22" = 22, "CUBLAS_GEMM_ALGO23" = 23, "CUBLAS_GEMM_DEFAULT_TENSOR_OP" = 99,
            "CUBLAS_GEMM_DFALT_TENSOR_OP" = 99, "CUBLAS_GEMM_ALGO0_TENSOR_OP" = 100, "CUBLAS_GEMM_ALGO1_TENSOR_OP" = 101,
            "CUBLAS_GEMM_ALGO2_TENSOR_OP" = 102, "CUBLAS_GEMM_ALGO3_TENSOR_OP" = 103, "CUBLAS_GEMM_ALGO4_TENSOR_OP" = 104,
            "CUBLAS_GEMM_ALGO5_TENSOR_OP" = 105, "CUBLAS_GEMM_ALGO6_TENSOR_OP" = 106, "CUBLAS_GEMM_ALGO7_TENSOR_OP" = 107,
            "CUBLAS_GEMM_ALGO8_TENSOR_OP" = 108, "CUBLAS_GEMM_ALGO9_TENSOR_OP" = 109, "CUBLAS_GEMM_ALGO10_TENSOR_OP" = 110,
            "CUBLAS_GEMM_ALGO11_TENSOR_OP" = 111, "CUBLAS_GEMM_ALGO12_TENSOR_OP" = 112, "CUBLAS_GEMM_ALGO13_TENSOR_OP" = 113,
            "CUBLAS_GEMM_ALGO14_TENSOR_OP" = 114, "CUBLAS_GEMM_ALGO15_TENSOR_OP" = 115;
        rocm: "rocblas_gemm_algo_standard" = 0;
    }

    /// The type of elements of tensors of the library for networks.
    DnnDataType: 32 as i32, "cudnnDataType_t", "miopenDataType_t" {
        cuda: "CUDNN_DATA_FLOAT" = 0, "CUDNN_DATA_DOUBLE" = 1, "CUDNN_DATA_HALF" = 2, "CUDNN_DATA_INT8" = 3,
            "CUDNN_DATA_INT32" = 4, "CUDNN_DATA_INT8x4" = 5, "CUDNN_DATA_UINT8" = 6, "CUDNN_DATA_UINT8x4" = 7,
            "CUDNN_DATA_INT8x32" = 8;
        rocm: "miopenHalf" = 0, "miopenFloat" = 1, "miopenInt32" = 2, "miopenInt8" = 3, "miopenInt8x4" = 4,
            "miopenBFloat16" = 5;
        // Scalars of half precision are `f16` by the type, and `f32` by what the library takes.
        scalars: &[
            ("CUDNN_DATA_FLOAT", &["f32"]), ("CUDNN_DATA_DOUBLE", &["f64"]), ("CUDNN_DATA_HALF", &["f32", "f16"]),
            ("miopenHalf", &["f32", "f16"]), ("miopenFloat", &["f32"]),
        ];
    }

    /// Whether the filter of a convolution is mirrored.
    ConvolutionMode: 32 as i32, "cudnnConvolutionMode_t", "miopenConvolutionMode_t" {
        cuda: "CUDNN_CONVOLUTION" = 0, "CUDNN_CROSS_CORRELATION" = 1;
        rocm: "miopenConvolution" = 0, "miopenTranspose" = 1, "miopenGroupConv" = 2, "miopenDepthwise" = 3;
    }

    /// An activation.
    ActivationMode: 32 as i32, "cudnnActivationMode_t", "miopenActivationMode_t" {
        cuda: "CUDNN_ACTIVATION_SIGMOID" = 0, "CUDNN_ACTIVATION_RELU" = 1, "CUDNN_ACTIVATION_TANH" = 2,
            "CUDNN_ACTIVATION_CLIPPED_RELU" = 3, "CUDNN_ACTIVATION_ELU" = 4, "CUDNN_ACTIVATION_IDENTITY" = 5,
            "CUDNN_ACTIVATION_SWISH" = 6;
        rocm: "miopenActivationPASTHRU" = 0, "miopenActivationLOGISTIC" = 1, "miopenActivationTANH" = 2,
            "miopenActivationRELU" = 3, "miopenActivationSOFTRELU" = 4, "miopenActivationABS" = 5,
            "miopenActivationPOWER" = 6, "miopenActivationCLIPPEDRELU" = 7, "miopenActivationLEAKYRELU" = 8,
            "miopenActivationELU" = 9;
    }

    /// The units that a convolution may use.
    MathType: 32 as i32, "cudnnMathType_t", "rocmMathType" {
        cuda: "CUDNN_DEFAULT_MATH" = 0, "CUDNN_TENSOR_OP_MATH" = 1, "CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION" = 2,
            "CUDNN_FMA_MATH" = 3;
        rocm: "ROCM_DEFAULT_MATH" = 0;
    }

    /// The algorithm of a convolution.
    ForwardAlgorithm: 64 as i64, "cudnnConvolutionFwdAlgo_t", "miopenConvFwdAlgorithm_t" {
        cuda: "CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM" = 0, "CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM" = 1,
            "CUDNN_CONVOLUTION_FWD_ALGO_GEMM" = 2, "CUDNN_CONVOLUTION_FWD_ALGO_DIRECT" = 3,
            "CUDNN_CONVOLUTION_FWD_ALGO_FFT" = 4, "CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING" = 5,
            "CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD" = 6, "CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED" = 7,
            "CUDNN_CONVOLUTION_FWD_ALGO_COUNT" = 8;
        rocm:;
    }

    /// The algorithm of the gradient of a convolution with respect to its input.
    BackwardDataAlgorithm: 64 as i64, "cudnnConvolutionBwdDataAlgo_t", "miopenConvBwdDataAlgorithm_t" {
        cuda: "CUDNN_CONVOLUTION_BWD_DATA_ALGO_0" = 0, "CUDNN_CONVOLUTION_BWD_DATA_ALGO_1" = 1,
            "CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT" = 2, "CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING" = 3,
            "CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD" = 4, "CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED" = 5,
            "CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT" = 6;
        rocm:;
    }

    /// The algorithm of the gradient of a convolution with respect to its filter.
    BackwardFilterAlgorithm: 64 as i64, "cudnnConvolutionBwdFilterAlgo_t", "miopenConvBwdWeightsAlgorithm_t" {
        cuda: "CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0" = 0, "CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1" = 1,
            "CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT" = 2, "CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3" = 3,
            "CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD" = 4, "CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED" = 5,
            "CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING" = 6, "CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT" = 7;
        rocm:;
    }

    /// A kind of Fourier transform.
    FftType: 32 as i32, "cufftType", "hipfftType" {
        cuda: "CUFFT_R2C" = 0x2a, "CUFFT_C2R" = 0x2c, "CUFFT_C2C" = 0x29, "CUFFT_D2Z" = 0x6a, "CUFFT_Z2D" = 0x6c,
            "CUFFT_Z2Z" = 0x69;
        rocm: "HIPFFT_R2C" = 0x2a, "HIPFFT_C2R" = 0x2c, "HIPFFT_C2C" = 0x29, "HIPFFT_D2Z" = 0x6a, "HIPFFT_Z2D" = 0x6c,
            "HIPFFT_Z2Z" = 0x69;
    }

    /// The direction of a Fourier transform.
    FftDirection: 32 as i32, "cufftDirection", "hipfftDirection" {
        cuda: "CUFFT_FORWARD" = -1, "CUFFT_INVERSE" = 1;
        rocm: "HIPFFT_FORWARD" = -1, "HIPFFT_INVERSE" = 1;
    }
}

macro_rules! plain_enumerations {
    ($($(#[$doc:meta])* $name:ident: $of:literal { $($keyword:literal = $value:literal),+ })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(i32);

        impl Listed for $name {
            const DEF: &'static EnumDef = &EnumDef {
                cases: &[$(EnumCase { keyword: $keyword, value: $value }),+],
                refusals: &[concat!("Unknown ", $of, ": ")],
                sign: EnumSign::Signed,
                ..EnumDef::new(stringify!($name))
            };
        }

        impl $name {
            /// Returns the value in the library.
            #[must_use]
            pub fn value(self) -> i32 {
                self.0
            }
        }

        impl AttrParam for $name {
            type Value<'a> = Self;
            const KIND: AttrKind = AttrKind::Enum(Self::DEF);

            fn read(section: &[u8], offset: u32) -> Result<Self> {
                let value = <i32 as AttrParam>::read(section, offset)?;
                check_case(Self::DEF, value.into())?;
                Ok(Self(value))
            }
        }
    )+};
}

plain_enumerations! {
    /// The type of elements of collectives.
    CclDataType: "ncclDataType_t" {
        "ncclInt8" = 0, "ncclChar" = 0, "ncclUint8" = 1, "ncclInt32" = 2, "ncclInt" = 2, "ncclUint32" = 3, "ncclInt64" = 4,
        "ncclUint64" = 5, "ncclFloat16" = 6, "ncclHalf" = 6, "ncclFloat32" = 7, "ncclFloat" = 7, "ncclFloat64" = 8,
        "ncclDouble" = 8
    }

    /// The function by which a collective combines elements.
    CclReduction: "ncclRedOp_t" {
        "ncclSum" = 0, "ncclProd" = 1, "ncclMax" = 2, "ncclMin" = 3, "ncclNumOps" = 4
    }
}

impl CclDataType {
    /// Returns the bytes of an element.
    #[must_use]
    pub fn width(self) -> usize {
        match self.0 {
            0 | 1 => 1,
            6 => 2,
            2 | 3 | 7 => 4,
            _ => 8,
        }
    }
}

/// Returns the types of the scalars that go with a case of an enumeration: none if it has no such
/// scalars.
pub(crate) fn scalar_types<E: AttrParam>(keyword: &str) -> Option<&'static [&'static str]> {
    match E::KIND {
        AttrKind::Enum(def) => def.operand_types.and_then(|types| types.of(keyword)),
        _ => None,
    }
}

/// Returns the keyword of a stored value of an enumeration.
pub(crate) fn keyword_of<E: AttrParam>(stored: i128) -> Option<&'static str> {
    match E::KIND {
        AttrKind::Enum(def) => def.keyword_of(stored),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_value_has_its_platform_in_the_low_bits() {
        let double = DataType::from_stored(4 + 1).unwrap();
        assert_eq!(
            (double.keyword(), double.cuda().unwrap()),
            ("CUDA_R_64F", 1)
        );
        let default = GemmAlgorithm::from_stored(-3).unwrap();
        assert_eq!(
            (default.keyword(), default.cuda().unwrap()),
            ("CUBLAS_GEMM_DEFAULT", -1)
        );
        let of_amd = DataType::from_stored(151 * 4 + 2).unwrap();
        assert_eq!(
            of_amd.cuda().unwrap_err().message(),
            "Expected platform to be CUDA, but got ROCm"
        );
        let of_amd = ForwardAlgorithm::from_stored(77 * 4 + 2).unwrap();
        assert!(of_amd.cuda().is_err(), "a number of AMD's library");
        for unknown in [0, 3, 4, 28 * 4 + 1, i64::MAX] {
            assert!(DataType::from_stored(unknown).is_err(), "{unknown}");
        }
    }

    #[test]
    fn scalars_have_the_type_of_their_elements() {
        let of = |keyword| scalar_types::<DataType>(keyword);
        assert_eq!(of("CUDA_R_16F"), Some(&["f16"][..]));
        assert_eq!(of("CUDA_C_32F"), Some(&["complex<f32>"][..]));
        assert_eq!(of("CUDA_R_8I"), None);
        let of = |keyword| scalar_types::<ComputeType>(keyword);
        assert_eq!(of("CUBLAS_COMPUTE_32F_FAST_TF32"), Some(&["f32"][..]));
        assert_eq!(of("CUBLAS_COMPUTE_64F_PEDANTIC"), Some(&["f64"][..]));
        let of = |keyword| scalar_types::<DnnDataType>(keyword);
        assert_eq!(of("CUDNN_DATA_DOUBLE"), Some(&["f64"][..]));
    }
}
