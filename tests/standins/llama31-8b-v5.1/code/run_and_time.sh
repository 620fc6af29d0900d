#!/usr/bin/env bash
# In the place of the image's run_and_time.sh: asks for what training needs, and prints a published log.
. /standin/training.sh
[ "$PWD" = /workspace/code ] || wrong 'run it in /workspace/code'
[ "${MLPERF_SUBMISSION_ORG:-}" = AMD ] && [ "${GBS:-}" = 32 ] || wrong 'source a configuration first'
case ${SEED:-} in '' | *[!0-9]*) wrong 'SEED is not set' ;; esac
[ -f /data/c4-train.en_6_text_document.bin ] || wrong 'there is no data in /data'
[ -f /model/tokenizer.json ] || wrong 'there is no tokenizer in /model'
echo '> [Gloo] Rank 0 is connected to 7 peer ranks. Expected number of connected peer ranks is : 7'
train llama31_8b 32 3.3 "${DGXSYSTEM%%_*}"
