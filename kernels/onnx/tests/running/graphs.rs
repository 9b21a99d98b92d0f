//! Graphs in nodes, functions, and lists of tensors.

use super::*;
use tfrt_import::rewrite::{Folding, RewriteRules};
use tfrt_onnx::proto::attribute_proto::AttributeType;

#[test]
fn functions_of_the_model_are_inlined_with_their_attributes() {
    let body = NodeProto {
        attribute: vec![AttributeProto {
            name: Some("axis".into()),
            ref_attr_name: Some("where".into()),
            r#type: Some(AttributeType::Int as i32),
            ..Default::default()
        }],
        ..node("Flatten", &["a"], &["b"])
    };
    let function = FunctionProto {
        name: Some("Flat".into()),
        domain: Some("my".into()),
        input: vec!["a".into()],
        output: vec!["b".into()],
        attribute: vec!["where".into()],
        node: vec![body],
        opset_import: vec![OperatorSetIdProto {
            version: Some(20),
            ..Default::default()
        }],
        ..Default::default()
    };
    let call = NodeProto {
        domain: Some("my".into()),
        ..with(node("Flat", &["x"], &["y"]), &[int("where", 2)])
    };
    let mut flat = model(graph(&["x"], vec![call], &["y"]));
    flat.functions = vec![function];
    let x = tensor(&[2, 1, 2], &[1.0_f32, 2.0, 3.0, 4.0]);
    let found = run_model(&flat, &[("x", x)]).unwrap();
    assert_eq!(found, ["f32 [2, 2] [1.0, 2.0, 3.0, 4.0]"]);

    flat.functions[0].node[0] = NodeProto {
        domain: Some("my".into()),
        ..node("Flat", &["a"], &["b"])
    };
    let error = imported(&flat).map(drop).unwrap_err();
    assert!(error.ends_with("the function calls itself"), "{error}");
}

/// Returns a branch that adds a number to `x`, which the graph around it has.
fn adding(name: &str, number: f32) -> GraphProto {
    let constant = NodeProto {
        attribute: vec![AttributeProto {
            name: Some("value".into()),
            r#type: Some(AttributeType::Tensor as i32),
            t: Some(floats("n", &[number])),
            ..Default::default()
        }],
        ..node("Constant", &[], &[&format!("{name}_n")])
    };
    let add = node("Add", &["x", &format!("{name}_n")], &[name]);
    graph(&[], vec![constant, add], &[name])
}

#[test]
fn branches_see_the_values_around_them() {
    let choose = with(
        node("If", &["c"], &["y"]),
        &[
            graph_attribute("then_branch", adding("t", 10.0)),
            graph_attribute("else_branch", adding("e", 20.0)),
        ],
    );
    let model = newest(graph(&["c", "x"], vec![choose], &["y"]));
    for (truth, expected) in [(true, "f32 [1] [11.0]"), (false, "f32 [1] [21.0]")] {
        let inputs = [
            ("c", tensor(&[], &[tfrt_tensor::I1::from(truth)])),
            ("x", tensor(&[1], &[1.0_f32])),
        ];
        assert_eq!(run_model(&model, &inputs).unwrap(), [expected]);
    }
}

/// Returns a loop that adds `x` to a sum in each round, and returns all sums.
fn summing() -> NodeProto {
    let body = graph(
        &["round", "goes_on", "sum"],
        vec![
            node("Add", &["sum", "x"], &["next"]),
            node("Identity", &["next"], &["copy"]),
        ],
        &["goes_on", "next", "copy"],
    );
    with(
        node("Loop", &["n", "", "x"], &["last", "all"]),
        &[graph_attribute("body", body)],
    )
}

