//! How long a run of each program takes, on one thread and on two? Compare within one run of this bench.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tfrt_benches::programs::PROGRAMS;
use tfrt_benches::session::Session;

/// How many runs one call of `main` makes.
const NUM_RUNS: usize = 20;

fn programs(criterion: &mut Criterion) {
    for queue in ["s", "mstd:2"] {
        let mut group = criterion.benchmark_group(queue);
        group.sample_size(20);
        for program in PROGRAMS {
            let session = match Session::new(program, NUM_RUNS, queue) {
                Ok(session) => session,
                Err(error) => panic!("{program} is unsound: {error}"),
            };
            let num_units = (NUM_RUNS * program.num_units()) as u64;
            group.throughput(Throughput::Elements(num_units));
            group.bench_function(program.to_string(), |bencher| {
                bencher.iter(|| session.run())
            });
        }
        group.finish();
    }
}

criterion_group!(benches, programs);
criterion_main!(benches);
