#!/bin/sh
# figures.sh BRANCH: measures this commit and BRANCH in turns, and fails if this commit is slower.
# Leaves figures.xml (JUnit), figures.md and figures.html, and the evidence in ./retrial.
set -eu
git fetch --quiet origin "${1:?the target branch is missing}"
# Of this job only: others on the machine may build the same commits, and remove what they have built. With the label, no
# image is the same as theirs.
job=${GITHUB_RUN_ID:-${CI_JOB_ID:-$$}}
base=app:$(git rev-parse --short FETCH_HEAD)-$job
change=app:$(git rev-parse --short HEAD)-$job
trap 'docker rmi --no-prune "$base" "$change" >/dev/null 2>&1 || true' EXIT
git archive FETCH_HEAD | docker build --quiet --label "figures=$job" --tag "$base" -
docker build --quiet --label "figures=$job" --tag "$change" .

# Of an earlier job in this directory.
rm -rf retrial figures.xml figures.md figures.html
export RETRIAL_HOME="$PWD/retrial"
code=0
retrial batch "$(dirname "$0")/benchmark.yaml" --image "$base" --image "$change" --trials 5 \
    --claim "$change is not slower than $base by more than 3%" || code=$?
# After a mistake in the recipe there is no batch.
if [ -n "$(ls "$RETRIAL_HOME/batches" 2>/dev/null)" ]; then
    retrial judge last --output junit >figures.xml || true
    retrial judge last --output markdown >figures.md || true
    retrial report last --to figures.html
fi
exit "$code"
