//! Files of data that nobody vouches for: tensors, images, records. What is done with them, and
//! what mutation starts from.
//!
//! Each target says whether the input was accepted. Memory is bounded: by a small multiple of the
//! input where a format states sizes that the bytes must back, by `MAX_BYTES` where a few bytes may
//! stand for many.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use tfrt::host::RequestContextBuilder;
use tfrt::host::allocator::{HostAllocator, Malloc, ProfiledAllocator, RequestMemory};
use tfrt::prelude::{ExecutionContext, HostContext};
use tfrt_kernels::test::examples::Example;
use tfrt_kernels::test::images;
use tfrt_readers::files::{FileSystem, FileSystems, Stream};
use tfrt_readers::table::{Table, TableFormat, next_row};
use tfrt_readers::tfrecord::RecordWriter;
use tfrt_tensor::file::{FileFormat, NamedTensor};
use tfrt_tensor::statistics::Statistics;
use tfrt_tensor::{
    CooHostTensor, DenseHostTensor, Element, HostBuffer, I1, ScalarHostTensor, Shape,
};

/// What there is to have for what a few bytes may stand for.
const MAX_BYTES: usize = 4 << 20;

/// A kind of data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFormat {
    /// Tensors.
    Tensors(FileFormat),
    /// An image.
    Jpeg,
    /// A record in the binary format of protocol buffers.
    Example,
    /// An image for input pipelines, in any format.
    Picture,
    /// Rows for input pipelines.
    Rows(TableFormat),
}

impl DataFormat {
    /// Reads a file and uses what it has; says whether it was accepted.
    ///
    /// # Panics
    /// If something is wrong with the reader.
    #[must_use]
    pub fn read(self, bytes: &[u8]) -> bool {
        match self {
            Self::Tensors(format) => tensors(format, bytes),
            Self::Jpeg => jpeg(bytes),
            Self::Example => example(bytes),
            Self::Picture => picture(bytes),
            Self::Rows(format) => rows(format, bytes),
        }
    }

    /// Sound files.
    ///
    /// # Panics
    /// If they cannot be written or, for images, read.
    #[must_use]
    pub fn seeds(self) -> Vec<Vec<u8>> {
        match self {
            Self::Tensors(format) => tensor_files(format),
            Self::Jpeg => images_of_tests(&[
                "baseline.jpg",
                "subsampled.jpg",
                "grey.jpg",
                "progressive.jpg",
            ]),
            Self::Example => examples(),
            Self::Picture => pictures(),
            Self::Rows(TableFormat::TfRecord) => record_files(),
            Self::Rows(_) => tables(),
        }
    }
}

/// Reads tensors, prints them, and writes them again; what is written reads as the same tensors.
fn tensors(format: FileFormat, bytes: &[u8]) -> bool {
    let counting = Arc::new(ProfiledAllocator::default());
    let allocator: Arc<dyn HostAllocator> = counting.clone();
    let tensors = read_tensors(format, bytes, &allocator);
    let taken = counting.profile().map_or(0, |profile| profile.max_bytes);
    // Archives are compressed, at most by 1032 to 1, and grow as they are unpacked.
    let allowed = match format {
        FileFormat::Npz => 2064 * bytes.len() + (2 << 20),
        _ => 2 * bytes.len() + 1024,
    };
    assert!(
        taken <= allowed,
        "{format:?}: {taken} bytes for a file of {}",
        bytes.len()
    );
    let Some(tensors) = tensors else {
        return false;
    };
    let text = shown(&tensors);
    if let Ok(written) = format.write(&tensors) {
        let again = read_tensors(format, &written, &allocator).expect("what was written is read");
        assert_eq!(shown(&again), text);
    }
    true
}

fn read_tensors(
    format: FileFormat,
    bytes: &[u8],
    allocator: &Arc<dyn HostAllocator>,
) -> Option<Vec<NamedTensor>> {
    let file = HostBuffer::copied(&malloc(), bytes).expect("memory for the file");
    format.read(&file, allocator).ok()
}

/// Names, elements and statistics of tensors.
fn shown(tensors: &[NamedTensor]) -> String {
    let mut text = String::new();
    for NamedTensor { name, tensor, .. } in tensors {
        let statistics = Statistics::of(&**tensor).expect("nobody writes the tensor");
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{name}: {tensor} {statistics:?}");
    }
    text
}

