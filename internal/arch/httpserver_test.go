package arch

import (
	"go/ast"
	"slices"
	"testing"
)

// serverRule forbids names of net/http in a module except in some folders.
type serverRule struct {
	names   []string
	within  string   // folders to which the rule applies
	allowed []string // folders that may use the names
	why     string
}

// serverRules is the table of names that only a net/http server needs.
func serverRules() []serverRule {
	return []serverRule{
		{
			[]string{"Server", "Serve", "ServeTLS", "ListenAndServe", "ListenAndServeTLS", "NewServeMux", "ServeMux"},
			"...",
			[]string{"proxy/admin/...", "internal/testserver/...", "internal/bench/...", "test/..."},
			"clients are served by proxy/http1 and proxy/http2 alone, so that all requests go one way: net/http's " +
				"server is for administrators, and an oracle in tests",
		},
		{
			[]string{
				"Request", "Header", "ResponseWriter", "Handler", "HandlerFunc", "ResponseController",
				"NewResponseController", "Hijacker",
			},
			"proxy/...",
			// The last is a client, which receives responses of the certificate authority.
			[]string{"proxy/admin/...", "proxy/proxytest", "proxy/certificate/ratelimit.go"},
			"requests and responses of clients are values of internal/httpmessage, whatever the protocol: those of " +
				"net/http have lost the order and the spelling of fields",
		},
	}
}

// checkServers checks every file that is not a test.
func checkServers(tr *tree) []finding {
	var found []finding
	m := tr.resolve()
	for _, s := range tr.code() {
		for _, r := range serverRules() {
			if !matches(r.within, s.dir()) || allowed(r.allowed, s) {
				continue
			}
			ast.Inspect(s.ast, func(n ast.Node) bool {
				e, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if path, name, _ := m.qualified(s, e); path == "net/http" && slices.Contains(r.names, name) {
					found = append(found, finding{tr.where(e.Pos()), "http." + name + " is used", r.why})
				}
				return true
			})
		}
	}
	return found
}

func TestHTTPServers(t *testing.T) { report(t, checkServers(readModule(t))) }

func TestHTTPServersFire(t *testing.T) {
	for _, c := range []struct {
		name, path, text string
		want             string // part of the message; "" without a finding
	}{
		{"server", "proxy/listen/x.go", `import "net/http"; var s = http.Server{}`, "http.Server is used"},
		{
			"server by alias", "cmd/urnd/x.go", `import web "net/http"; func f() { web.ListenAndServe("", nil) }`,
			"http.ListenAndServe is used",
		},
		{"server for administrators", "proxy/admin/x.go", `import "net/http"; var s = http.Server{}`, ""},
		{"server of a test", "proxy/x_test.go", `import "net/http"; var s = http.Server{}`, ""},
		{
			"handler", "proxy/answer/x.go", `import "net/http"; func f(w http.ResponseWriter) {}`,
			"http.ResponseWriter is used",
		},
		{"fields", "proxy/x.go", `import "net/http"; var h http.Header`, "http.Header is used"},
		{"handler of the daemon", "internal/daemon/x.go", `import "net/http"; var h http.Handler`, ""},
		{"for tests", "proxy/proxytest/x.go", `import "net/http"; func f(r *http.Request) {}`, ""},
		{"status", "proxy/x.go", `import "net/http"; const s = http.StatusOK`, ""},
		{"another package", "proxy/x.go", `import "github.com/urnd/urnd/resolver/scheme/http"; var s http.Server`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want []string
			if c.want != "" {
				want = []string{c.path + ":2 " + c.want}
			}
			wantFindings(t, checkServers(fakeTree(t, map[string]string{c.path: "package x\n" + c.text + "\n"})),
				want...)
		})
	}
}
