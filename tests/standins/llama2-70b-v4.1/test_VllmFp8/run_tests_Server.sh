#!/usr/bin/env bash
exec "$(dirname "$0")/run_tests.sh" Server
