//! What goes wrong on a device without a word: each fault has a kind, a place and a thread.

mod common;

use common::{Arg, Device};
use tfrt_ptx::{Fault, FaultKind, Launch};

fn kernel(parameters: &str, body: &str) -> Device {
    let head = ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 16 .b8 dynamic[];\n.shared .b32 words[64];\n";
    let registers =
        ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<9>;";
    // The body begins at line 7.
    Device::load(&format!(
        "{head}.visible .entry k({parameters}) {{ {registers}\n{body}\n}}\n"
    ))
}

fn fault(body: &str, threads: u32) -> Fault {
    kernel("", body)
        .try_run("k", [1; 3], [threads, 1, 1], 64, &[])
        .unwrap_err()
}

fn runs(body: &str, threads: u32) {
    kernel("", body).run("k", 1, threads, 64, &[]);
}

#[test]
fn reading_behind_a_buffer_names_thread_line_address_and_buffer() {
    let mut device = kernel(
        ".param .u64 x",
        "ld.param.u64 %rd1, [x];\nmov.u32 %r1, %tid.x;\nmad.wide.u32 %rd2, %r1, 4, %rd1;\nld.global.f32 %f1, [%rd2];",
    );
    let x = device.upload(&[1f32; 100]);
    let fault = device
        .try_run("k", [1; 3], [128, 1, 1], 0, &[Arg::Address(x)])
        .unwrap_err();
    assert_eq!(fault.kind(), FaultKind::IllegalAddress);
    assert_eq!(
        (fault.kernel(), fault.line(), fault.thread(), fault.block()),
        ("k", Some(10), Some([100, 0, 0]), Some([0, 0, 0]))
    );
    assert_eq!(fault.address(), Some(x + 400));
    assert_eq!(
        fault.to_string(),
        format!(
            "illegal address in kernel `k` at line 10, `ld.global.f32 %f1, [%rd2];`, block (0, 0, \
             0), thread (100, 0, 0): cannot read 4 bytes of global memory at {:#x}: 0 bytes past \
             the end of buffer {x:#x} of 400 bytes",
            x + 400
        )
    );
}

#[test]
fn freed_memory_is_not_there() {
    let mut device = kernel(
        ".param .u64 x",
        "ld.param.u64 %rd1, [x];\nst.global.u32 [%rd1], 1;",
    );
    let x = device.upload(&[0u32]);
    device.memory.free(x).unwrap();
    let fault = device
        .try_run("k", [1; 3], [1; 3], 0, &[Arg::Address(x)])
        .unwrap_err();
    assert_eq!(fault.kind(), FaultKind::IllegalAddress);
    assert!(fault.message().ends_with("was freed before"), "{fault}");
}

#[test]
fn misaligned_accesses_are_found_in_every_space() {
    for access in [
        "ld.global.u32 %r1, [%rd1+2];",
        "ld.shared.v2.u32 {%r1, %r2}, [words+4];",
        "atom.shared.add.u64 %rd2, [words+4], 1;",
    ] {
        let mut device = kernel(
            ".param .u64 x",
            &format!("ld.param.u64 %rd1, [x];\n{access}"),
        );
        let x = device.upload(&[0u64]);
        let fault = device
            .try_run("k", [1; 3], [1; 3], 0, &[Arg::Address(x)])
            .unwrap_err();
        assert_eq!(
            (fault.kind(), fault.line()),
            (FaultKind::MisalignedAddress, Some(8)),
            "{access}"
        );
    }
}

#[test]
fn spaces_have_ends() {
    for body in [
        "ld.shared.u32 %r1, [words+320];",
        "ld.shared.u32 %r1, [dynamic+64]; ld.shared.u32 %r1, [words];",
        ".local .b32 own[4]; ld.local.u32 %r1, [own+16];",
        ".local .b32 own[4]; cvta.local.u64 %rd1, own; st.u32 [%rd1+16], 0;",
        "mov.u64 %rd1, 0; ld.global.u8 %h1, [%rd1];",
        "mov.u64 %rd1, -1; ld.u8 %h1, [%rd1];",
        "ld.param.u64 %rd1, [%rd1+4096];",
    ] {
        let fault = fault(body, 1);
        assert_eq!(fault.kind(), FaultKind::IllegalAddress, "{body}: {fault}");
    }
    runs(
        "ld.shared.u32 %r1, [words+252]; ld.shared.u32 %r1, [dynamic+60];",
        1,
    );
}

