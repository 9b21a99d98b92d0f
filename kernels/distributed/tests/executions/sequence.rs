//! Executions that use the results of earlier ones, without waiting for answers.

use tfrt::prelude::*;

use crate::cluster::{cluster, wait};

const ZERO: &str = r#"
func @zero() -> i32 {
  %x = tfrt.constant.i32 0
  tfrt.return %x : i32
}
"#;

const NEXT: &str = r#"
func @next(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %one
  tfrt.return %y : i32
}
"#;

#[test]
fn a_thousand_executions_use_the_results_of_each_other() {
    const COUNT: i32 = 1000;
    for communicator in ["in_process", "grpc_communicator"] {
        let cluster = cluster(communicator);
        cluster.register(1, "zero", ZERO);
        cluster.register(1, "next", NEXT);
        let ctx = cluster.ctx();
        let mut last = cluster.execute(&ctx, (1, "zero"), vec![], 1);
        for _ in 0..COUNT {
            last = cluster.execute(&ctx, (1, "next"), last.ids, 1);
        }
        let chain: AnyRef = last.chain.into();
        wait(cluster.context.host(), &chain);
        assert!(!chain.is_error(), "{chain:?}");
        let there = cluster.servers[1].context(7).unwrap();
        let result = there.objects().get(&last.ids[0]);
        assert_eq!(result.get::<i32>(), Some(&COUNT));
        let sizes = [("next", NEXT.len()), ("zero", ZERO.len())];
        let sizes = sizes.map(|(name, len)| (name.to_owned(), len));
        assert_eq!(there.programs().sizes(), sizes);
        cluster.wait_until_running([0, 0, 0]);
        // The results in between are deleted with their ids, in batches.
        drop(last.ids);
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while there.objects().len() > 10 {
            assert!(
                std::time::Instant::now() < end,
                "{} objects",
                there.objects().len()
            );
            std::thread::yield_now();
        }
    }
}
