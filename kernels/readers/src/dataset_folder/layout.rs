//! Where the shards of a split are, and what its columns are.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tfrt_data::{Dataset, StageDescription};
use tfrt_host::ExecutionContext;
use tfrt_support::{Error, ErrorCode};

use super::{DatasetFolderOptions, Feature};
use crate::columnar::{ColumnarFormat, ColumnarOptions};
use crate::files::{Files, OpenFile, failed_to, files_of, subfolders};
use crate::read_ahead::{self, Format, ReadElements};

/// What `save_to_disk` writes beside the shards of a split: their names, and the columns.
const STATE: &str = "state.json";
const INFO: &str = "dataset_info.json";

/// What it writes beside the folders of splits.
const SPLITS: &str = "dataset_dict.json";

/// The largest of these files. A few bytes of text may stand for many in memory.
const MAX_JSON_BYTES: u64 = 1 << 24;

impl DatasetFolderOptions {
    pub(super) fn dataset_of(&self, split: &str) -> Result<Dataset, Error> {
        let options = ColumnarOptions {
            columns: self.columns.clone(),
            batch_size: self.batch_size,
            nulls: self.nulls,
            on_error: self.on_error,
            ..ColumnarOptions::default()
        };
        options.check()?;
        let files = Files::listed_by(shards, split);
        let rows = read_ahead::dataset(DatasetFolder { options }, &files, self.on_error)?;
        match self.batch_size {
            Some(_) => Ok(rows),
            None => rows.unbatch(),
        }
    }
}

#[derive(Debug)]
struct DatasetFolder {
    options: ColumnarOptions,
}

impl Format for DatasetFolder {
    fn name(&self) -> &'static str {
        "dataset_folder"
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("options", format_args!("{:?}", self.options));
    }

    fn open(&self, file: OpenFile, ctx: &ExecutionContext) -> Result<Box<dyn ReadElements>, Error> {
        let format = match format_of(Path::new(&**file.path())) {
            Some(format) => format,
            None => return Err(file.error("expected a Parquet or Arrow file")),
        };
        self.options.open(format, file, ctx)
    }
}

fn format_of(path: &Path) -> Option<ColumnarFormat> {
    match path.extension()?.to_str()? {
        "parquet" => Some(ColumnarFormat::Parquet),
        "arrow" => Some(ColumnarFormat::Arrow),
        _ => None,
    }
}

/// Returns the paths of the shards of a split, in order.
fn shards(split: &str) -> Result<Vec<String>, Error> {
    let path = Path::new(split);
    if path.is_dir() {
        return shards_in(path, split);
    }
    // The name of a split, of a folder whose files are named after splits.
    let (Some(folder), Some(name)) = (
        path.parent(),
        path.file_name().and_then(|name| name.to_str()),
    ) else {
        return Ok(Vec::new());
    };
    // A name without a folder is one of the current folder.
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let found = columnar_files(folder)?;
    let is_of_split = |path: &String| {
        let file = Path::new(path).file_name().and_then(|file| file.to_str());
        let rest = file.and_then(|file| file.strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with(['-', '.']))
    };
    Ok(found.into_iter().filter(is_of_split).collect())
}

/// Returns the paths of the shards in the folder of a split.
fn shards_in(folder: &Path, split: &str) -> Result<Vec<String>, Error> {
    if let Some(splits) = read_json(&folder.join(SPLITS))? {
        let names = splits.get("splits").and_then(Value::as_array);
        let names: Vec<&str> = names
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        return Err(wrong(
            split,
            format!(
                "expected a split, found a folder of splits: `{}`",
                names.join("`, `")
            ),
        ));
    }
    let Some(state) = read_json(&folder.join(STATE))? else {
        return columnar_files(folder);
    };
    let files = state.get("_data_files").and_then(Value::as_array);
    let name = |file: &Value| file.get("filename")?.as_str().map(str::to_owned);
    let names: Option<Vec<String>> = files.and_then(|files| files.iter().map(name).collect());
    let Some(names) = names else {
        let path = folder.join(STATE).display().to_string();
        return Err(wrong(&path, "expected the names of files in `_data_files`"));
    };
    // A name of another folder is not one that the library writes.
    if let Some(name) = names
        .iter()
        .find(|name| Path::new(name).components().count() != 1)
    {
        let path = folder.join(STATE).display().to_string();
        return Err(wrong(
            &path,
            format!("expected the name of a file, found `{name}`"),
        ));
    }
    names
        .iter()
        .map(|name| text_of(folder.join(name)))
        .collect()
}

/// Returns the Parquet and Arrow files of a folder, or of its subfolder `data`.
fn columnar_files(folder: &Path) -> Result<Vec<String>, Error> {
    let text = text_of(folder.to_owned())?;
    let is_columnar = |path: &String| format_of(Path::new(path)).is_some();
    let found: Vec<String> = files_of(&text)?.into_iter().filter(is_columnar).collect();
    let has_data = || {
        let subfolders = subfolders(&text)?;
        let mut data = subfolders
            .into_iter()
            .filter(|path| Path::new(path).ends_with("data"));
        Ok::<_, Error>(data.next())
    };
    if found.is_empty()
        && let Some(data) = has_data()?
    {
        return Ok(files_of(&data)?.into_iter().filter(is_columnar).collect());
    }
    Ok(found)
}

/// Does the work of [`features`](super::features).
pub(super) fn features(split: &str) -> Result<Vec<Feature>, Error> {
    let path = Path::new(split).join(INFO);
    let name = path.display().to_string();
    let info = read_json(&path)?;
    let features = info.as_ref().and_then(|info| info.get("features"));
    let Some(features) = features.and_then(Value::as_object) else {
        return Err(wrong(&name, "expected an object `features`"));
    };
    let feature = |(column, value): (&String, &Value)| {
        // Sequences are lists of one feature.
        let kind = value.get("_type").and_then(Value::as_str);
        let classes = value.get("names").and_then(Value::as_array);
        let classes = classes.into_iter().flatten().filter_map(Value::as_str);
        Feature {
            name: column.clone(),
            kind: kind.unwrap_or("Sequence").to_owned(),
            classes: classes.map(str::to_owned).collect(),
        }
    };
    Ok(features.iter().map(feature).collect())
}

/// Returns what a file contains, if it exists.
fn read_json(path: &Path) -> Result<Option<Value>, Error> {
    let name = path.display().to_string();
    let len_bytes = match fs::metadata(path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed_to("open", &name, &error)),
    };
    if len_bytes > MAX_JSON_BYTES {
        return Err(wrong(
            &name,
            format!("expected at most {MAX_JSON_BYTES} bytes, found {len_bytes}"),
        ));
    }
    let text = fs::read(path).map_err(|error| failed_to("read", &name, &error))?;
    match serde_json::from_slice(&text) {
        Ok(value) => Ok(Some(value)),
        Err(error) => Err(wrong(&name, error)),
    }
}

fn text_of(path: PathBuf) -> Result<String, Error> {
    path.into_os_string()
        .into_string()
        .map_err(|name| wrong(&name.to_string_lossy(), "the name is not UTF-8"))
}

#[cold]
fn wrong(path: &str, message: impl std::fmt::Display) -> Error {
    Error::new(format!("{path}: {message}")).with_code(ErrorCode::DataLoss)
}
