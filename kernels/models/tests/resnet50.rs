//! ResNet-50 against its definition: a small one in every build, the whole one where that is fast
//! enough.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;

use tfrt::executor::Program;
use tfrt::host::allocator::{AllocatorKind, AllocatorProfile};
use tfrt::host::{RequestContextBuilder, ResourceContext};
use tfrt::prelude::*;
use tfrt_kernels::packed_weights::{DEFAULT_MAX_BYTES, PackedWeights};
use tfrt_models::resnet50::program::{Chains, ProgramOptions, Shortcut, text};
use tfrt_models::resnet50::{EPSILON, Network, command, oracle, weights};
use tfrt_tensor::DenseHostTensor;
use tfrt_tensor::file::btf::BtfReader;

tfrt::link!(tfrt_kernels);

/// A network with its weights in a folder of its own, which goes with it.
struct Model {
    network: Network,
    weights: Vec<DenseHostTensor>,
    image: DenseHostTensor,
    folder: PathBuf,
}

/// What some runs of a program gave, and took.
struct Runs {
    /// The probabilities that each run gave.
    outputs: Vec<Vec<f32>>,
    memory: AllocatorProfile,
    packed_bytes: usize,
}

impl Model {
    fn new(name: &str, network: Network) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).expect("a folder for the files");
        let weights = weights::draw(&network, 1).expect("memory");
        let image = weights::draw_images(&network, 1, 1).expect("memory");
        let model = Self {
            network,
            weights,
            image,
            folder,
        };
        model.write("resnet50.btf", &model.weights);
        model.write("image.btf", std::slice::from_ref(&model.image));
        model
    }

    /// For a debug build: an eighth of the channels, and images of 64 × 64 pixels.
    fn small(name: &str) -> Self {
        Self::new(name, Network::new(64, 8, 10))
    }

    fn write(&self, file: &str, tensors: &[DenseHostTensor]) {
        let mut file = File::create(self.folder.join(file)).expect("a file");
        weights::write(&mut file, tensors).expect("the tensors are written");
    }

    fn program(&self, chains: Chains, shortcut: Shortcut) -> String {
        let path = |file| self.folder.join(file).to_string_lossy().into_owned();
        let options = ProgramOptions {
            chains,
            shortcut,
            weights_path: &path("resnet50.btf"),
            image_path: &path("image.btf"),
        };
        text(&self.network, &options)
    }

    /// Runs a program some times, one after another.
    fn run(
        &self,
        (chains, shortcut): (Chains, Shortcut),
        queue: &str,
        max_packed_bytes: usize,
        num_runs: usize,
    ) -> Runs {
        let kernels =
            Arc::new(KernelRegistry::from_link().expect("every kernel has a name of its own"));
        let source = self.program(chains, shortcut);
        let compile = match chains {
            Chains::ByHand => tfrt::text::compile,
            Chains::Left => tfrt::text::compile_without_chains,
        };
        let file = compile(&source, "resnet50.mlir", &kernels).expect("the program is sound");
        let allocator = AllocatorKind::LeakCheck.create();
        let host = HostContext::builder()
            .registry(kernels)
            .queue(tfrt::queue::create_queue(queue).expect("a queue"))
            .allocator(Arc::clone(&allocator))
            .build();
        let packed = PackedWeights::of(&host);
        packed.set_max_bytes(max_packed_bytes);
        let resources = Arc::new(ResourceContext::new());
        let program = Program::load(&host, &file).expect("the program is loaded");
        let infer = program.function("infer").expect("the program has it");
        let outputs = (0..num_runs)
            .map(|_| {
                let request = RequestContextBuilder::new(Arc::clone(&host))
                    .resources(Arc::clone(&resources))
                    .build();
                let results = infer.execute(&ExecutionContext::new(request), &[]);
                host.await_available(&results).expect("it ends");
                host.quiesce().expect("nothing is left");
                for result in &results {
                    assert_eq!(result.error_if_present().map(ToString::to_string), None);
                }
                let output = results
                    .last()
                    .and_then(|result| result.get::<DenseHostTensor>());
                output
                    .expect("a tensor")
                    .elements::<f32>()
                    .expect("of f32")
                    .to_vec()
            })
            .collect();
        let packed_bytes = packed.num_bytes();
        drop((infer, program, resources));
        assert_eq!(packed.num_bytes(), 0, "packed weights go with the weights");
        drop(host);
        let memory = allocator.profile().expect("it counts");
        assert_eq!(memory.leak(), None);
        Runs {
            outputs,
            memory,
            packed_bytes,
        }
    }

    fn expected(&self) -> Vec<f64> {
        let scores = oracle::scores(&self.network, &self.weights, &self.image);
        let scores = scores.expect("tensors of the network");
        let exponentials: Vec<f64> = scores.iter().map(|&score| f64::from(score).exp()).collect();
        let sum: f64 = exponentials.iter().sum();
        exponentials.into_iter().map(|x| x / sum).collect()
    }

    fn weights_bytes(&self) -> usize {
        4 * self.network.num_parameters()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // What cannot be removed is overwritten next time.
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// Checks that probabilities are as they should be. What is relative in a probability is absolute
/// in a score: scores of about 1 that are sums of 50 layers, each good to some units of single
/// precision of the sums that it is made of.
#[track_caller]
fn assert_near(found: &[f32], expected: &[f64]) {
    const TOLERANCE: f64 = 1e-4;
    assert_eq!(found.len(), expected.len());
    for (class, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(found) / expected - 1.0).abs();
        assert!(
            error < TOLERANCE,
            "class {class}: {found} in place of {expected}"
        );
    }
}

