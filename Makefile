# make demo and make test do everything on a fresh Debian 12 machine with the Rust toolchain.
# They install or start what else they need, and say so first; a working Docker Engine is used unchanged.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:
.DEFAULT_GOAL := help

# cargo's own tools and Python packages, where they are missing: installed once, outside the checkout and ~/.cargo/bin.
export TOOLS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/retrial-tools
export PATH := $(TOOLS)/bin:$(PATH)
NEXTEST := cargo-nextest@0.9.143 --no-default-features --features default-no-update
DENY := cargo-deny@0.20.2
DEB := cargo-deb@3.8.0
ABOUT := cargo-about@0.9.3 --features cli

BINARY := $(or $(CARGO_TARGET_DIR),target)/debug/retrial
LAB := eval "$$(tests/lab/env)"

define say
@printf '\n== %s\n' '$(1)' >&2
endef

.PHONY: help
help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r target what; do printf '  make %-13s %s\n' "$$target" "$$what"; done

# The engine comes up, and builds the layers of the quickstart's image, while cargo compiles. What is not done then is waited for.
.PHONY: demo
demo: ## compile, build the quickstart's image, run the real LoadGen in it, judge (five minutes; one the next time)
	$(call say,demo: compiles Retrial and at the same time starts a Docker Engine (unless one answers) and builds an image; then measures this CPU for 40 seconds)
	@printf '   about five minutes the first time on two cores, and one minute the next time\n' >&2
	@tests/lab/up --demo </dev/null >/dev/null & cargo build --locked && tests/lab/waits $$! && wait $$!
	@$(LAB); recipe=$$(tests/lab/example quickstart); set -x; $(BINARY) run "$$recipe"
	@printf '\n== try next\n  %s\n  %s\n  %s\n' 'cargo install --path .' 'retrial show mlperf-inference/v6.0/amd/llama2-70b-mi355x' 'retrial report last --to report.html' >&2

# Lints, tests and documentation share one compilation (docs/decisions.md, 'Tests and build').
CARGO_LINTED := RUSTC_WORKSPACE_WRAPPER=$(CURDIR)/tests/lint/rustc cargo

.PHONY: test
test: fmt lab-start tools deny clippy nextest doc ## run every check, with a real engine and registries

.PHONY: build
build:
	$(call say,cargo build)
	@cargo build --locked

.PHONY: fmt
fmt:
	$(call say,cargo fmt)
	@cargo fmt --all --check

.PHONY: clippy
clippy:
	$(call say,cargo build (linted by clippy))
	@$(CARGO_LINTED) build --locked --all-targets

.PHONY: deny
deny:
	$(call say,cargo deny: bans licenses sources)
	@cargo deny --all-features check bans licenses sources
	@cargo metadata --quiet --locked --filter-platform host-tuple --manifest-path fuzz/Cargo.toml --format-version 1 >/dev/null

.PHONY: schema-update
schema-update: ## write docs/recipe.schema.json, and the tables of keys in docs/recipe-format.md
	@UPDATE_SCHEMA=1 cargo test --locked --quiet --test recipes up_to_date

.PHONY: docs
docs: build ## write docs/recipes.md from the recipes
	@$(BINARY) catalogue >docs/recipes.md

.PHONY: doc
doc:
	$(call say,documentation and its tests)
	@RUSTDOC=$(CURDIR)/tests/lint/rustdoc $(CARGO_LINTED) test --locked --doc

# Three times as many tests at once as cores, since most of the long ones wait for an engine. Their temporary files are in
# memory if it has room for them. Tests that need the lab are ignored otherwise; here they run, and fail without it.
.PHONY: nextest
nextest:
	$(call say,cargo nextest)
	@$(CARGO_LINTED) nextest run --locked --no-run
	@tests/lab/up --tests
	@$(LAB); export TMPDIR=$$(tests/lab/temporary); \
  $(CARGO_LINTED) nextest run --locked --run-ignored all -E "$$(tests/lab/runnable)" --test-threads $$((3 * $$(nproc)))

# $(1): the program, $(2): what cargo installs, $(3): how. A debug build takes a quarter of the time and is mostly quick enough.
define install
@command -v $(1) >/dev/null || { printf '\n== installing %s into %s (a minute or two, once)\n' $(1) $(TOOLS) >&2; \
  CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0 CARGO_TARGET_DIR=$(TOOLS)/build \
  cargo install --quiet --locked $(or $(3),--debug) --root $(TOOLS) $(2); rm -rf $(TOOLS)/build; }
endef

.PHONY: bench
bench: lab ## measure speed, in pairs against docker's command line (best on a quiet machine)
	$(call say,cargo bench)
	@$(LAB); cargo bench --locked --bench startup --bench noop --bench lines --bench judge --bench telemetry --bench cluster

FAULTS ?= 1000

.PHONY: faults
faults: lab tools ## kill runs, batches and engines FAULTS times, and more (FAULTS_OF: some kinds); the counts go into docs/reliability.md (an hour)
	$(call say,tests/faults)
	@$(LAB); tests/faults $(FAULTS) $(FAULTS_OF)

.PHONY: dist
dist: lab ## build and check the release for x86_64 Linux, in target/dist (fifteen minutes; root and debootstrap)
	$(call install,cargo-deb,$(DEB))
	$(call install,cargo-about,$(ABOUT),--profile release)
	$(call say,dist/build)
	@dist/build
	$(call say,dist/check)
	@dist/check

FUZZ_SECONDS ?= 60
FUZZ := $(shell sed -n '/^\[\[bin\]\]/{n;s/name = "\(.*\)"/\1/p}' fuzz/Cargo.toml)

.PHONY: fuzz
fuzz: ## fuzz every parser for FUZZ_SECONDS, from its seeds (needs a nightly toolchain)
	$(call install,cargo-fuzz,cargo-fuzz@0.13.2)
	@for target in $(FUZZ); do printf '\n== fuzzing %s for %s s\n' "$$target" "$(FUZZ_SECONDS)" >&2; mkdir -p fuzz/corpus/$$target; \
	  cargo +nightly fuzz run --sanitizer none $$target fuzz/corpus/$$target fuzz/seeds/$$target -- \
	  -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 -max_len=16384 -verbosity=0 -print_final_stats=1; done
	@echo 'findings are in fuzz/artifacts/TARGET: put them into fuzz/seeds/TARGET, where cargo test runs them, and fix the parser' >&2

.PHONY: tools
tools:
	$(call install,cargo-nextest,$(NEXTEST))
	$(call install,cargo-deny,$(DENY))

# The lab downloads and unpacks while cargo compiles. A second `up` waits for the first, and repeats what failed.
.PHONY: lab-start
lab-start:
	$(call say,lab: starts in the background)
	@tests/lab/up --tests </dev/null >/dev/null &

.PHONY: lab
lab: ## start a Docker Engine (unless one works), two registries and small images
	$(call say,lab)
	@tests/lab/up

.PHONY: lab-down
lab-down: ## stop the lab; images stay for the next time
	@tests/lab/down
