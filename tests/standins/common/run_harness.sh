#!/usr/bin/env bash
# In the place of AMD's run_harness.sh: runs main.py beside it, and keeps its output.
. /standin/standin.sh
output=''
for argument in "$@"; do
  case $argument in harness_config.output_log_dir=*) output=${argument#*=} ;; esac
done
[ -n "$output" ] || wrong 'no harness_config.output_log_dir'
mkdir -p "$output"
python "$(dirname "$0")/main.py" "$@" 2>&1 | tee "$output/output.log"
