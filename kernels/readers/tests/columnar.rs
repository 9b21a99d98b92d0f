//! Parquet and Arrow files; without their features, what is said of that.

mod common;

use tfrt_readers::columnar::{ColumnarFormat, ColumnarOptions};

#[cfg(not(feature = "parquet"))]
#[test]
fn a_format_whose_feature_is_off_is_an_error_that_names_it() {
    let options = ColumnarOptions::default();
    for (format, message) in [
        (
            ColumnarFormat::Parquet,
            "Parquet files need the cargo feature `parquet` of `tfrt-readers`",
        ),
        (
            ColumnarFormat::Arrow,
            "Arrow files need the cargo feature `arrow` of `tfrt-readers`",
        ),
    ] {
        let error = options.dataset(format, "x").unwrap_err();
        assert_eq!(error.message(), message);
    }
}

#[cfg(all(feature = "parquet", feature = "arrow"))]
mod both {
    use std::fs::File;
    use std::sync::Arc;

    use arrow_array::types::{Float32Type, Int8Type};
    use arrow_array::{
        ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, DurationMillisecondArray,
        FixedSizeListArray, Float16Array, Float32Array, Float64Array, Int8Array, Int32Array,
        Int64Array, LargeBinaryArray, RecordBatch, StringArray, StringViewArray, StructArray,
        Time32SecondArray, Time64MicrosecondArray, TimestampMillisecondArray, UInt32Array,
    };
    use half::f16;
    use tfrt_async::{AnyRef, ByteString};
    use tfrt_readers::columnar::{Nulls, summarize, write_columns};
    use tfrt_readers::files::OpenFile;
    use tfrt_support::DType;
    use tfrt_tensor::{DenseHostTensor, Shape, StringHostTensor};

    use super::common::{Folder, all, context, good};
    use super::{ColumnarFormat, ColumnarOptions};

    const FORMATS: [ColumnarFormat; 2] = [ColumnarFormat::Parquet, ColumnarFormat::Arrow];

