# make demo       install into .venv and analyse the example
# make check      install with what tests need, run the tests: a few minutes, no other compilers, no browser
# make check-all  every test, also long ones and more examples of properties; names what was skipped for want of what
# make lint       ruff, radon, mypy, codespell, import-linter, clang-format, and the site of the documents
# make docs       build/site: the documents as a site, with pages made from the code; warnings are errors
# make describe   tables in docs/models.md and model.schema.json, from models/schema/parameters.py
# make page       live/web/page: lint, test and build the scripts of incc-web's page (needs npm)
# make editors    editors/vscode: lint, test and pack the extension into build (needs npm)
# make pictures   docs/pictures/*.png, from reports of examples/ in headless Chromium
# make sanitize   the core's tests, the front's and the fuzzer under AddressSanitizer and UBSan (needs gcc's libasan)
# make dist       dist: an sdist and a wheel, each installed into an empty environment and tried there
# make dev        build/dev: the package as links into the tree, for PYTHONPATH=build/dev
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
BUILD := build/core
PACKAGES := comparison driver fleet frontends history live measuring models ranking report running support views
SOURCES := $(shell find core front $(PACKAGES) -type f -not -path '*/__pycache__/*' 2>/dev/null) CMakeLists.txt pyproject.toml
CXX_SOURCES := core/*.cpp core/*/*.cpp core/*/*.h core/lib/sim/*.cpp core/lib/sim/*.h core/include/incc/*.h front/*.cpp front/*.h running/runtime/*.c frontends/clang_plugin/*.cpp frontends/clang_plugin/*.h frontends/clang_plugin/source/*.cpp frontends/clang_plugin/source/*.h

# pyproject.toml alone says which packages are wanted, for building as for testing.
WANTED = import sys, tomllib; p = tomllib.load(open("pyproject.toml", "rb")); \
  print(*(p["build-system"]["requires"] if sys.argv[1] == "build" else p["project"]["optional-dependencies"][sys.argv[1]]), sep="\n")
# radon has no threshold of its own below 30.
COMPLEX = import json, sys; \
  text = "{}:{}: {} has a cyclomatic complexity of {}, more than 25"; \
  all = [(file, b) for file, blocks in json.load(sys.stdin).items() for b in blocks if b["type"] != "class"]; \
  over = [text.format(f, b["lineno"], b["name"], b["complexity"]) for f, b in all if b["complexity"] > 25]; \
  sys.exit("\n".join(over) or 0)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Ninja and the tests do not share in the job server of a `make -j`.
IN_VENV := MAKEFLAGS= PATH="$(CURDIR)/$(BIN):$$PATH"

# Those who change the core get its warnings as errors; those who only want to use it are spared a new compiler's.
WERROR := OFF
check check-all lint dev golden: WERROR := ON

.PHONY: demo check check-all explore lint docs dev core-test sanitize clean describe golden format pictures editors dist page
.DEFAULT_GOAL := demo
# Steps share .venv and the build folder, and what they run uses all CPUs by itself.
.NOTPARALLEL:

demo: $(VENV)/.installed
	$(IN_VENV) incc -O3 -march=skylake-avx512 --analyze -c examples/triad.c -o build/triad.o
	@echo; echo 'incc is in $(BIN). To use it in this shell: export PATH="$(CURDIR)/$(BIN):$$PATH"'

$(VENV)/.created:
	$(PYTHON) -c 'import sys; sys.exit("incc needs Python 3.11 or newer, not " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -c '$(WANTED)' build | $(PIP) -r /dev/stdin 'cmake>=3.20' 'ninja>=1.10'
	@touch $@

# One build folder without build isolation: only what was changed is compiled, and what tests and build/dev need of the
# core is not compiled again for them.
$(VENV)/.installed: $(VENV)/.created $(SOURCES)
	@echo 'Installing incc in $(VENV). Its core is compiled, which takes a few minutes the first time.'
	$(IN_VENV) $(PIP) --no-build-isolation --config-settings=build-dir=$(BUILD) \
	  --config-settings=cmake.define.INCC_WERROR=$(WERROR) .
	@touch $@

$(VENV)/.test-tools: $(VENV)/.created pyproject.toml
	@$(BIN)/python -c '$(WANTED)' test | $(PIP) -r /dev/stdin
	@touch $@

$(VENV)/.lint-tools: $(VENV)/.created pyproject.toml
	@$(BIN)/python -c '$(WANTED)' lint | $(PIP) -r /dev/stdin
	@touch $@

$(VENV)/.docs-tools: $(VENV)/.created pyproject.toml
	@$(BIN)/python -c '$(WANTED)' docs | $(PIP) -r /dev/stdin
	@touch $@

$(VENV)/.dist-tools: $(VENV)/.created pyproject.toml
	@$(BIN)/python -c '$(WANTED)' dist | $(PIP) -r /dev/stdin
	@touch $@

# CMake knows what is up to date.
core-test: $(VENV)/.created
	$(IN_VENV) cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DINCC_WERROR=$(WERROR) \
	  -DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" -Dpybind11_DIR="$$($(BIN)/python -m pybind11 --cmakedir)" >/dev/null
	$(IN_VENV) cmake --build $(BUILD) --target all incc_core_test

check: $(VENV)/.installed $(VENV)/.test-tools core-test
	$(IN_VENV) $(BIN)/python test/run.py $(BUILD)/incc_core_test

check-all: $(VENV)/.installed $(VENV)/.test-tools core-test
	$(IN_VENV) $(BIN)/python test/run.py $(BUILD)/incc_core_test --all

# The tests of properties, on other examples each time.
explore: $(VENV)/.installed $(VENV)/.test-tools
	$(IN_VENV) $(BIN)/python -m pytest --numprocesses=auto --dist=worksteal --hypothesis-profile=explore \
	  -m hypothesis test/unit

# Write every golden file anew; look at `git diff` before you commit it.
golden: $(VENV)/.installed $(VENV)/.test-tools
	INCC_GOLDEN=write $(IN_VENV) $(BIN)/lit -q test/lit/golden

# mypy needs the optional libraries, which are among what tests want.
lint: $(VENV)/.installed $(VENV)/.test-tools $(VENV)/.lint-tools $(VENV)/.docs-tools
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/radon cc --json core $(PACKAGES) | $(BIN)/python -c '$(COMPLEX)'
	$(BIN)/mypy -p incc
	$(BIN)/codespell $(PACKAGES) core docs front editors/vscode/*.js editors/vscode/*.md editors/vscode/stubs README.md CHANGELOG.md CONTRIBUTING.md
	$(BIN)/python core/generate.py --check
	$(BIN)/lint-imports --no-cache
	$(BIN)/clang-format --dry-run --Werror $(CXX_SOURCES)
	$(SITE)

SITE := NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
docs: $(VENV)/.installed $(VENV)/.docs-tools
	$(SITE)

format: $(VENV)/.lint-tools
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(CXX_SOURCES)

dev: core-test
	@mkdir -p build/dev/incc
	@for p in $(PACKAGES); do ln -sfn ../../../$$p build/dev/incc/$$p; done
	@ln -sfn ../../../core/python build/dev/incc/core
	@ln -sfn ../../../driver/package.py build/dev/incc/__init__.py
# Not over one that some process has in use.
	@for f in $(BUILD)/_core*.so; do cp "$$f" core/python/_core.new && mv core/python/_core.new "core/python/$$(basename "$$f")"; done
	@for f in $(BUILD)/incc_markers-*.so $(BUILD)/incc_source-*.so; do [ ! -e "$$f" ] || \
	  { cp "$$f" frontends/clang_plugin/new && mv frontends/clang_plugin/new "frontends/clang_plugin/$$(basename "$$f")"; }; done
	@[ ! -e $(BUILD)/libincc-preload.so ] || \
	  { cp $(BUILD)/libincc-preload.so driver/builds/new && mv driver/builds/new driver/builds/libincc-preload.so; }
	@[ ! -e $(BUILD)/probe.o ] || cp $(BUILD)/probe.o running/runtime/probe.o
	@ln -sfn ../$(BUILD)/tables models/tables
	@mkdir -p build/dev/bin
	$(IN_VENV) cmake $(BUILD) -DINCC_DEV_PYTHON="$(CURDIR)/$(BIN)/python" -DINCC_DEV_PLACE="$(CURDIR)/build/dev" >/dev/null
	$(IN_VENV) cmake --build $(BUILD) --target dev_programs
	@for f in $(BUILD)/programs/*; do c=build/dev/bin/$$(basename "$$f"); cp "$$f" $$c.new && mv $$c.new $$c; done
	@[ ! -e $(BUILD)/tied ] || { cp $(BUILD)/tied support/tied.new && mv support/tied.new support/tied; }
	@mkdir -p build/dev/share/cmake/Incc
	@ln -sfn ../../../../../cmake/InccConfig.cmake build/dev/share/cmake/Incc/InccConfig.cmake
	@ln -sfn ../../../../core/InccConfigVersion.cmake build/dev/share/cmake/Incc/InccConfigVersion.cmake

# In build/sanitize, dev has the front with sanitizers and otherwise what build/dev has, core has the core with them.
# Python is not built with AddressSanitizer, so its library is loaded first. What Python keeps to its end is no leak.
SANITIZE := build/sanitize
SANITIZED := ASAN_OPTIONS=detect_leaks=0:exitcode=99 UBSAN_OPTIONS=print_stacktrace=1 \
  PATH="$(CURDIR)/$(SANITIZE)/dev/bin:$(CURDIR)/$(BIN):$$PATH"
SECONDS := 60
sanitize: dev
	$(IN_VENV) cmake -S . -B $(SANITIZE) -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DINCC_STATIC=OFF \
	  -DCMAKE_CXX_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=all" \
	  -DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" -Dpybind11_DIR="$$($(BIN)/python -m pybind11 --cmakedir)" \
	  -DINCC_DEV_PYTHON="$(CURDIR)/$(BIN)/python" -DINCC_DEV_PLACE="$(CURDIR)/build/dev" >/dev/null
	$(IN_VENV) cmake --build $(SANITIZE) --target _core incc_core_test dev_programs
	@mkdir -p $(SANITIZE)/dev/bin $(SANITIZE)/core/incc/core
	@ln -sfn "$(CURDIR)/build/dev/incc" $(SANITIZE)/dev/incc
	@cp $(SANITIZE)/programs/* $(SANITIZE)/dev/bin
	@for p in $(PACKAGES) __init__.py; do ln -sfn "$(CURDIR)/build/dev/incc/$$p" $(SANITIZE)/core/incc/$$p; done
	@ln -sf "$(CURDIR)"/core/python/*.py* "$(CURDIR)"/$(SANITIZE)/_core*.so $(SANITIZE)/core/incc/core
	$(SANITIZE)/incc_core_test
	$(SANITIZED) PYTHONPATH=$(SANITIZE)/dev $(BIN)/python -m pytest --numprocesses=auto \
	  test/unit/test_front.py test/unit/test_front_faults.py test/unit/test_options.py test/unit/test_response_files.py
	$(SANITIZED) PYTHONPATH="$(CURDIR)/$(SANITIZE)/core" LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so)" \
	  $(BIN)/python -m test.fuzz --seconds $(SECONDS)

describe: dev
	PYTHONPATH=build/dev $(BIN)/python -m incc.models.schema.describe
	PYTHONPATH=build/dev $(BIN)/python -m incc.views.schemas

editors:
	@mkdir -p build
	cd editors/vscode && npm ci --silent && npm run lint && npm test && npm pack --pack-destination=../../build

page:
	cd live/web/page && npm ci --silent && npm run lint && npm test && npm run build

pictures: $(VENV)/.installed
	$(IN_VENV) $(BIN)/python docs/pictures.py

# The wheel is built from the sdist.
dist: $(VENV)/.dist-tools
	rm -rf dist
	$(IN_VENV) $(BIN)/python -m build --quiet
	$(BIN)/twine check --strict dist/*
	$(BIN)/python test/smoke.py dist/*

clean:
	rm -rf build dist $(VENV)
