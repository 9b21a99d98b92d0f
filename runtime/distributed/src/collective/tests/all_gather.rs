//! All-gather.

use super::*;

#[test]
fn gathered_tensors_lie_along_the_axis() {
    let cluster = Cluster::new("mstd:2", 3);
    let contexts = cluster.contexts();
    for axis in 0..2_u64 {
        let mut outcomes = Vec::new();
        for (member, context) in contexts.iter().enumerate() {
            let mut dims = [2, 2];
            dims[axis as usize] = member;
            let elements: Vec<i64> = (0..2 * member)
                .map(|index| (10 * member + index) as i64)
                .collect();
            let input = tensor(context, &dims, &elements);
            let (sender, outcome) = channel();
            let key = format!("axis{axis}");
            all_gather_any_shape(collective(context, &key), input, axis, move |gathered| {
                let _ = sender.send(gathered.map(|tensor| tensor.to_string()));
            });
            outcomes.push(outcome);
        }
        let expected = match axis {
            0 => "shape = [3, 2], values = [10, 11, 20, 21, 22, 23]",
            _ => "shape = [2, 3], values = [10, 20, 21, 11, 22, 23]",
        };
        for outcome in outcomes {
            let found = wait(&cluster.host, &outcome).unwrap();
            assert_eq!(found, format!("DenseHostTensor dtype = i64, {expected}"));
        }
    }
}

#[test]
fn tensors_of_several_segments_are_gathered() {
    for axis in 0..2 {
        let cluster = Cluster::new("mstd:2", 3);
        let contexts = cluster.contexts();
        let mut outcomes: Outcomes = Vec::new();
        let dims = if axis == 0 { [9, 301] } else { [3, 903] };
        let output = tensor(&contexts[0], &dims, &[0_i64; 9 * 301]);
        for (member, context) in contexts.iter().enumerate() {
            let elements: Vec<i64> = (0..903).map(|index| 1000 * member as i64 + index).collect();
            let input = tensor(context, &[3, 301], &elements);
            let output = match member {
                0 => output.clone(),
                _ => tensor(context, &dims, &[0_i64; 9 * 301]),
            };
            let (sender, outcome) = channel();
            let start = collective(context, "k");
            all_gather_fixed_shape(start, input, output, axis, tell(sender));
            outcomes.push(outcome);
        }
        for outcome in outcomes {
            assert_eq!(wait(&cluster.host, &outcome), Ok(()));
        }
        let output = output.elements::<i64>().unwrap();
        for (place, found) in output.iter().enumerate() {
            let (row, column) = (place / dims[1], place % dims[1]);
            let (member, row) = if axis == 0 {
                (row / 3, row % 3)
            } else {
                (column / 301, row)
            };
            let expected = 1000 * member + 301 * row + column % 301;
            assert_eq!(*found, expected as i64, "{row} {column} along {axis}");
        }
    }
}

#[test]
fn tensors_of_several_ranks_or_widths_are_not_gathered() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let gather = |key: &str, dims: [&[usize]; 2]| {
        let mut outcomes: Outcomes = Vec::new();
        for (context, dims) in contexts.iter().zip(dims) {
            let len = dims.iter().product();
            let tensor = tensor(context, dims, &vec![0_i32; len]);
            let (sender, outcome) = channel();
            let tell = tell(sender);
            all_gather_any_shape(collective(context, key), tensor, 0, |gathered| {
                tell(gathered.map(drop));
            });
            outcomes.push(outcome);
        }
        failures(&cluster, outcomes)
    };
    let ranks = gather("ranks", [&[2], &[2, 2]]);
    assert_eq!(
        ranks,
        ["All workers must have tensors of the same rank."; 2]
    );
    let widths = gather("widths", [&[2, 2], &[2, 3]]);
    let expected = "All dimensions in the input must be equal except the axis";
    assert_eq!(widths, [expected; 2]);
}

#[test]
fn elements_of_other_types_are_told_with_the_sizes_of_the_tensors() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let mut outcomes: Outcomes = Vec::new();
    for (member, context) in contexts.iter().enumerate() {
        let tensor = match member {
            0 => tensor(context, &[3], &[0_i32; 3]),
            _ => tensor(context, &[3], &[0.0_f32; 3]),
        };
        let (sender, outcome) = channel();
        let tell = tell(sender);
        all_gather_any_shape(collective(context, "k"), tensor, 0, |gathered| {
            tell(gathered.map(drop));
        });
        outcomes.push(outcome);
    }
    for failure in failures(&cluster, outcomes) {
        assert!(
            failure.contains("has i32[3]") && failure.contains("has f32[3]"),
            "{failure}"
        );
    }
}
