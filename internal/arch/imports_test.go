package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// importRule restricts the imports of a package, mostly a standard or third-party
// one. A path includes everything below it, and so every major version.
type importRule struct {
	path  string   // "./x" is the package x of the module
	exact bool     // the path alone, not what lies below it
	in    []string // where the rule applies; empty: everywhere
	but   []string // the places that may import it: folders, or files (*.go)
	why   string
}

// importRules is the table of restricted imports, and of the places that may have them.
func importRules() []importRule {
	const (
		sqlWhy   = "a database is a driver behind the store interface of the registry: a second store must be one folder, and no other package may need SQL"
		flagsWhy = "libraries that read flags cannot be used twice in one program: only cmd/urnd and internal/cli know the command line, and other packages take plain values"
	)
	registry := []string{"resolver/registry/..."}
	cmd := []string{"cmd/urnd", "internal/cli/..."}
	return []importRule{
		{
			path: "net/http", in: []string{"resolver"},
			why: "resolver is the domain: a query may come from a command line and an answer from a table, so it does not depend on HTTP; proxy and thttp do",
		},
		{
			path: "github.com/dgraph-io/ristretto", but: []string{"cache/memory/memory.go"},
			why: "ristretto sets asynchronously, may drop, and compares hashes: cache/memory is the one package that makes up for it",
		},
		{
			path: "github.com/miekg/dns", but: []string{"resolver/ddds/dns*.go"},
			why: "the algorithm of DDDS is pure and tested without a network: only the files dns*.go of resolver/ddds speak DNS, behind Lookuper",
		},
		{
			path: "github.com/spf13/viper", but: []string{"config/load.go"},
			why: "viper lower-cases keys, splits them at dots and keeps global state: config/load.go turns it into plain structs at once",
		},
		{path: "github.com/spf13/cobra", but: cmd, why: flagsWhy},
		{path: "github.com/spf13/pflag", but: cmd, why: flagsWhy},
		{
			path: "./config", but: append(cmd, "internal/secret"),
			why: "a constructor takes what it needs: once libraries import config, every option touches every package; cmd/urnd passes the values on",
		},
		{
			path: "github.com/redis/rueidis", but: []string{"cache/valkey"},
			why: "the second level of the cache is a store behind cache.Store: only its driver depends on the server",
		},
		{
			path: "html/template", but: []string{"proxy/pages"},
			why: "every page has one design and escapes its input in one place: proxy/pages",
		},
		{path: "database/sql", but: registry, why: sqlWhy},
		{path: "modernc.org/sqlite", but: registry, why: sqlWhy},
		{path: "github.com/ncruces/go-sqlite3", but: registry, why: sqlWhy},
		{path: "github.com/pressly/goose", but: registry, why: sqlWhy},
		{path: "github.com/mattn/go-sqlite3", but: registry, why: sqlWhy},
		{path: "github.com/jackc/pgx", but: registry, why: sqlWhy},
		{path: "github.com/lib/pq", but: registry, why: sqlWhy},
		{
			path: "github.com/coreos/go-systemd", but: []string{"systemd"},
			why: "urnd runs without systemd: only the thin layer in package systemd depends on it",
		},
		{
			path: "log", exact: true,
			why: "the old log writes to a global logger and log.Fatal skips every deferred call: take a *slog.Logger",
		},
	}
}

// allowlist has everything that a package may import from outside the module, for
// packages whose value is that they depend on little.
type allowlist struct {
	dir string
	may []string
	why string
}

func allowlists() []allowlist {
	return []allowlist{{
		dir: "uri",
		may: []string{
			"strings", "strconv", "unicode", "unicode/utf8", "errors", "fmt", "iter", "slices", "cmp",
			"bytes", "math/bits", "hash/maphash", "net/netip", "encoding", "golang.org/x/net/idna",
			"regexp", "github.com/std-uritemplate/std-uritemplate/go/v2",
		},
		why: "uri is pure: text in, values out. Without net, net/http, net/url, os and time it cannot use the network, wait or depend on the machine",
	}}
}

func (r importRule) matches(tr *tree, path string) bool {
	want := r.path
	if ours, ok := strings.CutPrefix(want, "./"); ok {
		want = tr.module + "/" + ours
	}
	return path == want || !r.exact && strings.HasPrefix(path, want+"/")
}

func (r importRule) applies(s *source) bool {
	return (len(r.in) == 0 || allowed(r.in, s)) && !allowed(r.but, s)
}

// checkImports checks every import against both tables.
func checkImports(tr *tree, rules []importRule, allowlists []allowlist) []finding {
	var found []finding
	for _, s := range tr.code() {
		for _, spec := range s.ast.Imports {
			found = append(found, checkImport(tr, s, spec, rules, allowlists)...)
		}
	}
	return found
}

func checkImport(tr *tree, s *source, spec *ast.ImportSpec, rules []importRule, allowlists []allowlist) []finding {
	var found []finding
	p := importedPath(spec)
	for _, r := range rules {
		if !r.matches(tr, p) || !r.applies(s) {
			continue
		}
		what := fmt.Sprintf("%s imports %s; allowed: nowhere", s.path, p)
		switch {
		case len(r.but) > 0:
			what = fmt.Sprintf("%s imports %s; allowed in: %s", s.path, p, strings.Join(r.but, ", "))
		case len(r.in) > 0:
			what = fmt.Sprintf("%s imports %s; forbidden in: %s", s.path, p, strings.Join(r.in, ", "))
		}
		found = append(found, finding{tr.where(spec.Pos()), what, r.why})
	}
	_, ours := tr.local(p) // packages of the module are checked by checkDependencies
	for _, d := range allowlists {
		if d.dir == s.dir() && !ours && !slices.Contains(d.may, p) {
			what := fmt.Sprintf("%s imports %s, which is not on the list for %s: %s", s.path, p, d.dir, strings.Join(d.may, ", "))
			found = append(found, finding{tr.where(spec.Pos()), what, d.why})
		}
	}
	return found
}

