//! SHA-256, by which files are told apart.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::ImportError;
use crate::files::FolderFiles;

/// Returns the SHA-256 of a file next to the program, in hexadecimal digits.
pub(super) fn sha256_beside(files: &FolderFiles, location: &str) -> Result<String, ImportError> {
    let mut digest = Sha256::new();
    files.read_whole(location, |piece| digest.update(piece))?;
    Ok(digits(&digest.finalize()))
}

/// Returns the size of a file and its SHA-256, in hexadecimal digits.
///
/// # Errors
/// Failures to read the file.
pub fn sha256_of_file(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let (mut digest, mut len_bytes) = (Sha256::new(), 0);
    let mut part = vec![0; 1 << 16];
    loop {
        match file.read(&mut part)? {
            0 => return Ok((len_bytes, digits(&digest.finalize()))),
            len => {
                digest.update(&part[..len]);
                len_bytes += len as u64;
            }
        }
    }
}

fn digits(digest: &[u8]) -> String {
    let mut text = String::with_capacity(2 * digest.len());
    for byte in digest {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        // From FIPS 180-4, with the examples of its authors.
        let folder = std::env::temp_dir().join(format!("tfrt-digest-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let check = |bytes: &[u8], expected: &str| {
            let path = folder.join("f");
            std::fs::write(&path, bytes).unwrap();
            let found = sha256_of_file(&path).unwrap();
            assert_eq!(found, (bytes.len() as u64, expected.to_owned()));
            let files = FolderFiles::of_folder(folder.clone());
            assert_eq!(sha256_beside(&files, "f").unwrap(), expected);
        };
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
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
