#!/usr/bin/env bash
# In the place of the image's run_image.sh: its modes, its environment, its directories. It starts no container.
. /standin/standin.sh
for name in IMAGE_TAG DATASET CHECKPOINT RESULTS_ROOT TRITON_CACHE; do [ -n "${!name:-}" ] || wrong "$name is not set"; done
[ -e "$DATASET/metadata.json" ] || wrong "no dataset at $DATASET"
[ -e "$RUNNER/scripts/run/run_gold.sh" ] || wrong 'run_gold.sh was not copied out of the image'
artifacts=$RESULTS_ROOT/artifacts scenario=${SCENARIO:-Server} stamp=$(date +%s%N)
case ${1:-} in
server)
  if [ "$scenario" = Offline ]; then [[ ${CONF:-} = *OFFLINE10min.conf ]] || wrong 'Offline needs its CONF'; fi
  progress "$scenario"
  performance "$PUBLISHED/$scenario.summary" "$artifacts/gold_${scenario,,}_run_$stamp"
  ;;
accuracy)
  [ -n "${CONF:-}" ] || wrong 'accuracy needs CONF'
  progress "$scenario accuracy"
  accuracy_run "$artifacts/gold_acc_$stamp"
  cat "$PUBLISHED/$scenario.accuracy" >"$artifacts/gold_acc_$stamp/accuracy_metrics.txt"
  ;;
test08)
  progress TEST08
  mkdir -p "$artifacts/gold_test08_$stamp"
  cat "$PUBLISHED/TEST08" >"$artifacts/gold_test08_$stamp/verify_accuracy.txt"
  ;;
*) wrong "unknown mode '${1:-}'" ;;
esac
