package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// room is a package of ours, or a pattern of such, and what it may know.
type room struct {
	path     string   // from the module root; "*" is one segment
	may      []string // the packages of ours it may import; "..." is all
	required bool     // the house is not the house without it
	why      string
}

// rooms is the table of arrows. An exact path goes before a pattern.
func rooms() []room {
	return []room{
		{
			"uri", nil, true,
			"uri is the vocabulary at the bottom: everybody speaks it, so it may know nobody",
		},
		{
			"urnns",
			[]string{"uri"},
			true,
			"urnns is pure knowledge of URN namespaces, data about names: it needs the words (uri) and nothing that acts",
		},
		{
			"cache", nil, true,
			"cache is one generic machine for three caches that are never mixed: it knows no URI and no answer",
		},
		{
			"cache/*",
			[]string{"cache"},
			false,
			"what lies below cache serves the cache alone: a store or the rules of RFC 9111 know no URI and no answer",
		},
		{
			"resolver",
			[]string{"uri", "urnns", "cache"},
			true,
			"resolver is the domain: the systems plug into it from outside (cmd/urnd joins them), so it knows neither them nor who asks",
		},
		{
			"resolver/ddds",
			[]string{"resolver", "uri", "cache"},
			true,
			"a system answers the domain's question and knows no other system; ddds alone also has a cache, that of DNS record sets",
		},
		{
			"resolver/thttp",
			[]string{"resolver", "uri"},
			false,
			"a system answers the domain's question and knows no other system; its HTTP client is handed to it",
		},
		{
			"resolver/slp",
			[]string{"resolver", "uri", "cache"},
			false,
			"a system answers the domain's question and knows no other system; its sockets are handed to it, and a cache for the servers that it finds",
		},
		{
			"resolver/registry",
			[]string{"resolver", "uri"},
			false,
			"a system answers the domain's question and knows no other system; the registry knows its store only as an interface",
		},
		{
			"resolver/registry/*",
			[]string{"resolver/registry", "resolver", "uri"},
			false,
			"a store of the registry is a driver behind its interface: stores are strangers to each other",
		},
		{
			"resolver/scheme",
			[]string{"resolver", "uri"},
			true,
			"scheme is the interface and the mux; the handlers are put into it from outside (cmd/urnd), so it knows none of them",
		},
		{
			"resolver/scheme/http",
			[]string{"resolver/scheme", "resolver", "uri", "internal/netguard"},
			true,
			"a scheme is one folder that can be deleted: siblings are strangers, and the only way out is netguard",
		},
		{
			"resolver/scheme/*",
			[]string{"resolver/scheme", "resolver", "uri", "internal/netguard"},
			false,
			"a scheme is one folder that can be deleted: siblings are strangers, and the only way out is netguard",
		},
		{
			"resolver/schemetest",
			[]string{"resolver/scheme", "resolver", "uri"},
			false,
			"the conformance suite asks of a handler only what the interface promises, so it knows no handler",
		},
		{
			"proxy",
			[]string{"resolver", "resolver/scheme", "cache/httpcache", "uri", "internal/*"},
			true,
			"proxy is HTTP in and out around the domain: which systems and schemes answer is decided in cmd/urnd, and proxy can be deleted",
		},
		{
			"config",
			[]string{"uri"},
			true,
			"config is plain data: it describes the parts and therefore knows none of them, only how a name is written",
		},
		{
			"systemd", nil, false,
			"systemd is a thin layer over go-systemd: it passes on sockets and notices and knows nothing of what is served",
		},
		{
			"internal/netguard", nil, true,
			"netguard is the one dialer: its rules must be readable alone",
		},
		{
			"internal/testserver", nil, true,
			"testserver plays the peers on the other side of the wire: a peer that shares our code shares our faults",
		},
		{
			"internal/arch", nil, true,
			"arch reads the house and is no part of it",
		},
		{
			"internal/accesslog",
			[]string{"internal/redact"},
			false,
			"a line of a log may show what a client sent, but no password: who writes it takes them out",
		},
		{
			"internal/*", nil, false,
			"an internal package is a tool that any room may pick up, so it knows no room; if it needs another tool, give it a row of its own that says which",
		},
		{
			"cmd/urnd",
			[]string{"..."},
			true,
			"cmd/urnd joins the parts: it is the one place that knows them all",
		},
	}
}

const (
	testserver    = "internal/testserver"
	testserverWhy = "testserver holds fake peers, certificates and shortcuts: it must not be linked into what we ship, so only _test.go files import it"
	unlistedWhy   = "give it a row: every package says in rooms (internal/arch/arrows_test.go) what it may know, and why, before it grows arrows of its own"
	requiredWhy   = "rooms (internal/arch/arrows_test.go) says that the house needs it; a package that moved takes its row along"
)

// roomOf finds the row of a folder.
func roomOf(table []room, dir string) (room, bool) {
	for _, r := range table {
		if r.path == dir {
			return r, true
		}
	}
	for _, r := range table {
		if matches(r.path, dir) {
			return r, true
		}
	}
	return room{}, false
}

// importedPath is the path that an import names.
func importedPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value // unreachable: the parser has checked the literal
	}
	return p
}

// checkArrows holds the imports among packages of ours against the table.
func checkArrows(tr *tree, table []room) []finding {
	var found []finding
	unlisted := map[string]bool{}
	for _, s := range tr.code() {
		r, ok := roomOf(table, s.dir())
		if !ok {
			if !unlisted[s.dir()] {
				unlisted[s.dir()] = true
				found = append(found, finding{tr.where(s.ast.Package), "package " + s.dir() + " is in no row of the table of rooms", unlistedWhy})
			}
			continue
		}
		for _, spec := range s.ast.Imports {
			if f, bad := checkArrow(tr, s, r, spec); bad {
				found = append(found, f)
			}
		}
	}
	return found
}

