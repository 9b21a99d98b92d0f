//! Pipelines whose elements may be delivered in any order.
//!
//! The stage hands its draws on to its input. What it changes is the position of the stages below:
//! it tells them that results may overtake each other, as far as they have several under way.

use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::dataset::{Dataset, Position, Stage};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;

#[derive(Clone, Debug)]
struct AnyOrder {
    input: Dataset,
}

impl Stage for AnyOrder {
    fn name(&self) -> &'static str {
        "options"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn element_types(&self) -> ElementTypes {
        self.input.element_types()
    }

    // A checkpoint of a pipeline that keeps the order may tell how many elements to draw again.
    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("deterministic", false);
        to.input(&self.input);
    }

    fn share_files(&self, num_workers: u64, index: u64) -> Option<Result<Dataset, Error>> {
        self.input
            .share_files_of(num_workers, index, |input| Self { input })
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        self.input.iterator_below(position.in_any_order())
    }
}

impl Dataset {
    /// Returns the same elements in any order: in every stage of this dataset, results that are
    /// available may overtake others that are not, by at most 1000 elements. The elements, their
    /// number, and the number of ends stay the same.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    ///
    /// let host = HostContext::builder().build();
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    /// let squares = Dataset::range(0, 10, 1)?.parallel_map(|x: i64| x * x, 4)?.in_any_order()?;
    /// let mut found = squares.elements::<i64, _>(&ctx).collect::<Result<Vec<_>, _>>()?;
    /// found.sort_unstable();
    /// assert_eq!(found, [0, 1, 4, 9, 16, 25, 36, 49, 64, 81]);
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn in_any_order(&self) -> Result<Self, Error> {
        Self::new(AnyOrder {
            input: self.clone(),
        })
    }
}
