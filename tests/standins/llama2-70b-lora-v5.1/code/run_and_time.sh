#!/usr/bin/env bash
# In the place of the image's run_and_time.sh: asks for what training needs, and prints a published log.
. /standin/training.sh
[ "$PWD" = /workspace/code ] || wrong 'run it in /workspace/code'
[ "${MLPERF_SUBMISSION_ORG:-}" = AMD ] && [ "${LR:-}" = 0.0004 ] || wrong 'source a configuration first'
case ${SEED:-} in '' | *[!0-9]*) wrong 'SEED is not set' ;; esac
[ -f /data/train.npy ] && [ -f /data/validation.npy ] || wrong 'there is no data in /data'
[ -f /ckpt/model_config.yaml ] && [ -d /ckpt/model_weights/model.embedding ] || wrong 'there is no model in /ckpt'
# What preparing data leaves behind must not be what trains.
[ "$(cat /opt/python/nemo)" = 'NeMo 2.3.0' ] && [ "$(cat /workspace/deps/megatron_lm/release)" = submission ] ||
  wrong "this is not the submission's environment: $(cat /opt/python/nemo)"
train llama2_70b_lora 8 0.925 "${DGXSYSTEM%%_*}"
