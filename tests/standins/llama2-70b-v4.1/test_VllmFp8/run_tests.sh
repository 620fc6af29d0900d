#!/usr/bin/env bash
# What run_tests_Offline.sh and run_tests_Server.sh have in common: performance, accuracy, audit of a scenario.
. /standin/standin.sh
scenario=$1
weights=/data/llm/llama2-70b-chat/quantized/quark_share/modelzoo/llama2_70b_wfp8_afp8_ofp8_nomerge/json-safetensors/llama.safetensors
[ -n "${LAB_CLOG:-}" ] || wrong 'LAB_CLOG: unbound variable'
[ -f $weights ] || wrong "there is no $weights: quantize the model first"
[ -d /data/open_orca ] || wrong 'there is no /data/open_orca: mount the dataset'
directory=$LAB_CLOG/${TS_START_BENCHMARKS:=$(date +%m%d-%H%M%S)}/$scenario
echo "TS_START_BENCHMARKS=$TS_START_BENCHMARKS"
echo "Running $scenario - Performance run 1/1"
progress "$scenario performance"
performance "$PUBLISHED/$scenario.summary" "$directory/performance/run_1"
echo "Running $scenario - Accuracy"
progress "$scenario accuracy"
accuracy_run "$directory/accuracy"
accuracy_text "$PUBLISHED/$scenario.accuracy" | tee "$directory/accuracy/accuracy.txt"
echo "Running $scenario - Audit"
mkdir -p "$directory/audit"
echo Done
