//! Accesses of memory on several streams: what nothing orders is reported.

use tfrt_gpu::api::driver::CopyEndpoint;
use tfrt_gpu::api::{Current, DevicePtr, StreamHandle};
use tfrt_gpu::host_device::{HostDevice, Options};
use tfrt_gpu::platform::Gpu;

/// Two streams, and two blocks of a word each. The first block is pinned host memory.
struct Setup<'s> {
    gpu: &'s Gpu,
    current: &'s Current,
    streams: [StreamHandle; 2],
    blocks: [DevicePtr; 2],
}

impl Setup<'_> {
    fn write(&self, stream: usize, block: usize) {
        let (stream, block) = (self.streams[stream], self.blocks[block]);
        let driver = &self.gpu.driver;
        driver
            .set_u32_async(self.current, block, 7, 1, stream)
            .unwrap();
    }

    fn copy(&self, stream: usize, to: usize, from: usize) {
        let end = |block: usize| CopyEndpoint::Device(self.blocks[block]);
        let (driver, stream) = (&self.gpu.driver, self.streams[stream]);
        driver
            .copy_async(self.current, &end(to), &end(from), 4, stream)
            .unwrap();
    }

    /// Waits until the first block is written, without a call that orders anything.
    fn poll(&self) {
        let mut word = [0; 4];
        while word[0] != 7 {
            std::thread::yield_now();
            self.gpu
                .driver
                .host_memory_read(self.blocks[0], &mut word)
                .unwrap();
        }
    }

    /// Lets the second stream wait for the first one.
    fn wait(&self) {
        let driver = &self.gpu.driver;
        let event = driver.event_create(self.current, false).unwrap();
        driver.event_record(event, self.streams[0]).unwrap();
        driver.stream_wait_event(self.streams[1], event).unwrap();
        driver.event_destroy(event).unwrap();
    }
}

/// Returns the unordered accesses of `test`.
fn unordered(checks_order: bool, test: impl FnOnce(&Setup<'_>)) -> Vec<String> {
    let device = HostDevice::new(Options {
        checks_order,
        ..Options::default()
    });
    let gpu = HostDevice::gpu(&device);
    let driver = &gpu.driver;
    driver.init().unwrap();
    let context = driver.context_create(driver.device(0).unwrap()).unwrap();
    let current = &Current::set(&**driver, context).unwrap();
    let streams = std::array::from_fn(|_| driver.stream_create(current).unwrap());
    let blocks = [
        driver.host_memory_allocate(current, 4).unwrap(),
        driver.memory_allocate(current, 4).unwrap(),
    ];
    test(&Setup {
        gpu: &gpu,
        current,
        streams,
        blocks,
    });
    driver.context_synchronize(current).unwrap();
    let reports = device.unordered_accesses();
    driver.host_memory_free(blocks[0]).unwrap();
    driver.memory_free(blocks[1]).unwrap();
    for stream in streams {
        driver.stream_destroy(stream).unwrap();
    }
    driver.context_destroy(context).unwrap();
    reports
}

/// The second stream reads what the first one has written.
fn races(checks_order: bool, between: impl Fn(&Setup<'_>)) -> Vec<String> {
    unordered(checks_order, |setup| {
        setup.write(0, 0);
        setup.poll();
        between(setup);
        setup.copy(1, 1, 0);
    })
}

#[test]
fn a_missing_event_between_two_streams_is_reported() {
    let reports = races(true, |_| ());
    let [report] = &reports[..] else {
        panic!("expected one report: {reports:?}");
    };
    assert!(
        report.starts_with("read of 4 bytes at 0xa0000000000 on the stream "),
        "{report}"
    );
    assert!(
        report.contains("nothing orders it after the last write to the buffer of 4 bytes"),
        "{report}"
    );
    assert!(races(false, |_| ()).is_empty());
}

#[test]
fn events_and_waits_of_the_host_order_streams() {
    let ways: [&dyn Fn(&Setup<'_>); 4] = [
        &|setup| setup.wait(),
        &|setup| {
            setup
                .gpu
                .driver
                .stream_synchronize(setup.streams[0])
                .unwrap()
        },
        &|setup| setup.gpu.driver.context_synchronize(setup.current).unwrap(),
        &|setup| while !setup.gpu.driver.stream_query(setup.streams[0]).unwrap() {},
    ];
    for (index, way) in ways.into_iter().enumerate() {
        let reports = races(true, way);
        assert!(reports.is_empty(), "{index}: {reports:?}");
    }
    // An event orders what was enqueued before it was recorded, and nothing later.
    let reports = unordered(true, |setup| {
        setup.wait();
        setup.write(0, 0);
        setup.poll();
        setup.copy(1, 1, 0);
    });
    assert_eq!(reports.len(), 1, "{reports:?}");
}

#[test]
fn one_stream_needs_no_event_and_reads_of_two_streams_need_none() {
    let reports = unordered(true, |setup| {
        setup.write(0, 0);
        setup.copy(0, 1, 0);
        setup
            .gpu
            .driver
            .stream_synchronize(setup.streams[0])
            .unwrap();
        setup.copy(0, 1, 0);
        setup.wait();
        setup.write(1, 1);
    });
    assert!(reports.is_empty(), "{reports:?}");
}
