//! The report as a table.

use std::fmt::{self, Display};

use tfrt_support::escape::escaped;

use super::report::{FunctionReport, KernelReport, Profile, Report};
use super::statistics::{Nanos, mean_ns, ratio};
use crate::rows::write_rows;

/// The columns of a table of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    /// The time of the kernels.
    Kernels,
    /// The executor time before them.
    Dispatch,
}

/// Returns a report as text that ends in a newline.
pub(super) fn text(report: &Report, columns: Columns) -> String {
    Printed { report, columns }.to_string()
}

struct Printed<'a> {
    report: &'a Report,
    columns: Columns,
}

impl Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { report, columns } = *self;
        let threads = match report.num_threads {
            1 => "1 thread".to_owned(),
            num => format!("{num} threads"),
        };
        writeln!(f, "{}: {}, {threads}", report.program, report.work_queue)?;
        if let Some(cost) = report.recording {
            let (inside, between) = (Nanos(cost.inside_ns), Nanos(cost.between_ns));
            writeln!(
                f,
                "recording costs {} per kernel: {inside} inside, {between} between kernels; \
                 subtracted below",
                Nanos(cost.inside_ns + cost.between_ns)
            )?;
        }
        #[cfg(feature = "onnx")]
        if let Some(model) = &report.model {
            f.write_str(&model.line())?;
        }
        for function in &report.functions {
            write_function(f, function, columns)?;
        }
        if !report.not_run.is_empty() {
            let names = escaped(&report.not_run.join(", ")).to_string();
            writeln!(f, "\nnot run because they have arguments: {names}")?;
        }
        Ok(())
    }
}

fn write_function(
    f: &mut fmt::Formatter<'_>,
    function: &FunctionReport,
    columns: Columns,
) -> fmt::Result {
    let FunctionReport {
        name,
        num_runs,
        num_warmup_runs,
        wall,
        ..
    } = function;
    writeln!(
        f,
        "\n'{}': {num_runs} runs after {num_warmup_runs} warm-up runs",
        escaped(name)
    )?;
    let percentiles = [
        ("min", wall.min_ns),
        ("50%", wall.p50_ns),
        ("95%", wall.p95_ns),
        ("99%", wall.p99_ns),
        ("max", wall.max_ns),
    ];
    f.write_str("  wall")?;
    for (label, ns) in percentiles {
        write!(f, "  {label} {}", nanos(ns))?;
    }
    writeln!(f, "  mean {}", Nanos(wall.mean_ns))?;
    let utilization = 100.0 * ratio(function.cpu_total_ns, wall.total_ns);
    let cpu = Nanos(function.cpu_mean_ns);
    writeln!(
        f,
        "  cpu   {cpu} per run, {utilization:.0}% of one processor"
    )?;
    let Some(profile) = &function.profile else {
        return writeln!(f, "  no profile: this build does not record kernels");
    };
    let slowdown = profile.wall.p50_ns as f64 / wall.p50_ns.max(1) as f64;
    let recorded = &profile.wall;
    writeln!(
        f,
        "  profile: {} recorded runs in {}, 50% {}; {num_runs} other runs in {}, 50% {}: \
         {slowdown:.2} times as long\n",
        profile.num_runs,
        nanos(recorded.total_ns),
        nanos(recorded.p50_ns),
        nanos(wall.total_ns),
        nanos(wall.p50_ns),
    )?;
    match columns {
        Columns::Kernels => write_rows(f, &kernel_rows(profile))?,
        Columns::Dispatch => write_rows(f, &dispatch_rows(profile))?,
    }
    let Some(stages) = &profile.stages else {
        return Ok(());
    };
    writeln!(f, "\n  stages of input pipelines, in the recorded runs:\n")?;
    stages.write(f)
}

/// Returns the kernels of a profile, those with the greatest key first.
fn ranked(profile: &Profile, key: fn(&KernelReport) -> u64) -> Vec<&KernelReport> {
    let mut kernels: Vec<_> = profile.kernels.iter().collect();
    // Stable: equal ones stay in order of their names.
    kernels.sort_by_key(|kernel| std::cmp::Reverse(key(kernel)));
    kernels
}

fn sum(profile: &Profile, time: fn(&KernelReport) -> u64) -> u64 {
    profile.kernels.iter().map(time).sum()
}

/// Returns how often a kernel ran in each run of the function.
fn runs_per_run(kernel: &KernelReport, profile: &Profile) -> String {
    let num = ratio(kernel.num_runs, profile.num_runs);
    if num.fract() == 0.0 {
        format!("{num}")
    } else {
        format!("{num:.2}")
    }
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}%", 100.0 * ratio(part, whole))
}

fn nanos(ns: u64) -> String {
    Nanos(ns as f64).to_string()
}