#[test]
fn constant_memory_cannot_be_written() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.const .u32 c = 3;\n.entry k() { st.const.u32 [c], 1; }";
    let fault = Device::load(text)
        .try_run("k", [1; 3], [1; 3], 0, &[])
        .unwrap_err();
    assert_eq!(fault.kind(), FaultKind::IllegalAddress);
}

#[test]
fn writes_without_a_barrier_between_are_a_race() {
    let shift = "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, words; add.s32 %r4, %r3, \
                 %r2; st.shared.u32 [%r4], %r1;\n";
    let read = "xor.b32 %r5, %r2, 4; add.s32 %r6, %r3, %r5; ld.shared.u32 %r7, [%r6];\n";
    let found = fault(&format!("{shift}{read}"), 64);
    // Thread 0 has read the word already when thread 1 writes it.
    assert_eq!(
        (found.kind(), found.line(), found.thread()),
        (FaultKind::Race, Some(7), Some([1, 0, 0]))
    );
    assert_eq!(
        found.message(),
        "this thread writes byte 4 of shared memory, which thread (0, 0, 0) read at line 8 \
         without a barrier in between"
    );
    runs(&format!("{shift}bar.sync 0;\n{read}"), 64);
    // A barrier of the warp orders its lanes alone.
    runs(&format!("{shift}bar.warp.sync -1;\n{read}"), 64);
    let across = "xor.b32 %r5, %r2, 128; add.s32 %r6, %r3, %r5; ld.shared.u32 %r7, [%r6];\n";
    assert_eq!(
        fault(&format!("{shift}bar.warp.sync -1;\n{across}"), 64).kind(),
        FaultKind::Race
    );
    // Reading what others then write is one, too.
    let before = "mov.u32 %r1, %tid.x; ld.shared.u32 %r2, [words]; setp.ne.u32 %p1, %r1, 3; @%p1 \
                  bra done; st.shared.u32 [words], 1; done: ret;";
    assert_eq!(fault(before, 32).kind(), FaultKind::Race);
    // Atomic operations do not race.
    runs("atom.shared.add.u32 %r1, [words], 1;", 64);
}

#[test]
fn races_are_not_looked_for_if_the_launch_says_so() {
    let mut device = kernel("", "mov.u32 %r1, %tid.x; st.shared.u32 [words], %r1;");
    let id = device.program.module().kernel("k").unwrap();
    let launch = Launch {
        finds_races: false,
        ..Launch::new([1; 3], [64, 1, 1], &[])
    };
    assert!(
        device
            .program
            .launch(id, &launch, &mut device.memory)
            .is_ok()
    );
    assert_eq!(
        fault("mov.u32 %r1, %tid.x; st.shared.u32 [words], %r1;", 64).kind(),
        FaultKind::Race
    );
}

#[test]
fn divergent_barriers_and_wrong_masks_are_deadlocks() {
    let half = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16;\n";
    for (body, words) in [
        // Half of a warp waits at another barrier.
        (
            format!(
                "{half}@%p1 bra other;\nbar.sync 0;\nbra done;\nother: bar.sync 1;\ndone: ret;"
            ),
            "but others wait",
        ),
        // Half of a warp waits at another place of the same barrier.
        (
            format!(
                "{half}@%p1 bra other;\nbar.sync 0;\nbra done;\nother: bar.sync 0;\ndone: ret;"
            ),
            "divergent barrier",
        ),
        // Half of a warp shuffles with all, the others wait for the block.
        (
            format!("{half}@%p1 shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\nbar.sync 0;"),
            "but others wait",
        ),
        // A lane reads one that is not there.
        (
            format!(
                "{half}@!%p1 bra done;\nshfl.sync.idx.b32 %r2, %r1, 20, 31, 0xffff;\ndone: ret;"
            ),
            "not in the mask",
        ),
        // A lane that is not in its own mask.
        ("bar.warp.sync 1;".to_owned(), "does not contain the lane"),
        ("bar.sync 16;".to_owned(), "from 0 to 15"),
    ] {
        let fault = fault(&body, 32);
        assert_eq!(fault.kind(), FaultKind::Deadlock, "{body}: {fault}");
        assert!(fault.message().contains(words), "{fault}");
    }
    // Threads that have ended are not waited for.
    runs(
        &format!("{half}@%p1 exit;\nbar.sync 0;\nvote.sync.any.pred %p2, %p1, -1;"),
        32,
    );
}

