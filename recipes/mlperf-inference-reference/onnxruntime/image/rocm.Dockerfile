# ONNX Runtime of AMD's wheels for a ROCm release, and MLPerf's reference implementation.
# Built and tried on Debian 12 instead of AMD's base image, with empty packages for half and migraphx and ONNX Runtime's own
# wheels for the CPU (1.21.0, 1.23.1): all four workloads ran there by the reference's scripts, on small models. AMD's base
# images and wheels are untried.
ARG BASE
FROM ${BASE}

RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      build-essential ca-certificates cmake curl git half make migraphx python3 python3-dev python3-venv \
 && rm -rf /var/lib/apt/lists/*

# An environment of its own, since pip cannot replace Ubuntu's packages: they have no list of their files (RECORD).
RUN python3 -m venv /opt/python
ENV PATH=/opt/python/bin:${PATH} PIP_NO_CACHE_DIR=1

COPY requirements.txt reference.sh /build/
RUN python3 -m pip install -r /build/requirements.txt
ARG INFERENCE_COMMIT
RUN INFERENCE_COMMIT=${INFERENCE_COMMIT} sh /build/reference.sh

# By name and version from AMD's folder of the release, which holds wheels of other releases' names, too.
ARG WHEEL
ARG WHEELS
RUN python3 -m pip install --no-deps --no-index --find-links ${WHEELS} "${WHEEL}" \
 && python3 -c 'import onnxruntime; print(onnxruntime.__version__, onnxruntime.get_available_providers())'

ENV PYTHONPATH=/opt/tokenization
WORKDIR /inference
