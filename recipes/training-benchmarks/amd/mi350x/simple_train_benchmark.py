"""A training loop on three linear layers: 4096 to 8192 to 8192 to 4096 with ReLU between, 134 million parameters.

    simple_train_benchmark.py                   100 iterations at a batch of 256, after a warm-up

Each iteration is a forward pass, the mean squared error to a fixed target, a backward pass and a step of SGD, in FP32.
Neither type nor optimizer was published. The published 2.06 ms a step are 100 TFLOPS by 6 x parameters x samples, which
is below what an MI350X does in FP32 and a small part of what it does in FP16: hence FP32 and the plainest optimizer.

Written for retrial: the script behind the published figures was never published.
"""

import argparse
import csv
import math
import os
import sys
import time

import torch
from torch import nn

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
OPTIMIZERS = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}
WIDTHS = {"full": (4096, 8192), "small": (64, 128)}


def synchronize(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", help="cuda (ROCm's GPUs, too), cuda:1, cpu")
    parser.add_argument("--size", choices=WIDTHS, default="full")
    parser.add_argument("--dtype", choices=DTYPES, default="fp32")
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="sgd")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--out", help="a directory for figures.csv")
    arguments = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device(arguments.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        return f"PyTorch {torch.__version__} sees no GPU here; --device cpu --size small tries the script without one"
    outer, inner = WIDTHS[arguments.size]
    model = nn.Sequential(
        nn.Linear(outer, inner), nn.ReLU(), nn.Linear(inner, inner), nn.ReLU(), nn.Linear(inner, outer)
    ).to(device, DTYPES[arguments.dtype])
    optimizer = OPTIMIZERS[arguments.optimizer](model.parameters(), lr=1e-3)
    inputs = torch.randn(arguments.batch_size, outer, device=device).to(DTYPES[arguments.dtype])
    targets = torch.randn(arguments.batch_size, outer, device=device).to(DTYPES[arguments.dtype])
    parameters = sum(parameter.numel() for parameter in model.parameters())
    print(f"{parameters / 1e6:.1f} M parameters, {arguments.dtype}, {arguments.optimizer}, PyTorch {torch.__version__}", flush=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss

    first = step().item()
    for _ in range(arguments.warmup):
        step()
    synchronize(device)
    begun = time.perf_counter()
    for _ in range(arguments.iterations):
        loss = step()
    synchronize(device)
    seconds = time.perf_counter() - begun
    last = loss.item()
    if not (math.isfinite(last) and last < first):
        return f"the loss does not fall: {first} at first, {last} in the end"

    row = {
        "parameters_m": parameters / 1e6,
        "total_seconds": seconds,
        "samples_per_second": arguments.iterations * arguments.batch_size / seconds,
        "ms_per_step": seconds * 1000 / arguments.iterations,
    }
    print(f"loss: {first:.4f} at first, {last:.4f} in the end")
    print(f"parameters: {row['parameters_m']:.6g} M")
    print(f"total time: {seconds:.4f} s")
    print(f"throughput: {row['samples_per_second']:.1f} samples/s")
    print(f"time per step: {row['ms_per_step']:.4f} ms")
    if arguments.out:
        os.makedirs(arguments.out, exist_ok=True)
        with open(os.path.join(arguments.out, "figures.csv"), "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(row))
            writer.writeheader()
            writer.writerow(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
