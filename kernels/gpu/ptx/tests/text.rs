//! Texts that are not PTX, and texts that are damaged: errors with a place, and never a panic.

mod common;

use common::Random;
use tfrt_ptx::{Arena, Launch, Module, Program};

fn error(body: &str) -> (u32, u32, String) {
    let error = Module::parse(&format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n{body}"
    ))
    .unwrap_err();
    (error.line(), error.column(), error.message().to_owned())
}

#[test]
fn errors_say_what_was_expected_where() {
    let cases = [
        ("banana", 4, 1, "expected a directive, found `banana`"),
        (".entry k() { ret }", 4, 18, "expected `;`, found `}`"),
        (
            ".entry k() { banana.u32 %r1; }",
            4,
            14,
            "expected an instruction, found `banana`",
        ),
        (
            ".entry k() { .reg .b32 %r<2>; mov.u32 %r1, %r2; }",
            4,
            44,
            "unknown name `%r2`",
        ),
        (
            ".entry k() { bra nowhere; }",
            4,
            18,
            "unknown label `nowhere`",
        ),
        (
            ".entry k() { .reg .b32 %r<2>; @%r1 ret; }",
            4,
            32,
            "expected a predicate, found `%r1`",
        ),
        (
            ".entry k() { .reg .b32 %r<2>; add.u32 %r1, %r1, 1.5; }",
            4,
            49,
            "`1.5` is not a value of this type",
        ),
        (
            ".entry k() { .reg .b32 %r<2>; and.f32 %r1, %r1, %r1; }",
            4,
            31,
            "`and` has no form for this type",
        ),
        (
            ".entry k() { .reg .b32 %r<2>; mul.u32 %r1, %r1, %r1; }",
            4,
            31,
            "`.lo`, `.hi` and `.wide` in `mul.u32` are only for integers",
        ),
        (
            ".entry k() { .reg .b32 %r<2>; ld.v2.u32 {%r0, %r1, %r1}, [%r1]; }",
            4,
            55,
            "expected 2 elements, found 3",
        ),
        (".entry k() { ret;", 4, 12, "expected a closing `}`"),
        (
            ".entry k() { a: ret; a: ret; }",
            4,
            22,
            "label `a` is defined twice",
        ),
        (
            ".entry k() { ret; } .entry k() { ret; }",
            4,
            32,
            "function `k` is defined twice",
        ),
        (
            ".global .u32 x[2] = {1, 2, 3};",
            4,
            29,
            "expected at most 8 bytes, found 12",
        ),
        (
            ".global .align 3 .u32 x;",
            4,
            16,
            "expected a power of two up to 65536, found 3",
        ),
        (
            ".func f(.param .b32 x) { ret; }\n.entry k() { call f; }",
            5,
            19,
            "`f` has 0 results and 1 parameters, found 0 and 0",
        ),
        (
            ".address_size 32",
            4,
            15,
            "expected an address size of 64, found `32`",
        ),
        (
            ".entry k() { /* ret; }",
            4,
            14,
            "expected `*/` at the end of this comment",
        ),
    ];
    for (body, line, column, message) in cases {
        assert_eq!(error(body), (line, column, message.to_owned()), "{body}");
    }
}

#[test]
fn a_run_of_negations_is_an_error_not_a_stack_overflow() {
    let marks = "!".repeat(1_000_000);
    let (line, column, message) = error(&format!(
        ".entry k() {{ .reg .pred %p<3>; and.pred %p0, {marks}%p1, %p1; ret; }}"
    ));
    assert_eq!((line, column), (4, 47));
    assert_eq!(message, "expected a name, found `!`");
}

#[test]
fn sizes_of_declarations_cost_nothing() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.global .b8 huge[9000000000000000000];\n.entry k() { .reg .b32 %r<4000000000>; mov.u32 %r3999999999, 1; }";
    let program = Program::place(Module::parse(text).unwrap(), |_| Some(1 << 20));
    assert!(program.is_err());
    assert_eq!(error(".local .b8 x[4];").0, 4);
    assert!(
        error(".entry k() { .local .b8 x[2000000]; ret; }")
            .2
            .contains("at most 1048576 bytes")
    );
    assert!(
        error(".entry k(.param .b8 x[2000000]) { ret; }")
            .2
            .contains("at most 1048576 bytes")
    );
    assert!(
        error(".global .u64 x[9000000000000000000];")
            .2
            .contains("2^63")
    );
}