    /// Columns of many kinds, of three rows.
    fn sample() -> RecordBatch {
        let list = |row: [f32; 2]| Some(row.map(Some).to_vec());
        let lists = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(
            [list([1.0, 2.0]), list([3.0, 4.0]), list([5.0, 6.0])],
            2,
        );
        let words: DictionaryArray<Int8Type> = ["red", "blue", "red"].into_iter().collect();
        let inner: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
        let columns: [(&str, ArrayRef); 7] = [
            ("id", Arc::new(Int64Array::from(vec![10, 20, 30]))),
            (
                "gaps",
                Arc::new(Float64Array::from(vec![Some(0.5), None, Some(2.5)])),
            ),
            ("is", Arc::new(BooleanArray::from(vec![true, false, true]))),
            (
                "name",
                Arc::new(StringArray::from(vec![Some("a"), Some("bb"), None])),
            ),
            ("pair", Arc::new(lists)),
            ("word", Arc::new(words)),
            (
                "at",
                Arc::new(TimestampMillisecondArray::from(vec![1, 2, 3])),
            ),
        ];
        let nested = StructArray::try_from(vec![("x", inner)]).unwrap();
        let nested: ArrayRef = Arc::new(nested);
        let columns = columns.into_iter().chain([("nested", nested)]);
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn write(folder: &Folder, format: ColumnarFormat, batch: &RecordBatch) -> String {
        let path = folder.path(format.name());
        let file = File::create(&path).unwrap();
        match format {
            ColumnarFormat::Parquet => {
                let mut writer =
                    parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
                writer.write(batch).unwrap();
                writer.flush().unwrap();
                writer.write(batch).unwrap();
                writer.close().unwrap();
            }
            ColumnarFormat::Arrow => {
                let mut writer =
                    arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
                writer.write(batch).unwrap();
                writer.write(batch).unwrap();
                writer.finish().unwrap();
            }
        }
        path
    }

    fn columns(names: &[&str]) -> ColumnarOptions {
        ColumnarOptions {
            columns: Some(names.iter().map(|&name| name.to_owned()).collect()),
            ..ColumnarOptions::default()
        }
    }

    #[test]
    fn rows_have_the_columns_that_are_asked_for_in_their_order() {
        let folder = Folder::new("columnar");
        for format in FORMATS {
            let path = write(&folder, format, &sample());
            let rows = columns(&["word", "id", "is"])
                .dataset(format, &*path)
                .unwrap();
            let rows: Vec<(ByteString, i64, bool)> = good(&rows);
            assert_eq!(rows.len(), 6);
            assert_eq!(rows[1], ("blue".into(), 20, false));
            assert_eq!(rows[5], ("red".into(), 30, true));
            let rows = columns(&["pair", "at"]).dataset(format, &*path).unwrap();
            let rows: Vec<(DenseHostTensor, i64)> = good(&rows);
            assert_eq!(*rows[4].0.elements::<f32>().unwrap(), [3.0, 4.0]);
            assert_eq!(rows[4].1, 2);
            let batched = ColumnarOptions {
                batch_size: Some(2),
                ..columns(&["id"])
            };
            let batches: Vec<DenseHostTensor> = good(&batched.dataset(format, &*path).unwrap());
            assert_eq!(*batches[0].elements::<i64>().unwrap(), [10, 20]);
            let num_rows: usize = batches.iter().map(DenseHostTensor::num_elements).sum();
            assert_eq!(num_rows, 6);
        }
    }

    #[test]
    fn missing_values_are_an_error_a_default_or_masked() {
        let folder = Folder::new("columnar-nulls");
        for format in FORMATS {
            let path = write(&folder, format, &sample());
            let with = |nulls, names: &[&str]| {
                let options = ColumnarOptions {
                    nulls,
                    ..columns(names)
                };
                options.dataset(format, &*path).unwrap()
            };
            let found: Vec<Result<f64, String>> = all(&with(Nulls::Error, &["gaps"]));
            let message = format!("{path}: row 1, column `gaps`: expected a value, found none");
            assert_eq!(found[0], Err(message));
            let found: Vec<(f64, ByteString)> = good(&with(Nulls::Default, &["gaps", "name"]));
            assert!(found[1].0.is_nan() && found[2].1.is_empty());
            let found: Vec<(f64, bool, ByteString, bool)> =
                good(&with(Nulls::Mask, &["gaps", "name"]));
            assert_eq!((found[1].1, found[1].3, found[2].3), (false, true, false));
        }
    }

    #[test]
    fn other_columns_are_refused_by_name() {
        let folder = Folder::new("columnar-refused");
        for format in FORMATS {
            let path = write(&folder, format, &sample());
            let found: Vec<Result<i64, String>> =
                all(&columns(&["nested"]).dataset(format, &*path).unwrap());
            let message = found[0].as_ref().unwrap_err();
            let start = format!("{path}: column `nested`: columns of Struct(");
            assert!(message.starts_with(&start), "{message}");
            let found: Vec<Result<i64, String>> =
                all(&columns(&["none"]).dataset(format, &*path).unwrap());
            let message = found[0].as_ref().unwrap_err();
            assert!(
                message.starts_with(&format!(
                    "{path}: expected a column `none`, found `id`, `gaps`"
                )),
                "{message}"
            );
        }
    }

    /// The rows of one column of a file with one record batch or row group.
    fn rows_of<T: tfrt_data::FromValues<M>, M>(array: ArrayRef, nulls: Nulls) -> Vec<Vec<T>> {
        let folder = Folder::new("columnar-types");
        let batch = RecordBatch::try_from_iter_with_nullable([("x", array, true)]).unwrap();
        let rows = FORMATS.map(|format| {
            let path = write(&folder, format, &batch);
            let options = ColumnarOptions {
                nulls,
                ..ColumnarOptions::default()
            };
            let mut rows: Vec<T> = good(&options.dataset(format, &*path).unwrap());
            // The file has the batch twice.
            rows.truncate(rows.len() / 2);
            rows
        });
        rows.into()
    }

    fn dictionary(values: ArrayRef) -> ArrayRef {
        let keys = Int8Array::from(vec![Some(1), None, Some(0), Some(1)]);
        Arc::new(DictionaryArray::try_new(keys, values).unwrap())
    }

    #[test]
    fn dictionaries_of_all_types_are_decoded() {
        let whole = rows_of::<i64, _>(
            dictionary(Arc::new(Int64Array::from(vec![7, 8]))),
            Nulls::Default,
        );
        assert_eq!(whole, [[8, 0, 7, 8], [8, 0, 7, 8]]);
        for rows in rows_of::<f64, _>(
            dictionary(Arc::new(Float64Array::from(vec![0.5, 1.5]))),
            Nulls::Default,
        ) {
            assert!(rows[1].is_nan());
            assert_eq!([rows[0], rows[2], rows[3]], [1.5, 0.5, 1.5]);
        }
        let texts: [ArrayRef; 2] = [
            Arc::new(StringViewArray::from(vec!["a", "bb"])),
            Arc::new(LargeBinaryArray::from(vec![&b"a"[..], b"bb"])),
        ];
        for values in texts {
            for rows in rows_of::<ByteString, _>(dictionary(values), Nulls::Default) {
                assert_eq!(rows, ["bb", "", "a", "bb"].map(ByteString::from));
            }
        }
    }

    #[test]
    fn a_dictionary_that_stands_for_too_much_is_refused() {
        let folder = Folder::new("columnar-large-dictionary");
        let large = "x".repeat(1 << 20);
        let values: ArrayRef = Arc::new(StringArray::from(vec![large]));
        let keys = Int32Array::from(vec![0; 1025]);
        let column: ArrayRef = Arc::new(DictionaryArray::try_new(keys, values).unwrap());
        let batch = RecordBatch::try_from_iter([("x", column)]).unwrap();
        let path = write(&folder, ColumnarFormat::Arrow, &batch);
        let options = ColumnarOptions {
            batch_size: Some(2000),
            ..ColumnarOptions::default()
        };
        let rows = options.dataset(ColumnarFormat::Arrow, &*path).unwrap();
        let found: Vec<Result<DenseHostTensor, String>> = all(&rows);
        let expected = format!(
            "{path}: column `x`: expected a dictionary whose rows have at most 1073741824 bytes, \
             found 1025 rows of up to 1048576 bytes"
        );
        assert_eq!(found[0].as_ref().unwrap_err(), &expected);
    }

    #[test]
    fn times_and_durations_are_integers_and_halves_are_halves() {
        let at = Arc::new(Time32SecondArray::from(vec![1, 86_399]));
        assert_eq!(rows_of::<i32, _>(at, Nulls::Error), [[1, 86_399]; 2]);
        let at = Arc::new(Time64MicrosecondArray::from(vec![1, 2]));
        assert_eq!(rows_of::<i64, _>(at, Nulls::Error), [[1, 2]; 2]);
        let long = Arc::new(DurationMillisecondArray::from(vec![-1, 2]));
        assert_eq!(rows_of::<i64, _>(long, Nulls::Error), [[-1, 2]; 2]);
        let halves = [0.5, -2.0].map(f16::from_f32);
        let column = Arc::new(Float16Array::from(halves.to_vec()));
        assert_eq!(rows_of::<f16, _>(column, Nulls::Error), [halves; 2]);
    }

    #[test]
    fn files_with_one_row_group_are_divided_by_file() {
        let folder = Folder::new("columnar-files");
        for (name, ids) in [("a", [1, 2]), ("b", [3, 4]), ("c", [5, 6])] {
            let column: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
            let batch = RecordBatch::try_from_iter([("id", column)]).unwrap();
            let file = File::create(folder.path(&format!("{name}.parquet"))).unwrap();
            let mut writer =
                parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
        }
        let part = |index| {
            let options = ColumnarOptions {
                row_groups: Some((2, index)),
                ..columns(&["id"])
            };
            let files = folder.path("*.parquet");
            good::<i64, _>(&options.dataset(ColumnarFormat::Parquet, &*files).unwrap())
        };
        assert_eq!((part(0), part(1)), (vec![1, 2, 5, 6], vec![3, 4]));
    }

    #[test]
    fn errors_count_the_rows_of_groups_that_are_left_out() {
        let folder = Folder::new("columnar-rows");
        let path = write(&folder, ColumnarFormat::Parquet, &sample());
        let options = ColumnarOptions {
            row_groups: Some((2, 1)),
            ..columns(&["gaps"])
        };
        let rows = options.dataset(ColumnarFormat::Parquet, &*path).unwrap();
        let found: Vec<Result<f64, String>> = all(&rows);
        let message = format!("{path}: row 4, column `gaps`: expected a value, found none");
        assert_eq!(found[0], Err(message));
    }

    #[test]
    fn row_groups_can_be_divided() {
        let folder = Folder::new("columnar-groups");
        let path = write(&folder, ColumnarFormat::Parquet, &sample());
        let part = |index| {
            let options = ColumnarOptions {
                row_groups: Some((2, index)),
                ..columns(&["id"])
            };
            good::<i64, _>(&options.dataset(ColumnarFormat::Parquet, &*path).unwrap())
        };
        assert_eq!([part(0), part(1)], [[10, 20, 30], [10, 20, 30]]);
        let none = ColumnarOptions {
            row_groups: Some((2, 2)),
            ..columns(&["id"])
        };
        let error = none.dataset(ColumnarFormat::Parquet, &*path).unwrap_err();
        assert_eq!(error.message(), "index must be between 0 and 1, not 2");
    }

    /// Writes a file of three row groups, whose columns have 0 to 2, 10 to 12 and 20 to 22.
    fn write_groups(folder: &Folder) -> String {
        let path = folder.path("groups.parquet");
        let batch = |first: i64| {
            let numbers = || first..first + 3;
            let columns: [(&str, ArrayRef); 5] = [
                ("id", Arc::new(Int64Array::from_iter_values(numbers()))),
                // Negative as signed numbers.
                (
                    "unsigned",
                    Arc::new(UInt32Array::from_iter_values(
                        numbers().map(|x| u32::MAX - 40 + x as u32),
                    )),
                ),
                (
                    "half",
                    Arc::new(Float32Array::from_iter_values(
                        numbers().map(|x| x as f32 + 0.5),
                    )),
                ),
                (
                    "name",
                    Arc::new(StringArray::from_iter_values(
                        numbers().map(|x| format!("n{x:02}")),
                    )),
                ),
                (
                    "price",
                    Arc::new(
                        Decimal128Array::from_iter_values(numbers().map(i128::from))
                            .with_precision_and_scale(9, 2)
                            .unwrap(),
                    ),
                ),
            ];
            RecordBatch::try_from_iter(columns).unwrap()
        };
        let file = File::create(&path).unwrap();
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(file, batch(0).schema(), None).unwrap();
        for first in [0, 10, 20] {
            writer.write(&batch(first)).unwrap();
            writer.flush().unwrap();
        }
        writer.close().unwrap();
        path
    }

    #[test]
    fn row_groups_without_a_row_that_satisfies_the_conditions_are_left_out() {
        let folder = Folder::new("columnar-conditions");
        let path = write_groups(&folder);
        let ids = |conditions: &str| {
            let options = ColumnarOptions {
                conditions: Some(conditions.parse().unwrap()),
                ..columns(&["id"])
            };
            let rows = options.dataset(ColumnarFormat::Parquet, &*path).unwrap();
            let ids: Result<Vec<i64>, String> = all(&rows).into_iter().collect();
            // The first row of each row group tells which it is.
            ids.map(|ids| ids.into_iter().step_by(3).collect::<Vec<i64>>())
        };
        assert_eq!(ids("id >= 12"), Ok(vec![10, 20]));
        assert_eq!(ids("id >= 12, id < 20"), Ok(vec![10]));
        assert_eq!(ids("id = 5"), Ok(vec![]));
        assert_eq!(ids("unsigned > 4294967274"), Ok(vec![20]));
        assert_eq!(ids("half < 10.5"), Ok(vec![0]));
        assert_eq!(ids("name = 'n11'"), Ok(vec![10]));
        // The statistics of decimals have another scale than the text.
        assert_eq!(ids("price > 1"), Ok(vec![0, 10, 20]));
        let start = format!("{path}: conditions: ");
        assert_eq!(
            ids("name > 3"),
            Err(format!(
                "{start}column `name` is compared with a number, and has values of type BYTE_ARRAY"
            ))
        );
        assert_eq!(
            ids("none > 3"),
            Err(format!(
                "{start}expected a column `none`, found `id`, `unsigned`, `half`, `name`, `price`"
            ))
        );
    }

    #[test]
    fn rows_behind_row_groups_that_are_left_out_keep_their_numbers() {
        let folder = Folder::new("columnar-conditions-rows");
        let batch = |first: i64, gap: Option<f64>| {
            let columns: [(&str, ArrayRef); 2] = [
                ("id", Arc::new(Int64Array::from(vec![first, first + 1]))),
                ("gaps", Arc::new(Float64Array::from(vec![Some(0.5), gap]))),
            ];
            RecordBatch::try_from_iter_with_nullable(
                columns.map(|(name, column)| (name, column, true)),
            )
            .unwrap()
        };
        let path = folder.path("gaps.parquet");
        let file = File::create(&path).unwrap();
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(file, batch(0, None).schema(), None).unwrap();
        for (first, gap) in [(0, Some(1.0)), (10, None)] {
            writer.write(&batch(first, gap)).unwrap();
            writer.flush().unwrap();
        }
        writer.close().unwrap();
        let options = ColumnarOptions {
            conditions: Some("id > 5".parse().unwrap()),
            ..columns(&["gaps"])
        };
        let rows = options.dataset(ColumnarFormat::Parquet, &*path).unwrap();
        let found: Vec<Result<f64, String>> = all(&rows);
        let message = format!("{path}: row 3, column `gaps`: expected a value, found none");
        assert_eq!(found, [Err(message)]);
    }

    #[test]
    fn row_groups_with_missing_values_are_kept_unless_these_are_refused() {
        let folder = Folder::new("columnar-conditions-missing");
        let path = folder.path("missing.parquet");
        let ids = Int64Array::from(vec![Some(5), None, Some(9)]);
        let column = [("id", Arc::new(ids) as ArrayRef, true)];
        let batch = RecordBatch::try_from_iter_with_nullable(column).unwrap();
        let file = File::create(&path).unwrap();
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let rows = |nulls: Nulls| -> Vec<i64> {
            let options = ColumnarOptions {
                conditions: Some("id = 0".parse().unwrap()),
                nulls,
                ..columns(&["id"])
            };
            good(&options.dataset(ColumnarFormat::Parquet, &*path).unwrap())
        };
        // A missing value becomes zero, which the statistics do not cover.
        assert_eq!(rows(Nulls::Default), [5, 0, 9]);
        assert_eq!(rows(Nulls::Error), [] as [i64; 0]);
    }

    #[test]
    fn conditions_need_a_format_with_statistics() {
        let options = ColumnarOptions {
            conditions: Some("id > 5".parse().unwrap()),
            ..ColumnarOptions::default()
        };
        let error = options.dataset(ColumnarFormat::Arrow, "x").unwrap_err();
        let message =
            "conditions need the statistics of Parquet files, which `arrow_ipc` files lack";
        assert_eq!(error.message(), message);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = Folder::new("columnar-written");
        for format in FORMATS {
            let path = folder.path(format.name());
            let names = [
                ("x".to_owned(), DType::F32),
                ("s".to_owned(), DType::String),
            ];
            let mut writer = write_columns(format, File::create(&path).unwrap(), &names).unwrap();
            let numbers = DenseHostTensor::vector(&[0.5_f32, -1.0]).unwrap();
            let strings =
                StringHostTensor::new(Shape::new(&[2]).unwrap(), vec![b"a".into(), b"\xff".into()]);
            writer
                .write(&[
                    AnyRef::available(numbers),
                    AnyRef::available(strings.unwrap()),
                ])
                .unwrap();
            writer.finish().unwrap();
            drop(writer);
            let rows: Vec<(f32, ByteString)> =
                good(&ColumnarOptions::default().dataset(format, &*path).unwrap());
            assert_eq!(
                rows,
                [(0.5, "a".into()), (-1.0, ByteString::from(&b"\xff"[..]))]
            );
            let summary = summarize(format, &OpenFile::of(&path, &context("s"))).unwrap();
            assert_eq!(summary.num_rows, Some(2));
            assert_eq!(summary.columns[0], ("x".to_owned(), "Float32".to_owned()));
        }
    }
}
