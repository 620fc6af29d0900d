#!/usr/bin/env bash
# In the place of run_scenario_*_MI325x_cpx.sh: performance, accuracy, TEST01 and TEST04 of a scenario.
. /standin/standin.sh
scenario=$1
[ -e compiled ] || wrong 'nothing is compiled: run precompile_model_shortfin.sh'
[ -e /data/preprocessed ] || wrong 'no data: run preprocess_data.py'
of=8xMI325x_2xEPYC-9655/stable-diffusion-xl/$scenario
results=/mlperf/harness/Submission/closed/AMD/results/$of verified=/mlperf/harness/Submission/closed/AMD/compliance/$of
progress "$scenario"
performance "$PUBLISHED/$scenario.summary" "$results/performance/run_1"
accuracy_run "$results/accuracy"
cat "$PUBLISHED/accuracy" >"$results/accuracy/accuracy.txt"
mkdir -p "$verified/TEST01" "$verified/TEST04"
echo 'TEST PASS' >"$verified/TEST01/verify_accuracy.txt"
for test in TEST01 TEST04; do
  printf 'Verifying performance.\nreference score = 18.5856\ntest score = 17.4257\nTEST PASS\n' >"$verified/$test/verify_performance.txt"
done
