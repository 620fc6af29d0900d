#!/usr/bin/env bash
set -euo pipefail
export TS_START_BENCHMARKS=${TS_START_BENCHMARKS:-$(date +%m%d-%H%M%S)}
./run_tests_Offline.sh
./run_tests_Server.sh