const FORMS: [(Chains, Shortcut); 4] = [
    (Chains::ByHand, Shortcut::Added),
    (Chains::Left, Shortcut::Added),
    (Chains::ByHand, Shortcut::Fused),
    (Chains::Left, Shortcut::Fused),
];

#[test]
fn every_form_of_the_program_computes_the_network() {
    let model = Model::small("forms");
    let expected = model.expected();
    let mut outputs = Vec::new();
    for form in FORMS {
        for queue in ["s", "mstd:2"] {
            let runs = model.run(form, queue, DEFAULT_MAX_BYTES, 1);
            assert_near(&runs.outputs[0], &expected);
            outputs.push((form.1, runs.outputs));
        }
    }
    for shortcut in [Shortcut::Added, Shortcut::Fused] {
        let mut same = outputs
            .iter()
            .filter(|(form, _)| *form == shortcut)
            .map(|(_, output)| output);
        let first = same.next().expect("each has been run");
        assert!(
            same.all(|output| output == first),
            "neither who threads the chains nor the number of threads changes a bit"
        );
    }
}

#[test]
fn weights_are_packed_when_they_are_used_again_and_nothing_changes() {
    let model = Model::small("packing");
    let form = (Chains::ByHand, Shortcut::Added);
    let once = model.run(form, "s", DEFAULT_MAX_BYTES, 1);
    assert_eq!(
        once.packed_bytes, 0,
        "a program that runs once packs nothing"
    );
    let kept = model.run(form, "s", DEFAULT_MAX_BYTES, 3);
    assert!(
        kept.packed_bytes >= model.weights_bytes() / 2,
        "filters are most of the weights"
    );
    let some = model.run(form, "s", model.weights_bytes() / 4, 3);
    assert!((1..=model.weights_bytes() / 4).contains(&some.packed_bytes));
    let none = model.run(form, "s", 0, 3);
    assert_eq!(none.packed_bytes, 0);
    let outputs = [&once, &kept, &some, &none]
        .into_iter()
        .flat_map(|runs| &runs.outputs);
    assert!(outputs.clone().all(|output| *output == once.outputs[0]));
}

#[test]
fn tensors_live_no_longer_than_they_are_needed() {
    // Images so large that tensors weigh more than what computing needs beside them: parts of the
    // input with zeros around them, panels of filters, and the runtime itself.
    let model = Model::new("memory", Network::new(128, 8, 10));
    let live = model.network.largest_live_set_bytes();
    let all: usize = model
        .network
        .convolutions()
        .map(|layer| 4 * layer.output_len())
        .sum();
    assert!(all > 4 * live, "else this would show nothing");
    for form in [
        (Chains::ByHand, Shortcut::Added),
        (Chains::ByHand, Shortcut::Fused),
    ] {
        let runs = model.run(form, "s", 0, 2);
        let beside = runs.memory.max_bytes - model.weights_bytes();
        assert!(
            beside <= 2 * live,
            "{form:?}: {beside} bytes beside the weights, {live} of them tensors"
        );
    }
}

