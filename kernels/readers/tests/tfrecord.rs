//! Record files: written and read, cut off and damaged, and read ahead by a dataset.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs, process};

use tfrt_async::ByteString;
use tfrt_data::{Dataset, Draw, IterationResult, Outcome, Position};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_readers::tfrecord::{
    RecordError, RecordReader, RecordWriter, TfRecordOptions, masked_crc32c, tf_record_dataset,
};
use tfrt_support::Error;

const RECORDS: [&[u8]; 4] = [b"red", b"", b"blue", b"two\nlines"];

fn file_of(records: &[&[u8]]) -> Vec<u8> {
    let mut writer = RecordWriter::new(Vec::new());
    for record in records {
        writer.write(record).unwrap();
    }
    writer.finish().unwrap()
}

/// Where each record of a file begins, and where the file ends.
fn starts(records: &[&[u8]]) -> Vec<usize> {
    let mut starts = vec![0];
    for record in records {
        starts.push(starts[starts.len() - 1] + 16 + record.len());
    }
    starts
}

fn read(bytes: impl Read) -> Vec<Result<Vec<u8>, String>> {
    let text = |error: RecordError| error.to_string();
    RecordReader::new(bytes)
        .map(|record| record.map_err(text))
        .collect()
}

#[test]
fn a_file_that_is_cut_off_says_so_once_and_ends() {
    let file = file_of(&RECORDS);
    let starts = starts(&RECORDS);
    for len in 0..=file.len() {
        let num_whole = starts.iter().filter(|&&start| start <= len).count() - 1;
        let mut expected: Vec<_> = RECORDS[..num_whole]
            .iter()
            .map(|record| Ok(record.to_vec()))
            .collect();
        if starts[num_whole] != len {
            let start = starts[num_whole];
            expected.push(Err(format!("truncated record at position {start}")));
        }
        assert_eq!(read(&file[..len]), expected, "{len} bytes");
    }
}

#[test]
fn every_flipped_bit_is_noticed_in_its_record() {
    let file = file_of(&RECORDS);
    let starts = starts(&RECORDS);
    for bit in 0..file.len() * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let found = read(&damaged[..]);
        let record = starts.iter().filter(|&&start| start <= bit / 8).count() - 1;
        let start = starts[record];
        // Those before are whole, and this one is corrupt.
        for (index, expected) in RECORDS[..record].iter().enumerate() {
            assert_eq!(found[index], Ok(expected.to_vec()), "bit {bit}");
        }
        let expected = Err(format!("data corruption at position {start}"));
        assert_eq!(found[record], expected, "bit {bit}");
        // Behind damaged data the next record is found.
        if bit / 8 >= start + 12 {
            for (index, expected) in RECORDS.iter().enumerate().skip(record + 1) {
                assert_eq!(found[index], Ok(expected.to_vec()), "bit {bit}");
            }
            assert_eq!(found.len(), RECORDS.len());
        }
    }
}

#[test]
fn behind_a_damaged_header_records_are_looked_for_12_bytes_later() {
    let mut file = file_of(&[b"", b"whole"]);
    file[8] ^= 1;
    // The checksum of the empty data is read as part of a header, and so is what follows.
    let found = read(&file[..]);
    assert_eq!(found[0], Err("data corruption at position 0".to_owned()));
    assert_eq!(found[1], Err("data corruption at position 12".to_owned()));
}

#[test]
fn a_length_beyond_the_file_takes_no_memory() {
    for length in [u64::MAX, 1 << 60, 1 << 40, 17] {
        let mut file = length.to_le_bytes().to_vec();
        file.extend(masked_crc32c(&length.to_le_bytes()).to_le_bytes());
        file.extend(b"sixteen bytes...");
        let expected = Err("truncated record at position 0".to_owned());
        assert_eq!(read(&file[..]), [expected], "{length}");
    }
}

#[test]
fn a_stream_that_is_read_in_pieces_and_fails_says_so_once() {
    struct Pieces<'a>(&'a [u8]);
    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else {
                return Err(io::Error::other("it broke"));
            };
            buffer[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }
    let file = file_of(&[b"red"]);
    let found = read(Pieces(&file));
    let failure = "failed to read due to error: it broke".to_owned();
    assert_eq!(found, [Ok(b"red".to_vec()), Err(failure)]);
    // A chain of causes does not say it again.
    let error = RecordError::from(io::Error::other("it broke"));
    let cause = std::error::Error::source(&error).map(ToString::to_string);
    assert_eq!(cause, None);
}

