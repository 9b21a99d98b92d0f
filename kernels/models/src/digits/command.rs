//! `tfrt-models digits`: writes a file of digits.

use std::fs::File;
use std::io::{BufWriter, Write};

use tfrt_readers::example::{Example, Feature};
use tfrt_readers::tfrecord::RecordWriter;

use super::drawing;
use crate::command::{CommandError, Options};

/// Writes digits as records and returns a summary.
///
/// Each record is a `tf.Example` with the features `image`, 784 bytes from 0 (paper) to 255 (ink),
/// and `label`, the digit. The same options write the same bytes on every machine.
///
/// # Errors
/// [`CommandError::Usage`] if the options are wrong; [`CommandError::File`] if the file cannot be
/// written.
pub fn run(options: &[String]) -> Result<String, CommandError> {
    let options = Options::parse(options, &["--out", "--count", "--first", "--seed"])?;
    let path = options.out("FILE")?;
    let count = options.positive("--count", 16_000, 10_000_000)? as u64;
    let first: u64 = options.number("--first", 0)?;
    let seed = options.number("--seed", 1)?;
    let write = || {
        let mut output = BufWriter::new(File::create(&path)?);
        write_records(&mut output, seed, first, count)?;
        output
            .into_inner()
            .map_err(|error| error.into_error())?
            .sync_all()
    };
    write().map_err(|error| CommandError::caused("write", &path, error))?;
    Ok(format!("{count} digits in `{}`\n", path.display()))
}

/// Writes digits `first`, `first + 1`, … of a seed.
fn write_records(output: impl Write, seed: u64, first: u64, count: u64) -> std::io::Result<()> {
    let mut writer = RecordWriter::new(output);
    for index in 0..count {
        let digit = drawing::draw(seed, first.wrapping_add(index));
        let example = Example::of([
            ("image", Feature::bytes([digit.pixels.to_vec()])),
            ("label", Feature::int64([i64::from(digit.label)])),
        ]);
        writer.write(&example.to_bytes())?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tfrt_readers::tfrecord::RecordReader;

    use super::*;

    fn refused(options: &[&str]) -> String {
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        run(&options).unwrap_err().to_string()
    }

    #[test]
    fn options_are_checked() {
        assert_eq!(refused(&[]), "expected `--out FILE`");
        assert_eq!(
            refused(&["--width", "8"]),
            "unknown option `--width`; available: `--out`, `--count`, `--first`, `--seed`"
        );
        assert_eq!(
            refused(&["--out", "x", "--count", "0"]),
            "expected 1 to 10000000 after `--count`, found 0"
        );
        assert_eq!(
            refused(&["--out", "x", "--first", "-1"]),
            "expected a number after `--first`, found `-1`"
        );
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        let folder = std::env::temp_dir().join("no such folder");
        let path = folder.join("digits.tfrecord");
        let path = path.to_str().expect("folders of tests have plain names");
        assert_eq!(refused(&["--out", path]), format!("cannot write `{path}`"));
    }

    #[test]
    fn records_hold_the_digits_from_the_first_on() {
        let name = format!("tfrt-digits-{}.tfrecord", std::process::id());
        let path = std::env::temp_dir().join(name);
        let text = path.to_str().expect("folders of tests have plain names");
        let options = [
            "--out", text, "--count", "3", "--first", "40", "--seed", "9",
        ];
        let said = run(&options.map(str::to_owned)).unwrap();
        assert_eq!(said, format!("3 digits in `{text}`\n"));
        let file = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let records: Vec<Vec<u8>> = RecordReader::new(&file[..])
            .collect::<Result<_, _>>()
            .unwrap();
        let expected = (40..43).map(|index| {
            let digit = drawing::draw(9, index);
            let example = Example::of([
                ("label", Feature::int64([i64::from(digit.label)])),
                ("image", Feature::bytes([digit.pixels.to_vec()])),
            ]);
            example.to_bytes()
        });
        assert_eq!(records, expected.collect::<Vec<_>>());
    }
}
