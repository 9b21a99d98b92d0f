"""Models with random weights of fixed seeds, in the spellings of exporters, for `run`."""

import sys
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

VOCABULARY = 1000


class Graph:
    """A model under construction."""

    def __init__(self):
        self.numbers = numpy.random.default_rng(1)
        self.nodes, self.weights, self.count = [], [], 0

    def constant(self, array):
        self.count += 1
        self.weights.append(numpy_helper.from_array(numpy.ascontiguousarray(array), f"w{self.count}"))
        return f"w{self.count}"

    def number(self, value):
        return self.constant(numpy.array(value, numpy.float32))

    def integers(self, values):
        return self.constant(numpy.array(values, numpy.int64))

    def random(self, *shape, scale=None):
        """A weight; without a scale, so that sums over all but its first dimension keep their size."""
        scale = scale or (2 / max(1, numpy.prod(shape[1:]))) ** 0.5
        return self.constant((self.numbers.standard_normal(shape) * scale).astype(numpy.float32))

    def near_one(self, count):
        return self.constant((1 + 0.2 * numpy.abs(self.numbers.standard_normal(count))).astype(numpy.float32))

    def op(self, name, inputs, **attributes):
        self.count += 1
        result = f"v{self.count}"
        self.nodes.append(helper.make_node(name, inputs, [result], name=f"/{name}_{self.count}", **attributes))
        return result

    def save(self, path, inputs, *outputs):
        inputs, outputs = ([helper.make_tensor_value_info(*typed) for typed in values] for values in (inputs, outputs))
        graph = helper.make_graph(self.nodes, path.stem, inputs, outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, path)

    def convolution(self, x, inside, outside, size, stride=1, group=1, norm=True):
        weights = [x, self.random(outside, inside // group, size, size)]
        if not norm:
            weights.append(self.random(outside, scale=0.1))
        y = self.op("Conv", weights, kernel_shape=[size] * 2, strides=[stride] * 2, pads=[size // 2] * 4, group=group)
        if not norm:
            return y
        shifts = [self.random(outside, scale=0.1), self.random(outside, scale=0.1)]
        return self.op("BatchNormalization", [y, self.near_one(outside), *shifts, self.near_one(outside)], epsilon=1e-5)

    def scale(self, scale, zero=0, kind=numpy.uint8):
        return [self.number(scale), self.constant(numpy.array(zero, kind))]

    def quantized(self, x, scale, zero=0):
        """Bytes, and the numbers that they represent."""
        scale = self.scale(scale, zero)
        return self.op("DequantizeLinear", [self.op("QuantizeLinear", [x, *scale]), *scale])

    def quantized_weights(self, shape, scale):
        """Signed bytes with a scale for each index of the first axis, as exporters write them."""
        numbers = self.numbers.standard_normal(shape) * scale * (2 / numpy.prod(shape[1:])) ** 0.5
        scales = numpy.abs(numbers).reshape(shape[0], -1).max(axis=1) / 127
        steps = numpy.round(numbers / scales.reshape(-1, *[1] * (len(shape) - 1)))
        scale = [self.constant(scales.astype(numpy.float32)), self.constant(numpy.zeros(shape[0], numpy.int8))]
        return self.op("DequantizeLinear", [self.constant(steps.astype(numpy.int8)), *scale], axis=0)

    def quantized_convolution(self, x, inside, outside, size, stride=1, scale=1.0):
        weights = self.quantized_weights([outside, inside, size, size], scale)
        bias = self.random(outside, scale=0.05)
        return self.op("Conv", [x, weights, bias], kernel_shape=[size] * 2, strides=[stride] * 2, pads=[size // 2] * 4)

    def classifier(self, x, inside):
        x = self.op("Flatten", [self.op("GlobalAveragePool", [x])], axis=1)
        return self.op("Gemm", [x, self.random(1000, inside), self.random(1000, scale=0.1)], transB=1)

    def linear(self, x, inside, outside):
        product = self.op("MatMul", [x, self.random(inside, outside, scale=0.02)])
        return self.op("Add", [self.random(outside, scale=0.02), product])

    def split_heads(self, x, heads, size, perm=(0, 2, 1, 3)):
        x = self.op("Reshape", [x, self.integers([0, 0, heads, size // heads])])
        return self.op("Transpose", [x], perm=perm)

    def merge_heads(self, x, size):
        return self.op("Reshape", [self.op("Transpose", [x], perm=[0, 2, 1, 3]), self.integers([0, 0, size])])

    def layer_norm(self, x, size):
        centred = self.op("Sub", [x, self.op("ReduceMean", [x], axes=[-1])])
        variance = self.op("ReduceMean", [self.op("Pow", [centred, self.number(2)])], axes=[-1])
        deviation = self.op("Sqrt", [self.op("Add", [variance, self.number(1e-12)])])
        normal = self.op("Div", [centred, deviation])
        scaled = self.op("Mul", [normal, self.near_one(size)])
        return self.op("Add", [scaled, self.random(size, scale=0.1)])

    def gelu(self, x):
        tail = self.op("Erf", [self.op("Div", [x, self.number(2**0.5)])])
        return self.op("Mul", [self.op("Mul", [x, self.op("Add", [tail, self.number(1)])]), self.number(0.5)])

    def gelu_by_tanh(self, x):
        cubic = self.op("Mul", [self.op("Pow", [x, self.number(3)]), self.number(0.044715)])
        inner = self.op("Mul", [self.op("Add", [x, cubic]), self.number((2 / numpy.pi) ** 0.5)])
        tail = self.op("Add", [self.op("Tanh", [inner]), self.number(1)])
        return self.op("Mul", [self.op("Mul", [x, self.number(0.5)]), tail])


FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def resnet50(path):
    graph = Graph()
    x = graph.op("Relu", [graph.convolution("x", 3, 64, 7, 2)])
    x = graph.op("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    inside = 64
    for stage, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            y = graph.op("Relu", [graph.convolution(x, inside, width, 1)])
            y = graph.op("Relu", [graph.convolution(y, width, width, 3, stride)])
            y = graph.convolution(y, width, 4 * width, 1)
            shortcut = graph.convolution(x, inside, 4 * width, 1, stride) if block == 0 else x
            x = graph.op("Relu", [graph.op("Add", [y, shortcut])])
            inside = 4 * width
    x = graph.classifier(x, 2048)
    graph.save(path, [("x", FLOAT, [1, 3, 224, 224])], (x, FLOAT, [1, 1000]))


def resnet50_int8(path):
    """ResNet-50 without normalisation, between quantization and dequantization of every tensor."""
    graph = Graph()
    signed, positive = 10 / 255, 6 / 255
    x = graph.quantized("x", 8 / 255, 128)
    x = graph.quantized(graph.op("Relu", [graph.quantized_convolution(x, 3, 64, 7, 2)]), positive)
    x = graph.quantized(graph.op("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), positive)
    inside = 64
    for stage, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            y = graph.quantized(graph.op("Relu", [graph.quantized_convolution(x, inside, width, 1)]), positive)
            y = graph.quantized(graph.op("Relu", [graph.quantized_convolution(y, width, width, 3, stride)]), positive)
            # The sums of many blocks keep their size.
            y = graph.quantized(graph.quantized_convolution(y, width, 4 * width, 1, scale=0.25), signed, 128)
            if block == 0:
                x = graph.quantized(graph.quantized_convolution(x, inside, 4 * width, 1, stride), signed, 128)
            x = graph.quantized(graph.op("Relu", [graph.op("Add", [y, x])]), positive)
            inside = 4 * width
    x = graph.quantized(graph.op("GlobalAveragePool", [x]), positive)
    x = graph.quantized(graph.op("Flatten", [x], axis=1), positive)
    y = graph.op("Gemm", [x, graph.quantized_weights([1000, 2048], 1.0), graph.random(1000, scale=0.1)], transB=1)
    graph.save(path, [("x", FLOAT, [1, 3, 224, 224])], (graph.quantized(y, signed, 128), FLOAT, [1, 1000]))


def mobilenet(path):
    graph = Graph()

    def convolution(x, *arguments, **named):
        return graph.op("Clip", [graph.convolution(x, *arguments, **named), graph.number(0), graph.number(6)])

    x, inside = convolution("x", 3, 32, 3, 2), 32
    for factor, outside, blocks, first_stride in [
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ]:
        for block in range(blocks):
            stride, wide = first_stride if block == 0 else 1, inside * factor
            y = convolution(x, inside, wide, 1) if factor > 1 else x
            y = graph.convolution(convolution(y, wide, wide, 3, stride, group=wide), wide, outside, 1)
            x = graph.op("Add", [x, y]) if stride == 1 and inside == outside else y
            inside = outside
    x = graph.classifier(convolution(x, 320, 1280, 1), 1280)
    graph.save(path, [("x", FLOAT, [1, 3, 224, 224])], (x, FLOAT, [1, 1000]))


def bert(path, layers=12, size=768, heads=12, length=128):
    graph = Graph()
    x = graph.op("Gather", [graph.random(VOCABULARY, size, scale=0.02), "ids"])
    x = graph.layer_norm(graph.op("Add", [x, graph.random(1, length, size, scale=0.02)]), size)
    mask = graph.op("Cast", ["mask"], to=FLOAT)
    for axis in [1, 2]:
        mask = graph.op("Unsqueeze", [mask, graph.integers([axis])])
    mask = graph.op("Mul", [graph.op("Sub", [graph.number(1), mask]), graph.number(-10000)])

    for _ in range(layers):
        perms = [0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]
        q, k, v = (graph.split_heads(graph.linear(x, size, size), heads, size, perm) for perm in perms)
        scores = graph.op("Div", [graph.op("MatMul", [q, k]), graph.number((size // heads) ** 0.5)])
        weights = graph.op("Softmax", [graph.op("Add", [scores, mask])], axis=-1)
        merged = graph.merge_heads(graph.op("MatMul", [weights, v]), size)
        x = graph.layer_norm(graph.op("Add", [graph.linear(merged, size, size), x]), size)
        y = graph.linear(graph.gelu(graph.linear(x, size, 4 * size)), 4 * size, size)
        x = graph.layer_norm(graph.op("Add", [y, x]), size)
    inputs = [("ids", INT64, [1, length]), ("mask", INT64, [1, length])]
    graph.save(path, inputs, (x, FLOAT, [1, length, size]))


def vit(path, layers=12, size=768, heads=12, patch=16, side=224):
    """ViT-B/16: normalisation in front of attention and of the two products, a token for the class."""
    graph = Graph()
    patches = (side // patch) ** 2
    kernel = [graph.random(size, 3, patch, patch), graph.random(size, scale=0.02)]
    x = graph.op("Conv", ["x", *kernel], kernel_shape=[patch] * 2, strides=[patch] * 2)
    x = graph.op("Transpose", [graph.op("Reshape", [x, graph.integers([0, size, patches])])], perm=[0, 2, 1])
    x = graph.op("Concat", [graph.random(1, 1, size, scale=0.02), x], axis=1)
    x = graph.op("Add", [x, graph.random(1, patches + 1, size, scale=0.02)])
    for _ in range(layers):
        y = graph.layer_norm(x, size)
        perms = [0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]
        q, k, v = (graph.split_heads(graph.linear(y, size, size), heads, size, perm) for perm in perms)
        scores = graph.op("Div", [graph.op("MatMul", [q, k]), graph.number((size // heads) ** 0.5)])
        merged = graph.merge_heads(graph.op("MatMul", [graph.op("Softmax", [scores], axis=-1), v]), size)
        x = graph.op("Add", [graph.linear(merged, size, size), x])
        y = graph.gelu(graph.linear(graph.layer_norm(x, size), size, 4 * size))
        x = graph.op("Add", [graph.linear(y, 4 * size, size), x])
    x = graph.op("Flatten", [graph.op("Gather", [graph.layer_norm(x, size), graph.integers([0])], axis=1)])
    x = graph.op("Gemm", [x, graph.random(1000, size, scale=0.02), graph.random(1000, scale=0.1)], transB=1)
    graph.save(path, [("x", FLOAT, [1, 3, side, side])], (x, FLOAT, [1, 1000]))


def gpt2(path, layers=12, size=768, heads=12, past=64, words=50257):
    """One step of GPT-2 small: a token behind `past` others, whose keys and values are inputs."""
    graph = Graph()
    table = graph.random(words, size, scale=0.02)
    positions = graph.random(1024, size, scale=0.02)
    x = graph.op("Add", [graph.op("Gather", [table, "ids"]), graph.op("Gather", [positions, graph.integers([[past]])])])
    shape = [1, heads, past, size // heads]
    longer = [1, heads, past + 1, size // heads]
    inputs, outputs = [("ids", INT64, [1, 1])], []
    for layer in range(layers):
        joined = graph.linear(graph.layer_norm(x, size), size, 3 * size)
        parts = [f"{part}{layer}" for part in ("query", "key", "value")]
        graph.nodes.append(helper.make_node("Split", [joined, graph.integers([size] * 3)], parts, axis=2))
        q, k, v = (graph.split_heads(part, heads, size) for part in parts)
        inputs += [(f"past_{part}", FLOAT, shape) for part in parts[1:]]
        k, v = (graph.op("Concat", [f"past_{part}", new], axis=2) for part, new in zip(parts[1:], (k, v)))
        outputs += [(k, FLOAT, longer), (v, FLOAT, longer)]
        scores = graph.op("MatMul", [q, graph.op("Transpose", [k], perm=[0, 1, 3, 2])])
        scores = graph.op("Div", [scores, graph.number((size // heads) ** 0.5)])
        merged = graph.merge_heads(graph.op("MatMul", [graph.op("Softmax", [scores], axis=-1), v]), size)
        x = graph.op("Add", [graph.linear(merged, size, size), x])
        y = graph.gelu_by_tanh(graph.linear(graph.layer_norm(x, size), size, 4 * size))
        x = graph.op("Add", [graph.linear(y, 4 * size, size), x])
    x = graph.op("MatMul", [graph.layer_norm(x, size), graph.op("Transpose", [table], perm=[1, 0])])
    graph.save(path, inputs, (x, FLOAT, [1, 1, words]), *outputs)


def mlp(path):
    graph = Graph()
    x = graph.op("Gemm", ["x", graph.random(784, 512), graph.random(512, scale=0.1)])
    x = graph.op("Gemm", [graph.op("Relu", [x]), graph.random(512, 10), graph.random(10, scale=0.1)])
    graph.save(path, [("x", FLOAT, [1, 784])], (x, FLOAT, [1, 10]))


def convnet(path):
    graph, x, inside = Graph(), "x", 1
    for outside in [32, 64]:
        x = graph.op("Relu", [graph.convolution(x, inside, outside, 5, norm=False)])
        x = graph.op("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
        inside = outside
    x = graph.op("Gemm", [graph.op("Flatten", [x]), graph.random(7 * 7 * 64, 512), graph.random(512, scale=0.1)])
    x = graph.op("Gemm", [graph.op("Relu", [x]), graph.random(512, 10), graph.random(10, scale=0.1)])
    graph.save(path, [("x", FLOAT, [1, 1, 28, 28])], (x, FLOAT, [1, 10]))


MODELS = {made.__name__: made for made in [mlp, convnet, mobilenet, resnet50, resnet50_int8, bert, vit, gpt2]}

# How far outputs may be apart, relative to the greatest element. A step of a quantised model may become several.
TOLERANCES = {"resnet50_int8": 0.1}


def path_of(folder, name):
    """Returns the path of a model, which is made if need be."""
    if name not in MODELS:
        sys.exit(f"there is no model `{name}`; there are {', '.join(MODELS)}")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.onnx"
    if not path.exists():
        MODELS[name](path)
    return path
