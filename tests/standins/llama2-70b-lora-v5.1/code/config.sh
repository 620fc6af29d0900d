#!/bin/bash
# As the published configurations: what depends on the file's own name, and what is learnt of the environment.
export DGXNGPU=8
export DGXSYSTEM=$(basename $(readlink -f ${BASH_SOURCE[0]}) | sed 's/^config_//' | sed 's/\.sh$//' )
export MAX_STEPS=1024
export LR=0.0004
export VAL_CHECK_INTERVAL=384
export MLPERF_SUBMISSION_ORG="AMD"
