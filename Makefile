# The commands of urnd's builders. They need Go, git and make.

# The version: the file is in the program, too, and nothing else decides it.
VERSION := $(shell cat cmd/urnd/version.txt)
export VERSION
# The commit is said beside it, where git knows it: 12 digits, since how many git would write depends on the objects of a clone.
COMMIT := $(shell commit=$$(git rev-parse --short=12 HEAD 2>/dev/null) && echo "$$commit$$(git diff --quiet HEAD || echo -dirty)")
# The only date in what is built: that of the commit (https://reproducible-builds.org/specs/source-date-epoch/).
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH
FUZZTIME ?= 10s

.PHONY: lint-main lint-bench lint-deploy lint-test adversary pictures soak soak-proxy deb generate promise run build test test-all test-race test-modules test-e2e test-e2e-race test-long slowest test-boot test-deps lint fuzz bench bench-peers bench-trace simulate bench-registry pgo cover clean release vuln reproducible package-files image vet-platforms

# What is in a binary is said here as a whole, and not by the directory, the machine or its environment. Everything is compiled in one
# way, so that one cache of builds serves all commands and all clones: without C, as it is shipped, and but for BUILD and benchmarks
# without the profile of the program, by which all that it consists of is compiled a second time.
export GOAMD64 := v1
export GOARM64 := v8.0
export GORISCV64 := rva20u64
export CGO_ENABLED := 0
export GOFLAGS := $(GOFLAGS) -trimpath -buildvcs=false -pgo=off
PGO ?= auto
BUILD = go build -pgo=$(PGO) -ldflags '-s -w -X main.commit=$(COMMIT)'

# The packages are said while they are compiled, for the first time many; urnd itself gets Ctrl-C, and ends with status 0.
run:
	@echo 'Building ./urnd: for the first time this takes some minutes. Each package is named once it is compiled.'
	@$(BUILD) -pgo=off -v -o urnd ./cmd/urnd
	@echo 'Running ./urnd serve: open http://127.0.0.1:8141/ in a browser. Ctrl-C ends it.'
	@./urnd serve

build:
	$(BUILD) -o urnd ./cmd/urnd

# A Debian package, in dist. Its manual and completions are made by the binary.
DEB_ARCH := $(shell go env GOARCH)
# The test of the package has another one, which compresses quickly.
NFPM_CONFIG ?= packaging/nfpm.yaml