func checkArrow(tr *tree, s *source, r room, spec *ast.ImportSpec) (finding, bool) {
	to, ours := tr.local(importedPath(spec))
	if !ours {
		return finding{}, false
	}
	if matches(testserver+"/...", to) {
		return finding{tr.where(spec.Pos()), s.dir() + " imports " + to + " outside a test", testserverWhy},
			!matches(testserver+"/...", s.dir())
	}
	if slices.ContainsFunc(r.may, func(p string) bool { return matches(p, to) }) {
		return finding{}, false
	}
	may := "nothing of ours"
	if len(r.may) > 0 {
		may = strings.Join(r.may, ", ")
	}
	what := fmt.Sprintf("%s imports %s; of our packages it may import: %s", s.dir(), to, may)
	return finding{tr.where(spec.Pos()), what, r.why}, true
}

// checkRequired reports the required rooms that hold no code.
func checkRequired(tr *tree, table []room) []finding {
	var found []finding
	for _, r := range table {
		there := slices.ContainsFunc(tr.code(), func(s *source) bool { return s.dir() == r.path })
		if r.required && !there {
			found = append(found, finding{r.path, "package " + r.path + " is required, and no Go file is there", requiredWhy})
		}
	}
	return found
}

func TestArrows(t *testing.T) { report(t, checkArrows(house(t), rooms())) }

func TestRequiredRooms(t *testing.T) { report(t, checkRequired(house(t), rooms())) }

// TestRoomTable keeps the table itself in order.
func TestRoomTable(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rooms() {
		if seen[r.path] {
			t.Errorf("%s has two rows", r.path)
		}
		seen[r.path] = true
		if r.why == "" {
			t.Errorf("%s has no reason", r.path)
		}
		if r.required && strings.Contains(r.path, "*") {
			t.Errorf("%s is a pattern: only a single package can be required", r.path)
		}
		for _, to := range r.may {
			if _, ok := roomOf(rooms(), to); !ok && to != "..." {
				t.Errorf("%s may import %s, which is in no row", r.path, to)
			}
		}
	}
}

func TestRequiredFires(t *testing.T) {
	table := []room{
		{"uri", nil, true, "bottom"},
		{"gone", nil, true, "missed"},
		{"onlytests", nil, true, "empty"},
		{"maybe", nil, false, "optional"},
	}
	tr := sketch(t, map[string]string{"uri/uri.go": "package uri", "onlytests/x_test.go": "package onlytests"})
	expect(t, checkRequired(tr, table), "gone gone is required", "onlytests onlytests is required")
}

// TestArrowsFire is the forbidden half of the design, one line each, and
// enough of the permitted half to show that the table is not merely strict.
func TestArrowsFire(t *testing.T) {
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
		{"cache/httpcache", "cache/valkey", false},
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
		{"resolver/slp", "uri", true},
		{"resolver/registry", "cache", false},
		{"resolver/registry", "resolver/registry/sqlite", false},
		{"resolver/registry/sqlite", "resolver/registry", true},
		{"resolver/registry/sqlite", "resolver/registry/postgres", false},
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
		{"proxy", "cache/httpcache", true},
		{"proxy", "internal/metrics", true},
		{"proxy", "resolver/ddds", false},
		{"proxy", "resolver/scheme/http", false},
		{"proxy", "cache", false},
		{"proxy", "urnns", false},
		{"proxy", "config", false},
		{"proxy", "systemd", false},
		{"config", "uri", true},
		{"config", "resolver", false},
		{"systemd", "config", false},
		{"internal/netguard", "uri", false},
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
			tr := sketch(t, map[string]string{
				c.from + "/x.go": "package x\n\nimport _ \"" + model + "/" + c.to + "\"\n",
			})
			want := []string{c.from + "/x.go:3 " + c.from + " imports " + c.to}
			if c.ok {
				want = nil
			}
			expect(t, checkArrows(tr, rooms()), want...)
		})
	}
}

func TestArrowsOutsideTheTable(t *testing.T) {
	for _, c := range []struct {
		name, path, text string
		want             []string
	}{
		{"an unlisted package", "util/x.go", "package util", []string{"util/x.go:1 util is in no row"}},
		{"code in the module root", "x.go", "package model", []string{"x.go:1 . is in no row"}},
		{
			"a room that may know nobody", "cache/x.go", "package cache\nimport _ \"" + model + "/uri\"",
			[]string{"cache/x.go:2 of our packages it may import: nothing of ours"},
		},
		{
			"a room that may know two", "resolver/thttp/x.go", "package thttp\nimport _ \"" + model + "/cache\"",
			[]string{"resolver/thttp/x.go:2 of our packages it may import: resolver, uri"},
		},
		{"a folder below a leaf", "uri/deep/x.go", "package deep", []string{"uri/deep/x.go:1 uri/deep is in no row"}},
		{"a neighbour with the same beginning", "uri/x.go", "package uri\nimport _ \"example.org/modelling\"", nil},
		{"a test may know all", "uri/x_test.go", "package uri\nimport _ \"" + model + "/internal/testserver\"", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, checkArrows(sketch(t, map[string]string{c.path: c.text}), rooms()), c.want...)
		})
	}
	twice := sketch(t, map[string]string{"util/a.go": "package util", "util/b.go": "package util"})
	expect(t, checkArrows(twice, rooms()), "util/a.go:1 util is in no row") // once a package, not once a file
}
