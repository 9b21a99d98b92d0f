"""Records programs of JAX, with their results, as cases of `tfrt test-model`.

Run it in an environment with `jax==0.10.2`:

    python3 kernels/stablehlo/tests/record.py

It writes `kernels/stablehlo/tests/data/*.mlir`. Each file has several programs, between lines
`// -----`: what JAX prints for a function, its operands, what XLA computed on a processor, and a
comparison.
"""

import pathlib
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)

DATA = pathlib.Path(__file__).parent / "data"
FLOATS = [np.float32, np.float64]
SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
HALVES = [np.float16, jnp.bfloat16]
random = np.random.default_rng(7)


def numbers(dtype, *shape):
    """Numbers of a type, some of them special."""
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        parts = random.standard_normal((*shape, 2))
        return (parts[..., 0] + 1j * parts[..., 1]).astype(dtype)
    if dtype.name in ("int4", "uint4"):
        return random.integers(-8 if dtype.name == "int4" else 0, 8, shape).astype(dtype)
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(np.bool_)
    if dtype.kind in "iu":
        low = -100 if dtype.kind == "i" else 0
        return random.integers(low, 120, shape).astype(dtype)
    return (random.standard_normal(shape) * 3).astype(dtype)


NAMES = {
    "bool": "i1", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "complex64": "complex<f32>", "complex128": "complex<f64>",
}


def constant(array):
    """The attribute that an array is as text, with its type."""
    array = np.asarray(array)
    element = NAMES.get(array.dtype.name) or array.dtype.name.replace("uint", "ui").replace("int", "i")
    dims = "".join("%dx" % extent for extent in array.shape)
    if array.size == 0:
        body = ""
    elif array.dtype == np.bool_:
        body = str(array.tolist()).lower()
    elif array.dtype.kind in "iu" or "int4" in array.dtype.name:
        body = str(array.tolist()) if array.dtype.kind in "iu" else str(array.astype(np.int8).tolist())
    else:
        body = '"0x%s"' % np.ascontiguousarray(array).tobytes().hex().upper()
    return "dense<%s> : tensor<%s%s>" % (body, dims, element)


def record(function, *operands, check="expect_close", platform="cpu"):
    """The text of one case, as it is lowered for a platform."""
    operands = [np.asarray(operand) for operand in operands]
    lowered = jax.jit(function).trace(*operands).lower(lowering_platforms=(platform,))
    module = lowered.compiler_ir("stablehlo")
    text = module.operation.get_asm(print_generic_op_form=False, large_elements_limit=None)
    results = jax.tree.leaves(jax.jit(function)(*operands))
    results = [np.asarray(result) for result in results]
    text = text.replace("func.func public @main", "func.func private @computed", 1)
    operand_attrs = [constant(operand) for operand in operands]
    result_attrs = [constant(result) for result in results]
    types = [attr.rsplit(" : ", 1)[1] for attr in operand_attrs]
    result_types = [attr.rsplit(" : ", 1)[1] for attr in result_attrs]
    lines = ["  func.func public @main() -> (%s) {" % ", ".join(result_types)]

    def call(name, arguments, argument_types, types, first):
        if not types:
            return []
        count = ":%d" % len(types) if len(types) > 1 else ""
        target = "%s = " % ("%" + first + count)
        arguments = ", ".join(arguments)
        signature = "(%s) -> %s" % (
            ", ".join(argument_types),
            types[0] if len(types) == 1 else "(%s)" % ", ".join(types),
        )
        values = ["%" + first] if len(types) == 1 else ["%%%s#%d" % (first, i) for i in range(len(types))]
        lines.append("    %scall @%s(%s) : %s" % (target, name, arguments, signature))
        return values

    given = call("inputs", [], [], types, "in")
    expected = call("expected", [], [], result_types, "want")
    found = call("computed", given, types, result_types, "got")
    for value, want, ty in zip(found, expected, result_types):
        kind = check if re.search(r"x?b?f\d+>+$", ty) else "expect_eq"
        lines.append(
            "    stablehlo.custom_call @check.%s(%s, %s) {has_side_effect = true} : (%s, %s) -> ()"
            % (kind, value, want, ty, ty)
        )
    lines.append("    return %s : %s" % (", ".join(found), ", ".join(result_types)))
    lines.append("  }")
    for name, attrs, types_of in [
        ("inputs", operand_attrs, types),
        ("expected", result_attrs, result_types),
    ]:
        if not attrs:
            continue
        lines.append("  func.func private @%s() -> (%s) {" % (name, ", ".join(types_of)))
        for index, attr in enumerate(attrs):
            lines.append("    %%c%d = stablehlo.constant %s" % (index, attr))
        values = ", ".join("%%c%d" % index for index in range(len(attrs)))
        lines.append("    return %s : %s" % (values, ", ".join(types_of)))
        lines.append("  }")
    head, body = text.split("{\n", 1) if "attributes" not in text.split("\n", 1)[0] else text.split("\n", 1)
    if not head.endswith("{"):
        head += "{"
    return head.rstrip() + "\n" + "\n".join(lines) + "\n" + body.rstrip() + "\n"


