"""Training of GPT-style transformers of eight sizes, on one GPU or, under torchrun, data-parallel on several.

    transformer_benchmark.py --model 7b            none: small
    transformer_benchmark.py --full                all sizes, one after the other
    torchrun --standalone --nproc_per_node 8 transformer_benchmark.py --model 7b
    transformer_benchmark.py --list                the sizes and their parameters

TFLOPS are 6 x parameters x tokens / second / 10^12, all parameters counted once. That formula gives every published
figure to its last digit, with the published parameters for these models: GPT-2's vocabulary of 50,257, token embedding
and output layer tied, a learned position for each place of the sequence, no biases in the linear layers, two matrices
in the feed-forward network. So they were built here.

The published memory tells the rest. Weights, gradients and Adam's moments are BF16, as there is no room for FP32 copies.
The attention keeps its scores (--attention sdpa: not). One GPU's figures have dropout: 7 B takes 80 GB without and 108 GB
with it, on the scores and on both branches of a block; published are 107.9. Eight GPUs' have none: 90.6 GB, published 92.

Written for retrial: the script behind the published figures was never published.
"""

import argparse
import contextlib
import csv
import math
import os
import sys
import time
from collections import namedtuple

import torch
import torch.distributed as distributed
import torch.nn.functional as functional
from torch import nn

VOCABULARY = 50257
Model = namedtuple("Model", "layers heads width hidden batch sequence")
MODELS = {
    "small": Model(6, 6, 384, 1536, 32, 512),
    "medium": Model(12, 12, 768, 3072, 16, 512),
    "large": Model(24, 16, 1024, 4096, 8, 512),
    "xl": Model(36, 20, 1280, 5120, 4, 512),
    "1.5b": Model(48, 24, 1536, 6144, 4, 512),
    "3b": Model(32, 32, 2560, 10240, 2, 512),
    "7b": Model(32, 32, 4096, 11008, 8, 1024),
    "13b": Model(40, 40, 5120, 13824, 4, 1024),
}
# After fewer, dropout changes the loss more than the training.
STEPS_TO_LEARN = 6
DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}


