# make demo    install into .venv and analyse the example
# make check   install with the test extra, run every test
# make lint    ruff, mypy, clang-format
# make describe   tables in docs/models.md and model.schema.json from models/parameters.py
# make dev     build/dev: the package as links into the tree, for PYTHONPATH=build/dev
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find core driver frontends models -type f -not -path '*/__pycache__/*' 2>/dev/null) CMakeLists.txt pyproject.toml

.PHONY: demo check lint dev clean golden format describe
.DEFAULT_GOAL := demo

demo: $(VENV)/.installed
	PATH="$(CURDIR)/$(BIN):$$PATH" incc -O3 -march=skylake-avx512 --analyze -c examples/triad.c -o build/triad.o

$(VENV)/.created:
	$(PYTHON) -c 'import sys; sys.exit("incc needs Python 3.11 or newer, not " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'scikit-build-core>=0.10' 'pybind11>=2.12' 'cmake>=3.20' 'ninja>=1.10'
	@touch $@

# Without build isolation the same build folder serves again, so that only changed C++ files are compiled.
$(VENV)/.installed: $(VENV)/.created $(SOURCES)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation .
	@touch $@

$(VENV)/.test-tools: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'filecheck>=1.0' 'hypothesis>=6.100' 'jsonschema>=4.21' 'lit>=18.1' 'pytest>=8.0'
	@touch $@

$(VENV)/.lint-tools: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'clang-format>=19.1,<20' 'mypy>=1.10' 'ruff>=0.5'
	@touch $@

build/core/incc_core_test: $(wildcard core/*.cpp core/*/*.cpp core/*/*.h core/lib/sim/* core/include/incc/*.h) CMakeLists.txt $(VENV)/.created
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S . -B build/core -G Ninja -DCMAKE_BUILD_TYPE=Release -DINCC_CORE_TESTS=ON \
	  -DINCC_WERROR=ON -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -Dpybind11_DIR=$$($(BIN)/python -m pybind11 --cmakedir) >/dev/null
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/core
	@touch $@

check: $(VENV)/.installed $(VENV)/.test-tools build/core/incc_core_test
	build/core/incc_core_test
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/lit test/lit
	$(BIN)/python -m pytest

# Write every golden file anew; look at `git diff` before you commit it.
golden: $(VENV)/.installed $(VENV)/.test-tools
	INCC_GOLDEN=write PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/lit -q test/lit/golden

lint: $(VENV)/.installed $(VENV)/.lint-tools
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy -p incc
	$(BIN)/clang-format --dry-run --Werror core/*.cpp core/*/*.cpp core/lib/sim/*.cpp core/lib/sim/*.h core/include/incc/*.h

format: $(VENV)/.lint-tools
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i core/*.cpp core/*/*.cpp core/lib/sim/*.cpp core/lib/sim/*.h core/include/incc/*.h

dev: build/core/incc_core_test
	@mkdir -p build/dev/incc
	@ln -sfn ../../../driver build/dev/incc/driver
	@ln -sfn ../../../frontends build/dev/incc/frontends
	@ln -sfn ../../../models build/dev/incc/models
	@ln -sfn ../../../core/python build/dev/incc/core
	@ln -sfn ../../../driver/package.py build/dev/incc/__init__.py
	@cp build/core/_core*.so core/python/
	@mkdir -p build/dev/bin
	@for c in incc incc-mca incc-model incc-scan; do \
	  m=$${c#incc-}; \
	  printf '#!%s\nimport sys\nsys.path.insert(0, "%s")\nfrom incc.driver import %s as m\nsys.exit(getattr(m, "command", m.main)())\n' \
	    "$(CURDIR)/$(BIN)/python" "$(CURDIR)/build/dev" "$$m" > build/dev/bin/$$c; chmod +x build/dev/bin/$$c; done

describe: dev
	PYTHONPATH=build/dev $(BIN)/python -m incc.models.describe

clean:
	rm -rf build $(VENV)