#[test]
fn a_symbol_without_an_address_is_an_error() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.extern .global .u32 elsewhere;";
    let error = Program::place(Module::parse(text).unwrap(), |_| None).unwrap_err();
    assert_eq!(error.to_string(), "variable `elsewhere` has no address");
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.global .u64 x = generic(nowhere);";
    let error = Program::place(Module::parse(text).unwrap(), |_| Some(512)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "variable `nowhere` is used by an initializer but is not defined in device memory"
    );
}

#[test]
fn a_nul_ends_the_text() {
    assert!(Module::parse(".version 8.0\n.target sm_90\n.address_size 64\n\0garbage").is_ok());
}

/// Damages a text at random, as the fuzz target does, and runs what still parses.
#[test]
fn damaged_modules_are_errors_or_run() {
    let seeds: Vec<String> = ["saxpy", "reductions", "threads", "half", "matrix"]
        .iter()
        .map(|name| {
            std::fs::read_to_string(format!(
                "{}/tests/cuda/{name}.ptx",
                env!("CARGO_MANIFEST_DIR")
            ))
            .unwrap()
        })
        .collect();
    let mut random = Random(99);
    let (mut num_parsed, mut num_ran) = (0, 0);
    for round in 0..600 {
        let seed = &seeds[round % seeds.len()];
        let mut lines: Vec<String> = seed
            .lines()
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect();
        for _ in 0..random.below(4) + 1 {
            let (at, other) = (
                random.below(lines.len() as u64) as usize,
                random.below(lines.len() as u64) as usize,
            );
            match random.below(6) {
                0 => drop(lines.remove(at)),
                1 => lines.insert(at, lines[other].clone()),
                2 => lines.swap(at, other),
                3 => {
                    let words: Vec<&str> = lines[other].split_inclusive([' ', ',', '.']).collect();
                    let word = words
                        .get(random.below(words.len().max(1) as u64) as usize)
                        .copied()
                        .unwrap_or_default()
                        .to_owned();
                    let place = (0..=lines[at].len())
                        .nth(random.below(lines[at].len() as u64 + 1) as usize)
                        .unwrap_or(0);
                    if lines[at].is_char_boundary(place) {
                        lines[at].insert_str(place, &word);
                    }
                }
                4 => lines[at] = lines[at].replace(['1', '2', '3'], "9"),
                _ => {
                    let keep = random.below(lines[at].len() as u64 + 1) as usize;
                    lines[at] = lines[at].chars().take(keep).collect();
                }
            }
        }
        let Ok(module) = Module::parse(&lines.join("\n")) else {
            continue;
        };
        num_parsed += 1;
        let mut memory = Arena::new();
        let Ok(program) = Program::place(module, |variable| {
            Some(memory.allocate((variable.size() as usize).min(1 << 16)))
        }) else {
            continue;
        };
        let _ = program.initialise(&mut memory);
        let data = memory.allocate(4096);
        let kernels: Vec<_> = program.module().kernels().map(|(id, _)| id).collect();
        for id in kernels {
            let size = program
                .module()
                .parameters(id)
                .last()
                .map_or(0, |last| last.offset + last.size)
                .min(1 << 16);
            let mut parameters: Vec<u8> =
                data.to_le_bytes().into_iter().cycle().take(size).collect();
            if let Some(last) = program.module().parameters(id).last() {
                parameters[last.offset..].fill(1);
            }
            let launch = Launch {
                max_steps: 20_000,
                dynamic_shared: 256,
                ..Launch::new([2, 1, 1], [40, 1, 1], &parameters)
            };
            num_ran += usize::from(program.launch(id, &launch, &mut memory).is_ok());
        }
    }
    assert!(
        num_parsed > 50 && num_ran > 50,
        "{num_parsed} texts parsed, {num_ran} kernels ran"
    );
}
