//! The results of a benchmark, as a document.
//!
//! The structs define the document that `--json` prints: an object for each struct, with a member
//! for each field. Times are nanoseconds, and integers unless they are means.
//!
//! ```json
//! {
//!   "version": 1,
//!   "program": "p.mlir",
//!   "work_queue": "single-threaded", "num_threads": 1,
//!   "recording": {"inside_ns": 21.0, "between_ns": 160.5, "path_ns": 151.2},
//!   "functions": [{
//!     "name": "main", "num_warmup_runs": 3, "num_runs": 100,
//!     "wall": {"min_ns": 900, "p50_ns": 950, "p95_ns": 990, "p99_ns": 1020, "max_ns": 1100, "mean_ns": 953.1, "total_ns": 95310},
//!     "cpu_total_ns": 95000, "cpu_mean_ns": 950.0,
//!     "profile": {
//!       "num_runs": 100,
//!       "wall": {…},
//!       "kernels": [{"name": "tfrt.add.i32", "num_runs": 300, "total_ns": 6000, "self_ns": 6000,
//!                    "num_dispatches": 300, "dispatch_ns": 9000},
//!                   {"name": "my.dot", …, "flops": 128000, "bytes": 512000},
//!                   {"name": "my.later", …, "num_waits": 100, "waited_ns": 700000}],
//!       "stages": {"elapsed_ns": 98000, "bottleneck": 1, "stages": [{"name": "map", "depth": 0, …}, …]}
//!     }
//!   }],
//!   "not_run": ["needs_arguments"]
//! }
//! ```
//!
//! `recording` and `profile` are null if the runtime was built without tracing of kernels. Every
//! incompatible change increases [`VERSION`]; a new member does not.

use serde::{Deserialize, Serialize};

#[cfg(feature = "onnx")]
use super::model::ModelReport;
use super::statistics::Summary;
use crate::stages::StagesReport;

/// The version of the document.
pub(super) const VERSION: u32 = 1;

/// All of it.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Report {
    pub(super) version: u32,
    /// The program as it was named; `<stdin>` is standard input.
    pub(super) program: String,
    pub(super) work_queue: String,
    /// The number of compute threads.
    pub(super) num_threads: usize,
    pub(super) recording: Option<RecordingCost>,
    /// In the order in which they ran.
    pub(super) functions: Vec<FunctionReport>,
    /// Functions with arguments that were not requested by name.
    pub(super) not_run: Vec<String>,
    /// If it is a model of another system.
    #[cfg(feature = "onnx")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<ModelReport>,
}

/// The cost of recording one kernel: the mean of empty ones. It is subtracted from the times of all
/// kernels.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct RecordingCost {
    /// The part in the time of the kernel.
    pub(super) inside_ns: f64,
    /// The part in the time between two kernels.
    pub(super) between_ns: f64,
    /// The part in the time from the start of a path to its first kernel.
    pub(super) path_ns: f64,
}

/// The measurements of a function.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct FunctionReport {
    pub(super) name: String,
    pub(super) num_warmup_runs: u64,
    pub(super) num_runs: u64,
    /// From the call until all its work was done, of each run.
    pub(super) wall: Summary,
    /// The total processor time of all threads of the process meanwhile, without the cost of
    /// reading that clock.
    pub(super) cpu_total_ns: u64,
    pub(super) cpu_mean_ns: f64,
    pub(super) profile: Option<Profile>,
}

/// The recorded data of separate runs.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Profile {
    pub(super) num_runs: u64,
    /// As that of the function, but with all that recording takes.
    pub(super) wall: Summary,
    /// Each kernel once: in order of their names, or in program order with `--per-node`.
    pub(super) kernels: Vec<KernelReport>,
    /// The stages of the input pipelines whose iterators the runs made; left out if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stages: Option<StagesReport>,
}