#[test]
fn endless_loops_meet_the_step_limit() {
    let mut device = kernel("", "again: bra again;");
    let id = device.program.module().kernel("k").unwrap();
    let launch = Launch {
        max_steps: 1000,
        ..Launch::new([1; 3], [32, 1, 1], &[])
    };
    let fault = device
        .program
        .launch(id, &launch, &mut device.memory)
        .unwrap_err();
    assert_eq!(
        (fault.kind(), fault.line()),
        (FaultKind::StepLimit, Some(7))
    );
}

#[test]
fn a_thread_that_spins_lets_others_run() {
    let spin = "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 1; @%p1 st.volatile.shared.u32 [words], 1;\n@%p1 bra done;
        again: ld.volatile.shared.u32 %r2, [words]; setp.ne.u32 %p2, %r2, 1; @%p2 bra again;\ndone: ret;";
    runs(spin, 2);
}

#[test]
fn traps_calls_of_nothing_and_deep_recursion_end_the_launch() {
    assert_eq!(fault("trap;", 1).kind(), FaultKind::Trap);
    assert_eq!(
        fault("mov.u64 %rd1, 16; call %rd1;", 1).kind(),
        FaultKind::InvalidCall
    );
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.func f() { call f; }\n.extern .func g();\n.entry k() { call f; }\n.entry l() { call g; }";
    let mut device = Device::load(text);
    assert_eq!(
        device
            .try_run("k", [1; 3], [1; 3], 0, &[])
            .unwrap_err()
            .kind(),
        FaultKind::StackOverflow
    );
    assert_eq!(
        device
            .try_run("l", [1; 3], [1; 3], 0, &[])
            .unwrap_err()
            .kind(),
        FaultKind::InvalidCall
    );
}

#[test]
fn launches_have_limits() {
    let mut device = kernel(".param .u32 n", "ld.shared.u32 %r1, [words];");
    let number = [Arg::I32(1)];
    for (grid, block) in [
        ([0, 1, 1], [1; 3]),
        ([1; 3], [0, 1, 1]),
        ([1, 65536, 1], [1; 3]),
        ([1; 3], [1025, 1, 1]),
        ([1; 3], [32, 64, 1]),
        ([1; 3], [1, 1, 65]),
    ] {
        let fault = device.try_run("k", grid, block, 0, &number).unwrap_err();
        assert_eq!(
            (fault.kind(), fault.line()),
            (FaultKind::InvalidLaunch, None),
            "{grid:?} {block:?}"
        );
    }
    assert_eq!(
        device
            .try_run("k", [1; 3], [1; 3], 232_448, &number)
            .unwrap_err()
            .kind(),
        FaultKind::OutOfResources
    );
    let id = device.program.module().kernel("k").unwrap();
    let fault = device
        .program
        .launch(
            id,
            &Launch::new([1; 3], [1; 3], &[0; 3]),
            &mut device.memory,
        )
        .unwrap_err();
    assert_eq!(fault.message(), "expected 4 bytes of parameters, found 3");
    let compiled =
        ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() .maxntid 32, 2, 1 { ret; }";
    assert_eq!(
        Device::load(compiled)
            .try_run("k", [1; 3], [65, 1, 1], 0, &[])
            .unwrap_err()
            .kind(),
        FaultKind::InvalidLaunch
    );
}

#[test]
fn an_unsupported_instruction_fails_its_kernel_alone() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.func f() {\nwgmma.fence.sync.aligned;\n}\n.entry k() { call f; }\n.entry l() { ret; }";
    let mut device = Device::load(text);
    device.run("l", 1, 1, 0, &[]);
    let fault = device.try_run("k", [1; 3], [1; 3], 0, &[]).unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Unsupported);
    assert_eq!(fault.message(), "line 5: `wgmma` is not supported");
}

#[test]
fn what_was_printed_before_a_fault_is_not_lost() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64
        .extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
        .global .b8 text[] = {37, 48, 53, 100, 124, 37, 46, 50, 102, 10, 0};
        .entry k() {
            .reg .b64 %rd<4>; .local .align 8 .b8 values[16];
            st.local.u32 [values], -42; st.local.f64 [values+8], 1.5;
            cvta.local.u64 %rd1, values; cvta.global.u64 %rd2, text;
            { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd2; st.param.b64 [b], %rd1; call.uni (r), vprintf, (a, b); }
            trap;
        }";
    let fault = Device::load(text)
        .try_run("k", [1; 3], [1; 3], 0, &[])
        .unwrap_err();
    assert_eq!(
        (fault.kind(), fault.printed()),
        (FaultKind::Trap, "-0042|1.50\n")
    );
}
