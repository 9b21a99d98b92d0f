//! Tensor files that somebody damaged: whatever a file says, reading it ends with tensors or with
//! an error, and takes no more memory than a small multiple of its size.
#![cfg(feature = "formats")]

use std::io::Cursor;
use std::sync::Arc;

use tfrt_host::allocator::{HostAllocator, Malloc, ProfiledAllocator};
use tfrt_tensor::file::btf::BtfReader;
use tfrt_tensor::file::{FileFormat, NamedTensor, Stream};
use tfrt_tensor::statistics::Statistics;
use tfrt_tensor::{CooHostTensor, DenseHostTensor, HostBuffer, I1, Shape};

/// Numbers that follow from a seed: a multiplicative congruential generator.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 16
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next()).unwrap() % limit
    }
}

fn malloc() -> Arc<dyn HostAllocator> {
    Arc::new(Malloc)
}

fn dense(dims: &[usize]) -> DenseHostTensor {
    DenseHostTensor::from_fn(&malloc(), Shape::new(dims).unwrap(), |at| (at % 3) as f32).unwrap()
}

fn sample(format: FileFormat) -> Vec<u8> {
    let mut tensors = vec![NamedTensor::new("a", dense(&[3, 4]))];
    if format != FileFormat::Npy {
        tensors.push(NamedTensor::new("b", dense(&[])));
    }
    match format {
        FileFormat::Btf => {
            let sparse = CooHostTensor::from_dense(&dense(&[2, 5]), &malloc()).unwrap();
            tensors.push(NamedTensor::new("c", sparse));
        }
        FileFormat::Safetensors => {
            let truths =
                DenseHostTensor::filled(&malloc(), Shape::new(&[3]).unwrap(), I1::from(true));
            tensors.push(NamedTensor::new("c", truths.unwrap()));
        }
        _ => {}
    }
    format.write(&tensors).unwrap()
}

/// Changes a file in one of the ways in which files are damaged.
fn damage(file: &mut Vec<u8>, numbers: &mut Numbers) {
    const EXTREMES: [u64; 7] = [0, 1, 0xFF, 1 << 31, 1 << 40, i64::MAX as u64, u64::MAX];
    if file.is_empty() {
        return;
    }
    let at = numbers.below(file.len());
    match numbers.below(5) {
        0 => file[at] ^= 1 << numbers.below(8),
        1 => file[at] = numbers.next() as u8,
        2 => {
            let start = (at / 8 * 8).min(file.len().saturating_sub(8));
            let word = EXTREMES[numbers.below(EXTREMES.len())].to_le_bytes();
            for (byte, new) in file[start..].iter_mut().zip(word) {
                *byte = new;
            }
        }
        3 => file.truncate(at),
        _ => {
            let part = file[at..].to_vec();
            file.extend(part);
        }
    }
}

/// Reads a file in every way, and uses what it has.
fn read(format: FileFormat, file: &[u8]) {
    let counting = Arc::new(ProfiledAllocator::default());
    let allocator: Arc<dyn HostAllocator> = counting.clone();
    let buffer = HostBuffer::copied(&malloc(), file).unwrap();
    for named in format.read(&buffer, &allocator).unwrap_or_default() {
        assert!(!named.tensor.to_string().is_empty());
        Statistics::of(&*named.tensor).unwrap();
    }
    if format == FileFormat::Btf {
        let stream = Stream::new(Cursor::new(file), &allocator).unwrap();
        if let Ok(mut reader) = BtfReader::new(stream) {
            for index in -1..4 {
                drop(reader.read(index));
            }
        }
    }
    let taken = counting.profile().unwrap().max_bytes;
    let allowed = match format {
        FileFormat::Npz => 129 * file.len() + (2 << 20),
        _ => 2 * file.len() + 1024,
    };
    assert!(
        taken <= allowed,
        "{format:?}: {taken} bytes for a file of {}",
        file.len()
    );
}

#[test]
fn damage_is_never_worse_than_an_error() {
    for (seed, &format) in (1..).zip(FileFormat::ALL) {
        let sound = sample(format);
        let tensors = format.read(&HostBuffer::from_owner(sound.clone()).unwrap(), &malloc());
        assert!(!tensors.unwrap().is_empty());
        read(format, &sound);
        let mut numbers = Numbers(seed);
        for _ in 0..2000 {
            let mut file = sound.clone();
            for _ in 0..=numbers.below(3) {
                damage(&mut file, &mut numbers);
            }
            read(format, &file);
        }
    }
}

#[test]
fn every_cut_is_never_worse_than_an_error() {
    for &format in FileFormat::ALL {
        let sound = sample(format);
        for len_bytes in 0..sound.len() {
            read(format, &sound[..len_bytes]);
        }
    }
}

#[test]
fn any_bytes_are_some_file() {
    let mut numbers = Numbers(99);
    for _ in 0..2000 {
        let len_bytes = numbers.below(200);
        let file: Vec<u8> = (0..len_bytes).map(|_| numbers.next() as u8).collect();
        for &format in FileFormat::ALL {
            read(format, &file);
        }
    }
}
