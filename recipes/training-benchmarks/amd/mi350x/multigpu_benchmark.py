"""Data-parallel training on several GPUs of one machine: transformer_benchmark.py under torchrun, and how it scales.

    multigpu_benchmark.py --model 7b --gpus 8 --batch-size 8
    multigpu_benchmark.py --model 7b --scaling-test     on 1, 2, 4 and 8 GPUs, one after the other

Scaling efficiency is tokens/s on n GPUs over n times tokens/s on one.

Written for retrial: the script behind the published figures was never published.
"""

import argparse
import csv
import os
import socket
import subprocess
import sys
import tempfile

TRANSFORMER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "transformer_benchmark.py")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def measure(gpus, arguments, rest):
    """One row of transformer_benchmark.py's figures.csv."""
    with tempfile.TemporaryDirectory() as directory:
        # torchrun. By --standalone it would meet under this machine's name, which may have no address; and it looks only
        # every five seconds whether its processes have ended, unless it is told otherwise.
        command = [sys.executable, "-m", "torch.distributed.run", "--nnodes=1", "--master_addr=127.0.0.1"]
        command += [f"--master_port={free_port()}", "--monitor_interval=0.1", f"--nproc_per_node={gpus}"]
        command += [TRANSFORMER, "--model", arguments.model]
        command += ["--batch-size", str(arguments.batch_size), "--dropout", str(arguments.dropout), "--out", directory, *rest]
        ended = subprocess.run(command, check=False).returncode
        if ended:
            sys.exit(f"transformer_benchmark.py on {gpus} GPUs ended with exit code {ended}")
        with open(os.path.join(directory, "figures.csv"), newline="", encoding="utf-8") as file:
            return next(csv.DictReader(file))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="Other options go to transformer_benchmark.py.", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="7b")
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=8, help="sequences a GPU")
    parser.add_argument("--dropout", type=float, default=0.0, help="none unless stated: the published memory has no room for it")
    parser.add_argument("--scaling-test", action="store_true", help="on --counts GPUs each, in place of --gpus")
    parser.add_argument("--counts", default="1,2,4,8", help="GPUs of the scaling test; the first is the baseline")
    parser.add_argument("--out", help="a directory for figures.csv")
    arguments, rest = parser.parse_known_args()

    counts = [int(count) for count in arguments.counts.split(",")] if arguments.scaling_test else [arguments.gpus]
    rows = []
    for gpus in counts:
        row = measure(gpus, arguments, rest)
        if arguments.scaling_test:
            base = rows[0] if rows else row
            per_gpu = float(base["tokens_per_second"]) / int(base["gpus"])
            row["efficiency"] = float(row["tokens_per_second"]) / gpus / per_gpu * 100
            print(f"{gpus} GPUs: {float(row['tokens_per_second']):.1f} tokens/s, {float(row['tflops']):.5g} TFLOPS, "
                  f"scaling efficiency {row['efficiency']:.1f} %", flush=True)
        rows.append(row)
    if arguments.out:
        os.makedirs(arguments.out, exist_ok=True)
        with open(os.path.join(arguments.out, "figures.csv"), "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
