//! What the loader says of a program whose text is sound.

use std::sync::Arc;

use tfrt::executor::Program;
use tfrt::prelude::*;
use tfrt::support::Place;

/// Why the program cannot be loaded, with the line that the error is on.
pub(crate) fn refusal(source: &str) -> (String, String) {
    let kernels = Arc::new(KernelRegistry::from_link().expect("names are unique"));
    let file = tfrt::text::compile(source, "program", &kernels).expect("the text is sound");
    let host = HostContext::builder().registry(kernels).build();
    let program = Program::load(&host, &file).expect("the tables are sound");
    let error = program
        .verify_all()
        .expect_err("the loader refuses the program");
    let Place::File { line, .. } = error.place() else {
        panic!("`{error}` is not located");
    };
    let line = source.lines().nth(*line as usize - 1).unwrap_or_default();
    (error.message().to_owned(), line.trim().to_owned())
}
