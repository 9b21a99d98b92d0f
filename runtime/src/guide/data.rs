//! Input pipelines: where elements come from.
//!
//! Training and evaluation read samples, prepare them, shuffle them and group them into batches. A
//! *pipeline* describes these steps: it is a tree of stages, each of which produces a sequence or
//! transforms the sequence of its input.
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
//! A [`Dataset`](crate::data::Dataset) is a description. Creating one does no work, and reports
//! invalid parameters at once. A dataset never changes, and clones share it; each call of
//! `elements` starts a new pass.
//!
//! Closures take the components of an element by value and return one payload, a tuple of payloads
//! for several components, or a `Result`.
//!
//! Types are checked while a pipeline is built: the types of the elements go from the sources to
//! the last stage, and a closure or a function of a program that takes others is an error that
//! names both stages, such as `` `map` expects elements of type (i32), found (i64) from `range` ``.
//! [`Dataset::element_types`](crate::data::Dataset::element_types) tells what is known.
//!
//! # Stages
//!
//! | for | stages |
//! |---|---|
//! | sources | `range`, `from_values`, `generate`, and [files](#from-files) |
//! | each element | `map`, `parallel_map`, `filter`, `scan`, `enumerate` |
//! | parts of the sequence | `take`, `take_while`, `skip`, `shard`, `auto_shard`, `repeat`, `cache`, `prefetch` |
//! | order and choice | `shuffle`, `unique`, `rejection_resample`, `sample_from`, `choose_from` |
//! | several datasets | `zip`, `concatenate`, `interleave`, `flat_map`, `flatten` |
//! | groups | `batch`, `map_and_batch`, `padded_batch`, `ragged_batch`, `bucket_by_length`, `group_by_window`, `window`, `unbatch` |
//! | errors | `on_error`, `ignore_errors`, `assert_cardinality` |
//!
//! `shuffle_within` limits the buffer of a shuffle in bytes, too.
//!
//! # What runs when
//!
//! A consumer *draws* an element from the last stage, which draws from its input, and so on.
//! Elements are drawn only on demand, except by stages that work ahead: `prefetch` draws ahead,
//! `shuffle` fills its buffer, `interleave` opens inner datasets ahead, and `batch` draws all
//! elements of a batch at once.
//!
//! A draw never blocks. If a function of a program is not done, its results are values that become
//! available later, and the stages above continue with them. This is one source of parallelism:
//! with a `prefetch` above a `map`, as many calls are under way as elements are drawn ahead. The
//! other is `parallel_map`, whose calls are tasks of the work queue, for functions that compute and
//! closures: its second parameter is the number of calls that may be under way. The tree determines
//! the order of elements, whichever call finishes first. `in_any_order` gives this up for all
//! stages below it: results that are available overtake others. Programs use
//! `tfrt_data.options_dataset` with `deterministic = false`.
//!
//! With -1, a `parallel_map` finds this number by experiment while it runs. A
//! [`WorkAhead`](crate::data::WorkAhead) says so for other numbers, for `prefetch_with`, and for
//! `with_read_ahead`, which sets how many elements the sources of a pipeline read ahead from files;
//! in programs, the attribute `autotune` does, and `read_ahead` of `tfrt_data.options_dataset`. The
//! stages of a host experiment one after the other, each until the rate no longer rises. The
//! elements that such stages hold take at most half of the free memory, or what
//! [`PipelineOptions`](crate::data::PipelineOptions) say. If `TFRT_DATA_AUTOTUNE=off` is set,
//! stages use their largest number.
//!
//! `elements` as an [`Iterator`] waits for each element. In `async` code, `next_async` does not
//! block the thread, and with the cargo feature `stream` elements are a `futures_core::Stream`:
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
//! An element may be an error, and the elements after it still arrive. A loop therefore decides for
//! itself whether to stop, as the one above does, or to count errors and skip them. Errors of
//! closures name the stage and the number of the element; errors of programs name the kernel and
//! its place. An error in a batch makes the whole batch an error. When a request is cancelled,
//! every stage that would run for long returns the error of the cancellation.
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
//! let error = found[1].as_ref().unwrap_err();
//! assert_eq!(error.message(), "no inverse of 0, at element 1 of `map`");
//! # Ok(())
//! # }
//! ```
//!
//! Each stage may have a policy of its own, in programs as the attribute `on_error`:
//! `.on_error(OnError::Stop)?` ends the sequence behind the first error, and
//! `.on_error(OnError::Skip { max: 10 })?` skips ten errors in a pass, counts them, and logs a
//! warning at its end. The eleventh is handed on, and ends the sequence.
//!
//! Programs call the functions of maps, filters and interleaves for the end of a sequence, too, as
//! the reference does; `tfrt run --data-skip-end-calls` and `PipelineOptions` switch that off.
//!
//! # Checkpoints
//!
//! An interrupted pass can be resumed. `save` returns the state of every stage as bytes, and
//! `elements_from` delivers exactly the remaining elements, even in another process or on another
//! work queue:
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
//! A checkpoint contains the elements that stages have drawn ahead, so functions are not called for
//! them again; `save` waits until they are available. They must be numbers, strings, tensors or
//! errors. Sources record their position, so a file of records must still exist and be unchanged. A
//! shuffle over a source that can seek, such as a range of numbers, is restored without drawing
//! what it had delivered. A pipeline refuses a checkpoint if its stages, their parameters or its
//! functions differ, and names the first stage that does: a function of a program is compared with
//! its body and bound values, a closure by its place in the source. Programs use
//! `tfrt_data.iterator_save` and `tfrt_data.iterator_restore`, and `tfrt_data.write_checkpoint` and
//! `tfrt_data.read_checkpoint` for files; `kernels/models/digits/digits_train.mlir` saves a
//! training in the middle of an epoch and resumes it.
//!
//! A pipeline is not saved if a function of a program draws random numbers or has another state of
//! its own, unless the state is declared: `save` returns it as numbers, strings or tensors, and
//! `restore` brings it back. A closure with a state declares it in the same way. Otherwise, nobody
//! knows of the state, and it is not part of a checkpoint.
//!
//! ```
//! # use std::sync::Arc;
//! # use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
//! # use tfrt::data::{Dataset, IntoElementFunction};
//! # use tfrt::host::RequestContextBuilder;
//! # use tfrt::prelude::*;
//! # fn main() -> Result<()> {
//! # let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
//! let seed = Arc::new(AtomicI64::new(1));
//! let (to_save, to_restore) = (Arc::clone(&seed), Arc::clone(&seed));
//! let with_noise = move |x: i64| {
//!     let noise = seed.load(Relaxed) * 48_271 % 2_147_483_647;
//!     seed.store(noise, Relaxed);
//!     1000 * x + noise % 1000
//! };
//! let with_noise = with_noise
//!     .with_state(move || to_save.load(Relaxed), move |seed: i64| to_restore.store(seed, Relaxed));
//! let samples = Dataset::range(0, 100, 1)?.parallel_map(with_noise, 4)?.prefetch(8)?;
//!
//! let mut epoch = samples.elements::<i64, _>(&ctx);
//! epoch.by_ref().take(30).for_each(drop);
//! let checkpoint = epoch.save()?;
//! let rest: Vec<i64> = epoch.collect::<Result<_>>()?;
//! let resumed = samples.elements_from::<i64, _>(&checkpoint, &ctx)?;
//! assert_eq!(resumed.collect::<Result<Vec<_>>>()?, rest);
//! # Ok(())
//! # }
//! ```
//!
//! In programs, `save` and `restore` are attributes of the op, both or neither. Both take the bound
//! values, and `restore` then takes what `save` has returned:
//!
//! ```text
//! %noisy = tfrt_data.map_dataset %numbers, %table : !my.table { function = @add_noise, restore = @restore, save = @save }
//! ```
//!
//! Calls of these three functions never overlap: each begins when the results of the one before are
//! available, in the order of the elements, even if a `parallel_map` makes them. A function whose
//! effects may outlast its results returns their chain, too. All iterators of a dataset share the
//! state, and a restore changes it for all of them.
//!
//! `scan` and `generate` hand a state from call to call. It needs `save` and `restore` only if a
//! checkpoint cannot contain it; `save` takes that state, and `restore` returns it. Here, `save`
//! may run while components of an element are still pending.
//!
//! A checkpoint cannot contain a dataset. So the functions of `interleave` and the `reduce` of
//! `group_by_window` are called again for the datasets that are open at a checkpoint, with the
//! state of their first call: `save` runs before each of their calls. A `parallel_interleave` takes
//! no function with a state.
//!
//! # A pipeline in a program
//!
//! Each stage is an op of the dialect `tfrt_data`; `tfrt ops tfrt_data` lists them.
//! `enumerate.iterator` calls a function for every element and passes on what the function returns:
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
//! A program is refused when it is loaded if a function does not take the elements of its dataset,
//! as far as their types are known. Otherwise, the op that makes the dataset reports the error when
//! it runs.
//!
//! `tfrt opt --optimize-data` merges and removes stages: two maps become one, and a `repeat` of one
//! pass vanishes. The elements, their errors and their order stay the same. Functions with effects,
//! such as prints, are left alone. A function of tensors with the attribute
//! `tfrt_data.elementwise` is called for whole batches. The option `parallel=N` makes maps
//! parallel.
//!
//! # On several machines
//!
//! `shard` and `auto_shard` divide elements and files among workers. In a distributed program, the
//! kernels `tfrt_dist.shard_dataset` and `tfrt_dist.auto_shard_dataset` take the number of workers
//! and the position from a group of tasks. `tfrt_dist.stop_together_dataset` ends a pipeline on all
//! tasks of the group where the first of them has no further element, so that all of them take
//! the same number of steps. Its functions in Rust are in `tfrt_distributed_kernels`.
//!
//! # On a GPU
//!
//! `tfrt_data.prefetch_to_device` copies the tensors of elements to a device before the elements
//! are requested. Its elements are handles of tensors, which ops on the device take; in Rust, it is
//! `tfrt_kernels::data::device::prefetch_to_device`.
//!
//! # From files
//!
//! The crate `tfrt-readers` implements the file formats. From a CSV file to batches:
//!
//! ```standalone_crate
//! use tfrt::host::RequestContextBuilder;
//! use tfrt::prelude::*;
//! use tfrt::tensor::DenseHostTensor;
//! use tfrt_readers::csv::csv_dataset;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("tfrt-guide-csv-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # std::env::set_current_dir(&folder)?;
//! # std::fs::write("flowers.csv", "width,kind\n1.5,0\n2.5,1\n3.5,0\n")?;
//! # let mut num_rows = 0;
//! let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
//! let batches = csv_dataset("flowers.csv")?.shuffle(1000, 1, 2)?.batch(2)?;
//! for batch in batches.elements::<(DenseHostTensor, DenseHostTensor), _>(&ctx) {
//!     let (widths, kinds) = batch?; // tensors of f64 and i64, of two rows each
//! #   num_rows += widths.elements::<f64>()?.len().min(kinds.elements::<i64>()?.len());
//! }
//! # assert_eq!(num_rows, 3);
//! # std::fs::remove_dir_all(folder)?;
//! # Ok(())
//! # }
//! ```
//!
//! Put `tfrt-readers` beside `tfrt` in `Cargo.toml`. An element is a row, with a component for each
//! column: a tuple of up to twelve payloads, or a `Vec<AnyRef>` of any number of them. In a batch,
//! numbers are a `DenseHostTensor` and strings a `StringHostTensor`. Here the types of the columns
//! come from the first 1000 rows: whole numbers are `i64`, other numbers `f64`, and everything else
//! is a string. A program that knows its columns says what they are, and so gets an error for what
//! is something else:
//!
//! ```standalone_crate
//! # use tfrt::host::RequestContextBuilder;
//! # use tfrt::prelude::*;
//! use tfrt_readers::csv::CsvOptions;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("tfrt-guide-schema-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # std::env::set_current_dir(&folder)?;
//! # std::fs::write("flowers-1.csv", "height,width,kind\n2,1.5,0\n4,2.5,\n")?;
//! # let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
//! let schema = "width: f32, height: f32, kind: i64 = -1".parse()?;
//! let flowers = CsvOptions { schema: Some(schema), ..CsvOptions::default() }.dataset("flowers-*.csv")?;
//! let pairs = flowers.map(|width: f32, height: f32, kind: i64| (width * height, kind))?;
//! let pairs: Vec<(f32, i64)> = pairs.elements(&ctx).collect::<Result<_>>()?;
//! assert_eq!(pairs, [(3.0, 0), (10.0, -1)]);
//! # std::fs::remove_dir_all(folder)?;
//! # Ok(())
//! # }
//! ```
//!
//! | format | in Rust, `tfrt_readers::` | in a program, `tfrt_data.` |
//! |---|---|---|
//! | TFRecord | `tfrecord::tf_record_dataset` | `tf_record_dataset` |
//! | `tf.Example` in records | `tfrecord::TfRecordOptions::examples` | `example_dataset` |
//! | the same, in batches | `tfrecord::TfRecordOptions::example_batches` | `example_dataset` |
//! | `tf.Example` in strings | `example::parse_examples` | `parse_example_dataset` |
//! | `tf.SequenceExample` in records | `example::parse_sequence_examples` | `parse_sequence_example_dataset` |
//! | lines of text | `text::text_line_dataset` | `text_line_dataset` |
//! | names of files | `text::list_files_dataset` | `list_files_dataset` |
//! | records of a fixed length | `fixed_length::FixedLengthOptions` | `fixed_length_record_dataset` |
//! | images in folders named after labels | `image_folder::ImageFolderOptions` | `image_folder_dataset` |
//! | tar archives of samples (WebDataset) | `tar::TarOptions` | `tar_dataset` |
//! | CSV | `csv::CsvOptions` | `csv_dataset` |
//! | BTF, npy, npz, safetensors | `tensor_files::TensorFileOptions` | `btf_dataset`, `npy_dataset`, … |
//! | Parquet, Arrow | `columnar::ColumnarOptions` | `parquet_dataset`, `arrow_ipc_dataset` |
//! | folders of the library `datasets` | `dataset_folder::DatasetFolderOptions` | `dataset_folder_dataset` |
//!
//! A name may be a file, a folder, or a pattern. Files compressed with gzip are decompressed while
//! they are read. Parquet, Arrow, tar and zstd need the cargo features `parquet`, `arrow`, `tar`
//! and `zstd` of `tfrt-readers` and `tfrt-kernels`; the tool `tfrt` has all of them with
//! `--features full`. Without the feature, the dataset is an error that names it.
//!
//! The columns of a Parquet or Arrow file have types. Its rows are elements, or whole batches,
//! which is faster. `conditions` such as `"year >= 2020, kind = 'sale'"` skip the row groups of a
//! Parquet file whose statistics rule out such rows:
//!
//! ```standalone_crate,no_run
//! # use tfrt::host::RequestContextBuilder;
//! # use tfrt::prelude::*;
//! # use tfrt::tensor::DenseHostTensor;
//! use tfrt_readers::columnar::{ColumnarFormat, ColumnarOptions};
//!
//! # fn main() -> Result<()> {
//! # let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
//! let options = ColumnarOptions {
//!     columns: Some(vec!["price".into(), "amount".into()]), // all of them by default
//!     batch_size: Some(128),                                // a row is an element by default
//!     ..ColumnarOptions::default()
//! };
//! let batches = options.dataset(ColumnarFormat::Parquet, "sales/*.parquet")?;
//! for batch in batches.elements::<(DenseHostTensor, DenseHostTensor), _>(&ctx) {
//!     let (prices, amounts) = batch?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A *schema* such as `"image: str, label: i64 = -1, ids: i64 [?], weight: f32?"` describes the
//! columns of a row or the features of an example: the name, the type, the shape if it is not a
//! single value, and the default for a missing value.
//!
//! `cache::cache_in_file` and `cache::snapshot` of `tfrt_readers` keep the elements of a pipeline
//! in a file after the first whole pass, for later processes, too.
//!
//! No file can make a reader panic. An error names the file, the record and the byte. It takes the
//! place of its element, unless `on_error` asks to skip errors, which are then counted and logged,
//! or to end the sequence at the first one.
//!
//! `tfrt data inspect FILE` describes the contents of a file, `head` prints its first rows,
//! `convert` writes them in another format, and `bench` measures how fast they are read.
//!
//! # What stages hold, and what they take
//!
//! The memory of a pipeline is bounded by what its stages say. Beside the element that the consumer
//! has, a stage holds at most:
//!
//! | stage | elements |
//! |---|---|
//! | `map`, `filter`, `skip`, `take`, `take_while`, `shard`, `repeat`, `concatenate`, `ignore_errors` | none |
//! | `zip` | one of each input, until all are there |
//! | `prefetch(n)`, `prefetch_to_device` | n + 1 |
//! | `shuffle(n)` | n |
//! | `parallel_map(f, n)` | n; with n = -1, as many as there are threads and requests |
//! | `interleave(f, n, …)` | the first element of 2 n datasets |
//! | `batch(n)`, `padded_batch(n)` | n, and the batch |
//! | `map_and_batch(f, n)` | the batch, and what is under way: n, or `num_parallel` |
//! | `cache`, `memory` | all |
//! | a reader of files | 80, or the number of `with_read_ahead`; at most 64 MiB and one batch of 1 MiB |
//! | `csv` | also one chunk of 256 KiB for each thread, at most 16, and the values of its rows |
//!
//! `tfrt bench PROGRAM` and `tfrt data bench FILE` list the stages with what they deliver, how long
//! their draws take, how many are under way, how far each stage works ahead, and which stage is the
//! bottleneck; in Rust, an [`Observation`](crate::data::Observation) does. `tfrt trace` draws a
//! track for each stage.
//!
//! # Images
//!
//! The crate `tfrt-images` decodes JPEG, PNG and WebP, with the cargo features `gif` and `bmp` also
//! GIF and BMP, and crops, resizes, flips and normalises images, both as functions and as kernels
//! of the dialect `tfrt_image`. This turns a folder of images into batches:
//!
//! ```standalone_crate
//! # use tfrt::host::RequestContextBuilder;
//! use tfrt::prelude::*;
//! use tfrt::tensor::DenseHostTensor;
//! use tfrt_images::decode::decode;
//! use tfrt_images::pixels::normalize;
//! use tfrt_images::resize::{Method, resize};
//! use tfrt_readers::text::list_files_dataset;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("tfrt-guide-images-{}", std::process::id()));
//! # for (name, image) in [("photos/cat/1.png", &b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90\x77\x53\xde\x00\x00\x00\x0c\x49\x44\x41\x54\x78\x9c\x63\x38\xc1\xc5\x05\x00\x02\x7a\x00\xdd\x67\x27\x42\x7d\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82"[..]), ("photos/dog/1.png", b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90\x77\x53\xde\x00\x00\x00\x0c\x49\x44\x41\x54\x78\x9c\x63\xe0\xe2\x3a\x01\x00\x00\xfe\x00\xdd\xfa\x93\xb7\x18\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82")] {
//! #     std::fs::create_dir_all(folder.join(name).parent().unwrap())?;
//! #     std::fs::write(folder.join(name), image)?;
//! # }
//! # std::env::set_current_dir(&folder)?;
//! # let host = HostContext::builder().queue(tfrt::queue::create_queue("mstd:2")?).build();
//! # let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
//! let allocator = ctx.allocator().clone();
//! let prepare = move |path: ByteString| -> Result<(DenseHostTensor, i64)> {
//!     let path = path.to_string();
//!     let file = std::fs::read(&path).map_err(Error::other)?;
//!     let image = decode(&file, 3, &allocator)?;
//!     let image = resize(&image, [224, 224], Method::Bilinear, &allocator)?;
//!     let image = normalize(&image, 1.0 / 255.0, &[0.5], &[0.5], &allocator)?;
//!     Ok((image, i64::from(path.contains("/dog/"))))
//! };
//! let batches = list_files_dataset("photos/*/*.png")?
//!     .shuffle(1000, 1, 2)?
//!     .parallel_map(prepare, -1)?
//!     .batch(32)?
//!     .prefetch(2)?;
//! for batch in batches.elements::<(DenseHostTensor, DenseHostTensor), _>(&ctx) {
//!     let (images, labels) = batch?; // f32 [32, 224, 224, 3] and i64 [32]; the last batch has fewer
//! #   assert_eq!((images.shape().dims(), labels.num_elements()), (&[2, 224, 224, 3][..], 2));
//! }
//! # std::fs::remove_dir_all(folder)?;
//! # Ok(())
//! # }
//! ```
//!
//! `decode_upright` turns photos as the camera was held; in programs, the attribute `upright` of
//! `tfrt_image.decode` does. To cut a part out of each photo, call
//! `DecodeOptions::decode_crop_and_resize`, which does not decode the rows below the part.
//!
//! `ImageFolderOptions` of `tfrt-readers` reads folders that are named after labels, such as
//! `photos/cat`: an element is the contents of a file, a `ByteString`, and the place of its folder
//! in the order of the names, an `i64`. The example `image_folder` of `tfrt-images` is a complete
//! program.
//!
//! # A dataset of your own
//!
//! A stage consists of two types: a [`Stage`](crate::data::Stage) is the description, and a
//! [`Draw`](crate::data::Draw) is the state of one pass. A kernel makes the stage a dataset of
//! programs.
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
//! Implement `save` and `restore` of `Draw`, and `describe` of `Stage`, to support checkpoints;
//! otherwise, saving a pipeline with such a stage is an error that names the stage.
//!
//! A stage that must inspect a result before it can continue, while other requests are outstanding,
//! implements [`Machine`](crate::data::Machine) instead of `Draw`: it answers requests in order,
//! and returns the value that the oldest one waits for.
