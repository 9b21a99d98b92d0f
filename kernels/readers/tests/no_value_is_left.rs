//! Counts the values of a whole process, which is why it has a process of its own.

use std::{env, fs, process};

use tfrt_async::live_values;
use tfrt_data::{Draw, Position};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_readers::tfrecord::{RecordWriter, tf_record_dataset};

#[test]
fn a_dropped_iterator_stops_its_reader_and_leaves_nothing() {
    let mut writer = RecordWriter::new(Vec::new());
    for _ in 0..2000 {
        writer.write(&[7; 1000]).unwrap();
    }
    let path = env::temp_dir().join(format!("tfrt-readers-{}-left", process::id()));
    fs::write(&path, writer.finish().unwrap()).unwrap();
    let text = path.to_str().expect("folders of tests have plain names");
    let is_cancelled = [false, true];
    for queue in ["s", "mstd:2,1", "mstd:2,4"] {
        for num_draws in [0, 1, 30, 100, 400] {
            for is_cancelled in is_cancelled {
                let host = HostContext::builder()
                    .queue(create_queue(queue).unwrap())
                    .build();
                let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
                let dataset = tf_record_dataset(text).unwrap();
                let mut iterator = dataset.iterator_below(Position::ROOT);
                let drawn: Vec<_> = (0..num_draws).map(|_| iterator.draw(&ctx)).collect();
                if is_cancelled {
                    ctx.request().cancel();
                }
                drop(iterator);
                ctx.host().quiesce().unwrap();
                // What was outstanding was answered although the iterator is gone.
                assert!(drawn.iter().all(|result| result.is_known()));
            }
        }
    }
    let _ = fs::remove_file(&path);
    assert_eq!(live_values(), 0);
}
