# Two commands:  make reproduce   make test      (each sets up .venv first; the second time that takes no time)

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
SCALE ?= cpu
WORKERS ?= 2
BIN := .venv/bin
STAMP := .venv/.made-from-lock

# One thread a process: two single-threaded trainings beat one with two threads, and tests run side by side.
export OMP_NUM_THREADS ?= 1
# Rules and tests find this checkout's `collapse` and `snakemake`.
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: help
help: ## say what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.PHONY: reproduce
reproduce: setup ## train the headline families on this machine, draw their curves, print the numbers
	@$(BIN)/snakemake headline --no-hooks --config scale=$(SCALE)
	@$(BIN)/collapse results --scale $(SCALE) --target headline

.PHONY: test
test: setup ## the whole test suite, style checks and a real pipeline at smoke scale included
	@$(BIN)/pytest -n $(WORKERS) --dist loadfile

.PHONY: lint
lint: setup ## the style checks alone
	@$(BIN)/pytest -q tests/house

.PHONY: setup
setup: $(STAMP) ## .venv with the locked packages and this one; nothing to do while the lock stays the same

$(STAMP): requirements.lock pyproject.toml
	@command -v "$(PYTHON)" >/dev/null || { echo "error: no $(PYTHON) here. Fix: install Python 3.11 or later, or name one: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 2; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: $(PYTHON) is $$("$(PYTHON)" --version), and 3.11 or later is needed. Fix: make $(MAKECMDGOALS) PYTHON=/path/to/newer/python3" >&2; exit 2; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "error: $(PYTHON) has no venv module. Fix: install it (on Debian and Ubuntu: apt install python3-venv)" >&2; exit 2; }
	@echo "Setting up .venv with the packages of requirements.lock: once, about two minutes."
	@"$(PYTHON)" -m venv .venv
	@set -o pipefail; $(BIN)/python -m pip install --requirement requirements.lock | { grep --line-buffered -E '^(Collecting|Installing)' || true; }
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

.PHONY: docs
docs: setup ## the documentation site, into site/
	@$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@$(BIN)/mkdocs build --strict

.PHONY: lock
lock: setup ## write requirements.lock and environment.yml anew from what .venv holds
	@$(BIN)/python tools/lock.py

.PHONY: clean
clean: ## remove every result, log and checkpoint (.venv stays)
	rm -rf results logs .work .snakemake site
