# Kinetic for kubectl. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

export GO111MODULE := on

PKG := github.com/kubectl-kinetic/kinetic
# A release's tag, or the commits since it; the binaries of a clone without tags know
# their commit anyway.
VERSION ?= $(shell git describe --tags --match 'v*' --dirty 2>/dev/null)
LDFLAGS := -s -w $(if $(VERSION),-X $(PKG)/pkg/internal/version.linked=$(VERSION))
# The Cloud Storage client uses HTTP here: without its gRPC, a binary is smaller and starts in
# half the time. Without gRPC's tracing, which brings templates that call methods by name, the
# linker leaves out all methods that nothing calls: 8 MB of 42.
TAGS := disable_grpc_modules,grpcnotrace
# One set of flags for builds, tests and linters: what is compiled once serves all of them,
# whatever directory the clone is in.
export GOFLAGS := $(shell go env GOFLAGS) -trimpath -tags=$(TAGS)
# Tests start Python often. What a version manager calls python3 is a script that takes ten times as long to start it.
# A link that is right stays: go repeats all tests that look for python3 when it changes.
$(shell mkdir -p .cache/path; python="$$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')"; \
	test "$$(readlink .cache/path/python3)" = "$$python" || ln -sfn "$$python" .cache/path/python3)
export PATH := $(CURDIR)/.cache/path:$(PATH)
GO_BUILD := CGO_ENABLED=0 go build -ldflags '$(LDFLAGS)'

# Packages that start goroutines are tested with the race detector, all others without it.
RACE = $(sort $(dir $(shell grep -rlE --include='*.go' --exclude='*_test.go' '\bgo func|errgroup\.|parallel\.Each|parallel\.Collect|\.Go\b' pkg)))
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
GOLANGCI := go tool -modfile=hack/tools/go.mod golangci-lint

##@ Build

.PHONY: build
build: ## Build every binary into bin/
	@mkdir -p bin
	@CGO_ENABLED=0 go run ./hack/runnerzip
	$(GO_BUILD) -o bin/ ./plugins/...
	@ln -sfn kubectl-kinetic bin/kubectl_complete-kinetic

# What the demo runs, where, and how; try DEMO_ARGS='-a tpu-v6e-8 --image python:3.12-slim --project my-project --dry-run -o yaml'
DEMO ?= examples/iris/train.py:train
CLUSTER ?=
ifeq ($(CLUSTER),)
DEMO_ARGS ?= --local
else ifeq ($(CLUSTER),local)
DEMO_ARGS ?=
CLUSTER_ENV := eval "$$(hack/cluster/env.sh)";
demo bench demo-gke: cluster
else
$(error CLUSTER=$(CLUSTER): it is local, the one that make cluster brings up, or empty for no cluster)
endif

.PHONY: demo
demo: build ## Train a model on this machine; on a local cluster with CLUSTER=local
	@echo '$$ kubectl kinetic run $(strip $(DEMO) $(DEMO_ARGS))' >&2
	@$(CLUSTER_ENV) PATH="$(CURDIR)/bin:$$PATH" kubectl-kinetic run $(DEMO) $(DEMO_ARGS)
ifeq ($(CLUSTER),local)
	@echo 'The cluster stays up. To use it:  export PATH=$$PWD/bin:$$PATH; eval "$$(make -s cluster-env)"' >&2
	@echo '                   for example:  kubectl kinetic run $(DEMO) --detach; kubectl kinetic jobs list' >&2
	@echo '              to take it down:  make cluster-down' >&2
endif

# Behind the clusters of the demo is this machine's; pools with accelerators borrow its nodes with chips.
ON_CLUSTER := -kubernetes -machines tpu-0,tpu-1
.PHONY: demo-gke
# What to run instead of a shell; try DEMO_GKE='kubectl kinetic up --dry-run'
DEMO_GKE ?=
export DEMO_GKE
demo-gke: build # Try up, pool, status, doctor and down without an account, in a shell with a Google Cloud of its own; with CLUSTER=local on the cluster of make cluster
	@CGO_ENABLED=0 go build -o .cache/demogke ./hack/demogke
	@$(CLUSTER_ENV) PATH="$(CURDIR)/bin:$$PATH" .cache/demogke $(if $(CLUSTER),$(ON_CLUSTER)) $(if $(DEMO_GKE),sh -c "$$DEMO_GKE")

.PHONY: docs
docs: hack/docs/node_modules ## Make the site of docs/ in dist/docs
	npm run --prefix hack/docs --silent build

.PHONY: recordings
recordings: build # Run the scenes of hack/recordings, and draw docs/recordings/NAME.svg of each; needs python3-pyte and kubectl
	hack/recordings/draw.sh hack/recordings/scenes

.PHONY: recordings-cluster
recordings-cluster: build # The same for the scenes that need this machine's cluster
	hack/cluster/with.sh hack/recordings/draw.sh hack/recordings/cluster

.PHONY: docs-serve
docs-serve: hack/docs/node_modules # Show the site while docs/ is edited
	npm run --prefix hack/docs --silent dev

