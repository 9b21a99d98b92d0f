//! Lines, names of files, compression, file systems, and policies.

mod common;

use std::io::{self, Cursor};
use std::sync::Arc;

use common::{Folder, all, all_in, context, good};
use tfrt_async::ByteString;
use tfrt_readers::files::{Compression, FileSystem, FileSystems, Files, Stream};
use tfrt_readers::policy::OnError;
use tfrt_readers::text::{TextLineOptions, list_files_dataset, text_line_dataset};
use tfrt_readers::tfrecord::{RecordWriter, TfRecordOptions, Verify};
use tfrt_support::Error;

fn lines(path: &str) -> Vec<String> {
    let lines: Vec<ByteString> = good(&text_line_dataset(path).unwrap());
    lines
        .into_iter()
        .map(|line| line.into_text().unwrap())
        .collect()
}

#[test]
fn lines_end_with_a_newline_with_or_without_a_return() {
    let folder = Folder::new("lines");
    let path = folder.write("a.txt", "one\ntwo\r\n\nfour");
    assert_eq!(lines(&path), ["one", "two", "", "four"]);
    assert_eq!(lines(&folder.write("b.txt", "")), [""; 0]);
    assert_eq!(lines(&folder.write("c.txt", "\n\n")), ["", ""]);
}

#[test]
fn a_line_that_is_too_long_is_an_error_with_its_place() {
    let folder = Folder::new("long");
    let path = folder.write("a.txt", "12345\r\n123456\n1");
    let options = TextLineOptions {
        max_line_bytes: 5,
        ..TextLineOptions::default()
    };
    let found: Vec<Result<ByteString, _>> = all(&options.dataset(&*path).unwrap());
    let message = format!("{path}: record 1 at byte 7: expected a line of at most 5 bytes");
    assert_eq!(found, [Ok("12345".into()), Err(message)]);
}

#[test]
fn folders_and_patterns_stand_for_files_in_the_order_of_their_names() {
    let folder = Folder::new("names");
    for name in ["b.txt", "a.txt", "c.csv", ".hidden.txt", "x[1].txt"] {
        folder.write(name, format!("{name}\n"));
    }
    let path = |name: &str| folder.path(name);
    let names = |files: Files| {
        let names = all::<ByteString, _>(&list_files_dataset(files).unwrap());
        let texts = names
            .into_iter()
            .map(|name| name.map(|name| name.into_text().unwrap()));
        texts.collect::<Vec<_>>()
    };
    let found = |wanted: &[&str]| wanted.iter().map(|name| Ok(path(name))).collect::<Vec<_>>();
    assert_eq!(
        names(Files::from(&path("*.txt"))),
        found(&["a.txt", "b.txt", "x[1].txt"])
    );
    assert_eq!(
        names(Files::from(&path("[ac].*"))),
        found(&["a.txt", "c.csv"])
    );
    assert_eq!(
        names(Files::from(&path("."))).len(),
        4,
        "a folder stands for its files"
    );
    // What looks like a pattern may be a name.
    assert_eq!(names(Files::from(&path("x[1].txt"))), found(&["x[1].txt"]));
    let missing = path("*.parquet");
    assert_eq!(
        names(Files::from(&missing)),
        [Err(format!("no file matches `{missing}`"))]
    );
    // Files follow each other.
    let both: Files = [path("b.txt"), path("a.txt")].into_iter().collect();
    let lines: Vec<ByteString> = good(&text_line_dataset(both).unwrap());
    assert_eq!(lines, ["b.txt", "a.txt"]);
}

#[cfg(feature = "gzip")]
#[test]
fn compressed_files_are_told_by_their_first_bytes() {
    use flate2::write::{GzEncoder, ZlibEncoder};
    use std::io::Write;

    let folder = Folder::new("gzip");
    let level = flate2::Compression::fast();
    let gzip = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), level);
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let text = "a line of text\n".repeat(100_000);
    // Two members follow each other in one file.
    let file = [gzip(text.as_bytes()), gzip(b"the end")].concat();
    let path = folder.write("a.gz", &file);
    let found = lines(&path);
    assert_eq!(found.len(), 100_001);
    assert_eq!(found[100_000], "the end");
    let plain = TextLineOptions {
        compression: Compression::None,
        ..TextLineOptions::default()
    };
    assert_ne!(
        all::<ByteString, _>(&plain.dataset(&*path).unwrap()).len(),
        100_001
    );
    // Cut off: what is there is read, and then it is an error.
    let path = folder.write("b.gz", &file[..file.len() / 2]);
    let found: Vec<Result<ByteString, String>> = all(&text_line_dataset(&*path).unwrap());
    let (last, whole) = found.split_last().unwrap();
    assert!(
        whole
            .iter()
            .all(|line| line.as_deref() == Ok(b"a line of text"))
    );
    let message = last.as_ref().unwrap_err();
    assert!(
        message.starts_with(&format!("{path}: record {} at byte", whole.len())),
        "{message}"
    );

    // Records, whose first byte may look like a mark.
    for len in [120, 0x178, 0x8b1f, 0x9c78] {
        let mut writer = RecordWriter::new(Vec::new());
        writer.write(&vec![7; len]).unwrap();
        let file = writer.finish().unwrap();
        let mut zlib = ZlibEncoder::new(Vec::new(), level);
        zlib.write_all(&file).unwrap();
        for (name, bytes) in [
            ("plain", file.clone()),
            ("gzip", gzip(&file)),
            ("zlib", zlib.finish().unwrap()),
        ] {
            let path = folder.write(name, bytes);
            let records = TfRecordOptions::default().dataset(&*path).unwrap();
            let records: Vec<ByteString> = good(&records);
            assert_eq!(records, [ByteString::from(vec![7; len])], "{name}, {len}");
        }
    }
}

