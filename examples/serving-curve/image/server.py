"""llama.cpp's own HTTP server, as the package xllamacpp ships it: streams, batches continuously, has OpenAI's API."""

import argparse
import os
import threading

import xllamacpp


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="a GGUF file")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--threads", type=int, default=0, help="0: one for each core")
    parser.add_argument("--slots", type=int, required=True, help="requests at the same time")
    parser.add_argument("--context", type=int, default=512, help="tokens of one request, prompt and answer")
    arguments = parser.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = arguments.model
    params.model_alias = {"random-llama"}
    params.hostnames, params.port = ["127.0.0.1"], arguments.port
    params.n_parallel, params.n_ctx = arguments.slots, arguments.slots * arguments.context
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = arguments.threads or len(os.sched_getaffinity(0))
    server = xllamacpp.Server(params)
    print(f"listening on {server.listening_address}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
