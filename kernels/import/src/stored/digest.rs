//! SHA-256, by which files are told apart.

use std::fmt::Write;
use std::io::Read;
use std::path::Path;

const BLOCK_BYTES: usize = 64;

const ROUND_CONSTANTS: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

/// The digest of the bytes so far.
struct Digest {
    state: [u32; 8],
    /// The bytes that do not fill a block yet.
    rest: Vec<u8>,
    len_bytes: u64,
}

impl Digest {
    fn new() -> Self {
        Self {
            state: [
                0x6a09_e667,
                0xbb67_ae85,
                0x3c6e_f372,
                0xa54f_f53a,
                0x510e_527f,
                0x9b05_688c,
                0x1f83_d9ab,
                0x5be0_cd19,
            ],
            rest: Vec::with_capacity(BLOCK_BYTES),
            len_bytes: 0,
        }
    }

    fn update(&mut self, mut bytes: &[u8]) {
        self.len_bytes = self.len_bytes.wrapping_add(bytes.len() as u64);
        if !self.rest.is_empty() {
            let taken = bytes.len().min(BLOCK_BYTES - self.rest.len());
            self.rest.extend_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if self.rest.len() < BLOCK_BYTES {
                return;
            }
            let block = std::mem::take(&mut self.rest);
            self.add_block(&block);
        }
        let blocks = bytes.chunks_exact(BLOCK_BYTES);
        self.rest.extend_from_slice(blocks.remainder());
        for block in blocks {
            self.add_block(block);
        }
    }

    fn add_block(&mut self, block: &[u8]) {
        let mut words = [0_u32; 64];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        for at in 16..64 {
            let (a, b) = (words[at - 15], words[at - 2]);
            let first = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let second = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            words[at] = words[at - 16]
                .wrapping_add(first)
                .wrapping_add(words[at - 7])
                .wrapping_add(second);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.state;
        for (word, constant) in words.into_iter().zip(ROUND_CONSTANTS) {
            let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & f) ^ (!e & g);
            let first = h
                .wrapping_add(sum)
                .wrapping_add(choice)
                .wrapping_add(constant)
                .wrapping_add(word);
            let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let majority = (a & b) ^ (a & c) ^ (b & c);
            let second = sum.wrapping_add(majority);
            (h, g, f, e) = (g, f, e, d.wrapping_add(first));
            (d, c, b, a) = (c, b, a, first.wrapping_add(second));
        }
        for (state, word) in self.state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *state = state.wrapping_add(word);
        }
    }

    /// Returns the digest in hexadecimal digits.
    fn finish(mut self) -> String {
        let len_bits = self.len_bytes.wrapping_mul(8);
        let mut end = std::mem::take(&mut self.rest);
        end.push(0x80);
        while end.len() % BLOCK_BYTES != BLOCK_BYTES - 8 {
            end.push(0);
        }
        end.extend_from_slice(&len_bits.to_be_bytes());
        for block in end.chunks_exact(BLOCK_BYTES) {
            self.add_block(block);
        }
        let mut text = String::with_capacity(64);
        for word in self.state {
            let _ = write!(text, "{word:08x}");
        }
        text
    }
}

/// Returns the SHA-256 of bytes, in hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let mut digest = Digest::new();
    digest.update(bytes);
    digest.finish()
}

/// Returns the size of a file and its SHA-256, in hexadecimal digits.
///
/// # Errors
/// Failures to read the file.
pub fn sha256_of_file(path: &Path) -> std::io::Result<(u64, String)> {
    let mut file = std::fs::File::open(path)?;
    let mut digest = Digest::new();
    let mut part = vec![0; 1 << 16];
    loop {
        match file.read(&mut part)? {
            0 => return Ok((digest.len_bytes, digest.finish())),
            len => digest.update(&part[..len]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        // From FIPS 180-4, with the examples of its authors.
        let check = |bytes: &[u8], expected: &str| assert_eq!(sha256(bytes), expected);
        check(
            b"",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        );
        check(
            b"abc",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        );
        check(
            b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        );
        check(
            &vec![b'a'; 1_000_000],
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
        );
    }

    #[test]
    fn parts_of_any_length_make_the_same_digest() {
        let bytes: Vec<u8> = (0..300_u32).map(|at| (at * 7) as u8).collect();
        for len in [1, 3, 63, 64, 65, 130] {
            let mut digest = Digest::new();
            bytes.chunks(len).for_each(|part| digest.update(part));
            assert_eq!(digest.finish(), sha256(&bytes), "{len}");
        }
    }
}