/// With how long results were waited for, if any were, and with what the kernels achieve, if one of
/// them has reported what it does.
fn kernel_rows(profile: &Profile) -> Vec<Vec<String>> {
    let all_ns = sum(profile, |kernel| kernel.self_ns);
    let has_work = profile
        .kernels
        .iter()
        .any(|kernel| kernel.flops > 0 || kernel.bytes > 0);
    let rates: &[&str] = if has_work { &["GFLOP/s", "GB/s"] } else { &[] };
    let has_waits = profile.kernels.iter().any(|kernel| kernel.num_waits > 0);
    let waits: &[&str] = if has_waits { &["waiting"] } else { &[] };
    let header = ["kernel", "per run", "total", "self", "share", "mean"];
    let header = header.iter().chain(waits).chain(rates);
    let header = header.map(|&title| title.to_owned());
    let rows = ranked(profile, |kernel| kernel.self_ns)
        .into_iter()
        .map(|kernel| {
            let mut row = vec![
                named(kernel),
                runs_per_run(kernel, profile),
                nanos(kernel.total_ns),
                nanos(kernel.self_ns),
                percent(kernel.self_ns, all_ns),
                Nanos(mean_ns(kernel.total_ns, kernel.num_runs)).to_string(),
            ];
            if has_waits {
                // Between the return of the kernel and its result, which is none of the times
                // before.
                row.push(match kernel.num_waits {
                    0 => String::new(),
                    _ => nanos(kernel.waited_ns),
                });
            }
            if has_work {
                row.extend([kernel.flops, kernel.bytes].map(|amount| rate(amount, kernel)));
            }
            row
        });
    std::iter::once(header.collect()).chain(rows).collect()
}

/// Returns the name of a kernel, behind its place if it is listed by itself.
fn named(kernel: &KernelReport) -> String {
    let name = escaped(&kernel.name);
    match &kernel.place {
        Some(place) => format!("{}: {name}", escaped(place)),
        None => name.to_string(),
    }
}

/// So much in the time of the kernel, in thousands of millions a second; nothing for unreported
/// numbers.
fn rate(amount: u64, kernel: &KernelReport) -> String {
    if amount == 0 || kernel.total_ns == 0 {
        return String::new();
    }
    format!("{:.2}", ratio(amount, kernel.total_ns))
}

