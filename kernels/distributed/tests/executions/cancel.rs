//! A cancelled request ends what it has started on other tasks, and what that has started on third
//! ones.

use tfrt::prelude::*;

use crate::cluster::{cluster, wait};

/// Waits for a payload that nobody sends.
const WAIT: &str = r#"
func @wait(%context: !tfrt_dist.dist_context) -> !tfrt_dist.payload {
  %client = tfrt_dist.get_task_handle %context {task_name = "/job:worker/task:0"}
  %key = tfrt_test.get_string { value = "never" }
  %payload = tfrt_dist.recv_bytes %context, %client, %key
  tfrt.return %payload : !tfrt_dist.payload
}
"#;

/// Lets the other workers wait.
const NESTED: &str = r#"
func @nested(%context: !tfrt_dist.dist_context) -> (!tfrt.chain, !tfrt.chain) {
  %ch = tfrt.new.chain
  %second = tfrt_dist.get_task_handle %context {task_name = "/job:worker/task:2"}
  %third = tfrt_dist.get_task_handle %context {task_name = "/job:worker/task:3"}
  %there = tfrt_dist.create_remote_execute_spec %context {output_devices = ["/job:worker/task:2/device:CPU:0"]}
  %other = tfrt_dist.create_remote_execute_spec %context {output_devices = ["/job:worker/task:3/device:CPU:0"]}
  %a, %x = tfrt_dist.remote_execute [%ch, %context, %second, %there] "wait" () : () -> !tfrt_dist.remote_object_id
  %b, %y = tfrt_dist.remote_execute [%ch, %context, %third, %other] "wait" () : () -> !tfrt_dist.remote_object_id
  tfrt.return %a, %b : !tfrt.chain, !tfrt.chain
}
"#;

fn failure(host: &HostContext, value: &AnyRef) -> String {
    wait(host, value);
    value.error_if_present().unwrap().message().to_owned()
}

#[test]
fn a_cancelled_request_ends_its_executions_on_all_tasks() {
    for communicator in ["in_process", "grpc_communicator"] {
        let cluster = cluster(communicator);
        cluster.register(1, "nested", NESTED);
        cluster.register(2, "wait", WAIT);
        cluster.register(3, "wait", WAIT);
        let (ctx, other) = (cluster.ctx(), cluster.ctx());
        let chain: AnyRef = cluster.execute(&ctx, (1, "nested"), vec![], 2).chain.into();
        cluster.wait_until_running([1, 1, 1]);
        assert!(!chain.is_available());
        // Executions of another request go on.
        cluster.register(1, "wait", WAIT);
        let goes_on: AnyRef = cluster.execute(&other, (1, "wait"), vec![], 1).chain.into();
        cluster.wait_until_running([2, 1, 1]);
        ctx.request().cancel();
        let error = failure(cluster.context.host(), &chain);
        assert!(error.to_lowercase().contains("cancelled"), "{error}");
        cluster.wait_until_running([1, 0, 0]);
        assert!(!goes_on.is_available());
        other.request().cancel();
        failure(cluster.context.host(), &goes_on);
        cluster.wait_until_running([0, 0, 0]);
        // The keys are free again.
        for server in &cluster.servers {
            let context = server.context(7).unwrap();
            assert!(context.rendezvous().is_empty());
        }
    }
}
