//! The recipe that `retrial new NAME` writes.

/// Returns a commented recipe to start from, which passes the check. `name` becomes its title.
pub fn starter_recipe(name: &str) -> String {
    // A title is one line, and must not end its quotes.
    let is_odd = |letter: char| letter.is_control() || matches!(letter, '"' | '\\');
    let title = name.replace(is_odd, " ").replace("${{", "");
    let title = match title.trim() {
        "" => "A new recipe",
        title => title,
    };
    STARTER_RECIPE.replace("TITLE", title)
}

const STARTER_RECIPE: &str = r#"# A recipe: how to re-run one submission, and what was published.
#   retrial check FILE    every problem at once
#   retrial plan FILE     the exact steps, changing nothing
#   retrial run FILE      do it; ends in a verdict
schema: 1
title: "TITLE"

# What was published.
submission:
  suite: my-suite                  # for MLPerf: mlperf-inference, with round, division, submitter
  benchmark: my-benchmark
  # sources: [https://…]

# Values that --set name=value may change.
params:
  out: { type: path, default: /tmp/results, help: Where results are written in the container }

# The vendor's image. {ref, digest} pins it; {build: {context: image}} builds it from a Dockerfile.
image: debian:bookworm-slim

# requires:
#   gpus: { vendor: amd, models: [MI300X], count: 8 }
#   disk: 500 GiB

# How the container is made, in Docker's words.
# container:
#   devices: [/dev/kfd, /dev/dri]
#   ipc: host
#   shm_size: 64G
#   env: { HSA_NO_SCRATCH_RECLAIM: 1 }

# models:
#   llama2:
#     source: { hub: owner/name, revision: 0123456789abcdef0123456789abcdef01234567 }
#     mount: /model

scenarios:
  my-case:                         # for MLPerf: offline, server, interactive, singlestream, multistream
    performance:
      run: |
        mkdir -p ${{ params.out }}
        echo "speed: 42.0"
      timeout: 1h
      trials: 3                    # one trial decides only where `judge: {noise: 1%}` states how trials vary
      # results: ${{ params.out }} # where LoadGen writes; then its figures need no `figures`
      figures:
        speed: { pattern: 'speed: ${number}', unit: items/s, better: higher }
      # The published figure; without it, the run only measures.
      # expect:
      #   speed: { value: 42.0, kind: official, source: where it was published }
"#;
