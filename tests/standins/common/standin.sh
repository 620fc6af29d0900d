# shellcheck shell=bash
# Shared by the stand-ins. They measure nothing: they print what was published.
# STANDIN makes them behave badly, see README.md.
set -euo pipefail
PUBLISHED=/standin/published

wrong() { printf 'error: %s\n' "$*" >&2; exit 2; }

# Lines as a harness prints them, for about a second.
progress() { # what
  echo "[stand-in] $1: nothing is measured here, what follows was published"
  local step steps=5 pause=0.15
  if [ "${STANDIN:-}" = slow ]; then steps=${STANDIN_SECONDS:-60} pause=1; fi
  for step in $(seq "$steps"); do
    sleep $pause
    echo "INFO $1: $((step * 100 / steps)) % of the queries completed"
    if [ "${STANDIN:-}" = fail ] && [ "$step" -ge 3 ]; then
      echo 'torch.OutOfMemoryError: HIP out of memory. Tried to allocate 17.58 GiB. (stand-in)' >&2
      exit 1
    fi
  done
}

performance() { # published summary, directory
  mkdir -p "$2"
  case ${STANDIN:-} in
  invalid)
    sed -e 's/^Result is : VALID/Result is : INVALID/' -e 's/Min duration satisfied : Yes/Min duration satisfied : NO/' \
      -e '/Early stopping satisfied/a Recommendations:\n * Increase the target QPS so the loadgen pre-generates more queries.' "$1"
    ;;
  worse) # a tenth off every figure by which a result is published
    awk '/^(Completed )?(samples|tokens) per second *:/ || /^(Samples|Tokens) per second:/ { match($0, /[0-9.]+$/); printf "%s%.6g\n", substr($0, 1, RSTART - 1), substr($0, RSTART) * 0.9; next }
      /Early stopping 90.0th percentile estimate/ { match($0, /[0-9]+$/); printf "%s%.0f\n", substr($0, 1, RSTART - 1), substr($0, RSTART) / 0.9; next }
      { print }' "$1"
    ;;
  *) cat "$1" ;;
  esac >"$2/mlperf_log_summary.txt"
  cat "$2/mlperf_log_summary.txt"
}

accuracy_run() { # directory
  mkdir -p "$1"
  printf '\nNo warnings encountered during test.\n\nNo errors encountered during test.\n' >"$1/mlperf_log_summary.txt"
  printf '[\n{ "seq_id" : 0, "qsl_idx" : 0, "data" : "1F09000001000000", "token_count" : 2 },\n{ "seq_id" : 1, "qsl_idx" : 1, "data" : "3A09000002000000", "token_count" : 2 }\n]\n' >"$1/mlperf_log_accuracy.json"
}

accuracy_text() { # published
  if [ "${STANDIN:-}" = inaccurate ]; then
    sed -E "s/('(rouge1|exact_match|vbench_score)': )[0-9.]+/\140.1/" "$1"
  else
    cat "$1"
  fi
}
