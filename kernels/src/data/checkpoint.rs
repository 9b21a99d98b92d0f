//! Checkpoints: iterators as strings, and in files.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tfrt::data::{DataIterator, Dataset, Saving};
use tfrt::prelude::*;

use crate::control_flow::Pending;

/// Saves the state of an iterator as a string for `iterator_restore`, which may run in another
/// process, on another queue, or with other numbers of elements drawn ahead. Elements that were
/// drawn count as delivered.
///
/// Both results become available once all elements that stages have drawn ahead are available.
///
/// # Errors
/// `the pipeline does not support checkpoints: …`, if a stage cannot be saved; a prefetched element
/// of a type that cannot be written.
#[tfrt_kernel(
    "tfrt_data.iterator_save",
    raw,
    effect = "io",
    chain = none,
    operands(iterator: DataIterator, in_chain: Chain),
    results(out_chain: Chain, checkpoint: ByteString),
    format = "operands attr-dict"
)]
fn iterator_save(frame: &mut KernelFrame<'_>) -> Result<()> {
    let (results, values) = Pending::new(2);
    for (slot, value) in frame.results().iter_mut().zip(values) {
        *slot = Some(value);
    }
    save(frame.argument(0).clone(), frame.exec_ctx().clone(), results);
    Ok(())
}

/// Saves an iterator, now or once the values that it waits for are available.
fn save(iterator: AnyRef, ctx: ExecutionContext, results: Pending) {
    let saved = match iterator.try_write::<DataIterator>() {
        Ok(mut iterator) => iterator.try_save(&ctx),
        Err(error) => Err(Error::new(error.to_string()).with_code(ErrorCode::InvalidArgument)),
    };
    match saved {
        Ok(Saving::Saved(checkpoint)) => {
            let checkpoint = AnyRef::available(ByteString::from(checkpoint));
            results.forward_to(vec![AnyRef::ready_chain(), checkpoint]);
        }
        // As a task: who makes the value available may hold a stage of the iterator.
        Ok(Saving::Waiting(value)) => value.and_then(move |_| {
            let task_ctx = ctx.clone();
            task_ctx.enqueue(move || save(iterator, ctx, results));
        }),
        Err(error) => results.forward_all_to(&AnyRef::error(ctx.emit_error(error))),
    }
}

/// Creates an iterator that continues at the position where another iterator of the same dataset
/// was saved.
///
/// # Errors
/// `not a checkpoint of a pipeline: …`;
/// `expected a checkpoint of this pipeline, found one of a different pipeline: …`, with the first
/// stage that differs.
#[tfrt_kernel(
    "tfrt_data.iterator_restore",
    chain = none,
    results(iterator),
    format = "operands attr-dict"
)]
fn iterator_restore(
    dataset: &Dataset,
    checkpoint: &[u8],
    ctx: &ExecutionContext,
) -> Result<DataIterator> {
    dataset.restore(checkpoint, ctx)
}

/// Writes a checkpoint to a file. An existing file is replaced atomically: after any failure, it
/// contains either the old or the new checkpoint.
///
/// # Errors
/// `failed to write checkpoint P due to error: E`.
#[tfrt_kernel(
    "tfrt_data.write_checkpoint",
    blocking,
    effect = "io",
    format = "operands attr-dict"
)]
fn write_checkpoint(checkpoint: &[u8], path: &str) -> Result<()> {
    let path = Path::new(path);
    let unfinished = unfinished(path);
    replace(path, &unfinished, checkpoint).map_err(|error| {
        // The error is what went wrong, not that this did, too.
        let _ = fs::remove_file(&unfinished);
        failure("write", path, &error)
    })
}

/// Returns the checkpoint in a file.
///
/// # Errors
/// `failed to read checkpoint P due to error: E`.
#[tfrt_kernel(
    "tfrt_data.read_checkpoint",
    blocking,
    effect = "io",
    results(out_chain, checkpoint),
    format = "operands attr-dict"
)]
fn read_checkpoint(path: &str, in_chain: Chain) -> Result<(Chain, ByteString)> {
    let path = Path::new(path);
    match fs::read(path) {
        Ok(checkpoint) => Ok((in_chain, checkpoint.into())),
        Err(error) => Err(failure("read", path, &error)),
    }
}

/// Returns where a file is written before it takes its place; in the same folder, so that this is a
/// matter of names.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.unfinished", std::process::id()));
    path.with_file_name(name)
}

fn replace(path: &Path, unfinished: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(unfinished)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(unfinished, path)
}

#[cold]
fn failure(what: &str, path: &Path, error: &io::Error) -> Error {
    let text = error.to_string();
    // What the system says, without its number.
    let text = text.split(" (os error ").next().unwrap_or_default();
    let path = path.display();
    Error::new(format!(
        "failed to {what} checkpoint {path} due to error: {text}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> ByteString {
        read_checkpoint(path, Chain).unwrap().1
    }

    #[test]
    fn a_file_has_the_old_checkpoint_or_the_new_one() {
        let name = format!("tfrt-checkpoint-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let text = path.to_str().expect("folders of tests have plain names");
        write_checkpoint(b"old", text).unwrap();
        assert_eq!(read(text).as_bytes(), b"old");
        write_checkpoint(b"new", text).unwrap();
        assert_eq!(read(text).as_bytes(), b"new");
        assert!(!unfinished(&path).exists());

        // Nothing can be written where a folder is.
        fs::create_dir(unfinished(&path)).unwrap();
        let error = write_checkpoint(b"newer", text).unwrap_err();
        let expected = format!("failed to write checkpoint {text} due to error: Is a directory");
        assert_eq!(error.message(), expected);
        assert_eq!(read(text).as_bytes(), b"new");
        fs::remove_dir(unfinished(&path)).unwrap();
        fs::remove_file(&path).unwrap();
    }
}
