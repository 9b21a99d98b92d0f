//! Arbitrary bytes are either rejected or can be read, and nothing panics.

use tfrt_bef::BefFile;

use crate::common::{dump, golden, read_everything};

/// Rejects the file or reads all of it. Returns `true` if its tables were accepted.
fn read_or_refuse(bytes: &[u8]) -> bool {
    match BefFile::from_bytes(bytes).verify() {
        Ok(bef) => {
            read_everything(&bef);
            true
        }
        Err(error) => {
            assert!(error.offset() <= bytes.len(), "{error}");
            false
        }
    }
}

/// Returns small files that together have every section and every kind of function.
const FILES: [&str; 4] = [
    "47-driver-flags.bef",
    "21-native.bef",
    "22-sync-runner.bef",
    "15-blocking.bef",
];

#[test]
fn every_truncation_is_refused_or_reads() {
    for name in FILES {
        let bytes = golden(name);
        let accepted = (0..bytes.len())
            .filter(|&len| read_or_refuse(&bytes[..len]))
            .count();
        // A file that ends after a section behind the required ones is complete.
        assert!(accepted <= 6, "{name}: {accepted}");
    }
}

#[test]
fn every_change_of_a_byte_of_the_smallest_program_is_refused_or_reads() {
    let bytes = dump(include_str!("one.hex"));
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        for byte in 0..=255 {
            damaged[at] = byte;
            read_or_refuse(&damaged);
        }
    }
}

#[test]
fn changes_of_every_byte_are_refused_or_read() {
    for name in FILES {
        let bytes = golden(name);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            for byte in [
                0x00,
                0x01,
                0x7f,
                0x80,
                0xff,
                bytes[at] ^ 1,
                bytes[at].wrapping_add(4),
            ] {
                damaged[at] = byte;
                read_or_refuse(&damaged);
            }
        }
    }
}

/// A deterministic pseudo-random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

#[test]
fn many_changes_at_once_are_refused_or_read() {
    let mut random = Random(1);
    for name in FILES {
        let bytes = golden(name);
        for _ in 0..2_000 {
            let mut damaged = bytes.clone();
            for _ in 0..=random.below(4) {
                let (from, to) = (random.below(bytes.len()), random.below(bytes.len()));
                damaged[to] = if random.below(2) == 0 {
                    bytes[from]
                } else {
                    random.below(256) as u8
                };
            }
            read_or_refuse(&damaged);
        }
    }
}

#[test]
fn noise_behind_a_header_is_refused_or_reads() {
    let mut random = Random(2);
    for _ in 0..5_000 {
        let mut bytes = vec![0x0b, 0xef, 0x00];
        let len = random.below(200);
        bytes.extend(
            (0..len).map(|_| random.below(if len.is_multiple_of(2) { 12 } else { 256 }) as u8),
        );
        read_or_refuse(&bytes);
    }
}
