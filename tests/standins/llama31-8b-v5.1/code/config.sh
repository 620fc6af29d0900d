# As the published configurations: what depends on the file's own name, and what is learnt of the environment.
export GBS=32
export TARGET="3.3"
export EVAL_EVERY=12288
export DGXSYSTEM=$(basename $(readlink -f ${BASH_SOURCE[0]}) | sed 's/^config_//' | sed 's/\.sh$//' )
export MLPERF_SUBMISSION_ORG="AMD"