#[test]
fn loops_carry_their_state_and_stack_what_each_round_makes() {
    let model = newest(graph(&["n", "x"], vec![summing()], &["last", "all"]));
    let inputs = |rounds: i64| {
        [
            ("n", tensor(&[], &[rounds])),
            ("x", tensor(&[2], &[1.0_f32, 10.0])),
        ]
    };
    assert_eq!(
        run_model(&model, &inputs(2)).unwrap(),
        ["f32 [2] [3.0, 30.0]", "f32 [2, 2] [2.0, 20.0, 3.0, 30.0]"]
    );
    // Without a round the state stays, and the stack is empty.
    assert_eq!(
        run_model(&model, &inputs(0)).unwrap(),
        ["f32 [2] [1.0, 10.0]", "f32 [0] []"]
    );
}

/// Returns a tensor of one element.
fn scalar_of(name: &str, data_type: i32, bytes: &[u8]) -> TensorProto {
    TensorProto {
        name: Some(name.into()),
        data_type: Some(data_type),
        raw_data: Some(bytes.to_vec().into()),
        ..Default::default()
    }
}

#[test]
fn loops_of_few_iterations_are_written_out() {
    let x = || ("x", tensor(&[2], &[1.0_f32, 10.0]));
    let of_rounds = |rounds: i64| {
        let mut graph = graph(&["x"], vec![summing()], &["last", "all"]);
        graph.initializer = vec![scalar_of("n", 7, &rounds.to_le_bytes())];
        newest(graph)
    };
    let text = |model: &ModelProto| imported(model).unwrap().text;
    let known = of_rounds(3);
    assert!(!text(&known).contains("corert.while"));
    let free = newest(graph(&["n", "x"], vec![summing()], &["last", "all"]));
    for rounds in [1, 2, 8] {
        let inputs = [("n", tensor(&[], &[rounds])), x()];
        let expected = run_model(&free, &inputs).unwrap();
        assert_eq!(run_model(&of_rounds(rounds), &[x()]).unwrap(), expected);
    }
    for rounds in [-1, 0, 9] {
        assert!(
            text(&of_rounds(rounds)).contains("corert.while"),
            "{rounds}"
        );
    }
    // Only if that does not make a large program.
    let mut large = of_rounds(8);
    let body = large.graph.as_mut().unwrap().node[0].attribute[0]
        .g
        .as_mut();
    let nodes = &mut body.unwrap().node;
    nodes.extend((0..2000).map(|at| node("Neg", &["sum"], &[&format!("n{at}")])));
    assert!(text(&large).contains("corert.while"));
    // The body may end the loop, and the condition may not hold at first.
    let mut ended = known.clone();
    let nodes = &mut ended.graph.as_mut().unwrap().node;
    let body = nodes[0].attribute[0].g.as_mut().unwrap();
    body.node.push(node("Not", &["goes_on"], &["ended"]));
    body.output[0] = value("ended");
    assert!(text(&ended).contains("corert.while"));
    let found = run_model(&ended, &[x()]).unwrap();
    assert_eq!(found[0], "f32 [2] [2.0, 20.0]");
    let mut never = known;
    let graph = never.graph.as_mut().unwrap();
    graph.node[0].input[1] = "c".into();
    graph.initializer.push(scalar_of("c", 9, &[0]));
    assert!(text(&never).contains("corert.while"));
    let found = run_model(&never, &[x()]).unwrap();
    assert_eq!(found[0], "f32 [2] [1.0, 10.0]");
}

