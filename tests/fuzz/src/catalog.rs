//! The list of targets: what each is called, what it is fed with, and what it does.

use tfrt_readers::table::TableFormat;
use tfrt_tensor::file::FileFormat;

use crate::data_files::DataFormat;
use crate::mutate::{self, Random};
use crate::seeds::Seeds;
use crate::{
    mutate_data, mutate_text, onnx, programs, request_sequences, requests, stablehlo, targets,
};

/// One target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub food: Food,
    /// Does it; says whether the input was accepted, which makes it worth mutating again. Panics if
    /// something is wrong.
    pub run: fn(&[u8]) -> bool,
}

/// What a target takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Food {
    /// Programs in text.
    Text,
    /// Files.
    File,
    /// A type code and what may be an attribute.
    Attribute,
    /// Files of data.
    Data(DataFormat),
    /// Models in text.
    StableHlo,
    /// Models in files.
    Onnx,
    /// Messages of a method of tasks.
    Requests,
    /// Sequences of requests to a task.
    RequestSequences,
}

/// All targets.
pub const TARGETS: [Target; 20] = [
    Target {
        name: "verify",
        food: Food::File,
        run: |bytes| always(targets::verify, bytes),
    },
    Target {
        name: "dump",
        food: Food::File,
        run: |bytes| always(targets::dump_file, bytes),
    },
    Target {
        name: "attribute",
        food: Food::Attribute,
        run: |bytes| always(targets::attribute, bytes),
    },
    Target {
        name: "mlir_parse",
        food: Food::Text,
        run: programs::mlir_parse,
    },
    Target {
        name: "text_bef_text",
        food: Food::Text,
        run: programs::text_bef_text,
    },
    Target {
        name: "bef_to_mlir",
        food: Food::File,
        run: programs::bef_to_mlir,
    },
    Target {
        name: "verify_run",
        food: Food::File,
        run: programs::verify_run,
    },
    Target {
        name: "btf",
        food: Food::Data(DataFormat::Tensors(FileFormat::Btf)),
        run: |bytes| DataFormat::Tensors(FileFormat::Btf).read(bytes),
    },
    Target {
        name: "npy",
        food: Food::Data(DataFormat::Tensors(FileFormat::Npy)),
        run: |bytes| DataFormat::Tensors(FileFormat::Npy).read(bytes),
    },
    Target {
        name: "npz",
        food: Food::Data(DataFormat::Tensors(FileFormat::Npz)),
        run: |bytes| DataFormat::Tensors(FileFormat::Npz).read(bytes),
    },
    Target {
        name: "safetensors",
        food: Food::Data(DataFormat::Tensors(FileFormat::Safetensors)),
        run: |bytes| DataFormat::Tensors(FileFormat::Safetensors).read(bytes),
    },
    Target {
        name: "jpeg",
        food: Food::Data(DataFormat::Jpeg),
        run: |bytes| DataFormat::Jpeg.read(bytes),
    },
    Target {
        name: "example",
        food: Food::Data(DataFormat::Example),
        run: |bytes| DataFormat::Example.read(bytes),
    },
    Target {
        name: "stablehlo",
        food: Food::StableHlo,
        run: stablehlo::import,
    },
    Target {
        name: "onnx",
        food: Food::Onnx,
        run: onnx::import,
    },
    Target {
        name: "picture",
        food: Food::Data(DataFormat::Picture),
        run: |bytes| DataFormat::Picture.read(bytes),
    },
    Target {
        name: "tfrecord",
        food: Food::Data(DataFormat::Rows(TableFormat::TfRecord)),
        run: |bytes| DataFormat::Rows(TableFormat::TfRecord).read(bytes),
    },
    Target {
        name: "csv",
        food: Food::Data(DataFormat::Rows(TableFormat::Csv)),
        run: |bytes| DataFormat::Rows(TableFormat::Csv).read(bytes),
    },
    Target {
        name: "requests",
        food: Food::Requests,
        run: requests::answer,
    },
    Target {
        name: "request_sequences",
        food: Food::RequestSequences,
        run: request_sequences::compare,
    },
];

/// The target of this name.
#[must_use]
pub fn find(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}

/// The mutator of a fuzzer for what `food` says: as [`mutate::in_place`], but all is left to
/// `plainly` where nothing is known of the format.
pub fn mutate_in_place(
    food: Food,
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    plainly: impl FnOnce(&mut [u8], usize, usize) -> usize,
) -> usize {
    let mutate = |input: &[u8], random: &mut Random| match food {
        Food::Attribute => input.to_vec(),
        Food::File => mutate::mutate(input, random),
        Food::Data(format) => mutate_data::mutate(format, input, input, random),
        Food::Onnx => onnx::mutate(input, input, random),
        Food::Requests => requests::mutate(input, input, random),
        Food::RequestSequences => request_sequences::mutate(input, input, random),
        Food::Text | Food::StableHlo => {
            let text = String::from_utf8_lossy(input);
            mutate_text::mutate(&text, &text, random).into_bytes()
        }
    };
    match food {
        Food::Attribute => plainly(data, size, max_size),
        _ => mutate::in_place_by(mutate, data, size, max_size, seed, plainly),
    }
}

/// Runs a target that does not say what it accepted.
fn always(run: fn(&[u8]), bytes: &[u8]) -> bool {
    run(bytes);
    tfrt_bef::BefFile::from_bytes(bytes).verify().is_ok()
}

