//! What does a kernel cost to compile? Writes a crate of as many kernels as one likes, of every
//! plain form in turn.
//!
//! ```text
//! cargo run -p tfrt-benches -- kernels /tmp/many 1000
//! cd /tmp/many && cargo build        # the runtime, once
//! touch src/main.rs && time cargo build
//! ```
//!
//! What is left after subtracting the same with `0` in the place of `1000` is the cost of the
//! kernels. With `cargo rustc -- --emit=metadata` instead of `cargo build` it is that of expansion
//! and type check alone, with `--emit=obj` all but linking.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

/// Writes a crate of `num_kernels` kernels to a folder, which is made if it is not there.
///
/// # Errors
/// If a file cannot be written.
pub fn write(folder: &Path, num_kernels: usize) -> io::Result<()> {
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("Cargo.toml"), manifest())?;
    fs::write(folder.join("src/main.rs"), source(num_kernels))
}

/// That of a user's crate, outside of this workspace.
fn manifest() -> String {
    let facade = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime");
    format!(
        "[package]\nname = \"many-kernels\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         tfrt = {{ path = \"{}\", default-features = false }}\n\n[workspace]\n",
        facade.display()
    )
}

fn source(num_kernels: usize) -> String {
    let mut source = String::from(
        "use tfrt::prelude::*;\n\nfn main() {\n    let registry = KernelRegistry::from_link().expect(\"names are unique\");\n    \
         println!(\"{} kernels\", registry.kernels().count());\n}\n",
    );
    for index in 0..num_kernels {
        let body = match index % 4 {
            0 => format!(
                "(a: i32, b: i32) -> i32 {{\n    a.wrapping_add(b).wrapping_mul({index})\n}}"
            ),
            1 => format!(
                "(text: &str, #[attr(default = {index})] count: i64) -> String {{\n    format!(\"{{text}}{{count}}\")\n}}"
            ),
            2 => {
                format!("(a: f32, b: f32) -> Result<(f32, f32)> {{\n    Ok((a * {index}.0, b))\n}}")
            }
            _ => format!(
                "(first: i64, rest: Operands<'_, i64>) -> i64 {{\n    rest.iter().fold(first ^ {index}, |sum, number| sum ^ number)\n}}"
            ),
        };
        // Writing to a string cannot fail.
        let _ = write!(
            source,
            "\n/// Kernel number {index}.\n#[tfrt_kernel(\"many.kernel{index}\")]\nfn kernel{index}{body}\n"
        );
    }
    source
}