hack/docs/node_modules: hack/docs/package-lock.json
	npm ci --prefix hack/docs --silent --no-audit --no-fund
	@touch $@

.PHONY: cross
cross: # Compile and vet for every platform of a release, keeping nothing
	@export CGO_ENABLED=0; for platform in $(PLATFORMS); do \
		echo "$$platform"; export GOOS=$${platform%/*} GOARCH=$${platform#*/}; \
		go build -o /dev/null ./plugins/...; \
		go vet ./...; \
	done
test-full: cross

LICENSES := CGO_ENABLED=0 go run ./hack/licenses -tags $(TAGS)

.PHONY: notices
notices: # Write THIRD_PARTY_LICENSES, the licenses of all that is linked into the binaries
	$(LICENSES) -o THIRD_PARTY_LICENSES $(PLATFORMS)

.PHONY: release-snapshot
# For one platform only: make release-snapshot PLATFORM=linux/amd64
PLATFORM ?= all
release-snapshot: # Build a release into dist/ without publishing: docs/release.md
	hack/release/snapshot.sh dist $(PLATFORM)

.PHONY: update-bases
update-bases: # Pin the base images: ask their registry for the digests and versions that the tags stand for now
	CGO_ENABLED=0 go run ./hack/bases pkg/packages/decide/bases.json

.PHONY: update-leaderworkerset
update-leaderworkerset: # Write the manifest of LeaderWorkerSet that `up` applies, of the version in hack/cluster/lws/go.mod
	CGO_ENABLED=0 go run ./hack/leaderworkerset $$(cd hack/cluster/lws && go list -m -f '{{.Dir}} {{.Version}}' sigs.k8s.io/lws) \
		>manifests/leaderworkerset/leaderworkerset.yaml.new
	mv manifests/leaderworkerset/leaderworkerset.yaml.new manifests/leaderworkerset/leaderworkerset.yaml

.PHONY: clean
clean: # Remove what the targets above made
	rm -rf bin dist .cache/release

##@ Check

# Without the cluster's environment: a shell's settings must not affect unit tests.
# Tests often wait, for processes and servers, so twice as many run as there are cores.
AT_ONCE = -p $$((2 * $$(getconf _NPROCESSORS_ONLN))) -parallel $$((2 * $$(getconf _NPROCESSORS_ONLN)))
GO_TEST := env -u KUBEBOX CGO_ENABLED=0 go test -timeout 20m $(AT_ONCE)
# By default a program with the race detector sleeps for a second before it ends, to catch goroutines that still
# run. Tests wait for theirs.
GO_TEST_RACE := env -u KUBEBOX CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 go test -timeout 30m -race $(AT_ONCE)
# The runner's tests use a real server of Cloud Storage's API: the cluster's. It is built
# as for the cluster, so that one build serves both.
REGISTRY = CGO_ENABLED=0 GOFLAGS=-trimpath go -C hack/tools/registry tool -n registry
FAKE_GCS_SERVER = CGO_ENABLED=0 GOFLAGS=-trimpath go -C hack/cluster/kubebox tool -n fake-gcs-server
# The tests in Python often wait, too: twice as many files run at a time as there are cores, and one more. A
# process that is lost fails its test: with another in its place, the rest may wait for ever.
PYTEST = /usr/bin/python3 -m pytest -q --max-worker-restart=0 -n "$$((2 * $$(getconf _NPROCESSORS_ONLN) + 1))" --dist loadfile
# In the package's directory, go shows the tests' output, such as why one is skipped.
# Three scripts at a time keep two cores busy: they also wait.
E2E := CGO_ENABLED=0 hack/cluster/with.sh go -C hack/e2e test -count=1 -timeout 90m -parallel 3

.PHONY: test
test: test-quick test-release test-outputs build ## Run all tests but the long ones
	@echo '$(E2E) -skip TestClusterLong'; $(E2E) -skip TestClusterLong || { code=$$?; ((code == 77)) && echo 'the tests on a cluster were skipped: why is said above'; exit $$((code == 77 ? 0 : code)); }

.PHONY: test-quick
test-quick: prepare test-python ## Run all tests that need no cluster
	CGO_ENABLED=0 go vet ./...
	raced="$$(go list $(RACE:%=./%))"; plain="$$(go list ./... | grep -vxF "$$raced")"; $(GO_TEST) $$plain; \
		registry="$$($(REGISTRY))"; KINETIC_TEST_REGISTRY="$$registry" $(GO_TEST_RACE) $$raced
	server="$$($(FAKE_GCS_SERVER))"; FAKE_GCS_SERVER="$$server" $(PYTEST) runner/tests

.PHONY: test-python
test-python: prepare build # Run the tests of the Python package, with jobs on this machine
	KINETIC_BIN="$(CURDIR)/bin" $(PYTEST) runner/pytests

.PHONY: test-outputs
test-outputs: prepare # Kill programs that write as training programs do: what is restored must be whole and new (Linux, root)
	hack/outputs/judge.py --quick || { code=$$?; ((code == 77)) && echo 'the tests of outputs were skipped: why is said above'; exit $$((code == 77 ? 0 : code)); }

