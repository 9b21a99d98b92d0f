//! Options of all stages of a pipeline.
//!
//! The stage hands its draws on to its input. What it changes is the position of the stages below:
//! whether results may overtake each other, and by how many elements, and how far sources read
//! ahead.

use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::checked_work_ahead::CheckedWorkAhead;
use crate::dataset::{Dataset, Position, Stage, require_positive};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::work_ahead::WorkAhead;

#[derive(Clone, Debug)]
struct Options {
    input: Dataset,
    change: Change,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    InAnyOrder,
    MaxSkew(u64),
    ReadAhead(CheckedWorkAhead),
}

impl Options {
    fn keeps_order(&self) -> bool {
        !matches!(self.change, Change::InAnyOrder)
    }
}

impl Stage for Options {
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
        if !self.keeps_order() {
            to.attribute("deterministic", false);
        }
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.keeps_order() && self.input.is_cheap_to_redraw()
    }

    fn is_seekable(&self) -> bool {
        self.keeps_order() && self.input.is_seekable()
    }

    fn share_files(&self, num_workers: u64, index: u64) -> Option<Result<Dataset, Error>> {
        let share = |input| Self {
            input,
            ..self.clone()
        };
        self.input.share_files_of(num_workers, index, share)
    }

    // If several stages change the same, the one nearest to the end of the pipeline decides, as in
    // tf.data.
    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        self.input.iterator_below(match self.change {
            Change::InAnyOrder => position.in_any_order(),
            Change::MaxSkew(max_skew) => position.with_max_skew(max_skew),
            Change::ReadAhead(num_ahead) => position.reading_ahead(num_ahead),
        })
    }
}

impl Dataset {
    /// Returns the same elements in any order: in every stage of this dataset, results that are
    /// available may overtake others that are not, by at most 1000 elements unless
    /// [`with_max_skew`](Self::with_max_skew) says otherwise. The elements, their number, and the
    /// number of ends stay the same.
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
        self.with_change(Change::InAnyOrder)
    }

    /// Returns the same elements; in each stage in which results may overtake each other, at most
    /// `max_skew` elements overtake another one. The default is 1000. If several stages of a
    /// pipeline say how many, the outermost one decides.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    ///
    /// let numbers = Dataset::range(0, 10, 1)?;
    /// let nearly_in_order = numbers.prefetch_with(4, false)?.with_max_skew(2)?;
    /// assert!(numbers.with_max_skew(0).is_err());
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the number is not positive, or datasets are nested too deep.
    pub fn with_max_skew(&self, max_skew: i64) -> Result<Self, Error> {
        let max_skew = require_positive("max_skew", max_skew)?;
        self.with_change(Change::MaxSkew(max_skew.unsigned_abs()))
    }

    /// Returns the same elements, of which each source that reads files reads `num_ahead` before
    /// they are requested, in place of the number that it has chosen itself. A
    /// [tuned](WorkAhead::tuned) number is between one and this one: the smallest with which the
    /// elements arrive as fast as possible. The number -1 is found by experiment, up to 1024. If
    /// several stages of a pipeline say how many, the outermost one decides.
    ///
    /// ```
    /// use tfrt_data::{Dataset, WorkAhead};
    ///
    /// # fn read(records: &Dataset) -> Result<(), tfrt_support::Error> {
    /// let batches = records.batch(32)?.with_read_ahead(WorkAhead::tuned(500))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the number is neither -1 nor between 1 and 2^20, or datasets are nested too deep.
    pub fn with_read_ahead(&self, num_ahead: impl Into<WorkAhead>) -> Result<Self, Error> {
        let num_ahead = num_ahead.into().check("read_ahead", 1, true)?;
        self.with_change(Change::ReadAhead(num_ahead))
    }

    fn with_change(&self, change: Change) -> Result<Self, Error> {
        Self::new(Options {
            input: self.clone(),
            change,
        })
    }
}