def shrunk(model):
    """The same shape of a model in little, for a CPU: a sixteenth of the width, two layers, short sequences."""
    head = max(4, model.width // model.heads // 16)
    width = head * model.heads
    return Model(2, model.heads, width, width * model.hidden // model.width, 2, 32)


def parameters_of(model, vocabulary):
    """Embeddings, per layer four matrices of attention and two of the feed-forward network, layer norms."""
    attention, feed_forward = 4 * model.width**2, 2 * model.width * model.hidden
    norms = (2 * model.layers + 1) * 2 * model.width
    return (vocabulary + model.sequence) * model.width + model.layers * (attention + feed_forward) + norms


class Attention(nn.Module):
    def __init__(self, model, arguments):
        super().__init__()
        self.heads, self.how, self.dropout = model.heads, arguments.attention, arguments.dropout
        self.input = nn.Linear(model.width, 3 * model.width, bias=False)
        self.output = nn.Linear(model.width, model.width, bias=False)
        # No buffer: DDP would send it to every process, which gloo cannot do with booleans.
        self.future = torch.ones(model.sequence, model.sequence, dtype=torch.bool).triu(1)

    def forward(self, x):
        batch, sequence, width = x.shape
        # Three of batch x heads x sequence x head width.
        query, key, value = self.input(x).view(batch, sequence, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        dropout = self.dropout if self.training else 0.0
        if self.how == "sdpa":
            mixed = functional.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True)
        else:
            scores = query @ key.transpose(-2, -1) * (width // self.heads) ** -0.5
            scores = scores.masked_fill(self.future[:sequence, :sequence], float("-inf"))
            mixed = functional.dropout(scores.softmax(-1), dropout) @ value
        return self.output(mixed.transpose(1, 2).reshape(batch, sequence, width))


class Block(nn.Module):
    def __init__(self, model, arguments):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(model.width), Attention(model, arguments)
        self.norm2, self.dropout = nn.LayerNorm(model.width), nn.Dropout(arguments.dropout)
        self.feed_forward = nn.Sequential(
            nn.Linear(model.width, model.hidden, bias=False), nn.GELU(), nn.Linear(model.hidden, model.width, bias=False)
        )

    def forward(self, x):
        x = x + self.dropout(self.attention(self.norm1(x)))
        return x + self.dropout(self.feed_forward(self.norm2(x)))


class Transformer(nn.Module):
    def __init__(self, model, vocabulary, arguments):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, model.width), nn.Embedding(model.sequence, model.width)
        self.blocks = nn.Sequential(*(Block(model, arguments) for _ in range(model.layers)))
        self.norm, self.dropout = nn.LayerNorm(model.width), nn.Dropout(arguments.dropout)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens, targets):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.norm(self.blocks(self.dropout(self.tokens(tokens) + self.places(places))))
        logits = functional.linear(x, self.tokens.weight)  # tied: the embedding is the output layer
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


class Processes:
    """The processes that train together: one a GPU under torchrun, else just this one."""

    def __init__(self, device):
        self.count, self.rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
        local = int(os.environ.get("LOCAL_RANK", "0"))
        gpu = device.startswith("cuda")
        if gpu and not torch.cuda.is_available():
            sys.exit(f"PyTorch {torch.__version__} sees no GPU here; --device cpu --size small tries the script without one")
        # A device without an index is refused by set_device: `cuda` is the process's own GPU.
        self.device = torch.device("cuda", local) if device == "cuda" else torch.device(device)
        if gpu:
            torch.cuda.set_device(self.device)
        # One process of torchrun's is no group: it is the baseline of the scaling, and sends nothing.
        self.together = self.count > 1
        if self.together:
            distributed.init_process_group("nccl" if gpu else "gloo")

    def synchronize(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        if self.together:
            distributed.barrier()

    def largest(self, value):
        """Of all processes: the slowest one's time, the fullest one's memory."""
        if not self.together:
            return value
        value = torch.tensor(value, dtype=torch.float64, device=self.device)
        distributed.all_reduce(value, op=distributed.ReduceOp.MAX)
        return value.item()


def train(arguments, processes):
    model = MODELS[arguments.model]
    vocabulary = VOCABULARY
    if arguments.size == "small":
        model, vocabulary = shrunk(model), 1024
    model = model._replace(batch=arguments.batch_size or model.batch, sequence=arguments.sequence or model.sequence)
    device, kind = processes.device, DTYPES[arguments.dtype]
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(0)  # the same weights in every process
        torch.set_default_dtype(kind)
        # Made where it is used: ten billion weights drawn on the host would take minutes.
        with torch.device(device) if device.type == "cuda" else contextlib.nullcontext():
            network = Transformer(model, vocabulary, arguments)
        torch.set_default_dtype(torch.float32)
    count = sum(parameter.numel() for parameter in network.parameters())
    if count != parameters_of(model, vocabulary):
        raise AssertionError(f"{count} parameters in place of {parameters_of(model, vocabulary)}")
    torch.manual_seed(1 + processes.rank)  # other tokens in every process
    if processes.together:
        network = nn.parallel.DistributedDataParallel(
            network, device_ids=[device] if device.type == "cuda" else None, gradient_as_bucket_view=True
        )
    optimizer = torch.optim.AdamW(network.parameters(), lr=arguments.learning_rate)
    tokens = torch.randint(vocabulary, (model.batch, model.sequence + 1), device=device)
    inputs, targets = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    if processes.rank == 0:
        print(f"{arguments.model}: {model}, {count / 1e6:.2f} M parameters, {arguments.dtype}, {processes.count} x "
              f"{torch.cuda.get_device_name(device) if device.type == 'cuda' else 'CPU'}, PyTorch {torch.__version__}", flush=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = network(inputs, targets)
        loss.backward()
        optimizer.step()
        return loss.detach()

    first = step().item()
    for _ in range(arguments.warmup):
        step()
    processes.synchronize()
    begun = time.perf_counter()
    for _ in range(arguments.steps):
        loss = step()
    processes.synchronize()
    seconds = processes.largest(time.perf_counter() - begun)
    last = loss.item()
    learned = last < first or arguments.warmup + arguments.steps < STEPS_TO_LEARN
    if not (math.isfinite(last) and learned):
        sys.exit(f"the loss does not fall: {first:.4f} at first, {last:.4f} after {arguments.warmup + arguments.steps} steps")

    speed = arguments.steps * processes.count * model.batch * model.sequence / seconds
    peak = torch.cuda.max_memory_allocated(device) / 1e9 if device.type == "cuda" else math.nan
    return {
        "model": arguments.model,
        "gpus": processes.count,
        "parameters_m": count / 1e6,
        "global_batch": processes.count * model.batch,
        "tokens_per_second": speed,
        "tflops": 6 * count * speed / 1e12,
        "tflops_per_gpu": 6 * count * speed / 1e12 / processes.count,
        "memory_gb": processes.largest(peak),
        "ms_per_step": seconds * 1000 / arguments.steps,
        "first_loss": first,
        "last_loss": last,
    }


def tell(row):
    print(f"loss: {row['first_loss']:.4f} at first, {row['last_loss']:.4f} in the end")
    print(f"parameters: {row['parameters_m']:.6g} M")
    print(f"tokens per second: {row['tokens_per_second']:.1f}")
    print(f"TFLOPS: {row['tflops']:.5g} in all, {row['tflops_per_gpu']:.5g} a GPU")
    if not math.isnan(row["memory_gb"]):
        print(f"memory: {row['memory_gb']:.2f} GB a GPU at most")
    print(f"time per step: {row['ms_per_step']:.3f} ms", flush=True)


def keep(rows, directory):
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "figures.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, default="small")
    parser.add_argument("--full", action="store_true", help="all sizes, one after the other")
    parser.add_argument("--list", action="store_true", help="print the sizes with their parameters, and end")
    parser.add_argument("--device", default="cuda", help="cuda (ROCm's GPUs, too), cuda:1, cpu")
    parser.add_argument("--size", choices=("full", "small"), default="full", help="small: the model in little")
    parser.add_argument("--dtype", choices=DTYPES, default="bf16")
    parser.add_argument("--attention", choices=("explicit", "sdpa"), default="explicit")
    parser.add_argument("--dropout", type=float, default=0.1, help="of embeddings, scores and branches")
    parser.add_argument("--batch-size", type=int, help="sequences a GPU; none: as published")
    parser.add_argument("--sequence", type=int, help="tokens; none: as published")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    parser.add_argument("--out", help="a directory for figures.csv")
    arguments = parser.parse_args()
    if arguments.list:
        for name, model in MODELS.items():
            print(f"{name:<7} {parameters_of(model, VOCABULARY) / 1e6:9.2f} M parameters  {model}")
        return

    processes = Processes(arguments.device)
    rows = []
    for arguments.model in MODELS if arguments.full else [arguments.model]:
        if processes.device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(processes.device)
        rows.append(train(arguments, processes))
        if processes.rank == 0:
            tell(rows[-1])
    if processes.rank == 0 and arguments.out:
        keep(rows, arguments.out)
    if processes.together:
        distributed.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
