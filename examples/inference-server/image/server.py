"""An inference server: ONNX Runtime behind HTTP.

GET /health answers once the model is loaded; POST /predict takes one image (64 floats) and answers with its digit.
"""

import argparse
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import onnxruntime


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    session.run(None, {"images": np.zeros((1, 64), np.float32)})  # the first run allocates
    return session


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open
    wbufsize = -1  # an answer is one packet

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def answer(self, status, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def do_GET(self):
        known = self.path == "/health"
        self.answer(200 if known else 404, "ok\n" if known else "no such page\n")

    def do_POST(self):
        image = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != "/predict" or len(image) != 256:
            return self.answer(400, "POST 64 floats to /predict\n")
        image = np.frombuffer(image, np.float32).reshape(1, 64)
        self.answer(200, f"{self.server.session.run(None, {'images': image})[0][0]}\n")

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--port", type=int, required=True)
    arguments = parser.parse_args()
    ThreadingHTTPServer.request_queue_size = 128
    session = session_of(arguments.model)
    server = ThreadingHTTPServer(("", arguments.port), Handler)
    server.daemon_threads = True
    server.session = session
    print(f"serving {arguments.model} on port {arguments.port}, ONNX Runtime {onnxruntime.__version__}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
