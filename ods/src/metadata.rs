//! Metadata functions: the properties of an op's results that are known before it runs.
//!
//! An op whose results are tensors may compute their element types and shapes from those of its
//! operands and from its attributes, without any data. The record is sufficient to allocate
//! results, plan memory and check shapes at load time, without the kernel and without a tensor
//! type.

use std::fmt;

use tfrt_support::Error;
use tfrt_support::TensorMetadata;

use crate::op::OpDef;

/// Computes the metadata of the first results of an op, one entry for each result that the op
/// preallocates.
pub type MetadataFn = fn(&MetadataQuery<'_>) -> Result<Vec<TensorMetadata>, NoMetadata>;

/// Computes the number of bytes of workspace that a run of an op needs.
pub type WorkspaceFn = fn(&MetadataQuery<'_>) -> Result<usize, NoMetadata>;

/// The input of a metadata function.
#[derive(Clone, Copy, Debug)]
pub struct MetadataQuery<'a> {
    /// The operands; `None` if nothing is known, or if the operand is not a tensor.
    pub operands: &'a [Option<TensorMetadata>],
    /// The attribute section of the file.
    pub section: &'a [u8],
    /// The offset of each attribute in the section, in byte order of their names.
    pub attributes: &'a [u32],
}

/// The reason why there is no metadata.
#[derive(Clone, Debug)]
pub enum NoMetadata {
    /// It is unknown: the op has no metadata function, or a required input is not known.
    Unknown,
    /// The op cannot run: shapes or element types do not fit each other or the attributes.
    Refused(Error),
}

impl MetadataQuery<'_> {
    /// Returns the metadata of the operand at `index`.
    ///
    /// # Errors
    /// `Unknown` if there is none.
    pub fn operand(&self, index: usize) -> Result<&TensorMetadata, NoMetadata> {
        let known = self.operands.get(index).and_then(Option::as_ref);
        known.ok_or(NoMetadata::Unknown)
    }
}

impl OpDef {
    /// Computes the metadata of the first results, one entry for each that is preallocated.
    ///
    /// ```
    /// use tfrt_ods::OpDef;
    /// use tfrt_ods::{MetadataQuery, NoMetadata};
    /// use tfrt_support::DType;
    /// use tfrt_support::TensorMetadata;
    ///
    /// static RELU: OpDef = OpDef {
    ///     metadata: Some(|query| Ok(vec![query.operand(0)?.clone()])),
    ///     ..OpDef::new("my.relu")
    /// };
    /// let matrix = TensorMetadata::new(DType::F32, [2, 3]);
    /// let operands = [Some(matrix.clone())];
    /// let known = MetadataQuery { operands: &operands, section: &[], attributes: &[] };
    /// assert_eq!(RELU.infer_metadata(&known).unwrap(), [matrix]);
    ///
    /// let unknown = MetadataQuery { operands: &[None], ..known };
    /// assert!(matches!(RELU.infer_metadata(&unknown), Err(NoMetadata::Unknown)));
    /// ```
    ///
    /// # Errors
    /// If it is unknown, or if the op cannot run.
    pub fn infer_metadata(
        &self,
        query: &MetadataQuery<'_>,
    ) -> Result<Vec<TensorMetadata>, NoMetadata> {
        self.metadata
            .map_or(Err(NoMetadata::Unknown), |infer| infer(query))
    }

    /// Computes the number of bytes of workspace that a run needs.
    ///
    /// # Errors
    /// If it is unknown, or if the op cannot run.
    pub fn infer_workspace_bytes(&self, query: &MetadataQuery<'_>) -> Result<usize, NoMetadata> {
        self.workspace
            .map_or(Err(NoMetadata::Unknown), |infer| infer(query))
    }
}

impl From<Error> for NoMetadata {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl fmt::Display for NoMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("the metadata is not known"),
            Self::Refused(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl std::error::Error for NoMetadata {}

tfrt_support::convert_errors!(NoMetadata);