func TestImports(t *testing.T) { report(t, checkImports(readModule(t), importRules(), allowlists())) }

// place returns the path of a file that a pattern matches.
func place(pattern string) string {
	if strings.HasSuffix(pattern, ".go") {
		return strings.ReplaceAll(pattern, "*", "_sample")
	}
	return strings.TrimSuffix(strings.ReplaceAll(pattern, "*", "sample"), "/...") + "/x.go"
}

// TestImportRulesSweep proves that every row is applied where it should be, and not
// in the places that it excepts.
func TestImportRulesSweep(t *testing.T) {
	for _, r := range importRules() {
		t.Run(r.path, func(t *testing.T) {
			p := strings.Replace(r.path, "./", fakeModule+"/", 1)
			text := "package x\n\nimport _ \"" + p + "\"\n"
			if !r.exact {
				text += "import _ \"" + p + "/v9\"\n"
			}
			bad := []string{"proxy/x.go"}
			if len(r.in) > 0 {
				bad = nil
			}
			for _, pattern := range r.in {
				bad = append(bad, place(pattern))
			}
			for _, at := range bad {
				want := []string{at + ":3 imports " + p}
				if !r.exact {
					want = append(want, at+":4 imports "+p)
				}
				wantFindings(t, checkImports(fakeTree(t, map[string]string{at: text}), importRules(), nil), want...)
			}
			for _, pattern := range r.but {
				wantFindings(t, checkImports(fakeTree(t, map[string]string{place(pattern): text}), importRules(), nil))
			}
		})
	}
}

func TestImportRulesFire(t *testing.T) {
	for _, c := range []struct {
		path, imports string
		want          string // part of the message; "" without a finding
	}{
		{"cache/cache.go", "github.com/dgraph-io/ristretto/v2", "allowed in: cache/memory/memory.go"},
		{"cache/memory/memory.go", "github.com/dgraph-io/ristretto/v2", ""},
		{"resolver/ddds/dns_tcp.go", "github.com/miekg/dns", ""},
		{"resolver/ddds/algorithm.go", "github.com/miekg/dns", "allowed in: resolver/ddds/dns*.go"},
		{"resolver/thttp/dns.go", "github.com/miekg/dns", "imports github.com/miekg/dns"},
		{"config/load.go", "github.com/spf13/viper", ""},
		{"config/config.go", "github.com/spf13/viper", "allowed in: config/load.go"},
		{"cmd/urnd/wire_service.go", "github.com/spf13/viper", "imports github.com/spf13/viper"},
		{"cmd/urnd/wire_service.go", fakeModule + "/config", ""},
		{"internal/metrics/x.go", fakeModule + "/config", "imports " + fakeModule + "/config"},
		{"resolver/registry/sqlite/x.go", "modernc.org/sqlite", ""},
		{"resolver/registry/postgres/x.go", "github.com/jackc/pgx/v5/pgxpool", ""},
		{"resolver/resolver.go", "net/http/httptrace", "forbidden in: resolver"},
		{"resolver/thttp/x.go", "net/http", ""},
		{"cmd/urnd/main.go", "log", "allowed: nowhere"},
		{"cmd/urnd/main.go", "log/slog", ""},
		{"proxy/x.go", "logfmt", ""},
		{"config/load.go", "github.com/spf13/pflag", "allowed in: cmd/urnd, internal/cli/..."},
		{"systemd/x.go", "github.com/spf13/cobra", "allowed in: cmd/urnd, internal/cli/..."},
		{"cmd/urnd/wire_service.go", "database/sql", "allowed in: resolver/registry"},
		{"resolver/ddds/x.go", "modernc.org/sqlite", "allowed in: resolver/registry"},
		{"cache/valkey/x.go", "github.com/mattn/go-sqlite3", "allowed in: resolver/registry"},
		{"internal/metrics/x.go", "github.com/jackc/pgx/v5", "allowed in: resolver/registry"},
		{"proxy/x.go", "github.com/lib/pq", "allowed in: resolver/registry"},
		{"cmd/urnd/serve.go", "github.com/coreos/go-systemd/v22/daemon", "allowed in: systemd"},
		{"systemd/notify.go", "github.com/coreos/go-systemd/v22/daemon", ""},
		{"proxy/x.go", "github.com/miekg/dnstap", ""},
		{"proxy/x_test.go", "github.com/miekg/dns", ""},
		{"uri/x.go", "net", "not on the list for uri"},
		{"uri/x.go", "net/http", "not on the list for uri"},
		{"uri/x.go", "net/url", "not on the list for uri"},
		{"uri/x.go", "os", "not on the list for uri"},
		{"uri/x.go", "time", "not on the list for uri"},
		{"uri/x.go", "encoding/json", "not on the list for uri"},
		{"uri/x.go", "golang.org/x/net/publicsuffix", "not on the list for uri"},
		{"uri/x.go", "net/netip", ""},
		{"uri/x.go", "golang.org/x/net/idna", ""},
		{"uri/x_test.go", "os", ""},
		{"urnns/x.go", "time", ""},
	} {
		t.Run(c.path+" "+c.imports, func(t *testing.T) {
			tr := fakeTree(t, map[string]string{c.path: "package x\n\nimport y \"" + c.imports + "\"\n"})
			var want []string
			if c.want != "" {
				want = []string{c.path + ":3 " + c.want}
			}
			wantFindings(t, checkImports(tr, importRules(), allowlists()), want...)
		})
	}
}
