//! All-to-all.

use super::*;

#[test]
fn an_all_to_all_needs_room_and_inputs_of_one_size() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let members = open_all(&contexts);
    let start = |key: &str, index: usize, sizes: [usize; 2]| {
        let [input, output] = sizes.map(|len| tensor(&contexts[index], &[len], &vec![0_u8; len]));
        members[index].all_to_all(key, input, output)
    };
    let check = |key: &str, sizes: [[usize; 2]; 2], expected: &str| {
        let ended = [start(key, 0, sizes[0]), start(key, 1, sizes[1])];
        cluster.host.quiesce().unwrap();
        for ended in ended {
            let failure = ended.as_result().unwrap_err().message().to_owned();
            assert!(failure.contains(expected), "{failure}");
        }
    };
    let expected = "expected an output of 2 chunks of 1 elements, found 3 elements";
    check("room", [[3, 4], [3, 3]], expected);
    check(
        "inputs",
        [[4, 4], [2, 2]],
        "alltoall key inputs of group group1: member ",
    );
}
