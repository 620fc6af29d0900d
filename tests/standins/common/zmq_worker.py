#!/usr/bin/env bash
# In the place of AMD's distributed_async_server.py and distributed_sync_offline.py: registers its GPUs with the head
# and waits to be told to leave.
. /standin/standin.sh
config_path='' config_name='' node='' head='' gpus=8
while [ $# -gt 0 ]; do
  case $1 in
  --config-path) config_path=${2:-}; shift ;;
  --config-name) config_name=${2:-}; shift ;;
  node_id=*) node=${1#*=} ;;
  headnode_address=*) head=${1#*=} ;;
  harness_config.device_count=*) gpus=${1#*=} ;;
  vllm_sampling_config.max_tokens=*) [[ ${1#*=} =~ ^[0-9]+$ ]] || wrong "max_tokens is a number, not '${1#*=}'" ;;
  *) wrong "unrecognized argument: '$1'" ;;
  esac
  shift
done
config=${config_path%/}/$config_name.yaml
[ -f "$config" ] || wrong "there is no $config"
case $(basename "$0") in
distributed_sync_offline.py) [[ $config_name = offline_* ]] || wrong 'AssertionError: conf.scenario.lower() == "offline"' ;;
*) [[ $config_name != offline_* ]] || wrong 'AssertionError: conf.scenario.lower() == "server"' ;;
esac
[ -n "$node" ] || wrong 'Provide node_id=<unique_name> via command line'
[[ $head =~ ^[0-9a-z.:-]+:[0-9]+$ ]] || wrong 'Provide headnode_address=<ip:port> via command line'
[[ $gpus =~ ^[1-9][0-9]*$ ]] || wrong "harness_config.device_count is a number, not '$gpus'"
exec perl /standin/zmq.pl worker "$node" "$head" "$gpus"