#[test]
#[cfg(feature = "gzip")]
fn a_compressed_file_cannot_claim_an_enormous_record() {
    use std::io::Write;
    let length = (1_u64 << 32).to_le_bytes();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&length).unwrap();
    encoder
        .write_all(&masked_crc32c(&length).to_le_bytes())
        .unwrap();
    encoder.write_all(&[0; 1000]).unwrap();
    let file = TemporaryFile::new("enormous", &encoder.finish().unwrap());
    let expected =
        "expected a record of at most 268435456 bytes at position 0, found one of 4294967296";
    let found = texts(&file.dataset(), &context("s"));
    assert_eq!(found, [Err(expected.to_owned())]);
}

#[test]
fn a_damaged_header_is_not_taken_for_that_of_a_compressed_file() {
    // The length 376 begins with the mark of zlib.
    let mut bytes = file_of(&[&[7; 376], b"next"]);
    bytes[8] ^= 1;
    let file = TemporaryFile::new("mark", &bytes);
    let found = texts(&file.dataset(), &context("s"));
    assert_eq!(found[0], Err("data corruption at position 0".to_owned()));
}

/// A file that goes away with the test.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let name = format!("tfrt-readers-{}-{name}", process::id());
        let path = env::temp_dir().join(name);
        fs::write(&path, bytes).unwrap();
        Self(path)
    }

    /// The records, with errors as the reference tells them.
    fn dataset(&self) -> Dataset {
        let options = TfRecordOptions {
            names_file: false,
            ..TfRecordOptions::default()
        };
        options.dataset(path_text(&self.0)).unwrap()
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn path_text(path: &Path) -> &str {
    path.to_str().expect("folders of tests have plain names")
}

const QUEUES: [&str; 3] = ["s", "mstd:2,1", "mstd:2,4"];

fn context(queue: &str) -> ExecutionContext {
    let host = HostContext::builder()
        .queue(create_queue(queue).unwrap())
        .build();
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

fn texts(dataset: &Dataset, ctx: &ExecutionContext) -> Vec<Result<ByteString, String>> {
    let items = dataset.elements::<ByteString, _>(ctx);
    items
        .map(|item: Result<_, Error>| item.map_err(|error| error.message().to_owned()))
        .collect()
}

#[test]
fn a_dataset_has_all_records_in_order_on_every_queue() {
    let records: Vec<Vec<u8>> = (0..1000_usize)
        .map(|index| vec![index as u8; index * 7 % 5000])
        .collect();
    let slices: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
    let file = TemporaryFile::new("all", &file_of(&slices));
    for queue in QUEUES {
        let ctx = context(queue);
        let dataset = file.dataset();
        // Many outstanding at a time, and one at a time.
        for dataset in [dataset.prefetch(50).unwrap(), dataset] {
            let found = texts(&dataset, &ctx);
            assert_eq!(found.len(), records.len());
            for (found, expected) in found.iter().zip(&records) {
                assert_eq!(found.as_ref().unwrap().as_bytes(), expected);
            }
        }
    }
}

#[test]
fn errors_take_the_place_of_records_and_a_missing_file_is_one_error() {
    let mut damaged = file_of(&RECORDS);
    damaged[12] ^= 1;
    damaged.truncate(damaged.len() - 1);
    let file = TemporaryFile::new("damaged", &damaged);
    for queue in QUEUES {
        let ctx = context(queue);
        let found = texts(&file.dataset(), &ctx);
        let expected = [
            Err("data corruption at position 0".to_owned()),
            Ok(ByteString::from("")),
            Ok(ByteString::from("blue")),
            Err("truncated record at position 55".to_owned()),
        ];
        assert_eq!(found, expected);
        let missing = tf_record_dataset("/no/such/file")
            .unwrap()
            .repeat(2)
            .unwrap();
        let text =
            "failed to open file /no/such/file due to error: No such file or directory".to_owned();
        assert_eq!(texts(&missing, &ctx), [Err(text.clone()), Err(text)]);
        let remote = tf_record_dataset("gs://bucket/file").unwrap();
        let text = "No file system is found for the given scheme".to_owned();
        assert_eq!(texts(&remote, &ctx), [Err(text)]);
    }
}

#[test]
fn errors_name_the_file_the_record_and_the_byte() {
    let mut damaged = file_of(&RECORDS);
    damaged[12] ^= 1;
    damaged.truncate(damaged.len() - 1);
    let file = TemporaryFile::new("named", &damaged);
    let path = path_text(&file.0);
    let found = texts(&tf_record_dataset(path).unwrap(), &context("s"));
    let errors: Vec<String> = found.into_iter().filter_map(Result::err).collect();
    assert_eq!(
        errors,
        [
            format!("data corruption at position 0 (record 0 of {path})"),
            format!("truncated record at position 55 (record 3 of {path})")
        ]
    );
}

#[test]
fn a_checkpoint_goes_on_with_the_record_that_was_not_drawn() {
    let records: Vec<Vec<u8>> = (0..120_u8).map(|byte| vec![byte; byte.into()]).collect();
    let slices: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
    let mut damaged = file_of(&slices);
    let starts = starts(&slices);
    damaged[starts[3] + 12] ^= 1;
    damaged[starts[7]] ^= 1;
    damaged.truncate(damaged.len() - 1);
    let file = TemporaryFile::new("saved", &damaged);
    for queue in QUEUES {
        let ctx = context(queue);
        let expected = texts(&file.dataset(), &ctx);
        for position in 0..=expected.len() + 1 {
            let mut elements = file.dataset().elements::<ByteString, _>(&ctx);
            elements.by_ref().take(position).for_each(drop);
            let checkpoint = elements.save().unwrap();
            // Where it goes on, not what was read ahead.
            assert!(checkpoint.len() < 300, "{} bytes", checkpoint.len());
            let restored = file.dataset();
            let rest = restored.elements_from::<ByteString, _>(&checkpoint, &ctx);
            let rest: Vec<_> = rest
                .unwrap()
                .map(|item: Result<_, Error>| item.map_err(|error| error.message().to_owned()))
                .collect();
            let start = position.min(expected.len());
            assert_eq!(rest, expected[start..], "{queue}, at {position}");
        }
    }
    let ctx = context("s");
    let checkpoint = file.dataset().iterator().save(&ctx).unwrap();
    let other = tf_record_dataset("/no/such/file").unwrap();
    let error = other.restore(&checkpoint, &ctx).unwrap_err();
    assert!(
        error
            .message()
            .contains("stage 0: expected `tf_record (path = /no/such/file)`, found `")
    );
}

#[test]
fn errors_are_reported_once_each() {
    let mut damaged = file_of(&RECORDS);
    damaged[12] ^= 1;
    let file = TemporaryFile::new("reported", &damaged);
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&told);
    let host = HostContext::builder()
        .diagnostic_handler(move |error| seen.lock().unwrap().push(error.message().to_owned()))
        .build();
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    assert_eq!(texts(&file.dataset(), &ctx).len(), 4);
    assert_eq!(*told.lock().unwrap(), ["data corruption at position 0"]);
}

#[test]
fn a_cancelled_request_gets_its_error_for_what_it_waits_for() {
    let file = TemporaryFile::new("cancelled", &file_of(&RECORDS));
    for queue in QUEUES {
        let ctx = context(queue);
        let mut iterator = file.dataset().iterator_below(Position::ROOT);
        let waiting: Vec<IterationResult> = (0..3).map(|_| iterator.draw(&ctx)).collect();
        ctx.request().cancel();
        ctx.host().quiesce().unwrap();
        for result in waiting {
            // A record that was read before is one; on this queue nothing is read before the
            // quiescence.
            let outcome = result.into_outcome().expect("nothing stays pending");
            match outcome {
                Outcome::Error(error) => assert_eq!(
                    error.error_if_present().map(Error::message),
                    Some("Cancelled")
                ),
                other => assert!(queue != "s" && other.is_element(), "{other:?}"),
            }
        }
        let next = iterator.draw(&ctx).into_outcome();
        assert!(matches!(next, Ok(Outcome::Error(_))));
    }
}
