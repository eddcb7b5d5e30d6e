# Everything is installed into .venv, with the first Python of at least 3.11 that is found;
# `make demo PYTHON=/path/to/python` takes another.

ifndef PYTHON
PYTHON := $(shell for python in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)
endif
VENV := .venv
EXTRAS := studio,test
BIN := $(VENV)/bin

# An editable install knows its folder by path, so a repository that was moved is installed anew.
HERE := $(shell pwd | cksum | tr -d ' ')
CORE := $(VENV)/.core-$(HERE)
ALL := $(VENV)/.all-$(HERE)

# pip as the user configured it, but into .venv whatever PIP_USER, PIP_TARGET or PIP_PREFIX say.
# Debian's Python without python3-venv cannot put pip into .venv; then its own pip does the work.
PIP = env -u PIP_USER -u PIP_TARGET -u PIP_PREFIX -u PIP_ROOT PIP_DISABLE_PIP_VERSION_CHECK=1 \
	$$(test -x $(BIN)/pip && echo $(BIN)/python || echo $(PYTHON)) -m pip \
	$$(test -x $(BIN)/pip || echo --python $(BIN)/python)
INSTALL = $(PIP) install --quiet --use-pep517 --editable

RAGWEAVE = $(BIN)/python -m ragweave.serving.cli
PYTEST = $(BIN)/python -m pytest
DEMO_INDEX := lance:.ragweave/index
export QUESTION ?= When does a question leave for the web?

.DEFAULT_GOAL := help
.PHONY: help demo setup test lint types unit test-all test-slow test-clone test-clients \
	weaviate clean

help: ## Show these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(CORE) ## Index this project's own documents and ask them QUESTION; no key, no server
	@$(RAGWEAVE) ingest README.md docs --index $(DEMO_INDEX) --embeddings offline
	@$(RAGWEAVE) ask "$$QUESTION" --index $(DEMO_INDEX) --model offline --web never
	@echo 'Go on with: . $(BIN)/activate; ragweave ask "How are citations checked?"'

setup: $(ALL) ## Install what development needs into .venv

test: lint types unit ## Everything that must pass before a commit; a few minutes

lint: $(ALL)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(ALL)
	@$(BIN)/python -m mypy --strict .typing/ragweave tests

unit: $(ALL)
	@$(PYTEST) -n 2 --dist loadfile -m "not slow"

test-all: test test-slow test-clone test-clients ## And what takes longer, each part also by its own name

test-slow: $(ALL) ## The tests marked slow
	@$(PYTEST) -m slow

test-clone: ## A fresh clone: `make demo` twice, as the README promises
	@./tests/fresh_clone.sh

# The LangGraph server needs a grpcio that newer clients of Weaviate do not allow: pip and uv settle
# on client 4.16.2 with it, and on the newest without.
test-clients: ## The stores with the newest Weaviate client, in a .venv-clients without the server
	@$(MAKE) --no-print-directory VENV=.venv-clients EXTRAS=test weaviate

weaviate: $(ALL)
	@$(BIN)/python -c 'import grpc, weaviate; \
		print("weaviate-client", weaviate.__version__, "with grpcio", grpc.__version__)'
	@$(PYTEST) -n 2 --dist loadfile -m "not slow" tests/stores

clean: ## Remove .venv and what tests and demo left behind
	@rm -rf $(VENV) .venv-clients .ragweave .langgraph_api .mypy_cache .ruff_cache .pytest_cache build dist

$(CORE): pyproject.toml | $(BIN)/python
	@echo "Installing ragweave into $(VENV): about a minute, once."
	@$(INSTALL) .
	@touch $@

$(ALL): pyproject.toml | $(BIN)/python
	@echo "Installing ragweave with $(EXTRAS) into $(VENV): about two minutes, once."
	@$(INSTALL) ".[$(EXTRAS)]"
	@touch $@ $(CORE)

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "ragweave needs Python 3.11 or newer; none was found." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "ragweave needs Python 3.11 or newer; $(PYTHON) is not." >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) 2>/dev/null >&2 \
		|| $(PYTHON) -m venv --clear --without-pip $(VENV)
