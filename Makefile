# Everything happens in .venv; remove it to start anew. Versions are those of .ci/versions.lock.

# Else each process of the tests, of which there are thousands, compiles the sources again.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip --disable-pip-version-check install --progress-bar off --constraint .ci/versions.lock --editable
# What pip says is shown where it fails, and then whole: --quiet would leave out the reason.
TOLD := >.venv/install.log 2>&1 || { cat .venv/install.log >&2; exit 1; }
TESTS ?= tests
# Tests on every core, and one more for those that wait; then those of devices, which wait for half of their time, with
# nothing beside them that takes all cores for long; then those of golden files, which one process must have seen all.
# Each kind runs whatever became of the others. 5: there are none of a kind. A fast test that hangs ends, and says where.
# Of all tests, only the files that speak of a kind are read to find those of it.
speaking = $(if $(filter tests,$(TESTS)),$$(grep -rl --include='test_*.py' $(1) tests | sort),$(TESTS))
CORES = $$($(BIN)/python -c 'import os; print(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())')
tested = failed=0; cores=$(CORES); \
	$(BIN)/python -m pytest -q $(2) -n $$((cores + 1)) -m 'not device and not golden$(1)' $(TESTS) || [ $$? -eq 5 ] || failed=1; \
	$(BIN)/python -m pytest -q $(2) -n $$((2 * cores)) -m 'device and not golden$(1)' $(call speaking,mark.device) || [ $$? -eq 5 ] || failed=1; \
	$(BIN)/python -m pytest -q $(2) -m 'golden$(1)' $(call speaking,golden) || [ $$? -eq 5 ] || failed=1; \
	exit $$failed

.PHONY: help demo test test-rest test-all check bench gpu docs dist clean

help:            ## This list
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 12

demo: .venv/ready  ## Synthesise, label, compile and run a suite on this machine's CPU devices
	@bash examples/demo.sh demo $(BIN)/synth

test: .venv/tests-ready  ## Tests of every kind, with every compiler and device that can be had
	@bash .ci/debian-packages $(BIN)/python
	$(call tested, and not slow and not rest,--timeout 600)

test-rest: .venv/tests-ready  ## The other cases of each kind, and what is costly
	@bash .ci/debian-packages $(BIN)/python
	$(call tested, and not slow and rest,--timeout 600)

test-all: .venv/tests-ready  ## All tests, the slow ones too
	@bash .ci/debian-packages $(BIN)/python
	$(call tested)

check: .venv/dev-ready  ## What to run before a commit: style, types, import arrows, the quickest tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	MYPYPATH=.:tests $(BIN)/mypy benchmarks/*.py
	$(BIN)/python -m pytest -q -n auto -m check $(TESTS)

bench: .venv/ready  ## Time, rates, solver calls and memory of synthesis and oracle
	$(BIN)/python benchmarks/progress.py
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/diy.py
	$(BIN)/python benchmarks/oracle.py
	$(BIN)/python benchmarks/models.py
	$(BIN)/python benchmarks/infer.py
	$(BIN)/python benchmarks/infer_promises.py

gpu: .venv/gpu-ready  ## A fixed campaign on a GPU, its figures kept in docs/results; BACKEND=opencl for one not of NVIDIA
	$(BIN)/python benchmarks/gpu.py --backend $(or $(BACKEND),cuda)

docs: .venv/ready  ## The documentation as a site, in site; links and anchors checked
	$(INSTALL) '.[docs]' $(TOLD)
	$(BIN)/python docs/pages.py site
	@echo site/index.html

dist: .venv/ready  ## A wheel and a source distribution, in dist
	$(INSTALL) '.[dist]' $(TOLD)
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --outdir dist $(TOLD)

clean:           ## Remove the environment and the demonstration
	rm -rf .venv demo dist build site

.venv/ready: pyproject.toml .ci/versions.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "synth needs Python 3.11 or later; name it with PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(INSTALL) '.[cuda,glsl,opencl,report,smt]' $(TOLD)
	$(BIN)/python -m compileall -q backends constraints corpus oracle synth
	@touch $@

.venv/gpu-ready: .venv/ready
	$(INSTALL) '.[cuda,glsl,vulkan,wgpu]' $(TOLD)
	@touch $@

.venv/tests-ready: .venv/ready
	$(INSTALL) '.[test,clang,cluster,docs,vulkan,wgpu]' $(TOLD)
	@touch $@

.venv/dev-ready: .venv/tests-ready
	$(INSTALL) '.[test,clang,cuda,glsl,vulkan,wgpu,dev]' $(TOLD)
	@touch $@