def write(name, cases):
    (DATA / (name + ".mlir")).write_text("\n// -----\n\n".join(cases))
    print(name, len(cases))


def element_wise():
    special = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 2.5, 0.3, 7.25])
    positive = np.abs(special)
    for function in [lax.abs, lax.neg, lax.sign, lax.floor, lax.ceil, lax.round, lax.is_finite, lax.tanh,
                     lax.exp, lax.expm1, lax.logistic, lax.cos, lax.sin, lax.cbrt]:
        for dtype in FLOATS:
            yield record(function, special.astype(dtype))
    for function in [lax.log, lax.log1p, lax.sqrt, lax.rsqrt]:
        for dtype in FLOATS:
            yield record(function, positive.astype(dtype))
    for dtype in FLOATS:
        yield record(lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), special.astype(dtype))
        yield record(lax.tan, np.array([0.1, 0.5, -1.0, 3.0], dtype))
    for dtype in SIGNED:
        yield record(lambda x: (lax.abs(x), -x, lax.sign(x), ~x, lax.population_count(x), lax.clz(x)),
                     np.array([0, 1, -1, 5, -7, 100, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype))
    for dtype in UNSIGNED:
        yield record(lambda x: (lax.sign(x), ~x, lax.population_count(x), lax.clz(x)),
                     np.array([0, 1, 5, 100, np.iinfo(dtype).max], dtype))
    a = [7, -7, 7, -7, 0, 9, -128, 3]
    b = [2, 2, -2, -2, 5, 0, -1, 40]
    for dtype in SIGNED:
        yield record(lambda a, b: (a + b, a - b, a * b, lax.div(a, b), lax.rem(a, b), lax.max(a, b), lax.min(a, b),
                                   a & b, a | b, a ^ b, lax.shift_left(a, b), lax.shift_right_arithmetic(a, b),
                                   lax.shift_right_logical(a, b), a < b, a <= b, a == b, a != b),
                     np.array(a, dtype), np.array(b, dtype))
    for dtype in UNSIGNED:
        yield record(lambda a, b: (a + b, a - b, a * b, lax.div(a, b), lax.rem(a, b), lax.max(a, b), lax.min(a, b),
                                   a & b, a | b, a ^ b, lax.shift_left(a, b), lax.shift_right_arithmetic(a, b),
                                   lax.shift_right_logical(a, b), a < b, a > b, a == b),
                     np.abs(np.array(a)).astype(dtype), np.abs(np.array(b)).astype(dtype))
    other = np.array([1.0, 2.0, np.nan, -3.0, 1.0, 5.0, 2.0, -2.5, 0.3, 2.0])
    for dtype in FLOATS + HALVES:
        yield record(lambda a, b: (a + b, a - b, a * b, lax.div(a, b), lax.rem(a, b), lax.max(a, b), lax.min(a, b),
                                   a < b, a <= b, a > b, a >= b, a == b, a != b),
                     special.astype(dtype), other.astype(dtype))
    for dtype in FLOATS:
        yield record(lax.pow, np.array([2.0, 3.0, 0.5, 9.0], dtype), np.array([3.0, -1.5, 2.0, 0.5], dtype))
        yield record(lax.atan2, special.astype(dtype), other.astype(dtype))
        yield record(lax.nextafter, special.astype(dtype), other.astype(dtype))
        yield record(lambda x: lax.clamp(np.asarray(-1, dtype), x, np.asarray(2, dtype)), special.astype(dtype))
        yield record(lambda x: lax.reduce_precision(x, 5, 10), special.astype(dtype) * 1.2345)
    yield record(lambda c, a, b: lax.select(c, a, b), numbers(np.bool_, 3, 4), numbers(np.float32, 3, 4),
                 numbers(np.float32, 3, 4))
    yield record(lambda a, b: (a & b, a | b, a ^ b, ~a), numbers(np.bool_, 8), numbers(np.bool_, 8))
    for source in [np.bool_, np.int8, np.uint16, np.int64, np.float32, np.float64]:
        for target in [np.bool_, np.int8, np.uint8, np.int32, np.uint64, np.float16, np.float32, np.float64]:
            values = np.abs(numbers(source, 6)) if np.dtype(target).kind == "u" and source != np.bool_ else numbers(source, 6)
            if source == np.bool_:
                values = numbers(source, 6)
            yield record(lambda x: x.astype(target), values)
    for function in [lax.erf, lax.erfc, lax.erf_inv, lax.lgamma, lax.digamma]:
        yield record(function, np.array([0.1, 0.5, -0.3, 0.9], np.float32), check="expect_almost_eq")
    yield record(lambda x: lax.bitcast_convert_type(x, np.int32), numbers(np.float32, 3, 2))
    yield record(lambda x: lax.bitcast_convert_type(x, np.int8), numbers(np.int32, 3))


def moves():
    for dtype in [np.float32, np.bool_, np.int8, np.uint16, np.float64]:
        x = numbers(dtype, 2, 3, 4)
        yield record(lambda x: (lax.reshape(x, (4, 6)), lax.transpose(x, (2, 0, 1)), lax.rev(x, (0, 2)),
                                lax.slice(x, (0, 1, 0), (2, 3, 4), (1, 1, 2)), lax.concatenate([x, x], 1),
                                lax.broadcast_in_dim(x, (5, 2, 3, 4), (1, 2, 3)),
                                lax.broadcast_in_dim(x[:1, :, :1], (2, 3, 4), (0, 1, 2))), x)
        pad = np.asarray(1, dtype)
        yield record(lambda x: (lax.pad(x, pad, ((1, 2, 0), (-1, 0, 2), (0, -2, 1))), x.reshape(-1)[:0]), x)
        yield record(lambda x, i: (lax.dynamic_slice(x, (i, i, i), (1, 2, 3)),
                                   lax.dynamic_update_slice(x, x[:1, :2], (i, i, i))), x, np.int32(1))
        yield record(lambda x, i: lax.dynamic_slice(x, (i, i, i), (1, 2, 3)), x, np.int32(-3))
        yield record(lambda x, i: lax.dynamic_slice(x, (i, i, i), (1, 2, 3)), x, np.int64(9))
    yield record(lambda: tuple(lax.broadcasted_iota(dtype, (2, 3), axis) for dtype in [np.int8, np.uint32, np.float32]
                               for axis in range(2)))
    yield record(lambda x: (x.reshape(()), x.reshape(1, 1)), numbers(np.float32, 1))


def reductions():
    for dtype in FLOATS + [np.int8, np.int32, np.uint16, np.uint64]:
        x = numbers(dtype, 2, 3, 4)
        zero, one = np.asarray(0, dtype), np.asarray(1, dtype)
        yield record(lambda x: (lax.reduce(x, zero, lax.add, (1,)), lax.reduce(x, one, lax.mul, (0, 2)),
                                lax.reduce(x, x[0, 0, 0], lax.max, (0, 1, 2)), lax.reduce(x, zero, lax.add, ())), x)
        yield record(lambda x: (jnp.argmax(x, 1), jnp.argmin(x, 2)), x)
        yield record(lambda x: lax.reduce_window(x, zero, lax.add, (1, 2, 3), (1, 1, 2), "SAME"), x)
        yield record(lambda x: lax.reduce_window(x, x[0, 0, 0], lax.max, (2, 2, 2), (1, 2, 1),
                                                 ((0, 0), (1, 1), (0, 2)), (1, 2, 1), (1, 1, 2)), x)
        yield record(lambda x: lax.cumsum(x, 1), x)
    for dtype in [np.bool_]:
        x = numbers(dtype, 3, 4)
        yield record(lambda x: (jnp.any(x, 0), jnp.all(x, 1), jnp.all(x)), x)
    x = numbers(np.float32, 3, 4)
    yield record(lambda x: lax.reduce((x, x), (np.float32(0), np.float32(1)),
                                      lambda a, b: (a[0] + b[0] * b[1], a[1] * 0.5 + b[1]), (1,)), x)
    yield record(jax.nn.softmax, x)
    yield record(jax.nn.logsumexp, x)
    yield record(lambda x: jnp.var(x, 1), x)
    for dtype in FLOATS + [np.int32]:
        x = numbers(dtype, 1, 6, 6, 2)
        pool = lambda x: lax.reduce_window(x, np.asarray(-100, dtype), lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "VALID")
        yield record(pool, x)
        if dtype != np.int32:
            largest = lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
            yield record(jax.grad(lambda x: (largest(x) ** 2).sum()), x)
    yield record(lambda x: jnp.mean(x, 0), numbers(np.float16, 4, 3), check="expect_almost_eq")


def places():
    """Gathers, scatters, sorting."""
    for dtype in FLOATS + [np.int8, np.int64, np.uint32, np.bool_]:
        x = numbers(dtype, 5, 4)
        index = np.array([[0], [3], [3], [4], [-1]], np.int32)
        take = lax.GatherDimensionNumbers((1,), (0,), (0,))
        yield record(lambda x, i: lax.gather(x, i, take, (1, 4), mode="clip"), x, index)
        yield record(lambda x, i: lax.gather(x, i, lax.GatherDimensionNumbers((0, 1), (), (0, 1)), (2, 3)), x,
                     np.array([1, 9], np.int64))
        if dtype == np.bool_:
            continue
        updates = numbers(dtype, 5, 4)
        numbers_of = lax.ScatterDimensionNumbers((1,), (0,), (0,))
        for function in [lax.scatter, lax.scatter_add, lax.scatter_mul, lax.scatter_min, lax.scatter_max]:
            yield record(lambda x, i, u: function(x, i, u, numbers_of), x, index, updates)
        window = lax.ScatterDimensionNumbers((0, 1), (), (0, 1))
        yield record(lambda x, i, u: lax.scatter_add(x, i, u, window), x, np.array([3, 2], np.int32), updates[:2, :2])
        yield record(lambda x: jnp.sort(x, 0), x)
        yield record(lambda x: (jnp.argsort(x, 1), lax.top_k(x, 2)), x)
    x = numbers(np.float32, 3, 5, 4)
    i = np.array([[1, 4], [0, 0], [2, 3]], np.int32)
    yield record(jax.vmap(lambda x, i: x[i]), x, i)
    yield record(jax.vmap(lambda x, i: x.at[i].add(1.5)), x, i)
    yield record(lambda x, i: x[:, i[0], i[1]], x, np.array([3, 2]))
    yield record(lambda x: x.at[jnp.array([0, 0, 2]), jnp.array([1, 1, 4])].multiply(2.0), x)
    yield record(lambda x: x.at[1, 2].apply(jnp.exp), x)
    yield record(lambda x, y: lax.sort((x, y), num_keys=1), np.array([3, 1, 2, 1], np.int32), numbers(np.float32, 4))
    yield record(lambda x: jnp.take_along_axis(x, jnp.argsort(x, 2), 2), x)
    yield record(jnp.sort, np.array([np.nan, -0.0, 0.0, np.inf, -np.inf, 1.0], np.float32))


def products():
    for dtype in FLOATS + [np.int32, np.uint8]:
        a, b = numbers(dtype, 2, 3, 4), numbers(dtype, 2, 4, 5)
        yield record(lambda a, b: lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))), a, b)
        yield record(lambda a, b: lax.dot_general(a, b, (((0, 2), (0, 1)), ((), ()))), a, b)
        yield record(lambda a, b: a[0] @ b[0], a, b)
        yield record(lambda a, b: a[0, 0] @ b[0], a, b)
    yield record(lambda a, b: lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,))), preferred_element_type=np.int32),
                 numbers(np.int8, 2, 3, 4), numbers(np.int8, 2, 4, 5))
    yield record(lambda a, b: jnp.einsum("bhqd,bkhd->bhqk", a, b), numbers(np.float32, 2, 3, 4, 5),
                 numbers(np.float32, 2, 6, 3, 5))
    for dtype in FLOATS:
        lower = np.tril(np.abs(numbers(dtype, 2, 3, 3))) + 2 * np.eye(3, dtype=dtype)
        # Processors have libraries for these, so that their programs call them.
        yield record(lambda a: lax.linalg.cholesky(a, symmetrize_input=False), lower @ lower.transpose(0, 2, 1),
                     check="expect_almost_eq", platform="tpu")
        for left in [True, False]:
            for transpose in [True, False]:
                for is_lower in [True, False]:
                    yield record(lambda a, b: lax.linalg.triangular_solve(
                        a if is_lower else a.transpose(0, 2, 1), b, left_side=left, lower=is_lower,
                        transpose_a=transpose, unit_diagonal=is_lower and left),
                        lower, numbers(dtype, 2, 3, 4) if left else numbers(dtype, 2, 4, 3), check="expect_almost_eq",
                        platform="tpu")
        x, w = numbers(dtype, 2, 5, 4, 4), numbers(dtype, 3, 2, 4, 2)
        dims = ("NHWC", "HWIO", "NHWC")
        conv = lambda **k: lambda x, w: lax.conv_general_dilated(x, w, k.pop("window_strides", (1, 1)), k.pop("padding", "SAME"),
                                                                 dimension_numbers=dims, **k)
        yield record(conv(), x, w)
        yield record(lambda x, w: lax.conv_general_dilated(x, w, (2, 1), "VALID", dimension_numbers=dims), x, w)
        yield record(lambda x, w: lax.conv_general_dilated(x, w, (1, 2), ((1, 0), (2, -1)), (2, 1), (1, 2),
                                                           dimension_numbers=dims), x, w)
        yield record(lambda x, w: lax.conv_general_dilated(x, w[:, :, :2], (1, 1), "SAME", dimension_numbers=dims,
                                                           feature_group_count=2), x, w)
        yield record(lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=dims,
                                                           batch_group_count=2), x, w)
        yield record(jax.grad(lambda w, x: (conv()(x, w) ** 2).sum()), w, x)
        yield record(lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=dims), x, w)
    yield record(lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME"), numbers(np.float32, 1, 2, 9),
                 numbers(np.float32, 3, 2, 3))
    yield record(lambda x, w: lax.conv_general_dilated(x, w, (1, 1, 1), "VALID"), numbers(np.float32, 1, 2, 3, 3, 2),
                 numbers(np.float32, 3, 2, 2, 2, 2))