/// How many accepted mutants are kept to be mutated again.
const MAX_BRED: usize = 512;

/// Gives inputs for ever: the seeds, mutants of them, and mutants of mutants. The same ones for the
/// same seed.
#[derive(Debug)]
pub struct Feed {
    food: Food,
    max_bytes: usize,
    seeds: Vec<Vec<u8>>,
    bred: Vec<Vec<u8>>,
    random: Random,
    num_given: usize,
}

impl Feed {
    /// Feeds what `food` says. Inputs of more than `max_bytes` are not mutated further.
    #[must_use]
    pub fn new(food: Food, seeds: &Seeds, max_bytes: usize, seed: u64) -> Self {
        let seeds = match food {
            Food::Text => seeds
                .texts
                .iter()
                .map(|text| text.clone().into_bytes())
                .collect(),
            Food::File => seeds.files.clone(),
            Food::Attribute => Vec::new(),
            Food::Data(format) => format.seeds(),
            Food::StableHlo => stablehlo::seeds(max_bytes),
            Food::Onnx => onnx::seeds(max_bytes),
            Food::Requests => requests::seeds(),
            Food::RequestSequences => request_sequences::seeds(),
        };
        Self {
            food,
            max_bytes,
            seeds,
            bred: Vec::new(),
            random: Random::new(seed),
            num_given: 0,
        }
    }

    /// What it starts from.
    #[must_use]
    pub fn seeds(&self) -> &[Vec<u8>] {
        &self.seeds
    }

    /// The next input.
    pub fn next_input(&mut self) -> Vec<u8> {
        self.num_given += 1;
        if let Some(seed) = self.seeds.get(self.num_given - 1) {
            return seed.clone();
        }
        match self.food {
            Food::Attribute => self.attribute(),
            Food::File => {
                let index = self.pick();
                mutate::mutate(input(&self.seeds, &self.bred, index), &mut self.random)
            }
            Food::Data(format) => {
                let (index, other) = (self.pick(), self.pick());
                let [bytes, other] =
                    [index, other].map(|index| input(&self.seeds, &self.bred, index));
                mutate_data::mutate(format, bytes, other, &mut self.random)
            }
            Food::Onnx => {
                let (index, other) = (self.pick(), self.pick());
                let [bytes, other] =
                    [index, other].map(|index| input(&self.seeds, &self.bred, index));
                onnx::mutate(bytes, other, &mut self.random)
            }
            Food::Requests => {
                let (index, other) = (self.pick(), self.pick());
                let [bytes, other] =
                    [index, other].map(|index| input(&self.seeds, &self.bred, index));
                requests::mutate(bytes, other, &mut self.random)
            }
            Food::RequestSequences => {
                let (index, other) = (self.pick(), self.pick());
                let [steps, other] =
                    [index, other].map(|index| input(&self.seeds, &self.bred, index));
                request_sequences::mutate(steps, other, &mut self.random)
            }
            Food::Text | Food::StableHlo => {
                let (index, other) = (self.pick(), self.pick());
                let [text, other] = [index, other]
                    .map(|index| String::from_utf8_lossy(input(&self.seeds, &self.bred, index)));
                mutate_text::mutate(&text, &other, &mut self.random).into_bytes()
            }
        }
    }

    /// Keeps an input that was accepted, to be mutated again.
    pub fn keep(&mut self, input: Vec<u8>) {
        if input.len() > self.max_bytes || self.food == Food::Attribute {
            return;
        }
        if self.bred.len() < MAX_BRED {
            self.bred.push(input);
        } else {
            let index = self.random.below(MAX_BRED);
            self.bred[index] = input;
        }
    }

    /// A seed or what was bred, each half of the time.
    fn pick(&mut self) -> usize {
        if self.bred.is_empty() || self.random.below(2) == 0 {
            self.random.below(self.seeds.len())
        } else {
            self.seeds.len() + self.random.below(self.bred.len())
        }
    }

    /// A section as short as attributes are, behind a type code: mostly small numbers, as lengths
    /// and offsets are.
    fn attribute(&mut self) -> Vec<u8> {
        const SMALL: [u8; 12] = [0, 0, 0, 1, 2, 3, 4, 8, 12, 16, 20, 24];
        let random = &mut self.random;
        let len = random.below(96);
        let mut bytes: Vec<u8> = (0..=len)
            .map(|_| match random.below(3) {
                0 => random.below(256) as u8,
                _ => SMALL[random.below(SMALL.len())],
            })
            .collect();
        if random.below(8) != 0 {
            bytes[0] = [
                0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 25, 26, 27, 28, 29, 30, 133, 136, 137,
            ][random.below(19)];
        }
        bytes
    }
}

/// A seed or, behind them, what was bred.
fn input<'a>(seeds: &'a [Vec<u8>], bred: &'a [Vec<u8>], index: usize) -> &'a [u8] {
    match seeds.get(index) {
        Some(seed) => seed,
        None => &bred[index - seeds.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_corpus_belongs_to_a_target() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");
        let entries = std::fs::read_dir(folder).expect("the folder can be read");
        for entry in entries {
            let name = entry.expect("the entry can be read").file_name();
            let name = name.to_str().and_then(|name| name.strip_suffix(".tar.xz"));
            let name = name.expect("a corpus is an archive");
            assert!(find(name).is_some(), "no target is called {name}");
        }
    }
}
