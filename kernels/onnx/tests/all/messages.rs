//! The messages in the tree are those that their definition makes. `TFRT_BLESS=1` writes them.

use std::path::Path;

#[test]
fn messages_are_those_of_the_definition() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let definition = protox::compile(["onnx-ml.proto"], [root.join("proto")]).unwrap();
    let folder = tempfile_folder();
    let mut config = prost_build::Config::new();
    config.bytes(["."]).disable_comments(["."]).out_dir(&folder);
    config.compile_fds(definition).unwrap();
    let made = std::fs::read_to_string(folder.join("onnx.rs")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let path = root.join("src/proto/messages.rs");
    if std::env::var_os("TFRT_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == made,
        "`src/proto/messages.rs` is not what `proto/onnx-ml.proto` makes; TFRT_BLESS=1 writes it \
         anew"
    );
}

/// Returns an empty folder of this process.
fn tempfile_folder() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("tfrt-onnx-messages-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