def control():
    x = numbers(np.float32, 2, 3)
    yield record(lambda x: lax.fori_loop(0, 5, lambda i, v: v + i, x), x)
    yield record(lambda x: lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0] * 2, c[1] + 1), (x, 0)), x)
    yield record(lambda x: lax.scan(lambda c, v: (c + v, c * v), x[0], x), x)
    yield record(lambda x, p: lax.cond(p, lambda v: v + 1, lambda v: v - 1, x), x, np.bool_(True))
    for index in [-1, 0, 1, 2, 5]:
        yield record(lambda x, i: lax.switch(i, [lambda v: v + 1, lambda v: v - 1, lambda v: v * 2], x), x,
                     np.int32(index))
    yield record(lambda k: jax.random.bits(jax.random.wrap_key_data(k), (5,)), np.array([1, 2], np.uint32))
    yield record(lambda k: jax.random.normal(jax.random.wrap_key_data(k), (5,)), np.array([1, 2], np.uint32),
                 check="expect_almost_eq")

    for algorithm in [lax.RandomAlgorithm.RNG_DEFAULT, lax.RandomAlgorithm.RNG_THREE_FRY]:
        for dtype in [np.uint32, np.uint64]:
            yield record(lambda k: lax.rng_bit_generator(k, (3, 5), dtype=dtype, algorithm=algorithm),
                         np.array([1, 2, 3, 4], np.uint32))

    def network(x, w1, b1, w2):
        h = jax.nn.gelu(x @ w1 + b1)
        m = h.mean(-1, keepdims=True)
        h = (h - m) / jnp.sqrt(((h - m) ** 2).mean(-1, keepdims=True) + 1e-5)
        return jax.nn.softmax(h @ w2)

    yield record(network, numbers(np.float32, 4, 8), numbers(np.float32, 8, 16), numbers(np.float32, 16),
                 numbers(np.float32, 16, 3))