#[cfg(feature = "zstd")]
#[test]
fn zstd_files_are_told_by_their_first_bytes() {
    let folder = Folder::new("zstd");
    let text = "a line of text\n".repeat(1000);
    let bytes = zstd::stream::encode_all(text.as_bytes(), 1).unwrap();
    let path = folder.write("a.zst", &bytes);
    assert_eq!(lines(&path).len(), 1000);
    let path = folder.write("b.zst", &bytes[..bytes.len() - 3]);
    let found: Vec<Result<ByteString, String>> = all(&text_line_dataset(&*path).unwrap());
    assert!(found.last().unwrap().is_err());
}

#[cfg(not(feature = "zstd"))]
#[test]
fn a_compression_whose_feature_is_off_is_an_error_that_names_it() {
    let folder = Folder::new("no-zstd");
    let path = folder.write("a.zst", [0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0]);
    let found: Vec<Result<ByteString, String>> = all(&text_line_dataset(&*path).unwrap());
    let message = format!(
        "failed to read file {path} due to error: files compressed with zstd need the cargo feature `zstd` of `tfrt-readers`"
    );
    assert_eq!(found, [Err(message)]);
}

#[derive(Debug)]
struct Memory(&'static str);

impl FileSystem for Memory {
    fn open(&self, path: &str) -> io::Result<Stream> {
        match path {
            "memory://text" => Ok(Box::new(Cursor::new(self.0))),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn list(&self, pattern: &str) -> io::Result<Vec<String>> {
        assert_eq!(pattern, "memory://*");
        Ok(vec!["memory://text".into(), "memory://missing".into()])
    }
}

#[test]
fn the_file_system_of_a_scheme_with_the_highest_priority_is_used() {
    let ctx = context("s");
    let systems = FileSystems::of(ctx.host());
    systems
        .register("memory", 1, Arc::new(Memory("low")))
        .unwrap();
    systems
        .register("memory", 2, Arc::new(Memory("high")))
        .unwrap();
    systems
        .register("memory", 0, Arc::new(Memory("lowest")))
        .unwrap();
    let again = systems.register("memory", 2, Arc::new(Memory("again")));
    assert_eq!(
        again.unwrap_err().message(),
        "scheme `memory` has a file system of priority 2 already"
    );
    let found: Vec<Result<ByteString, String>> =
        all_in(&text_line_dataset("memory://*").unwrap(), &ctx);
    let missing = "failed to open file memory://missing due to error: entity not found".to_owned();
    assert_eq!(found, [Err(missing), Ok("high".into())]);
    // Another host does not know it.
    let found: Vec<Result<ByteString, String>> = all(&text_line_dataset("memory://text").unwrap());
    let unknown = "No file system is found for the given scheme".to_owned();
    assert_eq!(found, [Err(unknown)]);
}

/// Three files of two records each; the second record of the first two is damaged.
fn damaged(folder: &Folder) -> Files {
    for index in 0..3_u8 {
        let mut writer = RecordWriter::new(Vec::new());
        writer.write(&[index]).unwrap();
        writer.write(&[index + 10]).unwrap();
        let mut file = writer.finish().unwrap();
        if index < 2 {
            file[17 + 12] ^= 1;
        }
        folder.write(&format!("{index}.tfrecord"), file);
    }
    Files::from(&folder.path("*.tfrecord"))
}

#[test]
fn errors_fail_stop_or_are_skipped_as_the_policy_says() {
    let folder = Folder::new("policies");
    let files = damaged(&folder);
    let found = |on_error| {
        let options = TfRecordOptions {
            on_error,
            ..TfRecordOptions::default()
        };
        let records: Vec<Result<ByteString, String>> =
            all(&options.dataset(files.clone()).unwrap());
        let numbers = records
            .into_iter()
            .map(|record| record.map(|record| record.as_bytes()[0]));
        numbers.collect::<Vec<_>>()
    };
    let error = |index: u8| {
        let path = folder.path(&format!("{index}.tfrecord"));
        format!("data corruption at position 17 (record 1 of {path})")
    };
    let all_but_damaged = [Ok(0), Err(error(0)), Ok(1), Err(error(1)), Ok(2), Ok(12)];
    assert_eq!(found(OnError::Fail), all_but_damaged);
    assert_eq!(found(OnError::Stop), all_but_damaged[..2]);
    assert_eq!(
        found(OnError::Skip { max: 2 }),
        [Ok(0), Ok(1), Ok(2), Ok(12)]
    );
    let too_many = format!("{} (errors skipped before: 1)", error(1));
    assert_eq!(
        found(OnError::Skip { max: 1 }),
        [Ok(0), Ok(1), Err(too_many)]
    );
    // Damage of the data is not looked for.
    let options = TfRecordOptions {
        verify: Verify::Header,
        ..TfRecordOptions::default()
    };
    assert_eq!(
        good::<ByteString, _>(&options.dataset(files.clone()).unwrap()).len(),
        6
    );
}

#[test]
fn a_checkpoint_goes_on_in_the_file_where_it_was() {
    let folder = Folder::new("saved");
    let texts = [
        folder.write("a.txt", "one\ntwo\n"),
        folder.write("b.txt", "three\nfour"),
    ];
    let ctx = context("s");
    for on_error in [OnError::Fail, OnError::Skip { max: 5 }, OnError::Stop] {
        let records = TfRecordOptions {
            on_error,
            ..TfRecordOptions::default()
        };
        let lines = TextLineOptions {
            on_error,
            ..TextLineOptions::default()
        };
        for dataset in [
            records.dataset(damaged(&folder)).unwrap(),
            lines.dataset(texts.iter().collect::<Files>()).unwrap(),
        ] {
            let expected: Vec<Result<ByteString, String>> = all_in(&dataset, &ctx);
            assert!(expected.len() >= 2);
            for position in 0..=expected.len() + 1 {
                let mut elements = dataset.elements::<ByteString, _>(&ctx);
                elements.by_ref().take(position).for_each(drop);
                let checkpoint = elements.save().unwrap();
                let rest = dataset.elements_from::<ByteString, _>(&checkpoint, &ctx);
                let rest: Vec<Result<ByteString, String>> = rest
                    .unwrap()
                    .map(|item| item.map_err(|error: Error| error.message().to_owned()))
                    .collect();
                let start = position.min(expected.len());
                assert_eq!(rest, expected[start..], "{on_error}, at {position}");
            }
        }
    }
}

#[test]
fn workers_share_files_or_records() {
    use std::collections::BTreeSet;

    let folder = std::env::temp_dir().join(format!("tfrt-shares-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for file in 0..5 {
        let lines: String = (0..7 + file)
            .map(|line| format!("{file}:{line}\n"))
            .collect();
        std::fs::write(folder.join(format!("{file}.txt")), lines).unwrap();
    }
    let pattern = folder.join("*.txt").to_str().unwrap().to_owned();
    let host = tfrt_host::HostContext::builder().build();
    let ctx = tfrt_host::ExecutionContext::new(tfrt_host::RequestContextBuilder::new(host).build());
    let lines = tfrt_readers::text::text_line_dataset(&*pattern).unwrap();
    let text =
        |item: Result<tfrt_async::ByteString, tfrt_support::Error>| item.unwrap().to_string();
    let all: BTreeSet<String> = lines.elements(&ctx).map(text).collect();
    let upper = lines
        .map(|line: tfrt_async::ByteString| line)
        .unwrap()
        .shuffle(4, 1, 2)
        .unwrap();
    for num_workers in [1, 2, 5, 6, 13] {
        let mut found: Vec<String> = Vec::new();
        for index in 0..num_workers {
            let share = upper.auto_shard(num_workers, index).unwrap();
            assert_eq!(share.name(), "shuffle");
            let mine: Vec<String> = share.elements(&ctx).map(text).collect();
            let files: BTreeSet<&str> = mine.iter().map(|line| &line[..1]).collect();
            match num_workers {
                // Whole files, every so many.
                1..=5 => assert!(
                    files
                        .iter()
                        .all(|file| { file.parse::<i64>().unwrap() % num_workers == index })
                ),
                _ => assert!(files.len() <= 5),
            }
            // Restored in the middle.
            let mut elements = share.elements::<tfrt_async::ByteString, _>(&ctx);
            let half = mine.len() / 2;
            assert_eq!(elements.by_ref().take(half).count(), half);
            let checkpoint = elements.save().unwrap();
            let rest = share.elements_from(&checkpoint, &ctx).unwrap().map(text);
            assert_eq!(rest.collect::<Vec<_>>(), mine[half..]);
            found.extend(mine);
        }
        assert_eq!(found.len(), all.len(), "{num_workers}");
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), all);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
