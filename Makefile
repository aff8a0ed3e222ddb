# Everything is reached from here; `make` alone lists it. Only Python, Go, git and make must be there beforehand.
PYTHON ?= python3
BIN := .venv/bin
ENVIRONMENT ?= laptop
FAST := tests/unit tests/golden tests/property tests/policies
# Three files at a time, two of them with a local region of their own: most of the time a test waits.
E2E := $(BIN)/python -m pytest -v -n 3 --dist loadfile --no-loadscope-reorder --durations 12 tests/e2e

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup controllers python up down check test e2e test-nightly bench lint lock docs docs-tools screenshots clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## set up this clone: .venv, pinned binaries, plugins (`up` and the tests do this themselves)
	@$(PYTHON) -m jacquard.lab.toolchain

controllers: ## the same with the real controllers of add-ons, which a region simulates otherwise; tests need them
	@$(PYTHON) -m jacquard.lab.toolchain controllers

python: ## only .venv, without Go: enough for check, impact, render, allocate, promote and show
	@$(PYTHON) -m jacquard.lab.toolchain python

up: setup ## start a small GPU region on this machine and print a summary
	@$(BIN)/jacquard up $(ENVIRONMENT)

down: ## remove that region, its state and its processes
	@if test -x $(BIN)/jacquard; then $(BIN)/jacquard down $(ENVIRONMENT); \
	else echo "nothing is set up in this clone; if a region of it runs all the same: make setup down"; fi

lint: setup ## ruff, mypy, import-linter, forbidden words; programs that only tests run
	@$(PYTHON) -m jacquard.lab.toolchain linters
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports
	@$(BIN)/python -m pytest -q tests/unit/test_prose.py

check: lint ## linters and unit tests only
	@$(BIN)/python -m pytest tests/unit

test: controllers lint ## all checks and tests of a merge, end-to-end tests last
	@$(BIN)/python -m pytest -n 2 -m "not nightly" $(FAST)
	@$(E2E) -m "not nightly"

e2e: controllers ## end-to-end tests only
	@$(E2E) -m "not nightly"

test-nightly: controllers docs-tools ## the slow proofs
	@$(PYTHON) -m jacquard.lab.toolchain linters
	@$(PYTHON) -m jacquard.lab.toolchain nightly
	@$(E2E) -n 2 -m nightly; regions=$$?; \
	$(BIN)/python -m pytest -n 2 --dist worksteal --durations 12 -m nightly $(FAST) && exit $$regions

bench: setup ## the figures of docs/contributing/performance.md
	@$(BIN)/python tests/bench

docs: python docs-tools ## build the documentation site in site/; links and anchors are checked
	@$(BIN)/zensical build --clean --strict

screenshots: python ## write the screenshots of the documentation again (needs Chromium)
	@$(BIN)/python -m tests.support.docs.screenshots

docs-tools: python
	@$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-docs.lock

lock: setup ## pin the Python dependencies again (needs uv)
	@uv pip compile --universal --python-version 3.11 --generate-hashes --extra dev --upgrade pyproject.toml -o requirements.lock
	@uv pip compile --universal --python-version 3.11 --generate-hashes --group docs -c requirements.lock --upgrade -o requirements-docs.lock

clean: ## remove the set-up of this clone; regions and their state stay
	@$(PYTHON) -m jacquard.lab.toolchain clean
