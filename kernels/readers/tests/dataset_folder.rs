//! Folders of the library `datasets`.

mod common;

#[cfg(not(feature = "parquet"))]
#[test]
fn a_folder_needs_a_feature_and_says_so() {
    use tfrt_readers::dataset_folder::{DatasetFolderOptions, features};

    let expected =
        "folders of the library `datasets` need the cargo feature `parquet` of `tfrt-readers`";
    let error = DatasetFolderOptions::default().dataset("x").unwrap_err();
    assert_eq!(error.message(), expected);
    assert_eq!(features("x").unwrap_err().message(), expected);
}

#[cfg(all(feature = "parquet", feature = "arrow"))]
mod both {
    use std::fs::{self, File};
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray, StructArray};
    use tfrt_async::ByteString;
    use tfrt_readers::dataset_folder::{DatasetFolderOptions, Feature, features};
    use tfrt_tensor::DenseHostTensor;

    use super::common::{Folder, all, good};

    fn ids(ids: &[i64]) -> RecordBatch {
        let column: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
        RecordBatch::try_from_iter([("id", column)]).unwrap()
    }

    /// Writes a shard as `save_to_disk` does: a stream.
    fn write_arrow(path: &str, batch: &RecordBatch) {
        let file = File::create(path).unwrap();
        let mut writer = arrow_ipc::writer::StreamWriter::try_new(file, &batch.schema()).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
    }

    fn write_parquet(path: &str, batch: &RecordBatch) {
        let file = File::create(path).unwrap();
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
    }

    fn ids_of(split: &str) -> Result<Vec<i64>, String> {
        let rows = DatasetFolderOptions::default().dataset(split).unwrap();
        all(&rows).into_iter().collect()
    }

    #[test]
    fn shards_follow_each_other_as_the_state_says() {
        let folder = Folder::new("saved");
        fs::create_dir(folder.path("train")).unwrap();
        write_arrow(&folder.path("train/data-a.arrow"), &ids(&[1, 2]));
        write_arrow(&folder.path("train/data-b.arrow"), &ids(&[3]));
        folder.write(
            "train/state.json",
            r#"{"_data_files": [{"filename": "data-b.arrow"}, {"filename": "data-a.arrow"}]}"#,
        );
        folder.write("dataset_dict.json", r#"{"splits": ["train", "test"]}"#);
        assert_eq!(ids_of(&folder.path("train")), Ok(vec![3, 1, 2]));

        let whole = folder.path("");
        assert_eq!(
            ids_of(&whole),
            Err(format!(
                "{whole}: expected a split, found a folder of splits: `train`, `test`"
            ))
        );

        // Shards stay within the folder.
        let state = folder.write(
            "train/state.json",
            r#"{"_data_files": [{"filename": "../elsewhere.arrow"}]}"#,
        );
        assert_eq!(
            ids_of(&folder.path("train")),
            Err(format!(
                "{state}: expected the name of a file, found `../elsewhere.arrow`"
            ))
        );
        folder.write("train/state.json", r#"{"_data_files": 7}"#);
        assert_eq!(
            ids_of(&folder.path("train")),
            Err(format!(
                "{state}: expected the names of files in `_data_files`"
            ))
        );
        folder.write("train/state.json", "{");
        let error = ids_of(&folder.path("train")).unwrap_err();
        assert!(error.starts_with(&format!("{state}: EOF")), "{error}");
    }

    #[test]
    fn files_of_a_download_are_named_after_splits() {
        let folder = Folder::new("downloaded");
        fs::create_dir(folder.path("data")).unwrap();
        write_parquet(
            &folder.path("data/train-00000-of-00002.parquet"),
            &ids(&[1, 2]),
        );
        write_parquet(
            &folder.path("data/train-00001-of-00002.parquet"),
            &ids(&[3]),
        );
        write_parquet(&folder.path("data/test-00000-of-00001.parquet"), &ids(&[9]));
        write_parquet(&folder.path("data/trainer.parquet"), &ids(&[8]));
        folder.write("README.md", "nothing of interest");
        assert_eq!(ids_of(&folder.path("train")), Ok(vec![1, 2, 3]));
        assert_eq!(ids_of(&folder.path("test")), Ok(vec![9]));
        let none = folder.path("validation");
        assert_eq!(ids_of(&none), Err(format!("no file matches `{none}`")));

        let options = DatasetFolderOptions {
            batch_size: Some(2),
            ..DatasetFolderOptions::default()
        };
        let batches = options.dataset(&folder.path("train")).unwrap();
        let batches: Vec<DenseHostTensor> = good(&batches);
        let sizes: Vec<usize> = batches.iter().map(DenseHostTensor::num_elements).collect();
        assert_eq!(sizes, [2, 1]);
        let none = DatasetFolderOptions {
            batch_size: Some(0),
            ..DatasetFolderOptions::default()
        };
        let error = none.dataset("x").unwrap_err();
        assert_eq!(error.message(), "batch_size must be positive, not 0");
    }

    #[test]
    fn images_are_their_bytes() {
        let folder = Folder::new("saved-images");
        let images = |second: Option<&[u8]>| {
            let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![Some(&b"one"[..]), second]));
            let paths: ArrayRef = Arc::new(StringArray::from(vec![Some("1.png"), None]));
            let image = StructArray::try_from(vec![("bytes", bytes), ("path", paths)]).unwrap();
            let labels: ArrayRef = Arc::new(Int64Array::from(vec![0, 1]));
            let image: ArrayRef = Arc::new(image);
            RecordBatch::try_from_iter_with_nullable([
                ("image", image, true),
                ("label", labels, false),
            ])
            .unwrap()
        };
        write_arrow(&folder.path("data.arrow"), &images(Some(b"two")));
        let rows = DatasetFolderOptions::default()
            .dataset(&folder.path(""))
            .unwrap();
        let rows: Vec<(ByteString, i64)> = good(&rows);
        assert_eq!(rows, [("one".into(), 0), ("two".into(), 1)]);

        // An image elsewhere has no bytes.
        write_arrow(&folder.path("data.arrow"), &images(None));
        let options = DatasetFolderOptions {
            columns: Some(vec!["image".into()]),
            ..DatasetFolderOptions::default()
        };
        let rows = options.dataset(&folder.path("")).unwrap();
        let found: Vec<Result<ByteString, String>> = all(&rows);
        let path = folder.path("data.arrow");
        let message = format!("{path}: row 1, column `image`: expected a value, found none");
        assert_eq!(found[0], Err(message));
    }

    #[test]
    fn features_have_names_and_classes() {
        let folder = Folder::new("saved-features");
        folder.write(
            "dataset_info.json",
            r#"{"features": {
                "text": {"dtype": "string", "_type": "Value"},
                "label": {"names": ["neg", "pos"], "_type": "ClassLabel"},
                "words": [{"dtype": "string", "_type": "Value"}]
            }}"#,
        );
        let feature = |name: &str, kind: &str, classes: &[&str]| Feature {
            name: name.into(),
            kind: kind.into(),
            classes: classes.iter().map(|&class| class.into()).collect(),
        };
        assert_eq!(
            features(&folder.path("")).unwrap(),
            [
                feature("label", "ClassLabel", &["neg", "pos"]),
                feature("text", "Value", &[]),
                feature("words", "Sequence", &[]),
            ]
        );
        let path = folder.write("dataset_info.json", "{}");
        let error = features(&folder.path("")).unwrap_err();
        assert_eq!(
            error.message(),
            format!("{path}: expected an object `features`")
        );
    }
}
