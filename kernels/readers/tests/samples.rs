//! Records of a fixed length, folders of images, and archives of samples.

mod common;

use common::{Folder, all, good};
use tfrt_async::ByteString;
use tfrt_readers::fixed_length::{FixedLengthOptions, MAX_RECORD_BYTES};
use tfrt_readers::image_folder::{ImageFolderOptions, labels};
use tfrt_readers::tar::TarOptions;

#[test]
fn records_of_a_fixed_length_are_between_a_header_and_a_footer() {
    let folder = Folder::new("fixed");
    let records = |bytes: &str, header_bytes, footer_bytes| {
        let path = folder.write("records", bytes);
        let options = FixedLengthOptions {
            header_bytes,
            footer_bytes,
            ..FixedLengthOptions::new(3)
        };
        let found = all::<ByteString, _>(&options.dataset(&*path).unwrap());
        let shown = |record: Result<ByteString, String>| match record {
            Ok(record) => record.into_text().unwrap(),
            Err(message) => message.replace(&path, "FILE"),
        };
        found.into_iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(records("abcdef", 0, 0), ["abc", "def"]);
    assert_eq!(records("HHabcdefF", 2, 1), ["abc", "def"]);
    // The footer may be longer than a record.
    assert_eq!(records("abcFFFFF", 0, 5), ["abc"]);
    assert_eq!(records("", 0, 0), [""; 0]);
    assert_eq!(records("HF", 1, 1), [""; 0]);
    assert_eq!(
        records("Habcde", 1, 0),
        [
            "abc",
            "FILE: record 1 at byte 4: expected a record of 3 bytes, found 2 bytes"
        ]
    );
    assert_eq!(
        records("abcdF", 0, 1),
        [
            "abc",
            "FILE: record 1 at byte 3: expected a record of 3 bytes and a footer of 1 bytes, or \
             only the footer, found 2 bytes"
        ]
    );
    assert_eq!(
        records("H", 2, 0),
        ["FILE: expected a header of 2 bytes, found 1 bytes"]
    );
}

#[test]
fn lengths_of_records_are_checked() {
    let message = |options: FixedLengthOptions| {
        let error = options.dataset("records").unwrap_err();
        error.message().to_owned()
    };
    assert_eq!(
        message(FixedLengthOptions::new(0)),
        "record_bytes must be positive, not 0"
    );
    let footer = FixedLengthOptions {
        footer_bytes: MAX_RECORD_BYTES + 1,
        ..FixedLengthOptions::new(MAX_RECORD_BYTES)
    };
    assert_eq!(
        message(footer),
        "footer_bytes must be at most 268435456, not 268435457"
    );
}

#[test]
fn a_record_that_is_longer_than_the_file_takes_no_memory() {
    let folder = Folder::new("fixed-short");
    let path = folder.write("records", "abc");
    let options = FixedLengthOptions::new(MAX_RECORD_BYTES);
    let found: Vec<Result<ByteString, String>> = all(&options.dataset(&*path).unwrap());
    let message = format!(
        "{path}: record 0 at byte 0: expected a record of {MAX_RECORD_BYTES} bytes, found 3 bytes"
    );
    assert_eq!(found, [Err(message)]);
}

#[test]
fn images_have_the_place_of_their_folder_as_label() {
    let folder = Folder::new("images[1]");
    for name in ["dog", "cat", ".git", "emu", "ape"] {
        std::fs::create_dir(folder.path(name)).unwrap();
    }
    for name in [
        "dog/2.png",
        "dog/10.JPG",
        "cat/1.jpeg",
        "cat/notes.txt",
        "cat/.hidden.png",
        ".git/a.png",
        "emu/3.webp",
        "readme.png",
    ] {
        folder.write(name, name);
    }
    let path = folder.path("");
    // `ape` has no images, but a label.
    assert_eq!(labels(&path).unwrap(), ["ape", "cat", "dog", "emu"]);
    let options = ImageFolderOptions::default();
    let images: Vec<(ByteString, i64)> = good(&options.dataset(&path).unwrap());
    let expected: [(ByteString, i64); 4] = [
        ("cat/1.jpeg".into(), 1),
        ("dog/10.JPG".into(), 2),
        ("dog/2.png".into(), 2),
        ("emu/3.webp".into(), 3),
    ];
    assert_eq!(images, expected);
    let texts = ImageFolderOptions {
        extensions: vec!["txt".into()],
        ..ImageFolderOptions::default()
    };
    let texts: Vec<(ByteString, i64)> = good(&texts.dataset(&path).unwrap());
    assert_eq!(texts, [("cat/notes.txt".into(), 1)]);
    let missing = folder.path("nowhere");
    let found: Vec<Result<(ByteString, i64), String>> = all(&options.dataset(&missing).unwrap());
    assert_eq!(
        found,
        [Err(format!(
            "failed to list file {missing} due to error: No such file or directory"
        ))]
    );
    let empty = folder.path("ape");
    let found: Vec<Result<(ByteString, i64), String>> = all(&options.dataset(&empty).unwrap());
    assert_eq!(found, [Err(format!("no file matches `{empty}/*/*`"))]);
}

#[test]
fn extensions_of_samples_are_checked() {
    let message = |extensions: &[&str]| {
        let options = TarOptions {
            extensions: extensions.iter().map(|&one| one.to_owned()).collect(),
            ..TarOptions::default()
        };
        options.dataset("a.tar").unwrap_err().message().to_owned()
    };
    assert_eq!(
        message(&["jpg|png", "cls", "png"]),
        "extension `png` is requested twice"
    );
    assert_eq!(
        message(&["PNG", "png"]),
        "extension `png` is requested twice"
    );
    assert_eq!(message(&["jpg|"]), "expected an extension, found none");
    if cfg!(not(feature = "tar")) {
        let expected = "tar archives need the cargo feature `tar` of `tfrt-readers`";
        assert_eq!(message(&["jpg"]), expected);
    }
}

#[cfg(feature = "tar")]
mod archives {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use tar::{Builder, EntryType, Header};

    /// An archive of files.
    fn archive(files: &[(&str, &str)]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        for (path, contents) in files {
            let mut header = Header::new_gnu();
            header.set_size(contents.len() as u64);
            builder
                .append_data(&mut header, path, contents.as_bytes())
                .unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn options(extensions: &[&str]) -> TarOptions {
        TarOptions {
            extensions: extensions.iter().map(|&one| one.to_owned()).collect(),
            ..TarOptions::default()
        }
    }

    /// The samples of an archive, and its errors without the name of the file.
    fn samples(bytes: &[u8], options: &TarOptions) -> Vec<String> {
        // Tests run at once, and each folder ends with its user.
        static NUM_FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = NUM_FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = Folder::new(&format!("tar-{number}"));
        let path = folder.write("a.tar", bytes);
        let dataset = options.dataset(&*path).unwrap();
        let text = |bytes: ByteString| String::from_utf8_lossy(&bytes).into_owned();
        let shown = |sample: Result<(ByteString, ByteString, ByteString), String>| match sample {
            Ok((key, first, second)) => {
                format!("{}: {} {}", text(key), text(first), text(second))
            }
            Err(message) => message.replace(&path, "FILE"),
        };
        all(&dataset).into_iter().map(shown).collect()
    }

    #[test]
    fn files_of_one_key_are_a_sample() {
        let bytes = archive(&[
            ("__info__.json", "{}"),
            ("a/1.jpg", "picture 1"),
            ("a/1.cls", "7"),
            ("a/1.seg.png", "not requested"),
            ("README", "no extension"),
            ("a/2.CLS", "8"),
            ("a/2.png", "picture 2"),
            ("b/2.jpg", "picture 3"),
            ("b/2.cls", "9"),
        ]);
        assert_eq!(
            samples(&bytes, &options(&["jpg|png", "cls"])),
            ["a/1: picture 1 7", "a/2: picture 2 8", "b/2: picture 3 9"]
        );
        assert_eq!(
            samples(&bytes, &options(&["seg.png", "cls"])),
            [
                "a/1: not requested 7",
                "FILE: record 1 at byte 5120: sample `a/2` has no file of extension `seg.png`",
                "FILE: record 2 at byte 7168: sample `b/2` has no file of extension `seg.png`",
            ]
        );
    }

    #[test]
    fn without_extensions_each_file_is_an_element() {
        let folder = Folder::new("tar-files");
        let long = format!("{}x.txt", "folder/".repeat(30));
        let path = folder.write("a.tar", archive(&[("a", "1"), (&long, "2"), ("b.c", "")]));
        let dataset = TarOptions::default().dataset(&*path).unwrap();
        let files: Vec<(ByteString, ByteString)> = good(&dataset);

        let expected: [(ByteString, ByteString); 3] = [
            ("a".into(), "1".into()),
            (long.as_str().into(), "2".into()),
            ("b.c".into(), "".into()),
        ];
        assert_eq!(files, expected);
    }

    #[test]
    fn extended_headers_and_entries_that_are_no_files_are_understood() {
        let mut builder = Builder::new(Vec::new());
        builder
            .append_pax_extensions([("path", "a/1.jpg".as_bytes()), ("size", b"3")])
            .unwrap();
        let mut header = Header::new_ustar();
        header.set_path("short").unwrap();
        // The size that counts is that of the extended header.
        header.set_size(0);
        header.set_cksum();
        builder.append(&header, std::io::empty()).unwrap();
        let mut bytes = builder.into_inner().unwrap();
        // Without the end mark, and with the contents.
        bytes.truncate(bytes.len() - 1024);
        bytes.extend(b"one");
        bytes.resize(bytes.len().next_multiple_of(512), 0);
        let mut builder = Builder::new(bytes);
        for (entry_type, name) in [
            (EntryType::Directory, "a/1.dir/"),
            (EntryType::Symlink, "a/1.link"),
        ] {
            let mut header = Header::new_gnu();
            header.set_entry_type(entry_type);
            header.set_size(0);
            builder.append_link(&mut header, name, "target").unwrap();
        }
        let mut header = Header::new_gnu();
        header.set_size(1);
        builder
            .append_data(&mut header, "a/1.cls", &b"5"[..])
            .unwrap();
        let bytes = builder.into_inner().unwrap();
        assert_eq!(samples(&bytes, &options(&["jpg", "cls"])), ["a/1: one 5"]);
    }

    #[test]
    fn damage_is_an_error_behind_the_samples_in_front() {
        let files = [("1.a", "x"), ("1.b", "y"), ("2.a", "z"), ("2.b", "w")];
        let bytes = archive(&files);
        let found = |bytes: &[u8]| samples(bytes, &options(&["a", "b"]));
        assert_eq!(found(&bytes), ["1: x y", "2: z w"]);
        // Without the end mark.
        assert_eq!(
            found(&bytes[..4096]),
            [
                "1: x y",
                "2: z w",
                "FILE: record 2 at byte 4096: expected the end mark of the archive, found none",
            ]
        );
        // Within the contents of the last file.
        assert_eq!(
            found(&bytes[..3584]),
            [
                "1: x y",
                "FILE: record 1 at byte 3584: expected 1 bytes, found 0 bytes"
            ]
        );
        // Within the header behind a whole sample.
        assert_eq!(
            found(&bytes[..2048 + 100]),
            [
                "1: x y",
                "FILE: record 1 at byte 2048: expected a header, found 100 bytes"
            ]
        );
        // A name with another byte.
        let mut damaged = bytes.clone();
        damaged[2048] ^= 1;
        assert!(found(&damaged)[1].contains("the checksum of the header is not"));
        // A size that no archive has: nothing of that size is allocated.
        let mut header = Header::new_gnu();
        header.set_path("3.a").unwrap();
        header.set_size(u64::MAX / 2);
        header.set_cksum();
        let mut huge = bytes[..4096].to_vec();
        huge.extend(header.as_bytes());
        assert_eq!(
            found(&huge)[2..],
            ["FILE: record 2 at byte 4608: expected 9223372036854775807 bytes, found 0 bytes"]
        );
    }

    #[test]
    fn samples_that_are_too_large_or_ambiguous_are_errors_of_their_own() {
        let bytes = archive(&[
            ("1.a", "12345"),
            ("1.b", "6"),
            ("2.a", "1"),
            ("2.a", "2"),
            ("3.a", "1"),
            ("3.b", "2"),
        ]);
        let small = TarOptions {
            max_sample_bytes: 5,
            ..options(&["a", "b"])
        };
        assert_eq!(
            samples(&bytes, &small),
            [
                "FILE: record 0 at byte 0: expected a sample of at most 5 bytes",
                "FILE: record 1 at byte 2048: sample `2` has two files of extension `a`",
                "3: 1 2",
            ]
        );
    }

    #[cfg(feature = "gzip")]
    #[test]
    fn archives_may_be_compressed() {
        use std::io::Write;
        let level = flate2::Compression::fast();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
        encoder
            .write_all(&archive(&[("1.a", "x"), ("1.b", "y")]))
            .unwrap();
        let bytes = encoder.finish().unwrap();
        assert_eq!(samples(&bytes, &options(&["a", "b"])), ["1: x y"]);
        let plain = TarOptions {
            compression: tfrt_readers::files::Compression::None,
            ..options(&["a", "b"])
        };
        assert!(samples(&bytes, &plain)[0].starts_with("FILE: record 0 at byte 0: expected"));
    }
}