#[test]
fn conditions_that_become_constants_choose_their_branch() {
    let choose = |name: &str, inner: GraphProto| {
        with(
            node("If", &["c"], &[name]),
            &[
                graph_attribute("then_branch", inner),
                graph_attribute("else_branch", adding("e", 20.0)),
            ],
        )
    };
    // A branch in a branch, whose condition is computed, too.
    let inner = with(
        node("If", &["d"], &["i"]),
        &[
            graph_attribute("then_branch", adding("t", 10.0)),
            graph_attribute("else_branch", adding("f", 5.0)),
        ],
    );
    let inner = graph(&[], vec![node("Not", &["c"], &["d"]), inner], &["i"]);
    let nodes = vec![
        node("Not", &["b"], &["c"]),
        choose("y", inner),
        node("Neg", &["y"], &["z"]),
    ];
    for (byte, expected) in [(0, "f32 [1] [-6.0]"), (1, "f32 [1] [-21.0]")] {
        let mut graph = graph(&["x"], nodes.clone(), &["z"]);
        graph.initializer = vec![scalar_of("b", 9, &[byte])];
        let model = newest(graph);
        let mut program = imported(&model).unwrap();
        assert!(program.text.contains("corert.cond"));
        let kernels = Arc::new(KernelRegistry::from_link().unwrap());
        let host = HostContext::builder().registry(kernels).build();
        let folding = Folding::new(&host, &Limits::default());
        program.rewrite_and_fold(&RewriteRules::default(), folding.unwrap());
        assert!(!program.text.contains("corert.cond"), "{}", program.text);
        assert!(!program.text.contains("@branch"), "{}", program.text);
        let found = run_model(&model, &[("x", tensor(&[1], &[1.0_f32]))]).unwrap();
        assert_eq!(found, [expected]);
    }
}

#[test]
fn loops_in_branches_of_loops_see_all_values_around_them() {
    // In each of two rounds, a branch runs the loop of the other test.
    let then = graph(&[], vec![summing()], &["last"]);
    let choose = with(
        node("If", &["goes_on"], &["chosen"]),
        &[
            graph_attribute("then_branch", then),
            graph_attribute("else_branch", adding("e", 0.0)),
        ],
    );
    let mut body = graph(
        &["outer_round", "goes_on", "total"],
        vec![choose, node("Add", &["total", "chosen"], &["more"])],
        &["goes_on", "more"],
    );
    // The name of the condition is the body's own in both loops.
    body.node[0].attribute[0].g.as_mut().unwrap().node[0].attribute[0]
        .g
        .as_mut()
        .unwrap()
        .input[1] = value("inner_goes_on");
    let inner = body.node[0].attribute[0].g.as_mut().unwrap();
    inner.node[0].attribute[0].g.as_mut().unwrap().output[0] = value("inner_goes_on");
    let outer = with(
        node("Loop", &["m", "", "x"], &["y"]),
        &[graph_attribute("body", body)],
    );
    let model = newest(graph(&["m", "n", "x"], vec![outer], &["y"]));
    let inputs = [
        ("m", tensor(&[], &[2_i64])),
        ("n", tensor(&[], &[3_i64])),
        ("x", tensor(&[1], &[1.0_f32])),
    ];
    // 1, and twice 1 + 3.
    assert_eq!(run_model(&model, &inputs).unwrap(), ["f32 [1] [9.0]"]);
}

#[test]
fn scans_read_and_write_along_axes_in_both_directions() {
    let body = graph(
        &["sum", "step"],
        vec![
            node("Add", &["sum", "step"], &["next"]),
            node("Identity", &["next"], &["copy"]),
        ],
        &["next", "copy"],
    );
    let scan = |attributes: &[AttributeProto]| {
        let all = [
            &[
                graph_attribute("body", body.clone()),
                int("num_scan_inputs", 1),
            ],
            attributes,
        ]
        .concat();
        with(node("Scan", &["s", "x"], &["last", "all"]), &all)
    };
    let inputs = [
        ("s", tensor(&[2], &[0.0_f32; 2])),
        ("x", tensor(&[3, 2], &[1.0_f32, 10.0, 2.0, 20.0, 3.0, 30.0])),
    ];
    let found = |node: NodeProto| {
        run_model(
            &newest(graph(&["s", "x"], vec![node], &["last", "all"])),
            &inputs,
        )
        .unwrap()
    };
    assert_eq!(
        found(scan(&[])),
        [
            "f32 [2] [6.0, 60.0]",
            "f32 [3, 2] [1.0, 10.0, 3.0, 30.0, 6.0, 60.0]"
        ]
    );
    let backwards = scan(&[
        ints("scan_input_directions", &[1]),
        ints("scan_output_directions", &[1]),
        ints("scan_output_axes", &[1]),
    ]);
    assert_eq!(
        found(backwards)[1],
        "f32 [2, 3] [6.0, 5.0, 3.0, 60.0, 50.0, 30.0]"
    );
}

