"""Times calls of single ops beside those of other eager runtimes, in one run.

    cargo build --release -p tfrt-benches
    python3 -m venv venv && venv/bin/pip install torch jax numpy
    venv/bin/python tests/benches/peers.py target/release/tfrt-benches

Each runtime calls the op of a case again and again on one thread, and drops the results; a peer
that is not installed is left out. The numbers are nanoseconds of processor time a call, the least of
several rounds. Rounds of all runtimes alternate, so that a busy machine slows down all of them. Of
ours, what a process takes to start is subtracted: it is timed with few calls and with many.
"""

import os
import resource
import subprocess
import sys
import time

NUM_ROUNDS = 7
NUM_CALLS = 20_000
FEW_CALLS = 1_000


def ours(binary, case):
    """The time of a call, from two processes."""

    def process(num_calls):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([binary, "op", case, str(num_calls)], check=True)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    many = 50 * NUM_CALLS
    return lambda: (process(many) - process(FEW_CALLS)) / (many - FEW_CALLS)


def peer(call):
    """The time of a call in this process."""

    def measure():
        start = time.process_time()
        for _ in range(NUM_CALLS):
            call()
        return (time.process_time() - start) / NUM_CALLS

    return measure


def torch_cases():
    import torch

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    vector, scalar = torch.tensor([-1.0]), torch.tensor(2.0)
    matrix = torch.full((4, 4), 0.5)
    return {
        "eager/relu": lambda: torch.relu(vector),
        "eager/add": lambda: torch.add(vector, scalar),
        "eager/matmul": lambda: torch.matmul(matrix, matrix),
        "eager/by_name": lambda: getattr(torch.ops.aten, "matmul")(matrix, matrix),
    }


def jax_cases():
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax
    import jax.numpy as jnp

    vector, scalar = jnp.array([-1.0]), jnp.array(2.0)
    matrix = jnp.full((4, 4), 0.5)
    return {
        "eager/relu": lambda: jax.nn.relu(vector),
        "eager/add": lambda: jnp.add(vector, scalar),
        "eager/matmul": lambda: jnp.matmul(matrix, matrix),
        "eager/by_name": lambda: getattr(jnp, "matmul")(matrix, matrix),
    }


def numpy_cases():
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import numpy

    vector, scalar = numpy.array([-1.0], numpy.float32), numpy.float32(2.0)
    matrix, zero = numpy.full((4, 4), 0.5, numpy.float32), numpy.float32(0.0)
    return {
        "eager/relu": lambda: numpy.maximum(vector, zero),
        "eager/add": lambda: numpy.add(vector, scalar),
        "eager/matmul": lambda: numpy.matmul(matrix, matrix),
        "eager/by_name": lambda: getattr(numpy, "matmul")(matrix, matrix),
    }


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    binary = sys.argv[1]
    peers = {}
    for name, cases in [("torch", torch_cases), ("jax", jax_cases), ("numpy", numpy_cases)]:
        try:
            peers[name] = cases()
        except ImportError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    print(f"{'case':<16}{'ours':>9}" + "".join(f"{name:>9}  ratio" for name in peers))
    for case in ["eager/relu", "eager/add", "eager/matmul", "eager/by_name"]:
        forms = [ours(binary, case)] + [peer(cases[case]) for cases in peers.values()]
        rounds = [[measure() for measure in forms] for _ in range(NUM_ROUNDS)]
        best, *others = (1e9 * min(times) for times in zip(*rounds))
        columns = "".join(f"{other:>9.0f}{other / best:>7.1f}" for other in others)
        print(f"{case:<16}{best:>9.0f}{columns}", flush=True)


if __name__ == "__main__":
    main()
