use super::*;

fn told() -> Told {
    Told::default()
}

fn in_environment(pairs: &[(&str, &str)]) -> Result<DistributedContextConfiguration, String> {
    with(&told(), pairs)
}

fn with(told: &Told, pairs: &[(&str, &str)]) -> Result<DistributedContextConfiguration, String> {
    let variables = |name: &str| {
        let found = pairs.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    discover(told, &variables).map_err(|error| error.to_string())
}

fn addresses(config: &DistributedContextConfiguration) -> Vec<(String, i32, &str)> {
    let of_job = |job: &'_ JobConfiguration| job.name.clone();
    let jobs = config.jobs().iter();
    jobs.flat_map(|job| {
        let tasks = job.tasks.iter();
        tasks.map(move |(task, address)| (of_job(job), *task, address.as_str()))
    })
    .collect()
}

fn check(pairs: &[(&str, &str)], own: &str, expected: &[&str]) {
    let config = in_environment(pairs).unwrap();
    assert_eq!(config.task_name(), own);
    let found: Vec<&str> = addresses(&config).into_iter().map(|(.., a)| a).collect();
    assert_eq!(found, expected);
}

fn check_error(pairs: &[(&str, &str)], expected: &str) {
    assert_eq!(in_environment(pairs).unwrap_err(), expected);
}

#[test]
fn own_variables_name_jobs_and_tasks() {
    let cluster = ("TFRT_CLUSTER", "ps=p:1; worker=a:1,[::1]:2");
    let pairs = [cluster, ("TFRT_JOB", "worker"), ("TFRT_TASK", "1")];
    let config = in_environment(&pairs).unwrap();
    assert_eq!(config.own_address(), Some("[::1]:2"));
    assert_eq!(config.lead_task_name(), "/job:ps/task:0");
    let [all] = &config.collective_groups[..] else {
        panic!("{config}");
    };
    assert_eq!(all.name, ALL_TASKS);
    assert_eq!(
        all.members,
        ["/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1"]
    );
    check_error(
        &pairs[..2],
        "TFRT_CLUSTER: expected the number of this task, found none",
    );
    check_error(
        &[cluster, ("TFRT_TASK", "1")],
        "TFRT_CLUSTER: expected the job of this task, found none",
    );
    check_error(
        &[cluster, ("TFRT_TASK", "x")],
        "TFRT_TASK: expected a number, found `x`",
    );
    check_error(
        &[cluster, ("TFRT_JOB", "chief"), ("TFRT_TASK", "0")],
        "TFRT_CLUSTER: unknown job \"chief\"",
    );
}

#[test]
fn clusters_are_checked_before_anything_connects() {
    let check = |cluster: &str, expected: &str| {
        check_error(
            &[
                ("TFRT_CLUSTER", cluster),
                ("TFRT_JOB", "a"),
                ("TFRT_TASK", "0"),
            ],
            &format!("TFRT_CLUSTER: {expected}"),
        );
    };
    check("a", "expected `JOB=ADDRESS,ADDRESS`, found `a`");
    check(
        "a-b=x:1",
        "expected the name of a job (a letter, then letters, digits and `_`), found \"a-b\"",
    );
    check(
        "a=x:1;a=y:1",
        "expected one job with the name a, found several",
    );
    check(
        "a=x:1;b=x:1",
        "expected one task at the address x:1, found /job:a/task:0 and /job:b/task:0",
    );
    for address in [
        "x",
        "x:",
        ":1",
        "x:70000",
        "x y:1",
        "[x]:1",
        "http://x:1",
        "::1:5",
    ] {
        check(
            &format!("a={address}"),
            &format!("/job:a/task:0: expected `HOST:PORT`, found `{address}`"),
        );
    }
    check(
        "a=x:0",
        "/job:a/task:0: expected `HOST:PORT`, found `x:0`: other tasks cannot know a port that \
         the system chooses",
    );
}

#[test]
fn flags_come_before_the_environment_and_a_file_before_both() {
    let environment = [("TFRT_CLUSTER", "w=e:1,e:2"), ("TFRT_TASK", "0")];
    let flags = Told {
        jobs: vec!["w=f:1,f:2".to_owned()],
        task: Some(1),
        ..told()
    };
    let own = |told: &Told| {
        let config = with(told, &environment).unwrap();
        config.own_address().unwrap().to_owned()
    };
    assert_eq!(own(&flags), "f:2");
    let text =
        r#"{"cluster_config": {"jobs": [{"name": "w", "tasks": {"1": "g:2", "0": "g:1"}}]}}"#;
    let file = Told {
        file: Some(("c.json".to_owned(), text.to_owned())),
        ..flags.clone()
    };
    assert_eq!(own(&file), "g:2");
    // Which task this is may be told in addition to the environment.
    let task = Told {
        task: Some(1),
        ..told()
    };
    assert_eq!(own(&task), "e:2");
    let task = Told {
        task: Some(2),
        ..told()
    };
    let error = with(&task, &environment).unwrap_err();
    assert_eq!(error, "--task 2: job \"w\" has 2 tasks");
    let job = Told {
        job: Some("x".to_owned()),
        ..told()
    };
    let error = with(&job, &environment).unwrap_err();
    assert_eq!(error, "--job: unknown job \"x\"");
    assert_eq!(
        with(&told(), &[]).unwrap_err(),
        "cluster: expected the cluster in a file, flags or environment variables, found none"
    );
}

#[test]
fn files_say_everything_or_where_they_are_wrong() {
    let parse = |text: &str| {
        let told = Told {
            file: Some(("c.json".to_owned(), text.to_owned())),
            ..told()
        };
        with(&told, &[])
    };
    let whole = r#"{
        "cluster_config": {
            "jobs": [{"name": "ps", "tasks": {"7": "p:1"}}, {"name": "w", "tasks": {"0": "a:1"}}],
            "lead_task_name": "/job:w/task:0"
        },
        "collective_groups": [
            {"name": "g", "members": ["/job:w/task:0", "/job:ps/task:7"], "order": "any"}
        ],
        "job_name": "ps",
        "task_id": 7
    }"#;
    let config = parse(whole).unwrap();
    assert_eq!(config.task_name(), "/job:ps/task:7");
    assert_eq!(config.lead_task_name(), "/job:w/task:0");
    assert_eq!(config.collective_groups[0].members[1], "/job:ps/task:7");
    assert_eq!(config.collective_groups[0].order, "any");
    let check = |from: &str, to: &str, expected: &str| {
        assert!(whole.contains(from), "{from}");
        let error = parse(&whole.replacen(from, to, 1)).unwrap_err();
        assert_eq!(error, format!("c.json: {expected}"));
    };
    check(
        "\"p:1\"",
        "3",
        "cluster_config.jobs[0].tasks.7: expected a string",
    );
    check(
        "\"7\"",
        "\"x\"",
        "cluster_config.jobs[0].tasks: expected the number of a task, found \"x\"",
    );
    check(
        "\"7\": \"p:1\"",
        "\"7\": \"p:1\", \"07\": \"q:1\"",
        "cluster_config.jobs[0].tasks: task 7 is listed twice",
    );
    check(
        "\"w\"",
        "\"9\"",
        "cluster_config.jobs[1].name: expected the name of a job (a letter, then letters, digits \
         and `_`), found \"9\"",
    );
    check(
        "lead_task_name",
        "lead_task",
        "cluster_config: expected `jobs`, `lead_task_name`, found `lead_task`",
    );
    check(
        "\"lead_task_name\": \"/job:w/task:0\"",
        "\"lead_task_name\": \"/job:w/task:3\"",
        "Failed to get TaskHandle for job_name=w, task_id=3: the task 3 does not exist.",
    );
    check(
        "\"/job:ps/task:7\"]",
        "\"/job:w/task:0\"]",
        "expected each member of the group g once, found /job:w/task:0 several times",
    );
    check("\"task_id\": 7", "\"task_id\": 8", "job \"ps\" has 1 tasks");
    check("{", "[", "expected `,` or `]` at line 2 column 25");
}