def complexes():
    """Complex numbers, Fourier transforms, narrow integers."""
    for dtype in [np.complex64, np.complex128]:
        a, b = numbers(dtype, 2, 3), numbers(dtype, 2, 3)
        almost = {"check": "expect_almost_eq"}
        yield record(lambda a, b: (a + b, a - b, a * b, a / b, -a, a == b, a != b), a, b, **almost)
        yield record(lambda a, b: (a ** b, lax.real(a), lax.imag(a), lax.conj(a), abs(a), jnp.isfinite(a)), a, b, **almost)
        yield record(lambda a: (lax.exp(a), lax.expm1(a), lax.log(a), lax.log1p(a), lax.sqrt(a), lax.rsqrt(a),
                                lax.sign(a), lax.sin(a), lax.cos(a), lax.tan(a), lax.tanh(a), lax.logistic(a)), a, **almost)
        yield record(lambda a: (lax.sinh(a), lax.cosh(a), lax.asin(a), lax.acos(a), lax.atan(a), lax.asinh(a),
                                lax.acosh(a), lax.atanh(a)), a, **almost)
        part = np.float32 if dtype == np.complex64 else np.float64
        yield record(lambda a, b: (lax.complex(a, b), a.astype(dtype)), numbers(part, 4), numbers(part, 4))
        yield record(lambda a: (a.T, a.reshape(-1)[1:5], jnp.concatenate([a, a]), jnp.pad(a, 1), a[::-1],
                                jnp.where(a.real > 0, a, -a), lax.broadcasted_iota(dtype, (3,), 0)), a)
        yield record(lambda a: (a.sum(0), a.prod(1), jnp.cumsum(a, 1), lax.reduce_window(
            a, dtype(0), lax.add, (1, 2), (1, 1), "SAME")), a, **almost)
        yield record(lambda a, b: (a @ b.T, lax.dot_general(a, b, (((0,), (0,)), ((), ()))), a @ b.real.T), a, b, **almost)
        yield record(lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME"), numbers(dtype, 1, 2, 5),
                     numbers(dtype, 3, 2, 3), **almost)
        yield record(lambda a, i: (a[i], a.at[i].add(2), a.at[i].multiply(1j)), a, np.array([1, 0, 1]), **almost)
        yield record(lambda a: jnp.sort(a, 1), a)
        lower = np.tril(numbers(dtype, 3, 3)) + 3 * np.eye(3, dtype=dtype)
        yield record(lambda a: jnp.tril(lax.linalg.cholesky(a, symmetrize_input=False)), lower @ lower.conj().T, **almost,
                     platform="tpu")
        for left in [True, False]:
            for transpose, conjugate in [(False, False), (True, False), (True, True)]:
                yield record(lambda a, b: lax.linalg.triangular_solve(
                    a, b, left_side=left, lower=True, transpose_a=transpose, conjugate_a=conjugate),
                    lower, numbers(dtype, 3, 3), **almost, platform="tpu")
        for shape, length in [((8,), (8,)), ((2, 6), (6,)), ((3, 5), (3, 5)), ((2, 2, 3, 4), (2, 3, 4))]:
            yield record(lambda a: (lax.fft(a, "FFT", length), lax.fft(a, "IFFT", length)), numbers(dtype, *shape), **almost)
            x = numbers(part, *shape)
            yield record(lambda x: lax.fft(lax.fft(x, "RFFT", length), "IRFFT", length), x, **almost)
            yield record(lambda x: lax.fft(x, "RFFT", length), x, **almost)
    for dtype in [jnp.int4, jnp.uint4]:
        a, b = numbers(dtype, 6), np.array([1, 2, 3, 1, 7, 2], dtype)
        yield record(lambda a, b: (a + b, a - b, a * b, lax.div(a, b), lax.max(a, b), a < b, ~a, a & b,
                                   a.astype(np.float32), a.astype(np.int8), lax.shift_left(a, b)), a, b)
        yield record(lambda a: (a.reshape(2, 3).T, a[::2], a.astype(np.int32).astype(dtype)), a)
    for dtype in FLOATS:
        yield record(lambda x: lax.bessel_i1e(x), np.array([0.0, -0.5, 3.0, 40.0], dtype), check="expect_almost_eq")
        yield record(lambda n, x: lax.polygamma(n, x), np.array([1, 2, 3], dtype), np.array([0.5, 1.5, 4], dtype),
                     check="expect_almost_eq")
        yield record(lambda x, q: lax.zeta(x, q), np.array([1.5, 2, 7], dtype), np.array([0.5, 3, 1], dtype),
                     check="expect_almost_eq")
        yield record(lambda x: lax.top_k(x, 4), np.array([np.inf, np.nan, -np.inf, 3, -0.0, 0.0], dtype))
    yield record(lambda x: lax.top_k(x, 2), numbers(np.bool_, 3, 4))
    yield record(lambda x: (lax.approx_max_k(x, 3), lax.approx_min_k(x, 2, reduction_dimension=0)), numbers(np.float32, 8, 16))