fn jpeg(bytes: &[u8]) -> bool {
    let allocator: Arc<dyn HostAllocator> = Arc::new(RequestMemory::new(malloc(), MAX_BYTES));
    let Ok(image) = images::decode(bytes, &allocator) else {
        return false;
    };
    let [height, width, channels] = image.shape().to_array().expect("an image has 3 dimensions");
    assert!(channels == 3 && height * width <= images::MAX_PIXELS);
    assert_eq!(image.num_elements(), height * width * channels);
    true
}

fn example(bytes: &[u8]) -> bool {
    let Ok(example) = Example::parse(bytes) else {
        return false;
    };
    for key in ["k", "image/encoded", ""] {
        // At most one of the two succeeds.
        assert!(example.bytes_value(key).is_err() || example.int64_value(key).is_err());
    }
    true
}

fn picture(bytes: &[u8]) -> bool {
    let allocator: Arc<dyn HostAllocator> = Arc::new(RequestMemory::new(malloc(), MAX_BYTES));
    let Ok(image) = tfrt_images::decode::decode(bytes, 3, &allocator) else {
        return false;
    };
    let [height, width, channels] = image.shape().to_array().expect("an image has 3 dimensions");
    assert_eq!((channels, image.num_elements()), (3, height * width * 3));
    true
}

/// A file system with one file.
#[derive(Debug)]
struct OneFile(Arc<[u8]>);

impl FileSystem for OneFile {
    fn open(&self, _path: &str) -> io::Result<Stream> {
        Ok(Box::new(io::Cursor::new(Arc::clone(&self.0))))
    }
}

/// Reads all rows; errors are few, and in their places.
fn rows(format: TableFormat, bytes: &[u8]) -> bool {
    const PATH: &str = "memory://rows";
    // Neither this many rows nor this many errors are in so few bytes.
    let max_draws = bytes.len() + 2;
    let host = HostContext::builder().diagnostic_handler(|_| ()).build();
    FileSystems::of(&host)
        .register("memory", 0, Arc::new(OneFile(bytes.into())))
        .expect("the scheme has no other file system");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    let Ok(table) = Table::open(PATH, Some(format), &ctx) else {
        return false;
    };
    let mut iterator = table.rows().iterator();
    let mut is_sound = true;
    for _ in 0..max_draws {
        match next_row(&mut iterator, &ctx) {
            Ok(Some(row)) => assert!(!row.is_empty()),
            Ok(None) => return is_sound,
            Err(error) => {
                assert!(!error.message().is_empty());
                is_sound = false;
            }
        }
    }
    panic!(
        "{format:?}: more than {max_draws} rows and errors in {} bytes",
        bytes.len()
    );
}

/// Small images: RGB, with a palette, RGBA, grey of 16 bits, and black and white.
fn pictures() -> Vec<Vec<u8>> {
    let images: [&[u8]; 5] = [
        b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x03\
          \x00\x00\x00\x02\x08\x02\x00\x00\x00\x12\x16\xf1\x4d\x00\x00\x00\x18\x49\x44\x41\
          \x54\x78\x9c\x63\x64\xf8\xcf\xa0\xf1\x88\x51\xe3\x11\x23\x4b\xc5\x32\x66\x08\x0b\
          \x00\x3f\xcd\x06\x52\xc0\x95\xec\xb0\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\
          \x82",
        b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x03\
          \x00\x00\x00\x02\x02\x03\x00\x00\x00\xe0\x1a\x8e\x89\x00\x00\x00\x0c\x50\x4c\x54\
          \x45\x14\xf0\x01\x50\xc3\x02\x78\xa5\x03\xb4\x78\x05\x55\xca\x9c\xd5\x00\x00\x00\
          \x0c\x49\x44\x41\x54\x78\x9c\x63\x60\x61\xd8\x03\x00\x00\xcc\x00\xc1\xab\x6b\x4e\
          \xea\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82",
        b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x02\
          \x00\x00\x00\x02\x08\x06\x00\x00\x00\x72\xb6\x0d\x24\x00\x00\x00\x1a\x49\x44\x41\
          \x54\x78\x9c\x63\x64\x64\x62\x66\x61\x61\x61\x61\x61\xe1\xe0\xe0\xe0\x60\x61\x61\
          \x61\x01\x00\x02\x8e\x00\x50\xda\x58\x47\xa5\x00\x00\x00\x00\x49\x45\x4e\x44\xae\
          \x42\x60\x82",
        b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x02\
          \x00\x00\x00\x01\x10\x00\x00\x00\x00\x81\xd9\xfc\x15\x00\x00\x00\x0d\x49\x44\x41\
          \x54\x78\x9c\x63\x60\x64\xfa\xff\x1f\x00\x03\x0c\x02\x02\x1b\x01\xad\xb7\x00\x00\
          \x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82",
        b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x09\
          \x00\x00\x00\x01\x01\x00\x00\x00\x00\x24\xb9\xb9\xd0\x00\x00\x00\x0b\x49\x44\x41\
          \x54\x78\x9c\x63\x5c\x75\x0d\x00\x02\x30\x01\x82\x02\x39\xac\x7f\x00\x00\x00\x00\
          \x49\x45\x4e\x44\xae\x42\x60\x82",
    ];
    let mut images = images.map(<[u8]>::to_vec).to_vec();
    images.extend(images_of_tests(&[
        "plain.gif",
        "interlaced.gif",
        "transparent.gif",
        "palette.bmp",
        "bits.bmp",
        "runs.bmp",
        "top_down.bmp",
    ]));
    images
}

