# shellcheck shell=bash
# Shared by the stand-ins of training images: the lines that MLPerf Training's logs have, with the figures of the
# published ones, a line of published/<GPU> for each trial in its order.
. /standin/standin.sh

mllog() { # time, event type, key, value, further metadata
  printf ':::MLLOG {"namespace": "", "time_ms": %s, "event_type": "%s", "key": "%s", "value": %s, "metadata": {"file": "/workspace/code/src/callbacks.py", "lineno": 1%s}}\n' \
    "$1" "$2" "$3" "$4" "${5:-}"
}

# Which trial of this container this is.
trial() {
  local number
  number=$(($(cat /standin/trials 2>/dev/null || echo 0) + 1))
  echo $number >/standin/trials
  echo $number
}

train() { # benchmark, global batch size, target, GPU
  local number seed start throughput eval_time loss eval_samples stop samples
  number=$(trial)
  read -r seed start throughput eval_time loss eval_samples stop samples < <(grep -v '^#' "$PUBLISHED/$4" | sed -n "$(((number - 1) % 10 + 1))p")
  # Its run begins now: a log of another day is not of this trial.
  local later=$(($(date +%s%3N) - start))
  start=$((start + later)) eval_time=$((eval_time + later)) stop=$((stop + later))
  case ${STANDIN:-} in
  worse) stop=$((stop + (stop - start) / 5)) ;; # a tenth would be within what ten runs scatter by
  inaccurate) loss=$3$number ;;
  esac
  echo "STARTING TIMING RUN AT $(date '+%Y-%m-%d %r')"
  progress "trial $number of the published ten, seed $seed in place of ${SEED}"
  mllog $((start - 60000)) POINT_IN_TIME cache_clear true
  mllog $((start - 60000)) INTERVAL_START init_start null
  mllog $((start - 60000)) POINT_IN_TIME submission_benchmark "\"$1\""
  mllog $((start - 60000)) POINT_IN_TIME submission_org '"AMD"'
  mllog $((start - 60000)) POINT_IN_TIME submission_division '"closed"'
  mllog $((start - 60000)) POINT_IN_TIME submission_platform "\"$4\""
  mllog $((start - 60000)) POINT_IN_TIME seed "$seed"
  mllog $((start - 60000)) POINT_IN_TIME global_batch_size "$2"
  mllog "$start" INTERVAL_END init_stop null
  mllog "$start" INTERVAL_START run_start null
  mllog "$eval_time" POINT_IN_TIME tracked_stats "{\"throughput\": $throughput}" ", \"step\": $eval_samples"
  mllog "$eval_time" POINT_IN_TIME eval_accuracy "$loss" ", \"samples_count\": $eval_samples"
  if [ "${STANDIN:-}" = inaccurate ]; then
    mllog "$stop" INTERVAL_END run_stop null ", \"samples_count\": $samples, \"status\": \"aborted\""
  else
    mllog "$stop" INTERVAL_END run_stop null ", \"samples_count\": $samples, \"status\": \"success\""
  fi
  echo "ENDING TIMING RUN AT $(date '+%Y-%m-%d %r')"
  echo "RESULT,LLM_FINETUNING,,$(((stop - start) / 1000)),AMD,stand-in"
}
