//! Input pipelines: where elements come from.
//!
//! Training and evaluation read samples, prepare them, put them in another order and hand them on in batches. A *pipeline* says how: it is
//! a tree of stages, each of which makes a sequence or changes that of its input.
//!
//! # A pipeline in Rust
//!
//! ```
//! use tfrt::data::Dataset;
//! use tfrt::host::RequestContextBuilder;
//! use tfrt::prelude::*;
//!
//! # fn main() -> Result<()> {
//! let host = HostContext::builder().build();
//! let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
//!
//! let batches = Dataset::range(0, 10, 1)?
//!     .map(|number: i64| number as f32 / 2.0)?
//!     .filter(|number: f32| number != 1.0)?
//!     .batch(4)?
//!     .prefetch(2)?;
//!
//! for batch in batches.elements::<DenseHostTensor, _>(&ctx) {
//!     println!("{}", batch?); // DenseHostTensor dtype = f32, shape = [4], values = [0.000000e+00, 5.000000e-01, …
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A [`Dataset`](crate::data::Dataset) is a description. Making one does no work, and what is wrong with its parameters is an error at
//! once. It is shared by cloning, and never changes; `elements` starts a new pass each time.
//!
//! Closures take the components of an element by value, and return one payload, a tuple of payloads for several components, or a `Result`.
//! Their parameters need types, which say what the components are. Functions of a program, [`FunctionRef`](crate::host::FunctionRef), stand
//! wherever closures do.
//!
//! # What runs when
//!
//! A consumer *draws* an element from the last stage, which draws from its input, and so on. Nothing is drawn that nobody asked for, except
//! where a stage says so: `prefetch` draws ahead, `shuffle` fills its buffer, `interleave` opens inner datasets ahead, and `batch` draws all
//! elements of a batch at once.
//!
//! A draw never blocks. If a function of a program is not done, its results are values that become available later, and the stages above
//! go on with them. This is one source of parallelism: with a `prefetch` above a `map`, as many calls are under way as elements are drawn
//! ahead. The other is `parallel_map`, whose calls are tasks of the work queue, for functions that compute and closures: its second parameter
//! says how many calls may be under way, or -1, and then the stage finds out while it runs (unless `TFRT_DATA_AUTOTUNE=off` is set, which
//! stands for one call per thread). The order of elements is that of the tree, whatever is done first.
//!
//! `elements` as an [`Iterator`] waits for each element. In `async` code, `next_async` does not block the thread:
//!
//! ```
//! use tfrt::data::Dataset;
//! use tfrt::prelude::*;
//!
//! /// The largest number of a pipeline.
//! async fn largest(numbers: &Dataset, ctx: &ExecutionContext) -> Result<Option<i64>> {
//!     let mut numbers = numbers.elements::<i64, _>(ctx);
//!     let mut largest = None;
//!     while let Some(number) = numbers.next_async().await {
//!         largest = largest.max(Some(number?));
//!     }
//!     Ok(largest)
//! }
//! ```
//!
//! # Errors
//!
//! An element may be an error: the stream goes on behind it. So a loop decides by itself whether to stop, as the one above does, or to count
//! and skip. In a batch, one error makes the batch an error. A request that is cancelled gets its error from every stage that would take
//! long.
//!
//! ```
//! # use tfrt::data::Dataset;
//! # use tfrt::host::RequestContextBuilder;
//! # use tfrt::prelude::*;
//! # fn main() -> Result<()> {
//! # let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
//! let inverse = |x: i64| match x {
//!     0 => Err(Error::new("no inverse of 0")),
//!     x => Ok(60 / x),
//! };
//! let numbers = Dataset::range(-1, 3, 1)?.map(inverse)?;
//! let found: Vec<Result<i64>> = numbers.elements(&ctx).collect();
//! assert_eq!(found.iter().flatten().collect::<Vec<_>>(), [&-60, &60, &30]);
//! assert_eq!(found[1].as_ref().unwrap_err().message(), "no inverse of 0");
//! # Ok(())
//! # }
//! ```
//!
//! # Checkpoints
//!
//! A pass that was interrupted can go on where it was. `save` returns the state of every stage as bytes; `elements_from` delivers exactly the
//! rest, in another process, too, and on another work queue:
//!
//! ```
//! # use tfrt::data::Dataset;
//! # use tfrt::host::RequestContextBuilder;
//! # use tfrt::prelude::*;
//! # fn main() -> Result<()> {
//! # let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
//! let samples = Dataset::range(0, 1000, 1)?.shuffle(100, 1, 2)?.map(|x: i64| x * x)?.prefetch(8)?;
//!
//! let mut epoch = samples.elements::<i64, _>(&ctx);
//! let seen: Vec<i64> = epoch.by_ref().take(300).collect::<Result<_>>()?;
//! let checkpoint = epoch.save()?; // beside the weights
//! drop(epoch);
//!
//! let resumed = samples.elements_from::<i64, _>(&checkpoint, &ctx)?;
//! let rest: Vec<i64> = resumed.collect::<Result<_>>()?;
//! assert_eq!(seen.len() + rest.len(), 1000);
//! # Ok(())
//! # }
//! ```
//!
//! Elements that stages have drawn ahead are part of a checkpoint, so that functions are not called for them again; `save` waits until they are
//! there. They have to be numbers, strings, tensors or errors. Sources write where they are; so a file of records must still be there, and
//! still be the same. A checkpoint is refused by a pipeline that differs in its stages, their parameters or the names of its
//! functions, with the first stage that does. Programs have `tfrt_data.iterator_save` and `tfrt_data.iterator_restore`, and
//! `tfrt_data.write_checkpoint` and `tfrt_data.read_checkpoint` for files.
//!
//! # A pipeline in a program
//!
//! Each stage is an op of the dialect `tfrt_data`; `tfrt ops tfrt_data` lists them. `enumerate.iterator` calls a function for every element
//! and hands on what the function returns:
//!
//! ```text
//! func @sum_up(%x: i64, %sum: i64) -> i64 {
//!   %next = tfrt.add.i64 %sum, %x
//!   tfrt.return %next : i64
//! }
//!
//! func @main() -> i64 {
//!   %zero = tfrt.constant.i64 0
//!   %ten = tfrt.constant.i64 10
//!   %one = tfrt.constant.i64 1
//!   %numbers = tfrt_data.range_dataset %zero, %ten, %one { element_type = i64 }
//!   %iterator = tfrt_data.make_iterator %numbers
//!   %sum = tfrt_data.enumerate.iterator %iterator, %zero { function = @sum_up } : i64
//!   tfrt.return %sum : i64
//! }
//! ```
//!
//! # From files
//!
//! The crate `tfrt-readers` has the file formats; this crate does no I/O. From a CSV file to batches:
//!
//! ```ignore
//! use tfrt_readers::csv::CsvOptions;
//!
//! let schema = "width: f32, height: f32, kind: i64 = -1".parse()?;
//! let flowers = CsvOptions { schema: Some(schema), ..CsvOptions::default() }.dataset("flowers-*.csv")?;
//! let pairs = flowers.map(|width: f32, height: f32, kind: i64| (width * height, kind))?.shuffle(1000, 1, 2)?;
//! for pair in pairs.elements::<(f32, i64), _>(&ctx) {
//!     let (area, kind) = pair?;
//! }
//! ```
//!
//! | format | in Rust, `tfrt_readers::` | in a program, `tfrt_data.` |
//! |---|---|---|
//! | TFRecord | `tfrecord::tf_record_dataset` | `tf_record_dataset` |
//! | `tf.Example` in records | `example::parse_examples` | `parse_example_dataset` |
//! | `tf.SequenceExample` in records | `example::parse_sequence_examples` | `parse_sequence_example_dataset` |
//! | lines of text | `text::text_line_dataset` | `text_line_dataset` |
//! | names of files | `text::list_files_dataset` | `list_files_dataset` |
//! | CSV | `csv::CsvOptions` | `csv_dataset` |
//! | BTF, npy, npz, safetensors | `tensor_files::TensorFileOptions` | `btf_dataset`, `npy_dataset`, … |
//! | Parquet, Arrow | `columnar::ColumnarOptions` | `parquet_dataset`, `arrow_ipc_dataset` |
//!
//! A name may be that of a file, that of a folder, or a pattern; files that are compressed with gzip are read as they are. Parquet, Arrow and
//! zstd need the cargo features `parquet`, `arrow` and `zstd` of `tfrt-readers` and `tfrt-kernels`, and the tool `tfrt` has everything with
//! `--features full`; a dataset of a format that is missing is an error that names the feature.
//!
//! A *schema* such as `"image: str, label: i64 = -1, ids: i64 [?], weight: f32?"` says what the columns of a row or the features of an
//! example are: name, type, shape if it is not a single value, and what stands for a value that is missing.
//!
//! Whatever is in a file, reading it does not panic. An error says in which file, which record and at which byte it is; it takes the place of
//! its element, unless `on_error` says that errors are skipped, which is counted and logged, or that the first one ends the sequence.
//!
//! `tfrt data inspect FILE` prints what such a file has, `head` its first rows, `convert` writes them in another format, and `bench`
//! measures how fast they are read.
//!
//! # Images
//!
//! The crate `tfrt-images` decodes JPEG, PNG and WebP, crops, resizes, flips and normalises: as functions, and as kernels of the dialect
//! `tfrt_image`. A folder of images becomes batches like this:
//!
//! ```ignore
//! use tfrt_images::decode::decode;
//! use tfrt_images::pixels::normalize;
//! use tfrt_images::resize::{Method, resize};
//!
//! let allocator = ctx.allocator().clone();
//! let prepare = move |path: ByteString| -> Result<DenseHostTensor> {
//!     let file = std::fs::read(path.to_string()).map_err(Error::other)?;
//!     let image = decode(&file, 3, &allocator)?;
//!     let image = resize(&image, [224, 224], Method::Bilinear, &allocator)?;
//!     normalize(&image, 1.0 / 255.0, &[0.5], &[0.5], &allocator)
//! };
//! let batches = list_files_dataset("photos/*.jpg")?.parallel_map(prepare, -1)?.batch(32)?.prefetch(2)?;
//! ```
//!
//! The example `image_folder` of `tfrt-images` is a whole program, with labels from the names of folders.
//!
//! # A dataset of your own
//!
//! A stage is a type with two traits' worth of functions: [`Stage`](crate::data::Stage) is the description, and
//! [`Draw`](crate::data::Draw) the state of one pass. A kernel makes it a dataset of programs.
//!
//! ```
//! use tfrt::data::{Dataset, Draw, IterationResult, Outcome, Position, Stage};
//! use tfrt::prelude::*;
//!
//! /// Every element twice.
//! #[derive(Debug)]
//! struct Doubled {
//!     input: Dataset,
//! }
//!
//! impl Stage for Doubled {
//!     fn name(&self) -> &'static str {
//!         "doubled"
//!     }
//!
//!     fn input_height(&self) -> u32 {
//!         self.input.height()
//!     }
//!
//!     fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
//!         Box::new(DoubledIterator { input: self.input.iterator_below(position), again: None })
//!     }
//! }
//!
//! #[derive(Debug)]
//! struct DoubledIterator {
//!     input: Box<dyn Draw>,
//!     again: Option<IterationResult>,
//! }
//!
//! impl Draw for DoubledIterator {
//!     fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
//!         match self.again.take() {
//!             Some(result) => result,
//!             None => self.again.insert(self.input.draw(ctx)).clone(),
//!         }
//!     }
//! }
//!
//! /// Makes a dataset of every element twice.
//! #[tfrt_kernel("my.doubled_dataset")]
//! fn doubled_dataset(input: &Dataset) -> Result<Dataset> {
//!     Dataset::new(Doubled { input: input.clone() })
//! }
//!
//! # use tfrt::host::RequestContextBuilder;
//! # fn main() -> Result<()> {
//! # let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
//! let doubled = Dataset::new(Doubled { input: Dataset::range(1, 3, 1)? })?;
//! assert_eq!(doubled.elements(&ctx).collect::<Result<Vec<i64>>>()?, [1, 1, 2, 2]);
//! # Ok(())
//! # }
//! ```
//!
//! `save` and `restore` of `Draw`, and `describe` of `Stage`, make checkpoints of it possible; without them, saving a pipeline with
//! such a stage is an error that names it.
//!
//! A stage that has to know what a result is before it can go on, while others are outstanding, implements
//! [`Machine`](crate::data::Machine) in place of `Draw`: it answers requests in their order, and says what the oldest one waits for.