fn record_files() -> Vec<Vec<u8>> {
    let of = |records: &[&[u8]]| {
        let mut writer = RecordWriter::new(Vec::new());
        for record in records {
            writer.write(record).expect("vectors grow");
        }
        writer.finish().expect("vectors grow")
    };
    let examples = examples();
    let all: Vec<&[u8]> = examples.iter().map(Vec::as_slice).collect();
    vec![
        of(&[]),
        of(&[b"red", b"", b"blue"]),
        of(&all),
        of(&all[..1]),
    ]
}

fn tables() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 4] = [
        b"a,b\n1,2.5\n-3,\n",
        b"name,\"other, name\"\r\n\"a \"\"quoted\"\" one\",7\r\n\xc3\xa9,8\r\n",
        b"x\n",
        b"x,y,z\n1,true,a\n2,false,\"b\nc\"\n",
    ];
    texts.map(<[u8]>::to_vec).to_vec()
}

fn malloc() -> Arc<dyn HostAllocator> {
    Arc::new(Malloc)
}

fn dense<T: Element>(dims: &[usize], element: impl Fn(usize) -> T) -> DenseHostTensor {
    let shape = Shape::new(dims).expect("a small shape");
    DenseHostTensor::from_fn(&malloc(), shape, element).expect("memory for a small tensor")
}

fn tensor_files(format: FileFormat) -> Vec<Vec<u8>> {
    let floats = dense(&[3, 4], |at| (at % 3) as f32 - 0.5);
    let all = [
        NamedTensor::new("floats", floats.clone()),
        NamedTensor::new("bytes", dense(&[7], |at| at as u8)),
        NamedTensor::new("one", dense(&[], |_| -1_i64)),
        NamedTensor::new("none", dense(&[2, 0], |_| 0_i32)),
        NamedTensor::new("truths", dense(&[3], |at| I1::from(at == 1))),
        NamedTensor::new("deep", dense(&[1, 2, 1, 2], |at| at as f64)),
    ];
    let mut files: Vec<Vec<u8>> = all
        .iter()
        .map(std::slice::from_ref)
        .filter_map(|tensor| format.write(tensor).ok())
        .collect();
    if format != FileFormat::Npy {
        files.extend(format.write(&all[..4]));
        files.extend(format.write(&[]));
    }
    if format == FileFormat::Btf {
        let sparse = CooHostTensor::from_dense(&floats, &malloc()).expect("memory");
        files.extend(format.write(&[NamedTensor::new("sparse", sparse)]));
    }
    let scalar = ScalarHostTensor::new(Shape::scalar(), 1_i32);
    files.extend(format.write(&[NamedTensor::new("scalar", scalar)]));
    assert!(files.len() >= 4, "{format:?} writes tensors");
    files
}

fn images_of_tests(names: &[&str]) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/tests/images");
    let read = |name: &&str| {
        let path = folder.join(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    names.iter().map(read).collect()
}

/// A field of bytes behind its number.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let len = u8::try_from(content.len()).expect("a short field");
    [&[number << 3 | 2, len], content].concat()
}

/// Records with one feature of each type, and one with all of them.
fn examples() -> Vec<Vec<u8>> {
    let feature = |key: &[u8], kind: u8, values: &[u8]| {
        let entry = [field(1, key), field(2, &field(kind, values))].concat();
        field(1, &entry)
    };
    let features = [
        feature(b"k", 3, &field(1, &[7, 0x80, 1])),
        feature(b"k", 3, &[8, 7]),
        feature(b"image/encoded", 1, &field(1, b"\xff\xd8\xff")),
        feature(b"", 2, &field(1, &1.5_f32.to_le_bytes())),
    ];
    let mut all: Vec<Vec<u8>> = features.iter().map(|one| field(1, one)).collect();
    all.push(field(1, &features.concat()));
    all.push(Vec::new());
    all
}
