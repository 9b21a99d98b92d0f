//! ResNet-50 v1.5: a convolutional network for images, as a program of the runtime's own kernels.
//!
//! [`Network`] describes the layers and the order of their weights in the file. Everything else is
//! derived from it: the [`program`], the [`weights`] drawn from a seed, and the plain loops
//! ([`oracle`]) that compute the expected result. The weights are random, so the network recognises
//! nothing: it serves for runs, measurements and comparisons.
//!
//! ```text
//!  image ─► stem: 7 × 7 by 2, max pooling ─► 3, 4, 6, 3 blocks ─► mean over the pixels ─► product with a matrix ─► scores
//!
//!           ┌────────────── projection: 1 × 1 by the stride (first of a stage) ──────────────┐
//!  block:  x ─► reduce: 1 × 1 ─► spatial: 3 × 3 by the stride ─► expand: 1 × 1 by 1 ─────────+─► max(·, 0)
//! ```
//!
//! Every convolution is followed by a batch normalisation, and all but the last two by `max(·, 0)`.
//! In version 1.5, the 3 × 3 convolution has the stride. Padding is that of TensorFlow, `SAME`.

pub mod program;

pub mod weights;

pub mod oracle;

pub mod command;

/// The number that every batch normalisation adds to the variance.
pub const EPSILON: f32 = 1e-5;

/// The layers, with the extents of their inputs.
///
/// ```
/// use tfrt_models::resnet50::Network;
///
/// let network = Network::new(224, 64, 1000);
/// assert_eq!(network.convolutions().count(), 53);
/// assert_eq!(network.num_parameters(), 25_610_152);
/// ```
#[derive(Clone, Debug)]
pub struct Network {
    /// The number of rows, and of columns, of the image, which has three channels.
    pub image: usize,
    /// The number of scores.
    pub num_classes: usize,
    /// The first convolution.
    pub stem: ConvLayer,
    /// The blocks between the first pooling and the last.
    pub blocks: Vec<Block>,
}

/// A convolution with its batch normalisation. Images and windows are square.
#[derive(Clone, Debug)]
pub struct ConvLayer {
    /// The name of its weights.
    pub name: String,
    /// The index of its first weight in the file: the filter, then scale, offset, mean and
    /// variance.
    pub first_weight: usize,
    /// The number of rows of its input image.
    pub input: usize,
    /// The number of rows of the window.
    pub window: usize,
    /// The distance between windows in pixels.
    pub stride: usize,
    /// The number of input channels.
    pub in_channels: usize,
    /// The number of output channels.
    pub out_channels: usize,
}

/// Three convolutions with a shortcut around them.
#[derive(Clone, Debug)]
pub struct Block {
    /// The name of the function.
    pub name: String,
    /// The convolution to fewer channels.
    pub reduce: ConvLayer,
    /// The convolution over neighbouring pixels.
    pub spatial: ConvLayer,
    /// The convolution to more channels.
    pub expand: ConvLayer,
    /// The convolution of the shortcut, if input and output differ in shape.
    pub projection: Option<ConvLayer>,
}

/// The number of weights of a convolution.
pub const WEIGHTS_OF_CONVOLUTION: usize = 5;

/// The number of blocks of each stage.
const STAGES: [usize; 4] = [3, 4, 6, 3];

/// The number of output channels of a block per channel of its 3 × 3 convolution.
const EXPANSION: usize = 4;

/// The window and the stride of the pooling after the stem.
pub const POOLING: (usize, usize) = (3, 2);

/// Returns how many outputs windows have that are `stride` apart, with the padding `SAME`.
const fn strided(input: usize, stride: usize) -> usize {
    input.div_ceil(stride)
}