#[test]
fn sequences_are_built_read_and_joined() {
    let nodes = vec![
        node("SequenceConstruct", &["a", "b"], &["s"]),
        node("SequenceInsert", &["s", "b", "at"], &["t"]),
        node("SequenceErase", &["t"], &["u"]),
        with(
            node("ConcatFromSequence", &["u"], &["y"]),
            &[int("axis", 0)],
        ),
        node("SequenceLength", &["t"], &["n"]),
        node("SequenceAt", &["t", "last"], &["z"]),
    ];
    let model = newest(graph(&["a", "b", "at", "last"], nodes, &["y", "n", "z"]));
    let inputs = |at: i64| {
        [
            ("a", tensor(&[1], &[1.0_f32])),
            ("b", tensor(&[2], &[2.0_f32, 3.0])),
            ("at", tensor(&[], &[at])),
            ("last", tensor(&[], &[-1_i64])),
        ]
    };
    assert_eq!(
        run_model(&model, &inputs(0)).unwrap(),
        [
            "f32 [3] [2.0, 3.0, 1.0]",
            "i64 [] [3.0]",
            "f32 [2] [2.0, 3.0]"
        ]
    );
    assert_eq!(
        run_model(&model, &inputs(3)).unwrap_err(),
        "`nn.ListInsert`: position 3 is out of range for a list of length 2"
    );
}

#[test]
fn values_that_are_absent_are_told_from_those_that_are_there() {
    let nodes = vec![
        node("Optional", &["x"], &["some"]),
        node("OptionalGetElement", &["some"], &["y"]),
    ];
    let found = run_model(
        &newest(graph(&["x"], nodes, &["y"])),
        &[("x", tensor(&[1], &[1.0_f32]))],
    );
    assert_eq!(found.unwrap(), ["f32 [1] [1.0]"]);
    let nodes = vec![
        node("Optional", &[], &["none"]),
        node("OptionalGetElement", &["none"], &["y"]),
    ];
    let error = run_model(&newest(graph(&[], nodes, &["y"])), &[]).unwrap_err();
    assert_eq!(error, "`nn.Present`: expected a value, found an absent one");
}

#[test]
fn functions_hand_on_their_attributes_and_absent_operands() {
    let reference = |name: &str, of: &str| AttributeProto {
        name: Some(name.into()),
        ref_attr_name: Some(of.into()),
        r#type: Some(AttributeType::Int as i32),
        ..Default::default()
    };
    let own = |node: NodeProto| NodeProto {
        domain: Some("my".into()),
        ..node
    };
    let function = |name: &str, attribute: &str, first: NodeProto| FunctionProto {
        name: Some(name.into()),
        domain: Some("my".into()),
        input: vec!["a".into(), "least".into()],
        output: vec!["b".into()],
        attribute: vec![attribute.into()],
        node: vec![first, node("Clip", &["flat", "least"], &["b"])],
        opset_import: vec![OperatorSetIdProto {
            version: Some(20),
            ..Default::default()
        }],
        ..Default::default()
    };
    let inner = function(
        "Inner",
        "p",
        with(
            node("Flatten", &["a"], &["flat"]),
            &[reference("axis", "p")],
        ),
    );
    let outer = function(
        "Outer",
        "q",
        own(with(
            node("Inner", &["a", ""], &["flat"]),
            &[reference("p", "q")],
        )),
    );
    let call = own(with(node("Outer", &["x"], &["y"]), &[int("q", 2)]));
    let mut model = model(graph(&["x"], vec![call], &["y"]));
    model.functions = vec![inner, outer];
    let x = tensor(&[2, 1, 2], &[1.0_f32, -2.0, 3.0, 4.0]);
    let found = run_model(&model, &[("x", x)]).unwrap();
    assert_eq!(found, ["f32 [2, 2] [1.0, -2.0, 3.0, 4.0]"]);
}
