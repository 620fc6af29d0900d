"""Matrix products: how many floating-point operations a second the GPU's libraries reach.

    gemm_benchmark.py                              all of these, each in the types of its published table
    gemm_benchmark.py semianalysis --dtype bf16    seven shapes of Llama 70B's training, median of 200, L2 flushed in between
    gemm_benchmark.py libraries                    torch.matmul against F.linear, timed the same way
    gemm_benchmark.py square                       20 products in a row, as one time

TFLOPS are 2 m n k / t / 10^12. Shapes are m x k x n, as SemiAnalysis writes them: activations of m rows and k columns,
weights that make n of k. Inputs are normal with mean 0 and variance 1: what is in the matrices decides how much power
a GPU draws, and so its clock.

Written for retrial: the script behind the published figures was never published.
"""

import argparse
import csv
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as functional

DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
SHAPES = [
    (8192, 8192, 8192, "Standard Square (8K)"),
    (16384, 8192, 7168, "FFN GEMM 1"),
    (16384, 16384, 16384, "Large Square (16K)"),
    (16384, 1024, 8192, "Attention Output"),
    (16384, 3584, 8192, "FFN GEMM 2"),
    (4096, 4096, 4096, "Standard Square (4K)"),
    (16384, 8192, 1280, "Fused QKV Projection"),
]
COMPARED = [SHAPES[0], SHAPES[6], SHAPES[5]]
SQUARES = [(size, size, size, f"Square {size}") for size in (4096, 8192, 16384)]
# A small shape is the shape at a 64th of its sides, so that a CPU computes it in no time.
SMALL = 64
# triton.testing.do_bench writes this many bytes between two repetitions: as much as the largest cache holds.
FLUSH_BYTES = 256 * 2**20