# The number of the first round of hack/outputs/soak.sh, to continue where one before has ended.
SEED ?= 1
.PHONY: soak
soak: prepare # Kill programs, and the saving of their outputs, for up to an hour: what is restored must be whole
	hack/outputs/soak.sh $(SEED)

.PHONY: soak-warm
soak-warm: prepare # Kill the processes, connections and store of warm hosts a thousand times each, for about 45 minutes
	server="$$($(FAKE_GCS_SERVER))"; KINETIC_MANY=1000 FAKE_GCS_SERVER="$$server" /usr/bin/python3 -m pytest -q -s runner/tests/test_warm_many.py runner/tests/test_warm_store.py

# Packages whose tests need no paths, files or processes of Unix.
PORTABLE := accelerator api internal/backoff internal/human internal/parallel internal/platform internal/transport internal/version job/logs/display kube/diagnose kube/joblist kube/podconn kube/versions

.PHONY: test-portable
test-portable: # Run the tests that need no Unix, for macOS and Windows: docs/platforms.md
	$(GO_TEST) $(PORTABLE:%=./pkg/%)

.PHONY: test-release
test-release: prepare # Make a release of this machine's platform, install it with krew, upgrade it, uninstall it
	hack/release/test.sh

.PHONY: test-full
test-full: prepare-full test # Run all tests, and those that take long or need much: long scripts on the cluster; releases of every platform, built twice; notebooks; an image of 3 GB; the acceptance run
	$(E2E) -run TestClusterLong
	hack/release/test.sh all
	hack/release/reproducible.sh
	KINETIC_TEST_LARGE=1 CGO_ENABLED=0 go test -count=1 -timeout 40m -v ./hack/largeset
	$(MAKE) acceptance-local

.PHONY: test-e2e
test-e2e: build # Run the tests on the real cluster of this machine, which comes up for them (Linux, root)
	$(E2E) -v

# More flags of the script: docs/acceptance.md
ACCEPTANCE_ARGS ?=
ACCEPTANCE := CGO_ENABLED=0 go build -o .cache/acceptance/run ./hack/acceptance && PATH="$(CURDIR)/bin:$$PATH"
.PHONY: acceptance
acceptance: build # Prove that all works in a Google Cloud project of yours, for at most $20: make acceptance PROJECT=my-project
	@$(ACCEPTANCE) .cache/acceptance/run --project '$(PROJECT)' $(ACCEPTANCE_ARGS)

.PHONY: acceptance-local
acceptance-local: build # The same against the servers of demo-gke, with this machine's cluster behind them (Linux, root)
	@CGO_ENABLED=0 go build -o .cache/demogke ./hack/demogke
	@$(ACCEPTANCE) hack/cluster/with.sh .cache/demogke $(ON_CLUSTER) .cache/acceptance/run --project acme --local $(ACCEPTANCE_ARGS) || \
		{ code=$$?; ((code == 77)) && echo 'the acceptance run was skipped: why is said above'; exit $$((code == 77 ? 0 : code)); }

.PHONY: lint
lint: prepare ## Check style, licenses and vulnerabilities
	hack/check-format.sh
	hack/check-rules.sh
	git ls-files -z --cached --others --exclude-standard '*.sh' .ci/run | xargs -0 shellcheck --external-sources --source-path=SCRIPTDIR
	cd runner && mypy kinetic pytests
	npm ci --prefix hack/tools/pyright --silent --no-audit --no-fund
	hack/tools/pyright/node_modules/.bin/pyright --project runner --pythonpath /usr/bin/python3
	go mod tidy -diff
	CGO_ENABLED=0 go vet ./...
	CGO_ENABLED=0 $(GOLANGCI) run --allow-parallel-runners ./...
	CGO_ENABLED=0 go tool -modfile=hack/tools/actionlint/go.mod actionlint
	$(LICENSES) $(PLATFORMS)
	hack/check-vulnerabilities.sh -tags $(TAGS)

.PHONY: golden
golden: ## Rewrite the golden files of all packages
	CGO_ENABLED=0 go test $$(grep -rl --include='*_test.go' 'flag.Bool("update"' pkg | xargs -n1 dirname | sort -u | sed 's|^|./|') -update

.PHONY: bench
# Flags of hack/bench; one group of figures: make bench BENCH='-only images'
BENCH ?=
bench: build ## Measure the binaries against other tools
	$(CLUSTER_ENV) go run ./hack/bench $(BENCH)

.PHONY: prepare
prepare: # Install missing tools for tests and lint
	hack/prepare.sh

.PHONY: prepare-full
prepare-full: # Install what test-full needs and this machine lacks
	hack/prepare.sh full

##@ Cluster

.PHONY: cluster
cluster: ## Start a Kubernetes cluster on this machine (Linux, root)
	@hack/cluster/up.sh

.PHONY: cluster-env
cluster-env: # Print what makes a shell use it: eval "$(make -s cluster-env)"
	@hack/cluster/env.sh

.PHONY: cluster-down
cluster-down: ## Remove that cluster
	@hack/cluster/down.sh

##@ Help

.PHONY: help
help: ## List the main targets
	@awk 'BEGIN {FS = ":.*## "} /^##@ / {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
