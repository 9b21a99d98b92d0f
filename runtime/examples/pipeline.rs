//! An input pipeline: numbers, shuffled, squared and put into batches, for two epochs.
//!
//! ```console
//! $ cargo run -p tfrt --example pipeline
//! epoch 1: 4 batches, sum 285
//! epoch 2: 4 batches, sum 285
//! ```

use std::error::Error;

use tfrt::data::Dataset;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let host = HostContext::builder()
        .queue(tfrt::queue::create_queue("mstd:2")?)
        .build();
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());

    let samples = Dataset::range(0, 10, 1)?
        .shuffle(5, 100, 200)?
        .map(|number: i64| number * number)?;
    let batches = samples.batch(3)?.prefetch(1)?;

    for epoch in 1..=2 {
        let (mut count, mut sum) = (0, 0);
        for batch in batches.elements::<DenseHostTensor, _>(&ctx) {
            sum += batch?.elements::<i64>()?.iter().sum::<i64>();
            count += 1;
        }
        println!("epoch {epoch}: {count} batches, sum {sum}");
        assert_eq!((count, sum), (4, 285));
    }
    Ok(())
}
