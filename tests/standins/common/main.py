#!/usr/bin/env bash
# In the place of AMD's LLM harness, /lab-mlperf-inference/code/main.py: takes the arguments of the guide and no others.
# With `--backend zmq` it is the head of several machines, and waits for their workers first.
. /standin/standin.sh
arguments=("$@")
config_path='' config_name='' test_mode='' user_conf='' output='' dataset='' accuracy_dataset='' backend='' port='' gpus=''

value() { [ $# -ge 2 ] && [ -n "$2" ] || wrong "$1 needs a value"; }
while [ $# -gt 0 ]; do
  case $1 in
  --config-path) value "$@"; config_path=$2; shift ;;
  --config-name) value "$@"; config_name=$2; shift ;;
  --backend) value "$@"; backend=$2; shift ;;
  port=*) port=${1#*=} ;;
  harness_config.device_count=*) gpus=${1#*=} ;;
  config_path=*) config_path=${1#*=} ;;
  config_name=*) config_name=${1#*=} ;;
  test_mode=*) test_mode=${1#*=} ;;
  harness_config.user_conf_path=*) user_conf=${1#*=} ;;
  harness_config.output_log_dir=*) output=${1#*=} ;;
  harness_config.dataset_path=*) dataset=${1#*=} ;;
  harness_config.accuracy_dataset_path=*) accuracy_dataset=${1#*=} ;;
  harness_config.target_qps=* | harness_config.duration_sec=*) [[ ${1#*=} =~ ^[0-9.]+$ ]] || wrong "${1%%=*} is a number, not '${1#*=}'" ;;
  # Those of the guide for debugging, which the harness reads.
  harness_config.debug_record_sample_latencies=* | harness_config.debug_print_finished=* | harness_config.debug_dump_model_output=*)
    [[ ${1#*=} =~ ^(True|False)$ ]] || wrong "${1%%=*} is True or False, not '${1#*=}'" ;;
  vllm_sampling_config.max_tokens=*) [[ ${1#*=} =~ ^[0-9]+$ ]] || wrong "max_tokens is a number, not '${1#*=}'" ;;
  *) wrong "unrecognized argument: '$1'" ;;
  esac
  shift
done

[ -n "$config_path" ] || wrong 'no --config-path'
[ -n "$config_name" ] || wrong 'no --config-name'
config=${config_path%/}/$config_name.yaml
[ -f "$config" ] || wrong "there is no $config"
case $test_mode in performance | accuracy) ;; *) wrong "test_mode is performance or accuracy, not '$test_mode'" ;; esac
[ "$backend" != zmq ] || user_conf=${user_conf:-${config_path%/}/user_${config_name#*_}.conf}
[ -f "$user_conf" ] || wrong "harness_config.user_conf_path: there is no '$user_conf'"
[[ $output = /* || $backend = zmq ]] || wrong "harness_config.output_log_dir: '$output' is no absolute path"
dataset=${dataset:-$(sed -n 's/^ *dataset_path: *//p' "$config")}
for file in $dataset $accuracy_dataset; do
  [ -f "$file" ] || wrong "the dataset $file is not there: was it downloaded?"
done

if [ "$backend" = zmq ]; then
  [[ $port =~ ^[0-9]+$ ]] || wrong 'Missing port for zmq, provide port=<port> via command line'
  [[ $gpus =~ ^[0-9]+$ ]] || wrong "harness_config.device_count is a number, not '$gpus'"
  PUBLISHED=$PUBLISHED/nodes
  [ -n "${STANDIN_WORKERS:-}" ] || STANDIN_WORKERS=registered exec perl /standin/zmq.pl head "$port" "$gpus" bash "$0" "${arguments[@]}"
fi
scenario=${config_name%%_*}
if [ "$test_mode" = performance ]; then
  progress "$config_name performance"
  performance "$PUBLISHED/$scenario.summary" "$output"
else
  progress "$config_name accuracy"
  accuracy_run "$output"
  # For the check script, which is told nothing but the path of the log.
  cp "$PUBLISHED/$scenario.accuracy" /standin/of"$(tr / _ <<<"$output")"
fi