impl Network {
    /// Returns the network for images of `image` × `image` pixels, whose first convolution has
    /// `width` channels: 224, 64 and 1000 are the usual parameters; smaller ones create a network
    /// for tests.
    #[must_use]
    pub fn new(image: usize, width: usize, num_classes: usize) -> Self {
        let mut next_weight = 0;
        let mut convolution = |name: String, input, (window, stride), in_channels, out_channels| {
            let first_weight = next_weight;
            next_weight += WEIGHTS_OF_CONVOLUTION;
            ConvLayer {
                name,
                first_weight,
                input,
                window,
                stride,
                in_channels,
                out_channels,
            }
        };
        let stem = convolution("stem".into(), image, (7, 2), 3, width);
        let mut extent = strided(stem.output(), POOLING.1);
        let mut channels = width;
        let mut blocks = Vec::new();
        for (stage, num_blocks) in STAGES.into_iter().enumerate() {
            let inner = width << stage;
            for index in 0..num_blocks {
                let name = format!("block_{}_{}", stage + 1, index + 1);
                let stride = if stage > 0 && index == 0 { 2 } else { 1 };
                let outer = EXPANSION * inner;
                let after = strided(extent, stride);
                let mut part = |part: &str, input, window, from, to| {
                    convolution(format!("{name}.{part}"), input, window, from, to)
                };
                let reduce = part("reduce", extent, (1, 1), channels, inner);
                let spatial = part("spatial", extent, (3, stride), inner, inner);
                let expand = part("expand", after, (1, 1), inner, outer);
                let projection =
                    (index == 0).then(|| part("projection", extent, (1, stride), channels, outer));
                blocks.push(Block {
                    name,
                    reduce,
                    spatial,
                    expand,
                    projection,
                });
                (extent, channels) = (after, outer);
            }
        }
        Self {
            image,
            num_classes,
            stem,
            blocks,
        }
    }

    /// Returns the numbers of rows and channels of the images that the last block returns.
    #[must_use]
    pub fn features(&self) -> (usize, usize) {
        let last = self.blocks.last().map_or(&self.stem, |block| &block.expand);
        (last.output(), last.out_channels)
    }

    /// Returns all convolutions, in the order of their weights.
    pub fn convolutions(&self) -> impl Iterator<Item = &ConvLayer> {
        std::iter::once(&self.stem).chain(self.blocks.iter().flat_map(Block::convolutions))
    }

    /// Returns the index of the matrix of the scores in the file; its bias is next.
    #[must_use]
    pub fn scores_weight(&self) -> usize {
        WEIGHTS_OF_CONVOLUTION * self.convolutions().count()
    }

    /// Returns the shapes of all weights, in the order of the file.
    #[must_use]
    pub fn weight_shapes(&self) -> Vec<Vec<usize>> {
        let mut shapes = Vec::new();
        for convolution in self.convolutions() {
            let &ConvLayer {
                window,
                in_channels,
                out_channels,
                ..
            } = convolution;
            shapes.push(vec![window, window, in_channels, out_channels]);
            shapes.extend([const { Vec::new() }; 4].map(|_: Vec<usize>| vec![out_channels]));
        }
        shapes.push(vec![self.features().1, self.num_classes]);
        shapes.push(vec![self.num_classes]);
        shapes
    }

    /// Returns how many numbers the weights are.
    #[must_use]
    pub fn num_parameters(&self) -> usize {
        let sizes = self.weight_shapes();
        sizes
            .iter()
            .map(|shape| shape.iter().product::<usize>())
            .sum()
    }

    /// Returns the most bytes of tensors, beside the weights, that any kernel of the program leaves
    /// alive: what no program of these kernels can do without.
    #[must_use]
    pub fn largest_live_set_bytes(&self) -> usize {
        let pooled = strided(self.stem.output(), POOLING.1).pow(2) * self.stem.out_channels;
        let stem = self.stem.output_len();
        let first = [3 * self.image * self.image + stem, stem + pooled];
        let blocks = self.blocks.iter().flat_map(|block| {
            let input = block.reduce.input_len();
            let [reduced, between, output] =
                [&block.reduce, &block.spatial, &block.expand].map(ConvLayer::output_len);
            // The input lives until the shortcut has been added, or projected: which may be done
            // first or last.
            let projected = block.projection.as_ref().map_or(0, |_| output);
            [
                input + reduced,
                input + reduced + between,
                input + between + output,
                input.min(between) + projected + output,
            ]
        });
        first.into_iter().chain(blocks).max().unwrap_or(0) * size_of::<f32>()
    }
}

impl Block {
    /// Returns its convolutions, in the order of their weights.
    pub fn convolutions(&self) -> impl Iterator<Item = &ConvLayer> {
        [&self.reduce, &self.spatial, &self.expand]
            .into_iter()
            .chain(&self.projection)
    }
}

impl ConvLayer {
    /// Rows of the image that it writes.
    #[must_use]
    pub fn output(&self) -> usize {
        strided(self.input, self.stride)
    }

    /// Elements that it reads.
    #[must_use]
    pub fn input_len(&self) -> usize {
        self.input * self.input * self.in_channels
    }

    /// Elements that it writes.
    #[must_use]
    pub fn output_len(&self) -> usize {
        self.output() * self.output() * self.out_channels
    }

    /// Elements of the filter.
    #[must_use]
    pub fn filter_len(&self) -> usize {
        self.window * self.window * self.in_channels * self.out_channels
    }
}
