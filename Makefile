# The commands of urnd's builders. They need Go, git and make.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
FUZZTIME ?= 10s

.PHONY: generate run build test test-deps lint fuzz bench cover clean

run:
	go run ./cmd/urnd serve

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o urnd ./cmd/urnd

# The servers that tests speak with, from Debian's packages.
test-deps:
	sh internal/testserver/install.sh

test: test-deps
	go vet ./...
	go test -race ./...
	cd internal/bench && go vet ./... && go test ./...

lint:
	go tool -modfile=internal/tools/go.mod golangci-lint run ./...
	cd internal/bench && go tool -modfile=../tools/go.mod golangci-lint run ./...

# Every fuzz target, FUZZTIME each.
fuzz:
	@set -e; for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done

# With peers beside it, in a module of their own.
bench:
	go test -run '^$$' -bench . -benchmem ./...
	cd internal/bench && go test -run '^$$' -bench . -benchmem ./...

cover:
	go test -coverpkg=./... -coverprofile=cover.out ./...
	go tool cover -func=cover.out | tail -n 1

# What is made from the code.
generate:
	go run ./cmd/urnd config example > config/example.yaml

clean:
	rm -f urnd cover.out
