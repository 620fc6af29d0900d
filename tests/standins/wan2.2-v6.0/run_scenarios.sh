#!/usr/bin/env bash
# In the place of the image's run_scenarios.sh: its options, its order, its paths.
. /standin/standin.sh
scenario=all vbench=1 compliance=1 dry=0
while [ $# -gt 0 ]; do
  case $1 in
  SingleStream | Offline | all) scenario=$1 ;;
  --skip-vbench) vbench=0 ;;
  --skip-compliance) compliance=0 ;;
  --dry-run) dry=1 ;;
  --sage-fraction | --run-subdir) [ $# -ge 2 ] || wrong "$1 requires a value"; shift ;;
  -h | --help) echo "Usage: $0 [--skip-vbench] [--skip-compliance] [--dry-run] [SingleStream|Offline|all]"; exit 0 ;;
  *) echo "Unknown option: $1"; exit 1 ;;
  esac
  shift
done
[ -x ./run_scenarios.sh ] || wrong 'run it in /app/mlperf/mlperf_inference/text_to_video/wan-2.2-t2v-a14b/'
results=./outputs/results/wan-2.2-t2v-a14b verified=./outputs/compliance/wan-2.2-t2v-a14b

stage() { # title
  echo "========== $1 =========="
  if [ $dry = 1 ]; then echo "[DRY-RUN] torchrun --nproc-per-node=8 run_mlperf.py …"; return 1; fi
  progress "$1"
}

run() { # scenario
  if stage "$1: Accuracy"; then accuracy_run "$results/$1/accuracy"; fi
  if [ $vbench = 1 ] && stage "$1: VBench"; then
    echo 'Overall Average : 0.6998' | tee "$results/$1/accuracy/vbench.log"
    echo " 'vbench_score': 69.98" >/tmp/vbench
    accuracy_text /tmp/vbench >"$results/$1/accuracy/accuracy.txt"
  fi
  if stage "$1: Performance"; then performance "$PUBLISHED/$1.summary" "$results/$1/performance/run_1"; fi
  if [ $compliance = 1 ] && stage "$1: Compliance TEST04"; then
    performance "$PUBLISHED/$1.summary" "$results/$1/TEST04" >/dev/null
    mkdir -p "$verified/$1/TEST04"
    { echo 'Verifying performance.'; cat "$PUBLISHED/TEST04"; echo "TEST $([ "${STANDIN:-}" = inaccurate ] && echo FAIL || echo PASS)"; } | tee "$verified/$1/TEST04/verify_performance.txt"
  fi
}

echo "Scenario: $scenario | VBench: $vbench | Compliance: $compliance | Dry-run: $dry"
case $scenario in
all) run SingleStream; run Offline ;;
*) run "$scenario" ;;
esac
echo Done.