fn dispatch_rows(profile: &Profile) -> Vec<Vec<String>> {
    let all_ns = sum(profile, |kernel| kernel.dispatch_ns);
    let header = [
        "kernel", "runs", "self", "mean", "dispatch", "mean", "share",
    ];
    let header = header.map(str::to_owned).to_vec();
    let kernels_ns = sum(profile, |kernel| kernel.self_ns);
    let num_runs = sum(profile, |kernel| kernel.num_runs);
    let num_dispatches = sum(profile, |kernel| kernel.num_dispatches);
    let row = |name: String, num_runs, self_ns, num_dispatches, dispatch_ns| {
        vec![
            name,
            u64::to_string(&num_runs),
            nanos(self_ns),
            Nanos(mean_ns(self_ns, num_runs)).to_string(),
            nanos(dispatch_ns),
            Nanos(mean_ns(dispatch_ns, num_dispatches)).to_string(),
            percent(dispatch_ns, all_ns),
        ]
    };
    let rows = ranked(profile, |kernel| kernel.dispatch_ns)
        .into_iter()
        .map(|kernel| {
            row(
                named(kernel),
                kernel.num_runs,
                kernel.self_ns,
                kernel.num_dispatches,
                kernel.dispatch_ns,
            )
        });
    let all = "(all)".to_owned();
    let all = row(all, num_runs, kernels_ns, num_dispatches, all_ns);
    std::iter::once(header).chain(rows).chain([all]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::report::{RecordingCost, VERSION};
    use super::super::statistics::Summary;
    use super::*;

    fn kernel(name: &str, num_runs: u64, self_ns: u64, dispatch_ns: u64) -> KernelReport {
        KernelReport {
            name: name.to_owned(),
            place: None,
            num_runs,
            total_ns: self_ns + 1000,
            self_ns,
            num_dispatches: num_runs,
            dispatch_ns,
            num_waits: 0,
            waited_ns: 0,
            flops: 0,
            bytes: 0,
        }
    }

    fn report() -> Report {
        let wall = |ns| Summary::of(vec![ns; 2]).expect("there are times");
        Report {
            version: VERSION,
            program: "p.mlir".to_owned(),
            work_queue: "single-threaded".to_owned(),
            num_threads: 1,
            recording: Some(RecordingCost {
                inside_ns: 20.0,
                between_ns: 80.0,
                path_ns: 70.0,
            }),
            functions: vec![FunctionReport {
                name: "main".to_owned(),
                num_warmup_runs: 1,
                num_runs: 2,
                wall: wall(10_000),
                cpu_total_ns: 10_000,
                cpu_mean_ns: 5000.0,
                profile: Some(Profile {
                    num_runs: 2,
                    wall: wall(25_000),
                    kernels: vec![
                        kernel("my.long_one", 2, 3000, 10),
                        kernel("my.short", 3, 1000, 30),
                    ],
                    stages: None,
                }),
            }],
            not_run: vec!["f".to_owned(), "g".to_owned()],
            #[cfg(feature = "onnx")]
            model: None,
        }
    }

    #[test]
    fn kernels_are_ranked_by_what_they_took_themselves() {
        assert_eq!(
            text(&report(), Columns::Kernels),
            "p.mlir: single-threaded, 1 thread
recording costs 100.0 ns per kernel: 20.0 ns inside, 80.0 ns between kernels; subtracted below

'main': 2 runs after 1 warm-up runs
  wall  min 10.000 µs  50% 10.000 µs  95% 10.000 µs  99% 10.000 µs  max 10.000 µs  mean 10.000 µs
  cpu   5.000 µs per run, 50% of one processor
  profile: 2 recorded runs in 50.000 µs, 50% 25.000 µs; 2 other runs in 20.000 µs, 50% 10.000 µs: 2.50 times as long

  kernel       per run     total      self  share      mean
  my.long_one        1  4.000 µs  3.000 µs  75.0%  2.000 µs
  my.short        1.50  2.000 µs  1.000 µs  25.0%  666.7 ns

not run because they have arguments: f, g
"
        );
    }

    #[test]
    fn kernels_that_say_what_they_do_are_listed_with_how_fast_they_do_it() {
        let mut report = report();
        let profile = report.functions[0].profile.as_mut().expect("it has one");
        (profile.kernels[0].flops, profile.kernels[0].bytes) = (50_000, 6000);
        let text = text(&report, Columns::Kernels);
        let table = text
            .lines()
            .skip_while(|line| !line.starts_with("  kernel"));
        let table: Vec<&str> = table.take(3).collect();
        assert_eq!(
            table,
            [
                "  kernel       per run     total      self  share      mean  GFLOP/s  GB/s",
                "  my.long_one        1  4.000 µs  3.000 µs  75.0%  2.000 µs    12.50  1.50",
                "  my.short        1.50  2.000 µs  1.000 µs  25.0%  666.7 ns               ",
            ]
        );
    }

    #[test]
    fn waiting_for_results_is_a_column_of_its_own() {
        let mut report = report();
        let profile = report.functions[0].profile.as_mut().expect("it has one");
        (profile.kernels[0].num_waits, profile.kernels[0].waited_ns) = (2, 7000);
        let text = text(&report, Columns::Kernels);
        let table = text
            .lines()
            .skip_while(|line| !line.starts_with("  kernel"));
        let table: Vec<&str> = table.take(3).collect();
        assert_eq!(
            table,
            [
                "  kernel       per run     total      self  share      mean   waiting",
                "  my.long_one        1  4.000 µs  3.000 µs  75.0%  2.000 µs  7.000 µs",
                "  my.short        1.50  2.000 µs  1.000 µs  25.0%  666.7 ns          ",
            ]
        );
    }

    #[test]
    fn kernels_that_are_listed_by_themselves_follow_their_places() {
        let mut report = report();
        let profile = report.functions[0].profile.as_mut().expect("it has one");
        for (kernel, place) in profile
            .kernels
            .iter_mut()
            .zip(["node 'a' (Conv)", "p.mlir:3:5"])
        {
            kernel.place = Some(place.to_owned());
        }
        for columns in [Columns::Kernels, Columns::Dispatch] {
            let text = text(&report, columns);
            for line in [
                "  node 'a' (Conv): my.long_one  ",
                "  p.mlir:3:5: my.short          ",
            ] {
                let is_there = text.lines().any(|found| found.starts_with(line));
                assert!(is_there, "{text}");
            }
        }
    }

    #[test]
    fn hot_kernels_are_ranked_by_dispatch_and_added_up() {
        let text = text(&report(), Columns::Dispatch);
        let rows: Vec<Vec<&str>> = text
            .lines()
            .skip_while(|line| !line.starts_with("  kernel"))
            .take(4)
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(
            rows,
            [
                vec![
                    "kernel", "runs", "self", "mean", "dispatch", "mean", "share"
                ],
                vec![
                    "my.short", "3", "1.000", "µs", "333.3", "ns", "30.0", "ns", "10.0", "ns",
                    "75.0%"
                ],
                vec![
                    "my.long_one",
                    "2",
                    "3.000",
                    "µs",
                    "1.500",
                    "µs",
                    "10.0",
                    "ns",
                    "5.0",
                    "ns",
                    "25.0%"
                ],
                vec![
                    "(all)", "5", "4.000", "µs", "800.0", "ns", "40.0", "ns", "8.0", "ns", "100.0%"
                ],
            ]
        );
    }

    #[test]
    fn a_build_without_tracing_says_so() {
        let mut report = report();
        report.recording = None;
        report.functions[0].profile = None;
        let text = text(&report, Columns::Kernels);
        assert!(
            text.contains("no profile: this build does not record kernels"),
            "{text}"
        );
        assert!(!text.contains("recording costs"), "{text}");
    }
}