def dynamic():
    """Programs with symbolic shapes: `@main`, and functions `@inputsN` and `@expectedN` for some sizes."""
    def exported(function, shapes, dtypes, sizes):
        scope = jax.export.SymbolicScope()
        specs = [jax.ShapeDtypeStruct(jax.export.symbolic_shape(shape, scope=scope), dtype)
                 for shape, dtype in zip(shapes, dtypes)]
        text = jax.export.export(jax.jit(function))(*specs).mlir_module()
        # Locations have the paths of this machine.
        text = re.sub(r" loc\((?:[^()]|\([^()]*\))*\)", "", text)
        text = "\n".join(line for line in text.split("\n") if not line.startswith("#loc"))
        functions = []
        for number, size in enumerate(sizes):
            operands = [numbers(dtype, *(eval(part, {}, size) for part in shape.split(",") if part))
                        for shape, dtype in zip(shapes, dtypes)]
            results = [np.asarray(result) for result in jax.tree.leaves(jax.jit(function)(*operands))]
            for name, arrays in [("inputs", operands), ("expected", results)]:
                attrs = [constant(array) for array in arrays]
                types = ", ".join(attr.rsplit(" : ", 1)[1] for attr in attrs)
                lines = ["  func.func public @%s%d() -> (%s) {" % (name, number, types)]
                lines += ["    %%c%d = stablehlo.constant %s" % pair for pair in enumerate(attrs)]
                lines += ["    return %s : %s" % (", ".join("%%c%d" % at for at in range(len(attrs))), types), "  }"]
                functions.append("\n".join(lines))
        return text.rstrip().removesuffix("}") + "\n".join(functions) + "\n}\n"

    sizes = [{"b": 1, "n": 3}, {"b": 4, "n": 2}]
    f32 = np.float32
    yield exported(lambda x: x * 2 + 1, ["b,n"], [f32], sizes)
    yield exported(lambda x, y: jnp.sin(x) @ y, ["b,n", "n,3"], [f32, f32], sizes)
    yield exported(lambda x: (x.reshape(-1), jnp.concatenate([x, x], 0), x.T, x[:, None], x.mean(0)), ["b,n"], [f32], sizes)
    yield exported(lambda x: (jnp.arange(x.shape[0]), x.sum(1), jnp.argmax(x, 1), jnp.broadcast_to(x[0], x.shape)),
                   ["b,n"], [f32], sizes)
    yield exported(lambda x: (jnp.pad(x, ((1, 2), (0, x.shape[0]))), x[: x.shape[0] // 2], x[1 - 1 :: 2], jnp.sort(x, 1)),
                   ["b,n"], [f32], sizes)
    yield exported(lambda x: (jax.nn.softmax(x), jax.nn.standardize(x + 1)), ["b,n"], [f32], sizes)
    yield exported(lambda x: (x[jnp.array([-1, 0])], x.at[0].add(1)), ["b,n"], [f32], sizes)
    yield exported(lambda x: (jnp.cumsum(x, 0), jnp.cumsum(x, 1), lax.top_k(x, x.shape[1])), ["b,n"], [f32], sizes)
    yield exported(lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME"), ["b,2,n", "3,2,3"], [f32, f32], sizes)
    yield exported(lambda x: lax.fori_loop(0, x.shape[0], lambda i, c: c + x[i], jnp.zeros(x.shape[1:], x.dtype)),
                   ["b,n"], [f32], sizes)
    yield exported(lambda x: lax.bitcast_convert_type(x, np.int16), ["b,n"], [f32], sizes)


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for family in [element_wise, moves, reductions, places, products, control]:
        write(family.__name__, list(family()))
    for family in [complexes, dynamic]:
        random = np.random.default_rng(8)
        write(family.__name__, list(family()))
