//! Columns of several examples, without a value for each feature.

use std::sync::Arc;

use tfrt_data::Values as Components;
use tfrt_host::allocator::HostAllocator;
use tfrt_support::{Error, ErrorCode};

use super::parse::{find_features, not_an_example, read_column};
use crate::column::MaskedValues;
use crate::schema::{ColumnShape, Schema};

/// The features of examples, in columns.
#[derive(Clone, Debug)]
pub(crate) struct ExampleColumns {
    schema: Arc<Schema>,
    columns: Vec<MaskedValues>,
    num_rows: usize,
}

impl ExampleColumns {
    /// Creates columns without examples.
    pub(crate) fn new(schema: Arc<Schema>) -> Self {
        let columns = schema.columns().iter();
        Self {
            columns: columns.map(MaskedValues::new).collect(),
            schema,
            num_rows: 0,
        }
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    pub(crate) fn num_rows(&self) -> usize {
        self.num_rows
    }

    /// Adds the features of an example. Adds nothing if it fails.
    pub(crate) fn add(&mut self, example: &[u8]) -> Result<(), Error> {
        let columns = self.schema.columns();
        let mut features: Vec<Option<&[u8]>> = vec![None; columns.len()];
        find_features(example, &self.schema, &mut features).map_err(not_an_example)?;
        for (index, (column, feature)) in columns.iter().zip(features).enumerate() {
            let rows = &mut self.columns[index];
            match read_column(column, feature, &mut rows.values) {
                Ok(is_there) => rows.push_mask(is_there),
                Err(error) => {
                    self.drop_incomplete_row();
                    return Err(error);
                }
            }
        }
        self.num_rows += 1;
        Ok(())
    }

    /// Drops what was added behind the last complete row.
    #[cold]
    fn drop_incomplete_row(&mut self) {
        for (column, rows) in self.schema.columns().iter().zip(&mut self.columns) {
            rows.truncate(self.num_rows, values_per_row(&column.shape));
        }
    }

    /// Returns a tensor for each column, and one for each mask, and about how many bytes they have.
    /// No rows are left, even if it fails.
    pub(crate) fn take(
        &mut self,
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<(Components, usize), Error> {
        let columns = self.columns.iter();
        let len_bytes = columns.map(|rows| rows.values.len_bytes()).sum();
        let taken = self.take_tensors(allocator);
        self.num_rows = 0;
        if taken.is_err() {
            self.drop_incomplete_row();
        }
        Ok((taken?, len_bytes))
    }

    fn take_tensors(&mut self, allocator: &Arc<dyn HostAllocator>) -> Result<Components, Error> {
        let mut components = Components::new();
        for (column, rows) in self.schema.columns().iter().zip(&mut self.columns) {
            let dims = match &column.shape {
                ColumnShape::Fixed(dims) => &dims[..],
                ColumnShape::Scalar | ColumnShape::Variable => &[],
            };
            rows.take_tensors(self.num_rows, dims, allocator, &mut components)?;
        }
        Ok(components)
    }
}

fn values_per_row(shape: &ColumnShape) -> usize {
    super::num_values(shape).unwrap_or(0)
}

/// Refuses columns whose rows have different numbers of values: they are not a tensor.
pub(crate) fn check_batches(schema: &Schema) -> Result<(), Error> {
    let is_variable = |shape: &ColumnShape| *shape == ColumnShape::Variable;
    let mut columns = schema.columns().iter();
    match columns.find(|column| is_variable(&column.shape)) {
        None => Ok(()),
        Some(column) => {
            let message = format!(
                "feature `{}`: expected a known number of values for batches of examples, found \
                 `[?]`",
                column.name
            );
            Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
        }
    }
}
