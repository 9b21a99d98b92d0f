//! The network as MLIR text.
//!
//! ```text
//!  @main, @infer ─► @weights            once: reads the file of the weights
//!        └► @resnet50 ─► @stem, @block_1_1, … @block_4_3, @head
//! ```
//!
//! Every block is a function, so that the tensors of a block come into being when the block begins:
//! a kernel that makes a tensor needs nothing, and in one large function all of them would be made
//! at once.

use std::fmt::{self, Write};

use super::{Block, ConvLayer, EPSILON, Network, POOLING, WEIGHTS_OF_CONVOLUTION};

/// The way in which the order of the kernels is expressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chains {
    /// By chains, threaded by hand.
    ByHand,
    /// By the order of the text alone, for `--thread-chains`.
    Left,
}

/// The way in which the shortcut of a block is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortcut {
    /// By kernels of its own, as the reference has them.
    Added,
    /// By the convolution before it, where the shortcut lies.
    Fused,
}

/// The options of a program, in addition to the network.
#[derive(Clone, Copy, Debug)]
pub struct ProgramOptions<'a> {
    /// The way in which the order of the kernels is expressed.
    pub chains: Chains,
    /// The way in which the shortcut of a block is added.
    pub shortcut: Shortcut,
    /// The path of the weights.
    pub weights_path: &'a str,
    /// The path of the image.
    pub image_path: &'a str,
}

/// Returns the program. `@main` reads weights and image and prints the probabilities of the
/// classes, `@infer` returns them, and `@resnet50` computes them.
///
/// ```
/// use tfrt_models::resnet50::Network;
/// use tfrt_models::resnet50::program::{Chains, ProgramOptions, Shortcut, text};
///
/// let options = ProgramOptions {
///     chains: Chains::ByHand,
///     shortcut: Shortcut::Added,
///     weights_path: "weights.btf",
///     image_path: "image.btf",
/// };
/// let program = text(&Network::new(224, 64, 1000), &options);
/// assert_eq!(program.matches("eigen.conv2d").count(), 53);
/// ```
#[must_use]
pub fn text(network: &Network, options: &ProgramOptions<'_>) -> String {
    let mut program = Program {
        network,
        options,
        text: String::new(),
    };
    program
        .write_all()
        .expect("a string takes whatever is written");
    program.text
}

const TENSOR: &str = "!t.tensor";
const CHAIN: &str = "!tfrt.chain";

struct Program<'a> {
    network: &'a Network,
    options: &'a ProgramOptions<'a>,
    text: String,
}

/// A function while it is being written: its current chain.
struct Chain {
    is_written: bool,
    number: usize,
}

impl Chain {
    /// Returns the types that a function returns in addition to a tensor.
    fn results(&self) -> &'static str {
        if self.is_written {
            "(!tfrt.chain, !t.tensor)"
        } else {
            TENSOR
        }
    }

    /// Returns the chain, as the last operand behind others.
    fn operand(&self) -> String {
        if self.is_written {
            format!(", %ch{}", self.number)
        } else {
            String::new()
        }
    }
}

