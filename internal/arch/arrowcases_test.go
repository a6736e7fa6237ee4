package arch

import (
	"testing"
)

// TestDependencyCases lists the imports that the design forbids, one per line, and enough permitted ones to
// show that the table is not too strict.
func TestDependencyCases(t *testing.T) {
	for _, c := range []struct {
		from, to string // folders
		ok       bool
	}{
		{"uri", "urnns", false},
		{"uri", "internal/netguard", false},
		{"uri", "config", false},
		{"urnns", "uri", true},
		{"urnns", "resolver", false},
		{"urnns", "cache", false},
		{"cache", "uri", false},
		{"cache", "resolver", false},
		{"cache", "cache/valkey", false},
		{"cache/valkey", "cache", true},
		{"cache/httpcache", "uri", false},
		{"cache/httpcache/disk", "cache", false},
		{"cache/httpcache/disk", "cache/httpcache/cachecontrol", false},
		{"cache/httpcache", "cache/valkey", false},
		{"cache/httpcache", "cache/httpcache/rules", true},
		{"cache/httpcache/rules", "cache/httpcache/body", false},
		{"cache/httpcache/rules", "cache/httpcache/disk", false},
		{"cache/httpcache/rules", "cache", false},
		{"cache/httpcache/body", "cache/httpcache", false},
		{"cache/httpcache/body", "cache", false},
		{"proxy/forward", "cache/httpcache/body", false},
		{"cache/httpcache", "internal/httpmessage", true},
		{"cache/httpcache/disk", "internal/httpmessage", false},
		{"internal/httpmessage", "resolver", false},
		{"internal/httpmessage", "proxy/message", false},
		{"resolver", "uri", true},
		{"resolver", "urnns", true},
		{"resolver", "cache", true},
		{"resolver", "resolver/ddds", false},
		{"resolver", "resolver/scheme", false},
		{"resolver", "proxy", false},
		{"resolver", "cache/httpcache", false},
		{"resolver", "internal/netguard", false},
		{"resolver/ddds", "cache", true},
		{"resolver/ddds", "resolver/thttp", false},
		{"resolver/ddds", "urnns", false},
		{"resolver/thttp", "resolver", true},
		{"resolver/thttp", "cache", false},
		{"resolver/thttp", "resolver/scheme", true},
		{"resolver/thttp", "resolver/scheme/http", false},
		{"resolver/slp", "uri", true},
		{"resolver/registry", "cache", false},
		{"resolver/registry", "resolver/registry/sqlite", false},
		{"resolver/registry/sqlite", "resolver/registry", true},
		{"resolver/registry/sqlite", "resolver/registry/postgres", false},
		{"resolver/registry/bulk", "resolver/registry/sqlite/sorter", true},
		{"resolver/registry/bulk", "resolver/registry/sqlite", false},
		{"resolver/registry/sqlite/sorter", "resolver/registry", false},
		{"resolver/registry", "resolver/registry/mint", false},
		{"resolver/registry/mint", "resolver/registry", true},
		{"resolver/registry/mint", "urnns", false},
		{"resolver/registry/token", "resolver/registry/count", false},
		{"resolver/registry/count", "internal/robots", true},
		{"resolver/registry/audit", "internal/api", false},
		{"resolver/scheme", "resolver", true},
		{"resolver/scheme", "resolver/scheme/http", false},
		{"resolver/scheme", "internal/netguard", false},
		{"resolver/scheme/http", "internal/netguard", true},
		{"resolver/scheme/http", "resolver/scheme", true},
		{"resolver/scheme/http", "resolver/scheme/ftp", false},
		{"resolver/scheme/ftp", "resolver/scheme/http", false},
		{"resolver/scheme/ftp", "internal/metrics", false},
		{"resolver/schemetest", "resolver/scheme/http", false},
		{"proxy", "resolver", true},
		{"proxy", "resolver/scheme", true},
		{"proxy", "cache/httpcache", false},
		{"proxy", "internal/metrics", false},
		{"proxy", "internal/daemon", false},
		{"proxy", "proxy/answer", true},
		{"proxy/listen", "proxy/message", false},
		{"proxy/listen", "resolver", false},
		{"proxy/message", "proxy/problem", false},
		{"proxy/message", "proxy/listen", false},
		{"proxy/problem", "proxy/message", true},
		{"proxy/problem", "proxy/answer", false},
		{"proxy/problem", "proxy/gate/policy", true},
		{"proxy/gate/policy", "uri", true},
		{"proxy/gate/policy", "proxy/message", false},
		{"proxy/gate/policy", "internal/netguard", false},
		{"proxy", "proxy/gate/policy", true},
		{"proxy", "proxy/route", true},
		{"proxy/route", "proxy/gate", false},
		{"proxy/route", "proxy/message", false},
		{"proxy/route", "cache/httpcache", false},
		{"proxy/gate", "proxy/route", true},
		{"proxy/gate", "proxy/answer", false},
		{"proxy/gate", "proxy/listen", false},
		{"proxy/forward", "proxy/gate/policy", true},
		{"proxy/answer", "proxy/gate/policy", false},
		{"config", "proxy/gate/policy", false},
		{"proxy/pages", "proxy/message", false},
		{"proxy/answer", "proxy/message", true},
		{"proxy/answer", "proxy/forward", false},
		{"proxy/answer", "resolver/scheme/http", false},
		{"proxy/pages", "resolver/scheme", true},
		{"proxy/answer", "proxy", false},
		{"proxy/forward", "resolver/scheme", true},
		{"proxy/forward", "proxy/answer", false},
		{"proxy/forward", "cache/httpcache", true},
		{"proxy/admin", "proxy/message", true},
		{"proxy/admin", "cache", false},
		{"proxy/http1", "internal/http1", true},
		{"proxy/http1", "proxy/http2", false},
		{"proxy/http1", "proxy/message", false},
		{"proxy/http2", "proxy/http1", false},
		{"proxy/http2", "proxy", false},
		{"proxy/listen", "proxy/http1", false},
		{"proxy/listen", "internal/httpmessage", false},
		{"proxy/forward", "proxy/forward/tunnel", true},
		{"proxy/forward/tunnel", "internal/httpmessage", false},
		{"internal/api", "resolver", true},
		{"internal/api", "proxy/message", false},
		{"internal/daemon", "proxy/listen", true},
		{"internal/daemon", "proxy", false},
		{"internal/daemon", "config", false},
		{"cache/httpcache/cachecontrol", "cache", false},
		{"resolver/thttp", "cache/httpcache/cachecontrol", true},
		{"proxy", "resolver/ddds", false},
		{"proxy", "resolver/scheme/http", false},
		{"proxy", "cache", false},
		{"proxy", "urnns", false},
		{"proxy", "config", false},
		{"proxy", "systemd", false},
		{"config", "uri", true},
		{"config", "resolver", false},
		{"systemd", "config", false},
		{"internal/netguard", "uri", true},
		{"internal/netguard", "resolver", false},
		{"internal/metrics", "internal/netguard", false},
		{"internal/newcomer", "resolver", false},
		{"cmd/urnd", "proxy", true},
		{"cmd/urnd", "systemd", true},
		{"cmd/urnd", "resolver/scheme/ftp", true},
		{"cmd/urnd", testserver, false},
		{"proxy", testserver, false},
		{testserver, testserver + "/dns", true},
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) {
			tr := fakeTree(t, map[string]string{
				c.from + "/x.go": "package x\n\nimport _ \"" + fakeModule + "/" + c.to + "\"\n",
			})
			want := []string{c.from + "/x.go:3 " + c.from + " imports " + c.to}
			if c.ok {
				want = nil
			}
			wantFindings(t, checkDependencies(tr, packageRules()), want...)
		})
	}
}