# The files that packages have, in dist.
package-files:
	rm -rf dist && mkdir -p dist/man dist/completions
	$(BUILD) -o dist/urnd ./cmd/urnd
	dist/urnd config example --commented > dist/urnd.yaml
	dist/urnd man dist/man
	rm -f dist/man/urnd-completion*
	gzip -9n dist/man/*
	packaging/notices > dist/notices
	gzip -9n dist/notices
	dist/urnd completion bash > dist/completions/urnd.bash
	dist/urnd completion zsh > dist/completions/_urnd
	dist/urnd completion fish > dist/completions/urnd.fish
	printf 'urnd (%s-1) unstable; urgency=medium\n\n  * See CHANGELOG.md of the project.\n\n -- The urnd founders <maintainers@urnd.invalid>  %s\n' \
		'$(VERSION)' "$$(LC_ALL=C date -u -R -d @$(SOURCE_DATE_EPOCH))" | gzip -9n > dist/changelog.Debian.gz

deb: package-files
	DEB_ARCH=$(DEB_ARCH) go tool -modfile=internal/tools/go.mod nfpm package --config $(NFPM_CONFIG) --packager deb --target dist

# Where urnd is released for: Linux for those who run it, the others for those who develop there.
PLATFORMS ?= linux/amd64 linux/arm64 linux/riscv64 darwin/amd64 darwin/arm64 freebsd/amd64

# The Go that releases are built with, and checked for vulnerabilities with: the newest patch release.
TOOLCHAIN := $(shell sed -n 's/^toolchain //p' go.mod)

# Binaries of PLATFORMS, packages, their SBOMs and checksums, in dist/release: the same bytes wherever the same commit is
# built by the same Go. SIGN=KEY signs the checksums with a key of ssh-keygen.
release: export GOTOOLCHAIN := $(TOOLCHAIN)
release: package-files
	PLATFORMS='$(PLATFORMS)' packaging/release $(BUILD)
	$(if $(SIGN),packaging/sign '$(SIGN)' dist/release/SHA256SUMS)

# Known vulnerabilities of what urnd calls, by the database of the Go project as it was when internal/tools was updated;
# "cd internal/tools && go get golang.org/x/vulndb@latest" is to be done before a release.
vuln: export GOTOOLCHAIN := $(TOOLCHAIN)
vuln:
	rm -rf dist/vulndb
	go tool -modfile=internal/tools/go.mod indexdb -out dist/vulndb \
		-vulns "$$(go list -modfile=internal/tools/go.mod -m -f '{{.Dir}}' golang.org/x/vulndb)/data/osv"
	go tool -modfile=internal/tools/go.mod govulncheck -db 'file://$(CURDIR)/dist/vulndb' ./...

# Where the image for containers runs.
IMAGE_PLATFORMS ?= linux/amd64 linux/arm64 linux/riscv64

# An image of IMAGE_PLATFORMS, an OCI layout in dist/image, without a registry, an engine of containers or root; prints its digest.
image: export GOTOOLCHAIN := $(TOOLCHAIN)
image:
	PLATFORMS='$(IMAGE_PLATFORMS)' packaging/image $(BUILD)

# The release of HEAD, made twice where nothing is the same, has the same bytes; REPRODUCE=linux/amd64 in part.
REPRODUCE ?= $(PLATFORMS)
reproducible:
	PLATFORMS='$(REPRODUCE)' packaging/reproducible

# What is for one system alone is told apart by build tags. No test of another system is run.
vet-platforms:
	@set -e; for platform in $(PLATFORMS); do \
		echo "go vet for $$platform"; \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} go vet ./...; \
	done

# The servers that tests speak with, from Debian's packages.
test-deps:
	sh internal/testserver/install.sh
	if [ -n "$$CI" ]; then sh internal/testserver/npm.sh; fi

# gotestsum counts and sorts what "go test" says; its module is apart, so that "make test" downloads little. What is said is kept in OUT.
GOTESTSUM = go tool -modfile='$(CURDIR)/internal/tools/test/go.mod' gotestsum
SUMMED = $(GOTESTSUM) --format pkgname --format-hide-empty-pkg --hide-summary skipped --jsonfile
OUT := $(CURDIR)/.test

# The tests of all packages but the long ones, without the race detector, and without servers of others where none are installed.
test:
	go vet ./...
	@mkdir -p '$(OUT)'
	$(SUMMED) '$(OUT)/test.json' -- -short -vet=off ./...
	@echo "$$(grep -c '"Action":"skip".*"Test":' '$(OUT)/test.json') tests were skipped, as they are long or their servers are not installed: make test-all runs all"

# Everything: what "make test" leaves out, with the servers of others, which are installed as root on Debian. At its end are the ten slowest.
test-all: test test-race
	$(MAKE) -j2 test-modules test-e2e-race
	$(MAKE) test-e2e SHARD='$(OTHER_SHARDS)'
	$(MAKE) adversary slowest

# The race detector needs a C compiler. In CI it must run.
RACE = $(shell command -v "$$(go env CC)" >/dev/null 2>&1 && echo -race)

# Tests that the race detector only makes slow: what browsers show, figures of time and memory, and packages that start no goroutine.
PLAIN = ^Test(CachedAllocatesNothing|BeginAllocates|CompressedHitAllocates|CountingIsFree|Browsers|Pictures|Keyboard|Copy|Firefox|EditingInChromium|AccessibleToEditors|BulkPagesInBrowser|LiveJob|EveryPage|Linear|MemoryOfResponses|MemoryPerResponse)$$
PLAIN_OF = ./proxy/... ./internal/testserver ./resolver/ddds ./cmd/urnd
ALONE = ./uri ./urnns/... ./config ./internal/arch ./internal/promise

# All tests of all packages, the long ones too. More packages than processors at once: many tests wait for servers.
test-race: test-deps
	@[ -n "$(RACE)" ] || echo "there is no C compiler: the tests run without the race detector"
	@[ -n "$(RACE)" ] || [ -z "$$CI" ]
	@mkdir -p '$(OUT)'
	CGO_ENABLED=$(if $(RACE),1,0) $(SUMMED) '$(OUT)/race.json' -- -vet=off -timeout 60m -p 4 $(RACE) -skip '$(PLAIN)' $(filter-out $(shell go list $(ALONE)),$(shell go list ./...))
	$(SUMMED) '$(OUT)/plain.json' -- -vet=off -timeout 60m -run '$(PLAIN)' $(PLAIN_OF)
	$(SUMMED) '$(OUT)/alone.json' -- -vet=off -timeout 60m $(ALONE)

# The modules of tests that need what urnd does not depend on.
test-modules: test-deps
	cd internal/bench && go vet ./... && go test ./...
	cd internal/deploy && go vet ./... && go test ./...

# End-to-end tests, which start the built program: those of SHARD, such as SHARD=registry, or all. What the program is, the cache of
# tests does not see: -count 1.
SHARD ?= ...
test-e2e: test-deps
	@mkdir -p '$(OUT)'
	go build -o '$(OUT)/urnd' ./cmd/urnd
	cd test && go vet -tags e2e ./...
	cd test && TEST_URND='$(OUT)/urnd' $(SUMMED) '$(OUT)/e2e.json' -- -tags e2e -count 1 -timeout 60m $(addprefix ./,$(SHARD))

# Shards whose tests have the time for a program with the race detector, and the others. A command with it waits for a second at its end, unless
# GORACE says otherwise.
RACE_SHARDS = names registry cache failures gateways
OTHER_SHARDS = $(filter-out $(RACE_SHARDS) urndtest,$(patsubst test/%/doc.go,%,$(wildcard test/*/doc.go)))
test-e2e-race: test-deps
	@mkdir -p '$(OUT)'
	CGO_ENABLED=$(if $(RACE),1,0) go build $(RACE) -o '$(OUT)/urnd-race' ./cmd/urnd
	cd test && GORACE=atexit_sleep_ms=10 TEST_URND='$(OUT)/urnd-race' $(SUMMED) '$(OUT)/e2e-race.json' -- -tags e2e -count 1 -timeout 60m $(addprefix ./,$(RACE_SHARDS))