#[test]
fn a_program_says_what_it_must() {
    let network = Network::new(64, 8, 10);
    let options = ProgramOptions {
        chains: Chains::ByHand,
        shortcut: Shortcut::Added,
        weights_path: "a \"b\" \\ c",
        image_path: "image.btf",
    };
    let program = text(&network, &options);
    assert!(program.contains(r#"models.beside_program "a \22b\22 \\ c""#));
    let epsilon = program
        .split("epsilon = ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    assert_eq!(
        epsilon.and_then(|number| number.parse().ok()),
        Some(EPSILON)
    );
}

#[test]
fn what_the_command_writes_compiles_and_can_be_read() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("command");
    let options = [
        ("--out", folder.to_string_lossy().into_owned()),
        ("--image", "32".into()),
        ("--width", "4".into()),
        ("--classes", "3".into()),
    ];
    let options: Vec<String> = options
        .into_iter()
        .flat_map(|(option, value)| [option.to_owned(), value])
        .collect();
    let said = command::run(&options).expect("it is written");
    let network = Network::new(32, 4, 3);
    let expected = format!("{} parameters", network.num_parameters());
    assert!(said.starts_with(&expected), "{said}");
    let kernels = KernelRegistry::from_link().expect("every kernel has a name of its own");
    let kernels = Arc::new(kernels);
    for (file, is_threaded) in [
        ("resnet50.mlir", true),
        ("resnet50_fused.mlir", true),
        ("resnet50_unthreaded.mlir", false),
    ] {
        let source = fs::read_to_string(folder.join(file)).expect("it was written");
        let compile = match is_threaded {
            true => tfrt::text::compile,
            false => tfrt::text::compile_without_chains,
        };
        assert!(compile(&source, file, &kernels).is_ok(), "{file}");
        // Files are named relative to the program, so that the folder can be moved.
        let names = [
            r#"models.beside_program "resnet50.btf""#,
            r#"models.beside_program "image.btf""#,
        ];
        assert!(names.iter().all(|name| source.contains(name)), "{file}");
    }
    let allocator = AllocatorKind::Malloc.create();
    let reader = BtfReader::open(folder.join("resnet50.btf"), &allocator).expect("a file");
    let mut reader = reader.expect("of tensors");
    let expected = weights::draw(&network, 1).expect("memory");
    assert_eq!(reader.num_tensors(), expected.len() as u64);
    for (index, expected) in expected.iter().enumerate() {
        let found = reader.read(index as i64).expect("a tensor");
        assert_eq!(found.as_tensor().to_string(), expected.to_string());
    }
    fs::remove_dir_all(folder).expect("nobody uses it");
}

#[test]
fn a_seed_means_the_same_weights_everywhere() {
    let network = Network::new(64, 8, 10);
    let sum_of_bits = |seed| {
        let tensors = weights::draw(&network, seed).expect("memory");
        tensors.iter().fold(0_u64, |sum, tensor| {
            let elements = tensor.elements::<f32>().expect("of f32");
            elements
                .iter()
                .fold(sum, |sum, x| sum.rotate_left(5) ^ u64::from(x.to_bits()))
        })
    };
    assert_eq!(sum_of_bits(1), 9_360_325_703_294_576_597);
    assert_ne!(sum_of_bits(1), sum_of_bits(2));
}

#[test]
fn the_whole_network_is_near_its_definition_and_fits() {
    if cfg!(debug_assertions) {
        println!("skipped: the whole network takes minutes without optimisation");
        return;
    }
    let model = Model::new("whole", Network::new(224, 64, 1000));
    let expected = model.expected();
    let needed = model.weights_bytes() + model.network.largest_live_set_bytes();
    for form in FORMS {
        for queue in ["s", "mstd:2"] {
            let runs = model.run(form, queue, DEFAULT_MAX_BYTES, 3);
            for output in &runs.outputs {
                assert_near(output, &expected);
            }
            let peak = runs.memory.max_bytes;
            println!("{form:?} on {queue}: peak {peak} bytes, {needed} needed");
            assert!(
                peak <= needed + needed / 2,
                "{form:?} on {queue}: {peak} of {needed}"
            );
        }
    }
}