class Clock:
    """Times single calls: by events on a GPU, where the host runs ahead, and by the wall elsewhere."""

    def __init__(self, device, flush):
        self.gpu = device.type == "cuda"
        size = FLUSH_BYTES if self.gpu else FLUSH_BYTES // 64
        self.cache = torch.empty(size // 4, dtype=torch.int32, device=device) if flush else None

    def milliseconds(self, call, repetitions):
        """Each repetition's time. The events are read at the end, so that the GPU never waits for the host."""
        times = []
        events = []
        for _ in range(repetitions):
            if self.cache is not None:
                self.cache.zero_()
            if self.gpu:
                start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                start.record()
                call()
                end.record()
                events.append((start, end))
            else:
                begun = time.perf_counter()
                call()
                times.append((time.perf_counter() - begun) * 1000)
        if self.gpu:
            torch.cuda.synchronize()
            times = [start.elapsed_time(end) for start, end in events]
        return times


def counts(clock, call, arguments):
    """How many warm-up calls and repetitions: as given, or as many as fit into so many milliseconds."""
    if arguments.budget == "count":
        return arguments.warmup, arguments.repetitions
    estimate = statistics.mean(clock.milliseconds(call, 5))
    return tuple(max(1, int(budget / estimate)) for budget in (arguments.warmup, arguments.repetitions))


def median(call, arguments):
    """Median milliseconds of a call, after a warm-up, with the cache flushed before each."""
    clock = Clock(arguments.device, flush=True)
    call()
    warmup, repetitions = counts(clock, call, arguments)
    clock.milliseconds(call, warmup)
    return statistics.median(clock.milliseconds(call, repetitions))


def normal(arguments, *shape):
    """Drawn in FP32, as not every device draws in every type."""
    return torch.randn(*shape, device=arguments.device).to(arguments.type)


def tflops(shape, milliseconds):
    return 2 * shape[0] * shape[1] * shape[2] / milliseconds / 1e9


def small(shape):
    return tuple(side // SMALL for side in shape[:3])


def shapes(arguments, table):
    """Each shape's published name, what is computed, and its description."""
    for *sides, description in table:
        sides = tuple(sides)
        yield "x".join(map(str, sides)), small(sides) if arguments.size == "small" else sides, description


def semianalysis(arguments):
    rows = []
    for name, shape, description in shapes(arguments, SHAPES):
        m, k, n = shape
        a, b = normal(arguments, m, k), normal(arguments, k, n)
        took = median(lambda: torch.matmul(a, b), arguments)
        rows.append({"shape": name, "description": description, "ms": took, "tflops": tflops(shape, took)})
        print(f"{name:<19} {description:<21} {took:9.4f} ms {rows[-1]['tflops']:9.5g} TFLOPS", flush=True)
    all_of_them = [row["tflops"] for row in rows]
    print(f"average: {statistics.mean(all_of_them):.5g} TFLOPS")
    print(f"peak: {max(all_of_them):.5g} TFLOPS")
    return rows


def libraries(arguments):
    rows = []
    for name, shape, description in shapes(arguments, COMPARED):
        m, k, n = shape
        a, b, weight = normal(arguments, m, k), normal(arguments, k, n), normal(arguments, n, k)
        by_matmul = tflops(shape, median(lambda: torch.matmul(a, b), arguments))
        by_linear = tflops(shape, median(lambda: functional.linear(a, weight), arguments))
        difference = (by_matmul / by_linear - 1) * 100
        rows.append({"shape": name, "description": description, "matmul": by_matmul, "linear": by_linear, "difference": difference})
        print(f"{name:<19} matmul {by_matmul:9.5g} TFLOPS, F.linear {by_linear:9.5g} TFLOPS, {difference:+.1f} %", flush=True)
    return rows


def square(arguments):
    """All products in one time, without a flush, as the first table's 'Time (20 iter)' has it."""
    rows = []
    for name, shape, _ in shapes(arguments, SQUARES):
        m, k, n = shape
        a, b = normal(arguments, m, k), normal(arguments, k, n)

        def products():
            for _ in range(arguments.iterations):
                torch.matmul(a, b)

        products()
        seconds = Clock(arguments.device, flush=False).milliseconds(products, 1)[0] / 1000
        reached = tflops(shape, seconds * 1000 / arguments.iterations)
        efficiency = reached / arguments.peak * 100
        rows.append({"shape": name, "seconds": seconds, "tflops": reached, "efficiency": efficiency})
        print(
            f"{name:<19} {arguments.iterations} products {seconds:9.5f} s {reached:9.5g} TFLOPS,"
            f" {efficiency:.1f} % of {arguments.peak:g}",
            flush=True,
        )
    print(f"peak: {max(row['tflops'] for row in rows):.5g} TFLOPS")
    return rows


def usable(arguments):
    """Some builds of PyTorch have no FP16 product on the CPU: FP32 in its place, and said."""
    probe = torch.ones(2, 2, device=arguments.device, dtype=DTYPES[arguments.dtype])
    try:
        torch.matmul(probe, probe)
    except RuntimeError as error:
        if arguments.device.type != "cpu":
            raise
        print(f"note: no {arguments.dtype} product on this CPU ({error}): fp32 in its place")
        arguments.dtype = "fp32"


# The published tables, in the document's order: how they are measured, and in which type.
TABLES = {"square": (square, ("fp16",)), "semianalysis": (semianalysis, ("fp16", "bf16")), "libraries": (libraries, ("fp16",))}


# PyTorch's names of its BLAS back ends, as ROCm's libraries are called.
ROCM_LIBRARIES = {"Cublas": "rocBLAS", "Cublaslt": "hipBLASLt", "Ck": "Composable Kernel"}


def blas_library(arguments):
    """The library that PyTorch prefers for products on the GPU: matmul and F.linear both use it."""
    preferred = getattr(torch.backends.cuda, "preferred_blas_library", None)
    if arguments.device.type != "cuda" or preferred is None:
        return ""
    name = preferred().name
    if torch.version.hip:
        name = ROCM_LIBRARIES.get(name, name)
    return f", preferred BLAS library {name}"


def table(what, dtype, arguments):
    arguments.dtype = dtype
    usable(arguments)
    arguments.type = DTYPES[arguments.dtype]
    name = torch.cuda.get_device_name(arguments.device) if arguments.device.type == "cuda" else "CPU"
    print(f"{what}, {arguments.dtype}, {arguments.size} sizes, {name}, PyTorch {torch.__version__}{blas_library(arguments)}", flush=True)
    return [{"table": what, "dtype": arguments.dtype, **row} for row in TABLES[what][0](arguments)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=TABLES, help="one table; none: all of them")
    parser.add_argument("--dtype", choices=DTYPES, help="none: those of the published tables")
    parser.add_argument("--device", default="cuda", help="cuda (ROCm's GPUs, too), cuda:1, cpu")
    parser.add_argument("--size", choices=("full", "small"), default="full", help="small: a 64th of every side")
    parser.add_argument("--warmup", type=int, default=30)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument(
        "--budget",
        choices=("count", "milliseconds"),
        default="count",
        help="what warm-up and repetitions count: calls, or milliseconds as triton.testing.do_bench takes them",
    )
    parser.add_argument("--iterations", type=int, default=20, help="of square")
    parser.add_argument(
        "--peak",
        type=float,
        default=1307.4,
        help="TFLOPS that square's efficiency is a share of: MI300X's datasheet, which gives the published shares",
    )
    parser.add_argument("--out", help="a directory for figures.csv")
    arguments = parser.parse_args()

    torch.manual_seed(0)
    arguments.device = torch.device(arguments.device)
    if arguments.device.type == "cuda" and not torch.cuda.is_available():
        return f"PyTorch {torch.__version__} sees no GPU here; --device cpu --size small tries the script without one"
    if arguments.device.index is not None:
        torch.cuda.set_device(arguments.device)  # events belong to the current device; plain `cuda` is that
    asked = arguments.dtype
    rows = []
    for what, (_, dtypes) in TABLES.items():
        if arguments.what in (None, what):
            for dtype in (asked,) if asked else dtypes:
                rows += table(what, dtype, arguments)
    if arguments.out:
        os.makedirs(arguments.out, exist_ok=True)
        with open(os.path.join(arguments.out, "figures.csv"), "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(dict.fromkeys(key for row in rows for key in row)))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