# The ten slowest tests of the runs before.
slowest:
	@cat '$(OUT)'/*.json | $(GOTESTSUM) tool slowest --num 10

# What takes long by its nature: tests with all their repetitions, mixed traffic for SOAK each, and random attackers for ten minutes.
test-long: soak soak-proxy
	TEST_LONG=1 go test -pgo=off -count 1 -timeout 60m ./...
	$(MAKE) adversary ADVERSARY=10m

# Installs the package in a Debian that systemd has booted; as root: see CONTRIBUTING.md.
test-boot:
	packaging/test-boot/run

# Two modules at a time: most of it is the loading of types, by one processor.
LINT = golangci-lint run --allow-parallel-runners
lint:
	$(MAKE) -j2 lint-main lint-bench lint-deploy lint-test

lint-main:
	go tool -modfile=internal/tools/go.mod $(LINT) ./...

lint-bench:
	cd internal/bench && go tool -modfile=../tools/go.mod $(LINT) ./...

lint-deploy:
	cd internal/deploy && go tool -modfile=../tools/go.mod $(LINT) ./...

lint-test:
	cd test && go tool -modfile=../internal/tools/go.mod $(LINT) --build-tags e2e ./...

# Every fuzz target, FUZZTIME each.
fuzz:
	@set -e; for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done

# Mixed traffic for SOAK, while the DNS fails and returns.
SOAK ?= 10m
soak:
	SOAK=$(SOAK) go test -timeout 0 -count 1 -v -run '^TestSoak$$' ./cmd/urnd

# The same through the forward proxy, of which every body is compared with what its origin sent.
soak-proxy:
	SOAK=$(SOAK) go test -timeout 0 -count 1 -v -run '^TestSoakProxy$$' ./cmd/urnd

# Hostile inputs, in about a minute; a duration, as in ADVERSARY=10m, plays random ones so long.
ADVERSARY ?= short
adversary:
	ADVERSARY=$(ADVERSARY) go test -timeout 0 -count 1 -v ./internal/adversary

# The pictures of docs/pages.md, of a running urnd in Chromium.
pictures:
	cd test && URND_PICTURES='$(CURDIR)/docs/img' go test -tags e2e -count 1 -run '^TestPicturesOfDocs$$' ./browser

# With peers beside it, in a module of their own.
bench:
	go test -pgo=auto -run '^$$' -bench . -benchmem ./...
	cd internal/bench && go test -run '^$$' -bench . -benchmem ./...

# With nginx, HAProxy, Varnish, Squid, Traffic Server, Apache and Caddy, one core each; as
# root on Debian: see docs/benchmarks.md. Only the table goes to standard output.
bench-peers: build test-deps
	sh internal/testserver/install.sh internal/bench/peers/packages >&2
	cd internal/bench && go build -o '$(CURDIR)/dist/floor' ./floor
	cd internal/bench && BENCH_URND='$(CURDIR)/urnd' BENCH_FLOOR='$(CURDIR)/dist/floor' go run -exec 'taskset -c 0' ./peers

# Hit ratios of the cache of responses in memory, beside those of LRU, GDSF, LFU and Belady: about a minute.
bench-trace:
	cd internal/bench && go run ./trace

# Hit ratios of several instances, with a second level of caches and without: a minute, or two on a busy machine. See docs/scale.md.
simulate:
	cd internal/bench && go run ./simulate $(SIMULATE)

# The profile by which the compiler optimizes urnd: "go build" and "go test" take it from
# cmd/urnd. It is of a program made without one, so that it depends on the code alone. See
# docs/benchmarks.md.
pgo:
	go build -o dist/urnd-without-profile ./cmd/urnd
	cd internal/bench && BENCH_URND='$(CURDIR)/dist/urnd-without-profile' BENCH_PROFILE='$(CURDIR)/cmd/urnd/default.pgo' go run -exec 'taskset -c 0' ./peers

# A store of the registry with NAMES names, in processes of their own: SQLite in a temporary
# directory, or STORE, which should be empty: sqlite:FILE or postgres://...
NAMES ?= 10000000
STORE ?=
bench-registry:
	BENCH_REGISTRY=$(NAMES) BENCH_REGISTRY_STORE='$(STORE)' go test -timeout 0 -count 1 -v -run '^TestBenchRegistry$$' ./cmd/urnd

cover:
	go test -coverpkg=./... -coverprofile=cover.out ./...
	go tool cover -func=cover.out | tail -n 1

# What is made from the code, and the version where files say it that cannot read it: TestVersion compares them.
generate:
	go generate ./config
	example=$$(go run ./cmd/urnd config example) && printf '%s\n' "$$example" > config/example.yaml
	sed -i -E 's/^(version|appVersion): .*/\1: $(VERSION)/' deploy/helm/urnd/Chart.yaml
	sed -i -E 's/^( +newTag: ).*/\1$(VERSION)/' deploy/kubernetes/kustomization.yaml
	sed -i -E 's/(URND_VERSION:-)[^}]+/\1$(VERSION)/' deploy/compose/compose.yaml
	sed -i -E 's/^(The version is )[^;]+/\1$(VERSION)/' docs/install.md

# Accepts what users see of urnd as it is now: see CONTRIBUTING.md.
promise:
	go test -count 1 ./internal/promise -update

clean:
	rm -rf urnd cover.out dist .test
