//! Files of data that nobody vouches for: tensors, images, records. What is done with them, and
//! what mutation starts from.
//!
//! Each target says whether the input was accepted. Memory is bounded: by a small multiple of the
//! input where a format states sizes that the bytes must back, by `MAX_BYTES` where a few bytes may
//! stand for many.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use tfrt::host::allocator::{HostAllocator, Malloc, ProfiledAllocator, RequestMemory};
use tfrt_kernels::test::examples::Example;
use tfrt_kernels::test::images;
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
            Self::Jpeg => images_of_tests(),
            Self::Example => examples(),
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

fn images_of_tests() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/tests/images");
    ["baseline", "subsampled", "grey", "progressive"]
        .map(|name| {
            let path = folder.join(name).with_extension("jpg");
            fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        })
        .into()
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
