#!/usr/bin/env bash
# In the place of AMD's check_*_accuracy_scores.sh: writes accuracy.txt beside the log, and nothing of it to the output.
. /standin/standin.sh
[ $# = 1 ] || wrong "incorrect accuracy path, set it with $0 <path>"
[ -f "$1" ] || wrong "incorrect accuracy path, set it with $0 <path>"
[ ! -e /standin/needs_environment ] || [ -e /standin/environment ] || wrong 'the environment is missing: run the setup script first'
directory=$(dirname "$1")
published=/standin/of$(tr / _ <<<"$directory")
[ -f "$published" ] || wrong "$1 is not of a run of this stand-in"
accuracy_text "$published" >"$directory/accuracy.txt"
echo "Check $directory/accuracy.txt for the accuracy scores"