fn from_file(text: &str) -> Result<DistributedContextConfiguration, String> {
    let told = Told {
        file: Some(("c".to_owned(), text.to_owned())),
        ..told()
    };
    with(&told, &[])
}

#[test]
fn a_key_is_given_once() {
    let of_cluster = |cluster: &str| from_file(&format!("{{\"cluster_config\": {cluster}}}"));
    let jobs = r#""jobs": [{"name": "w", "tasks": {"0": "a:1", "1": "b\":}:1"}}]"#;
    assert_eq!(
        of_cluster(&format!(
            r#"{{"lead_task_name": "x", {jobs}, "lead_task_name": "y"}}"#
        )),
        Err("c: `lead_task_name` is given twice in one object".to_owned())
    );
    let tasks = r#"{"jobs": [{"name": "w", "tasks": {"0": "a:1", "\u0030": "b:1"}}]}"#;
    assert_eq!(
        of_cluster(tasks),
        Err("c: `0` is given twice in one object".to_owned())
    );
    // Objects next to each other and in each other have the same keys.
    let nested = r#"{"jobs": [{"name": "v", "tasks": {"0": "name:1"}}, {"name": "w", "tasks": {"0": "jobs:1"}}]}"#;
    let text = format!(r#"{{"cluster_config": {nested}, "job_name": "w", "task_id": 0}}"#);
    assert_eq!(from_file(&text).unwrap().own_address(), Some("jobs:1"));
}

#[test]
fn a_configuration_is_read_as_it_is_printed() {
    let addresses = ["a:1".to_owned(), "b:2".to_owned()];
    for config in DistributedContextConfiguration::local_cluster(&addresses) {
        let printed = config.to_string();
        let read = match config.task_id {
            // A field with its default is not printed.
            0 => from_file(&format!("{printed} task_id: 0")),
            _ => from_file(&printed),
        };
        assert_eq!(read.as_ref(), Ok(&config), "{printed}");
    }
    let by_hand = "# Two tasks.
        cluster_config: <none>";
    assert_eq!(
        from_file(by_hand),
        Err("c:2:25: expected a string, a number or a message".to_owned())
    );
    let by_hand = "
        cluster_config: {  # The jobs.
          jobs: [{ name: 'w', tasks: [{ key: 7; value: 'h' \"\\x6fst:\\061\" }] }]
        }
        collective_groups { name: \"g\" members: [\"/job:w/task:7\"] order: \"any\" }
        job_name: \"w\", task_id: 7;";
    let config = from_file(by_hand).unwrap();
    assert_eq!(config.own_address(), Some("host:1"));
    assert_eq!(config.collective_groups[0].members, ["/job:w/task:7"]);
    assert_eq!(config.collective_groups[0].order, "any");
}

#[test]
fn a_file_in_toml_is_read_and_its_errors_have_places() {
    let read = |text: &str| {
        let told = Told {
            file: Some(("c.toml".to_owned(), text.to_owned())),
            ..told()
        };
        with(&told, &[])
    };
    let text = r#"
        job_name = "w"
        task_id = 0x7

        [cluster_config]
        lead_task_name = "/job:w/task:7"

        [[cluster_config.jobs]]
        name = "w"
        tasks = { 7 = 'host:1', 9 = "other:1" }

        [[collective_groups]]
        name = "g"
        members = ["/job:w/task:9", "/job:w/task:7"]
    "#;
    let config = read(text).unwrap();
    assert_eq!(config.own_address(), Some("host:1"));
    assert_eq!(config.lead_task_name(), "/job:w/task:7");
    assert_eq!(
        config.collective_groups[0].members,
        ["/job:w/task:9", "/job:w/task:7"]
    );
    for (text, problem) in [
        ("a = 1\na = 2", "c.toml:2:1: duplicate key"),
        ("a = 1\n[b", "c.toml:2:3: unclosed table, expected `]`"),
        (
            "task_id = 99999999999999999999",
            "c.toml:1:11: the number is too large",
        ),
        (
            "task_id = 1.5",
            "c.toml:1:11: expected a string, a whole number, a Boolean, an array or a table",
        ),
        (
            "tasks = 1",
            "c.toml: expected `cluster_config`, `collective_groups`, `job_name`, `task_id`, found \
             `tasks`",
        ),
        (
            "[cluster_config]\njobs = [7]",
            "c.toml: cluster_config.jobs[0]: expected a table",
        ),
    ] {
        assert_eq!(read(text), Err(problem.to_owned()), "{text}");
    }
}

#[test]
fn text_that_is_no_configuration_is_refused_with_its_place() {
    for (text, problem) in [
        ("a: 1 a: 2", "c:1:10: `a` is given twice"),
        (
            "a 1",
            "c:1:3: expected `:` or `{` after the name of a field",
        ),
        ("a { b { ", "c:1:9: expected the name of a field"),
        ("}", "c:1:1: expected the name of a field"),
        ("a: 'x", "c:1:6: expected the end of a string on its line"),
        ("a: '\\q'", "c:1:6: unknown escape in a string"),
        ("a: '\\xff'", "c:1:10: expected a string in UTF-8"),
        ("a: [1 2]", "c:1:7: expected `,` or `]` in a list"),
        ("a: [1,]", "c:1:7: expected a string, a number or a message"),
        (
            "jobs { tasks { key: 1 } tasks { key: 1 } }",
            "c:1:41: task 1 is listed twice",
        ),
        (
            "jobs { tasks { task: 1 } }",
            "c:1:25: expected `key`, `value`, found `task`",
        ),
        (
            "a{a{a{a{a{a{a{a{a{",
            "c:1:17: messages are nested too deeply",
        ),
        ("", "c: expected `cluster_config`, found none"),
        (
            "cluster_config { jobs: 7 }",
            "c: cluster_config.jobs[0]: expected a message",
        ),
        (
            "cluster {}",
            "c: expected `cluster_config`, `collective_groups`, `job_name`, `task_id`, found `cluster`",
        ),
    ] {
        assert_eq!(from_file(text).unwrap_err(), problem, "{text}");
    }
}

#[test]
fn tensorflow_says_who_is_where() {
    let config = |index: &str| {
        format!(
            r#"{{"cluster": {{"chief": ["c:1"], "worker": ["a:1", "b:1"]}}, "task": {{"type": "worker", "index": {index}}}}}"#
        )
    };
    check(
        &[("TF_CONFIG", &config("1"))],
        "/job:worker/task:1",
        &["c:1", "a:1", "b:1"],
    );
    check(
        &[("TF_CONFIG", &config("\"0\""))],
        "/job:worker/task:0",
        &["c:1", "a:1", "b:1"],
    );
    check_error(
        &[("TF_CONFIG", &config("3"))],
        "TF_CONFIG: task.index 3: job \"worker\" has 2 tasks",
    );
    check_error(
        &[("TF_CONFIG", &config("null"))],
        "TF_CONFIG: task.index: expected a number, found null",
    );
    check_error(
        &[("TF_CONFIG", r#"{"cluster": {"w": "a:1"}}"#)],
        "TF_CONFIG: cluster.w: expected an array of addresses",
    );
    check_error(
        &[("TF_CONFIG", r#"{"cluster": {"w": ["a:1"]}}"#)],
        "TF_CONFIG: task.type: expected a value, found none",
    );
}

#[test]
fn slurm_fills_one_node_after_the_other() {
    let step = [
        ("SLURM_JOB_NODELIST", "other[1-9]"),
        ("SLURM_STEP_NODELIST", "gpu[08-10]-ib,login,n[1-2]x[3,5]"),
        ("SLURM_NTASKS", "9"),
        ("SLURM_STEP_TASKS_PER_NODE", "2(x2),1(x4),0,1"),
        ("SLURM_PROCID", "3"),
        ("TFRT_PORT", "9000"),
    ];
    check(
        &step,
        "/job:worker/task:3",
        &[
            "gpu08-ib:9000",
            "gpu08-ib:9001",
            "gpu09-ib:9000",
            "gpu09-ib:9001",
            "gpu10-ib:9000",
            "login:9000",
            "n1x3:9000",
            "n1x5:9000",
            "n2x5:9000",
        ],
    );
    let job = [
        ("SLURM_JOB_NODELIST", "a,b"),
        ("SLURM_NTASKS", "3"),
        ("SLURM_PROCID", "2"),
    ];
    check(&job, "/job:worker/task:2", &["a:7700", "a:7701", "b:7700"]);
    for list in ["", "a[", "a]", "a[[1]]", "a,,b"] {
        check_error(
            &[job[1], job[2], ("SLURM_JOB_NODELIST", list)],
            &format!("SLURM_JOB_NODELIST: expected nodes such as `node[01-03,7]`, found `{list}`"),
        );
    }
    let wide = format!("{}1", "0".repeat(20));
    for (range, why) in [
        ("1-", ""),
        ("x", ""),
        ("2-1", ": the last number is less than the first"),
        ("4294967296", ": a number is less than 2^32"),
        (&wide, ": a number has at most 20 digits"),
    ] {
        let list = format!("a[{range}]");
        check_error(
            &[job[1], job[2], ("SLURM_JOB_NODELIST", &list)],
            &format!(
                "SLURM_JOB_NODELIST: expected numbers such as `7` or `01-03`, found `{range}`{why}"
            ),
        );
    }
    let many_ranges = format!("a[{}0-9]", "0-65535,".repeat(1000));
    for list in ["a[0-999][0-999]", &many_ranges] {
        check_error(
            &[job[1], job[2], ("SLURM_JOB_NODELIST", list)],
            "SLURM_JOB_NODELIST: expected at most 65536 tasks",
        );
    }
    check_error(
        &[job[0], job[1], job[2], ("SLURM_TASKS_PER_NODE", "1(x2)")],
        "SLURM_JOB_NODELIST: expected places for 3 tasks, found 2",
    );
    check_error(
        &[
            job[0],
            job[1],
            job[2],
            ("SLURM_TASKS_PER_NODE", "9(x9999999)"),
        ],
        "SLURM_TASKS_PER_NODE: expected at most 65536 tasks",
    );
    check_error(
        &[job[0], job[1], ("SLURM_PROCID", "3")],
        "SLURM_PROCID: job \"worker\" has 3 tasks",
    );
    check_error(
        &[job[1], job[2]],
        "SLURM_JOB_NODELIST: expected a value, as SLURM_PROCID is set",
    );
}

#[test]
fn ranks_of_mpi_need_hosts_unless_all_are_here() {
    let rank = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2")];
    let local = ("OMPI_COMM_WORLD_LOCAL_SIZE", "2");
    check(
        &[rank[0], rank[1], local],
        "/job:worker/task:1",
        &["127.0.0.1:7700", "127.0.0.1:7701"],
    );
    let hosts = ("TFRT_HOSTS", "a,b");
    check(
        &[rank[0], rank[1], hosts],
        "/job:worker/task:1",
        &["a:7700", "b:7700"],
    );
    check(
        &[
            ("PMI_RANK", "0"),
            ("PMI_SIZE", "3"),
            ("TFRT_HOSTS", "a:2,b:1"),
        ],
        "/job:worker/task:0",
        &["a:7700", "a:7701", "b:7700"],
    );
    check_error(
        &rank,
        "TFRT_HOSTS: expected the hosts of the tasks, because OMPI_COMM_WORLD_RANK is set and \
         some tasks may run on other hosts",
    );
    check_error(
        &[rank[0], rank[1], ("TFRT_HOSTS", "a:1,b")],
        "TFRT_HOSTS: expected a number of tasks for every host or for none",
    );
    check_error(
        &[("PMI_RANK", "0")],
        "PMI_SIZE: expected a value, as PMI_RANK is set",
    );
    check_error(
        &[rank[0], ("OMPI_COMM_WORLD_SIZE", "99999999999"), hosts],
        "TFRT_HOSTS: expected at most 65536 tasks",
    );
    check_error(
        &[rank[0], rank[1], local, ("TFRT_PORT", "65535")],
        "OMPI_COMM_WORLD_RANK: not enough ports are available after 65535",
    );
}

#[test]
fn ranks_of_torchrun_are_tasks() {
    let rank = [
        ("MASTER_ADDR", "node1"),
        ("MASTER_PORT", "29500"),
        ("RANK", "2"),
        ("WORLD_SIZE", "4"),
    ];
    let [master, port, own, size] = rank;
    let here = [
        "127.0.0.1:7700",
        "127.0.0.1:7701",
        "127.0.0.1:7702",
        "127.0.0.1:7703",
    ];
    let local = ("LOCAL_WORLD_SIZE", "4");
    check(
        &[master, port, own, size, local],
        "/job:worker/task:2",
        &here,
    );
    // Those of SLURM describe the processes of `srun`, each of which is a launcher.
    let slurm = ("SLURM_PROCID", "0");
    check(
        &[master, port, own, size, local, slurm],
        "/job:worker/task:2",
        &here,
    );
    let elsewhere = [
        master,
        port,
        own,
        size,
        ("LOCAL_WORLD_SIZE", "2"),
        ("TFRT_HOSTS", "node1:2,node2:2"),
    ];
    check(
        &elsewhere,
        "/job:worker/task:2",
        &["node1:7700", "node1:7701", "node2:7700", "node2:7701"],
    );
    check_error(
        &elsewhere[..5],
        "TFRT_HOSTS: expected the hosts of the tasks, because RANK is set and some tasks may run \
         on other hosts",
    );
    check_error(
        &[master, port, own, size],
        "TFRT_HOSTS: expected the hosts of the tasks, because RANK is set and some tasks may run \
         on other hosts",
    );
    // Others could not reach rank 0.
    for loopback in ["localhost", "127.0.0.1", "::1"] {
        let master = ("MASTER_ADDR", loopback);
        check(&[master, port, own, size], "/job:worker/task:2", &here);
    }
    check_error(
        &[
            ("MASTER_ADDR", "localhost"),
            own,
            size,
            ("LOCAL_WORLD_SIZE", "2"),
        ],
        "TFRT_HOSTS: expected the hosts of the tasks, because RANK is set and some tasks may run \
         on other hosts",
    );
    check_error(
        &[master, own],
        "WORLD_SIZE: expected a value, as RANK is set",
    );
    check_error(
        &[master, ("RANK", "4"), size, local],
        "RANK: job \"worker\" has 4 tasks",
    );
}

#[test]
fn pods_are_reached_by_the_names_of_their_service() {
    let pod = [
        ("TFRT_SERVICE", "train"),
        ("TFRT_REPLICAS", "2"),
        ("POD_NAME", "my-set-1"),
    ];
    check(
        &[pod[0], pod[1], pod[2], ("POD_NAMESPACE", "ml")],
        "/job:worker/task:1",
        &["my-set-0.train.ml.svc:7700", "my-set-1.train.ml.svc:7700"],
    );
    check_error(
        &[pod[0], pod[1], ("POD_NAME", "my-set-x")],
        "POD_NAME: expected the name of a pod with an index, such as `NAME-3`, found `my-set-x`",
    );
    check_error(
        &[pod[0], pod[1], ("POD_NAME", "my-set-2")],
        "POD_NAME: job \"worker\" has 2 tasks",
    );
    check_error(
        &[pod[0], pod[2]],
        "TFRT_REPLICAS: expected a value, as TFRT_SERVICE is set",
    );
    check_error(
        &[pod[0], pod[2], ("TFRT_REPLICAS", "4000000000")],
        "TFRT_REPLICAS: expected at most 65536 tasks",
    );
}

#[test]
fn an_observer_need_not_be_a_task() {
    let told = Told {
        jobs: vec!["ps=p:1".to_owned(), "w=a:1,b:1".to_owned()],
        ..told()
    };
    let config = observe(&told, &|_| None).unwrap();
    assert_eq!(config.task_name(), "/job:ps/task:0");
    assert_eq!(addresses(&config).len(), 3);
}

#[test]
fn a_client_is_a_further_task() {
    let workers = |flags: &[&str]| {
        let told = Told {
            jobs: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            ..told()
        };
        observe(&told, &|_| None).unwrap()
    };
    let mut config = workers(&["w=a:1,b:1"]);
    assert_eq!(
        with_client(&config, "a:1").unwrap_err().to_string(),
        "client: expected one task at the address a:1, found /job:client/task:0 and /job:w/task:0"
    );
    assert!(with_client(&config, "nowhere").is_err());
    assert!(with_client(&workers(&["client=a:1", "w=b:1"]), "c:1").is_err());
    // Another group keeps its members.
    config.collective_groups[0].name = "pair".to_owned();
    let config = with_client(&config, "c:1").unwrap();
    assert_eq!(config.collective_groups[0].members.len(), 2);
    assert_eq!(config.lead_task_name(), "/job:client/task:0");
    let found: Vec<&str> = addresses(&config).into_iter().map(|(.., a)| a).collect();
    assert_eq!(found, ["c:1", "a:1", "b:1"]);
}

#[test]
fn an_address_may_be_a_unix_socket() {
    let of = |address: &str| {
        let told = Told {
            jobs: vec![format!("worker={address}")],
            task: Some(0),
            ..Told::default()
        };
        discover(&told, &|_| None)
    };
    let found = of("unix:/run/tfrt/0").unwrap();
    assert_eq!(found.own_address(), Some("unix:/run/tfrt/0"));
    let expected = "--cluster: /job:worker/task:0: expected `unix:/PATH` with an absolute path of \
                    less than 108 bytes, found `unix:here`";
    assert_eq!(of("unix:here").unwrap_err().to_string(), expected);
    let long = format!("unix:/{}", "x".repeat(107));
    assert!(of(&long).is_err());
}