func TestDependenciesOutsideTheTable(t *testing.T) {
	for _, c := range []struct {
		name, path, text string
		want             []string
	}{
		{"an unlisted package", "util/x.go", "package util", []string{"util/x.go:1 util is in no row"}},
		{"code in the module root", "x.go", "package model", []string{"x.go:1 . is in no row"}},
		{
			"a package that may import none", "cache/x.go", "package cache\nimport _ \"" + fakeModule + "/uri\"",
			[]string{"cache/x.go:2 packages of the module that it may import: none"},
		},
		{
			"a package that may import two", "resolver/thttp/x.go",
			"package thttp\nimport _ \"" + fakeModule + "/cache\"",
			[]string{"resolver/thttp/x.go:2 packages of the module that it may import: resolver, resolver/scheme, uri"},
		},
		{"a folder below a leaf", "uri/deep/x.go", "package deep", []string{"uri/deep/x.go:1 uri/deep is in no row"}},
		{"another module with the same prefix", "uri/x.go", "package uri\nimport _ \"example.org/modelling\"", nil},
		{
			"a test may import all", "uri/x_test.go",
			"package uri\nimport _ \"" + fakeModule + "/internal/testserver\"", nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantFindings(t, checkDependencies(fakeTree(t, map[string]string{c.path: c.text}), packageRules()),
				c.want...)
		})
	}
	twice := fakeTree(t, map[string]string{"util/a.go": "package util", "util/b.go": "package util"})
	// Once per package, not per file.
	wantFindings(t, checkDependencies(twice, packageRules()), "util/a.go:1 util is in no row")
}

func TestRequiredFires(t *testing.T) {
	table := []packageRule{
		{"uri", nil, true, "bottom"},
		{"gone", nil, true, "missed"},
		{"onlytests", nil, true, "empty"},
		{"maybe", nil, false, "optional"},
	}
	tr := fakeTree(t, map[string]string{"uri/uri.go": "package uri", "onlytests/x_test.go": "package onlytests"})
	wantFindings(t, checkRequired(tr, table), "gone gone is required", "onlytests onlytests is required")
}
