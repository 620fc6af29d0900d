# ONNX Runtime with CUDA and TensorRT, and MLPerf's reference implementation.
# Built on Debian 12 instead of NVIDIA's base image, up to TensorRT, whose libraries are only on NVIDIA's own package index.
# NVIDIA's base image and TensorRT are untried.
ARG BASE
FROM ${BASE}

RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      build-essential ca-certificates cmake curl git make python3 python3-dev python3-venv \
 && rm -rf /var/lib/apt/lists/*

# An environment of its own, since pip cannot replace Ubuntu's packages: they have no list of their files (RECORD).
RUN python3 -m venv /opt/python
ENV PATH=/opt/python/bin:${PATH} PIP_NO_CACHE_DIR=1

COPY requirements.txt reference.sh /build/
RUN python3 -m pip install -r /build/requirements.txt
ARG INFERENCE_COMMIT
RUN INFERENCE_COMMIT=${INFERENCE_COMMIT} sh /build/reference.sh

# TensorRT's libraries are those of the Python package: ONNX Runtime finds them by the loader's path.
ARG ONNXRUNTIME
ARG TENSORRT
RUN python3 -m pip install --no-deps "onnxruntime-gpu==${ONNXRUNTIME}" \
 && python3 -m pip install "tensorrt-cu12==${TENSORRT}" \
 && python3 -c 'import onnxruntime; print(onnxruntime.__version__, onnxruntime.get_available_providers())'
ENV LD_LIBRARY_PATH=/opt/python/lib/python3.12/site-packages/tensorrt_libs:/usr/local/cuda/lib64

ENV PYTHONPATH=/opt/tokenization
WORKDIR /inference