impl Program<'_> {
    fn write_all(&mut self) -> fmt::Result {
        let network = self.network;
        writeln!(
            self.text,
            "// ResNet-50 v1.5 for images of {0} x {0} pixels: {1} parameters, {2} classes.\n\
             // Made by `tfrt-models`.\n",
            network.image,
            network.num_parameters(),
            network.num_classes
        )?;
        self.write_weights()?;
        self.write_stem()?;
        for block in &network.blocks {
            self.write_block(block)?;
        }
        self.write_head()?;
        self.write_network()?;
        self.write_main()?;
        self.write_inference()
    }

    fn is_chained(&self) -> bool {
        self.options.chains == Chains::ByHand
    }

    /// Begins a function of a tensor and its weights.
    fn begin(&mut self, name: &str, input: &str, num_weights: usize) -> Result<Chain, fmt::Error> {
        let is_written = self.is_chained();
        let chain = if is_written {
            "%ch0: !tfrt.chain, "
        } else {
            ""
        };
        write!(self.text, "func @{name}({chain}{input}: {TENSOR}")?;
        for weight in 0..num_weights {
            write!(self.text, ", %w{weight}: {TENSOR}")?;
        }
        let chain = Chain {
            is_written,
            number: 0,
        };
        writeln!(self.text, ") -> {} {{", chain.results())?;
        Ok(chain)
    }

    /// Ends a function that returns a tensor.
    fn end(&mut self, chain: &Chain, result: &str) -> fmt::Result {
        let (number, types) = (chain.number, format!("{CHAIN}, {TENSOR}"));
        if chain.is_written {
            writeln!(
                self.text,
                "  tfrt.return %ch{number}, {result} : {types}\n}}\n"
            )
        } else {
            writeln!(self.text, "  tfrt.return {result} : {TENSOR}\n}}\n")
        }
    }

    /// A tensor that a kernel is going to write.
    fn create(&mut self, name: &str, dims: &[usize]) -> fmt::Result {
        let rank = dims.len();
        let dims: Vec<String> = dims.iter().map(|dim| format!("{dim} : i64")).collect();
        let dims = dims.join(", ");
        writeln!(
            self.text,
            "  {name} = tfrt_dht.create_uninitialized_tensor.f32.{rank} [{dims}]"
        )
    }

    /// Returns the output of a convolution.
    fn create_output(&mut self, name: &str, convolution: &ConvLayer) -> fmt::Result {
        let extent = convolution.output();
        self.create(name, &[1, extent, extent, convolution.out_channels])
    }

    /// Returns a kernel that writes one of its operands.
    fn kernel(
        &mut self,
        chain: &mut Chain,
        op: &str,
        operands: &[(&str, &str)],
        attributes: &str,
    ) -> fmt::Result {
        let (names, types): (Vec<&str>, Vec<&str>) = operands.iter().copied().unzip();
        let (names, types) = (names.join(", "), types.join(", "));
        let attributes = if attributes.is_empty() {
            String::new()
        } else {
            format!(" {{ {attributes} }}")
        };
        if chain.is_written {
            let before = chain.number;
            chain.number += 1;
            writeln!(
                self.text,
                "  %ch{} = \"{op}\"({names}, %ch{before}){attributes} : ({types}, {CHAIN}) -> \
                 {CHAIN}",
                chain.number
            )
        } else {
            writeln!(
                self.text,
                "  \"{op}\"({names}){attributes} : ({types}) -> ()"
            )
        }
    }

    /// Returns a convolution with its batch normalisation.
    fn convolve(
        &mut self,
        chain: &mut Chain,
        suffix: &str,
        [input, output]: [&str; 2],
        first_weight: usize,
        convolution: &ConvLayer,
    ) -> fmt::Result {
        let weights: Vec<String> = (first_weight..first_weight + WEIGHTS_OF_CONVOLUTION)
            .map(|weight| format!("%w{weight}"))
            .collect();
        let names = std::iter::once(input)
            .chain(weights.iter().map(String::as_str))
            .chain([output]);
        let operands: Vec<(&str, &str)> = names.map(|name| (name, TENSOR)).collect();
        let op = format!("eigen.conv2d.batch_norm{suffix}.f32");
        let stride = convolution.stride;
        let attributes = format!(
            "epsilon = {EPSILON:.6} : f32, padding = \"same\", strides = [{stride}, {stride}]"
        );
        self.kernel(chain, &op, &operands, &attributes)
    }

    fn write_weights(&mut self) -> fmt::Result {
        let shapes = self.network.weight_shapes();
        writeln!(
            self.text,
            "func @weights(%path: !tfrt.string) -> ({}) {{",
            list(shapes.len(), |_| TENSOR.into())
        )?;
        for (index, shape) in shapes.iter().enumerate() {
            let rank = shape.len();
            writeln!(self.text, "  %i{index} = tfrt.constant.i32 {index}")?;
            writeln!(
                self.text,
                "  %w{index} = \"btf.read_dense_tensor.f32.{rank}\"(%path, %i{index}) : \
                 (!tfrt.string, i32) -> {TENSOR}"
            )?;
        }
        let (names, types) = (names(shapes.len()), list(shapes.len(), |_| TENSOR.into()));
        writeln!(self.text, "  tfrt.return {names} : {types}\n}}\n")
    }

    fn write_stem(&mut self) -> fmt::Result {
        let stem = &self.network.stem;
        let mut chain = self.begin("stem", "%image", WEIGHTS_OF_CONVOLUTION)?;
        self.create_output("%wide", stem)?;
        self.convolve(&mut chain, ".relu", ["%image", "%wide"], 0, stem)?;
        let (window, stride) = POOLING;
        let extent = stem.output().div_ceil(stride);
        self.create("%pooled", &[1, extent, extent, stem.out_channels])?;
        self.kernel(
            &mut chain,
            "eigen.max_pooling_2d.f32",
            &[("%wide", TENSOR), ("%pooled", TENSOR)],
            &format!(
                "padding = \"same\", pool_size = [{window}, {window}], strides = [{stride}, \
                 {stride}]"
            ),
        )?;
        self.end(&chain, "%pooled")
    }

    fn write_block(&mut self, block: &Block) -> fmt::Result {
        let num_weights = WEIGHTS_OF_CONVOLUTION * block.convolutions().count();
        let [spatial, expand, projection] = [1, 2, 3].map(|index| index * WEIGHTS_OF_CONVOLUTION);
        let mut chain = self.begin(&block.name, "%x", num_weights)?;
        self.create_output("%reduced", &block.reduce)?;
        self.convolve(&mut chain, ".relu", ["%x", "%reduced"], 0, &block.reduce)?;
        self.create_output("%between", &block.spatial)?;
        self.convolve(
            &mut chain,
            ".relu",
            ["%reduced", "%between"],
            spatial,
            &block.spatial,
        )?;
        let shortcut = match &block.projection {
            None => "%x",
            Some(projected) => {
                self.create_output("%projected", projected)?;
                self.convolve(&mut chain, "", ["%x", "%projected"], projection, projected)?;
                "%projected"
            }
        };
        match self.options.shortcut {
            Shortcut::Fused => {
                let operands = ["%between", shortcut];
                self.convolve(&mut chain, ".add.relu", operands, expand, &block.expand)?;
                self.end(&chain, shortcut)
            }
            Shortcut::Added => {
                self.create_output("%sum", &block.expand)?;
                self.convolve(&mut chain, "", ["%between", "%sum"], expand, &block.expand)?;
                let operands = [(shortcut, TENSOR), ("%sum", TENSOR)];
                self.kernel(&mut chain, "tfrt_test.add_inplace.f32", &operands, "")?;
                self.kernel(
                    &mut chain,
                    "tfrt_test.relu_inplace.f32",
                    &[("%sum", TENSOR)],
                    "",
                )?;
                self.end(&chain, "%sum")
            }
        }
    }

    fn write_head(&mut self) -> fmt::Result {
        let (_, num_features) = self.network.features();
        let num_classes = self.network.num_classes;
        let mut chain = self.begin("head", "%x", 2)?;
        self.create("%means", &[1, num_features])?;
        let operands = [("%x", TENSOR), ("%means", TENSOR)];
        self.kernel(
            &mut chain,
            "tfrt_test.global_average_pooling.f32",
            &operands,
            "",
        )?;
        writeln!(
            self.text,
            "  %shape = ts.build_shape [1 : i64, {num_classes} : i64]\n  \
             %scores = \"tfrt_test.broadcast.f32.2\"(%w1, %shape) : ({TENSOR}, !ts.shape) -> {TENSOR}\n  \
             %one = tfrt.constant.f32 1.0"
        )?;
        let product = ["%one", "%means", "%w0", "%one", "%scores"];
        let types = ["f32", TENSOR, TENSOR, "f32", TENSOR];
        let operands: Vec<_> = product.into_iter().zip(types).collect();
        self.kernel(&mut chain, "eigen.matmul.f32", &operands, "")?;
        let operands = [("%scores", TENSOR)];
        self.kernel(&mut chain, "tfrt_test.softmax_inplace.f32", &operands, "")?;
        self.end(&chain, "%scores")
    }

    /// Returns a call of a function of a tensor and the weights of the network from `weights` on.
    fn call(
        &mut self,
        chain: &mut Chain,
        function: &str,
        [input, output]: [&str; 2],
        weights: std::ops::Range<usize>,
    ) -> fmt::Result {
        let tensors = list(weights.len() + 1, |_| TENSOR.into());
        let weights: String = weights.map(|weight| format!(", %w{weight}")).collect();
        if chain.is_written {
            let before = chain.number;
            chain.number += 1;
            writeln!(
                self.text,
                "  %ch{}, {output} = tfrt.call @{function}(%ch{before}, {input}{weights}) : \
                 ({CHAIN}, {tensors}) -> ({CHAIN}, {TENSOR})",
                chain.number
            )
        } else {
            writeln!(
                self.text,
                "  {output} = tfrt.call @{function}({input}{weights}) : ({tensors}) -> {TENSOR}"
            )
        }
    }

    fn write_network(&mut self) -> fmt::Result {
        let network = self.network;
        let num_weights = network.weight_shapes().len();
        let mut chain = self.begin("resnet50", "%image", num_weights)?;
        let mut next = WEIGHTS_OF_CONVOLUTION;
        self.call(&mut chain, "stem", ["%image", "%x0"], 0..next)?;
        for (index, block) in network.blocks.iter().enumerate() {
            let weights = next..next + WEIGHTS_OF_CONVOLUTION * block.convolutions().count();
            next = weights.end;
            let (input, output) = (format!("%x{index}"), format!("%x{}", index + 1));
            self.call(&mut chain, &block.name, [&input, &output], weights)?;
        }
        let last = format!("%x{}", network.blocks.len());
        self.call(&mut chain, "head", [&last, "%scores"], next..num_weights)?;
        self.end(&chain, "%scores")
    }

    /// Reads weights and image into `%w0`, `%w1`, … and `%image`.
    fn write_reading(&mut self) -> fmt::Result {
        let num_weights = self.network.weight_shapes().len();
        let ProgramOptions {
            weights_path,
            image_path,
            ..
        } = *self.options;
        writeln!(
            self.text,
            "  %weights = models.beside_program {}\n  \
             {} = tfrt.once @weights(%weights) : (!tfrt.string) -> ({})\n  \
             %file = models.beside_program {}\n  \
             %first = tfrt.constant.i32 0\n  \
             %image = \"btf.read_dense_tensor.f32.4\"(%file, %first) : (!tfrt.string, i32) -> {TENSOR}",
            quoted(weights_path),
            names(num_weights),
            list(num_weights, |_| TENSOR.into()),
            quoted(image_path),
        )
    }

    fn write_main(&mut self) -> fmt::Result {
        let num_weights = self.network.weight_shapes().len();
        let is_written = self.is_chained();
        let result = if is_written { " -> !tfrt.chain" } else { "" };
        writeln!(self.text, "func @main(){result} {{")?;
        self.write_reading()?;
        let mut chain = Chain {
            is_written,
            number: 0,
        };
        if is_written {
            writeln!(self.text, "  %ch0 = tfrt.new.chain")?;
        }
        self.call(
            &mut chain,
            "resnet50",
            ["%image", "%scores"],
            0..num_weights,
        )?;
        if is_written {
            let before = chain.operand();
            writeln!(
                self.text,
                "  %done = tfrt_dht.print_tensor %scores{before}\n  tfrt.return %done : {CHAIN}\n}}\n"
            )
        } else {
            writeln!(
                self.text,
                "  tfrt_dht.print_tensor %scores\n  tfrt.return\n}}\n"
            )
        }
    }

    /// `@main` without the output, to be measured: it returns the probabilities.
    fn write_inference(&mut self) -> fmt::Result {
        let num_weights = self.network.weight_shapes().len();
        let mut chain = Chain {
            is_written: self.is_chained(),
            number: 0,
        };
        let result = chain.results();
        writeln!(self.text, "func @infer() -> {result} {{")?;
        self.write_reading()?;
        if chain.is_written {
            writeln!(self.text, "  %ch0 = tfrt.new.chain")?;
        }
        self.call(
            &mut chain,
            "resnet50",
            ["%image", "%scores"],
            0..num_weights,
        )?;
        self.end(&chain, "%scores")
    }
}

/// So many things, with commas between them.
fn list(len: usize, thing: impl Fn(usize) -> String) -> String {
    (0..len).map(thing).collect::<Vec<_>>().join(", ")
}

/// Returns the names of all weights.
fn names(num_weights: usize) -> String {
    list(num_weights, |weight| format!("%w{weight}"))
}

/// Returns a text as a string of the program.
fn quoted(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|character| match character {
            '"' => "\\22".into(),
            '\\' => "\\\\".into(),
            _ => String::from(character),
        })
        .collect();
    format!("\"{escaped}\"")
}