/// The recorded data of all kernels with one name, or of one kernel, in all runs of the profile,
/// without the cost of recording.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct KernelReport {
    pub(super) name: String,
    /// The node or line of the only kernel that is meant; omitted if kernels are added up by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) place: Option<String>,
    pub(super) num_runs: u64,
    /// From begin to end.
    pub(super) total_ns: u64,
    /// The time without kernels that ran inside it on the same thread, and without the time between
    /// those.
    pub(super) self_ns: u64,
    /// The number of runs that followed another kernel, or the start of a path, with only the
    /// executor in between.
    pub(super) num_dispatches: u64,
    /// The executor time there.
    pub(super) dispatch_ns: u64,
    /// The number of results that were unavailable when the kernel had returned; omitted if there
    /// are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) num_waits: u64,
    /// The total time until they became available: that of tasks and timers, and of the executor to
    /// reach these. Not part of the times above; omitted if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) waited_ns: u64,
    /// The operations on floating-point numbers that the runs reported, in sum; omitted if there
    /// are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) flops: u64,
    /// The bytes that they reported to read and write; omitted if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) bytes: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that `skip_serializing_if` asks for"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Report {
    /// Returns the document, as text that ends in a newline.
    pub(super) fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::StageReport;

    /// With a mean that every reader of decimal numbers finds again.
    fn summary(first_ns: u64) -> Summary {
        Summary::of(vec![first_ns, first_ns + 3, first_ns + 9]).expect("there are times")
    }

    fn report() -> Report {
        let kernel = |name: &str, num_runs| KernelReport {
            name: name.to_owned(),
            place: None,
            num_runs,
            total_ns: 40,
            self_ns: 30,
            num_dispatches: num_runs - 1,
            dispatch_ns: 11,
            num_waits: 0,
            waited_ns: 0,
            flops: 0,
            bytes: 0,
        };
        Report {
            version: VERSION,
            program: "a \"b\".mlir".to_owned(),
            work_queue: "single-threaded".to_owned(),
            num_threads: 1,
            recording: Some(RecordingCost {
                inside_ns: 20.25,
                between_ns: 0.1,
                path_ns: 150.0,
            }),
            functions: vec![FunctionReport {
                name: "main".to_owned(),
                num_warmup_runs: 2,
                num_runs: 3,
                wall: summary(100),
                cpu_total_ns: 300,
                cpu_mean_ns: 100.0,
                profile: Some(Profile {
                    num_runs: 3,
                    wall: summary(500),
                    kernels: vec![kernel("tfrt.add.i32", 6), kernel("tfrt.call", 3)],
                    stages: Some(StagesReport {
                        elapsed_ns: 7,
                        stages: vec![StageReport {
                            name: "map".to_owned(),
                            ..StageReport::default()
                        }],
                        bottleneck: Some(0),
                    }),
                }),
            }],
            not_run: vec!["needs_arguments".to_owned()],
            #[cfg(feature = "onnx")]
            model: None,
        }
    }

    #[test]
    fn the_document_reads_back_as_what_it_was_made_of() {
        let report = report();
        let json = report.to_json().expect("all of it can be written");
        assert_eq!(serde_json::from_str::<Report>(&json).ok(), Some(report));
    }

    #[test]
    fn members_have_the_names_that_are_documented() {
        let json = report().to_json().expect("all of it can be written");
        let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
        assert_eq!(json["version"], 1);
        let function = &json["functions"][0];
        assert_eq!(function["wall"]["p50_ns"], 103);
        let kernel = &function["profile"]["kernels"][1];
        assert_eq!(
            *kernel,
            serde_json::json!({
                "name": "tfrt.call", "num_runs": 3, "total_ns": 40, "self_ns": 30,
                "num_dispatches": 2, "dispatch_ns": 11
            })
        );
        assert_eq!(json["not_run"][0], "needs_arguments");
    }

    #[test]
    fn a_new_member_is_no_obstacle_to_a_reader() {
        let json = report().to_json().expect("all of it can be written");
        let extended = json.replacen('{', "{\"machine\": \"new\",", 1);
        assert_eq!(
            serde_json::from_str::<Report>(&extended).ok(),
            Some(report())
        );
    }
}
