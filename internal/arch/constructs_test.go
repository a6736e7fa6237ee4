package arch

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// construct is a set of names in a package of another module that may be used, by
// a call or otherwise, only in some places.
type construct struct {
	path  string   // the import path; the package may be imported under any name
	names []string // patterns
	but   []string // the places that may use them
	why   string
}

// constructs is the table of forbidden names.
func constructs() []construct {
	const (
		guard      = "internal/netguard/..."
		peers      = "internal/testserver/..."
		suite      = "resolver/schemetest"
		dialWhy    = "netguard is the one dialer: it prevents connections to internal networks. Take a dial function or an *http.Client that was built on it"
		lookupWhy  = "a lookup sends packets to the network, as a dial does: names are resolved by ddds through its Lookuper, or by netguard when it dials"
		listenWhy  = "listeners belong to the start of the program: internal/daemon opens the listener or takes systemd's, and passes it down"
		globalHTTP = "globals of net/http are shared with every library and dial any address: take an *http.Client or build a server of your own"
		slogWhy    = "the default logger is a global: two servers in one test would write to each other's log. Take a *slog.Logger"
		promWhy    = "a global metric registry panics on the second instance and its counters die after a reload: internal/metrics makes instances, passed down"
		clockWhy   = "the clock is passed in: take a func() time.Time, so that expiry is tested without waiting (cmd/urnd passes time.Now)"
	)
	return []construct{
		{"net", []string{"Dial*"}, []string{guard, peers}, dialWhy},
		{"crypto/tls", []string{"Dial*"}, []string{guard, peers}, dialWhy},
		{"net", []string{"Lookup*", "DefaultResolver", "Resolver", "Resolve*Addr"}, []string{guard, peers}, lookupWhy},
		{"net", []string{"Listen", "ListenConfig"}, []string{"internal/daemon", guard, peers, suite}, listenWhy},
		{"net", []string{"ListenPacket", "Listen*UDP", "ListenIP", "ListenTCP", "ListenUnix*"}, []string{guard, peers}, dialWhy},
		{"net/http", []string{"DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"}, []string{guard, peers}, globalHTTP},
		{"net/http", []string{"ListenAndServe*"}, []string{peers}, listenWhy},
		{"log/slog", []string{
			"Default", "SetDefault", "SetLogLoggerLevel", "With", "Log", "LogAttrs",
			"Debug*", "Info", "InfoContext", "Warn*", "Error*",
		}, nil, slogWhy},
		{
			"context",
			[]string{"TODO"},
			nil,
			"TODO stands for a context that is not passed yet: pass it, or a request continues after its client has canceled it",
		},
		{
			"os",
			[]string{"Exit"},
			[]string{"cmd/urnd"},
			"os.Exit skips every deferred call: return an error, cmd/urnd turns it into a status",
		},
		{"github.com/prometheus/client_golang/prometheus", []string{
			"DefaultRegisterer", "DefaultGatherer",
			"Register", "MustRegister", "Unregister",
		}, nil, promWhy},
		{"github.com/prometheus/client_golang/prometheus/promauto", []string{"New*"}, nil, promWhy + " (promauto.With(registry) is fine)"},
		{"github.com/prometheus/client_golang/prometheus/promhttp", []string{"Handler"}, nil, promWhy + " (promhttp.HandlerFor(registry) is fine)"},
		{"time", []string{"Now", "Since", "Until"}, []string{"cmd/urnd", "internal/cli/...", guard, peers}, clockWhy},
	}
}

// shape is a forbidden construct that is not just a name.
type shape struct {
	what string
	but  []string
	find func(*bindings, *source) []token.Pos
	why  string
}

// shapes is the table of such constructs.
func shapes() []shape {
	outward := []string{"internal/netguard/...", "internal/testserver/..."}
	return []shape{
		{
			"func init()", nil, initFuncs,
			"init runs because of an import, in an implicit order: list what there is explicitly (urnns/builtin.go, cmd/urnd/wire_resolver.go)",
		},
		{
			"panic outside a function named must... or Must...", nil, panics,
			"a server must survive every input: return an error. A function that may panic says so in its name, and is only called on constants",
		},
		{
			"package-level logger", nil, packageLoggers,
			"a package-level logger cannot be replaced for one instance or silenced in a test: take a *slog.Logger in the constructor",
		},
		{
			"import with a dot", nil, dotImports,
			"a dot import hides the package of a name from readers and from this test",
		},
		{
			"http.Client literal without Transport", outward,
			literalWithout("net/http", "Client", "Transport"),
			"a client without a transport uses http.DefaultTransport, and bypasses netguard: set Transport",
		},
		{
			"http.Transport literal without DialContext", outward,
			literalWithout("net/http", "Transport", "DialContext"),
			"a transport without a dial function has a dialer of its own, and bypasses netguard: set DialContext",
		},
	}
}

func initFuncs(_ *bindings, s *source) []token.Pos {
	var found []token.Pos
	for _, d := range s.ast.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			found = append(found, f.Pos())
		}
	}
	return found
}

func panics(m *bindings, s *source) []token.Pos {
	var found []token.Pos
	for _, d := range s.ast.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && (strings.HasPrefix(f.Name.Name, "must") || strings.HasPrefix(f.Name.Name, "Must")) {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && m.builtin(call, "panic") {
				found = append(found, call.Pos())
			}
			return true
		})
	}
	return found
}

func packageLoggers(m *bindings, s *source) []token.Pos {
	var found []token.Pos
	for _, v := range packageVars(s) {
		for _, n := range m.mentions(s, v, true) {
			if n.path == "log/slog" && (n.name == "Logger" || strings.HasPrefix(n.name, "New")) {
				found = append(found, v.Pos())
				break
			}
		}
	}
	return found
}

func dotImports(_ *bindings, s *source) []token.Pos {
	var found []token.Pos
	for _, spec := range s.ast.Imports {
		if spec.Name != nil && spec.Name.Name == "." {
			found = append(found, spec.Pos())
		}
	}
	return found
}

// literalWithout finds the literals of a struct type that do not set a field.
func literalWithout(importPath, name, field string) func(*bindings, *source) []token.Pos {
	sets := func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return true // without keys every field is set
		}
		key, ok := kv.Key.(*ast.Ident)
		return ok && key.Name == field
	}
	return func(m *bindings, s *source) []token.Pos {
		var found []token.Pos
		ast.Inspect(s.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			p, typ, _ := m.qualified(s, lit.Type)
			if p == importPath && typ == name && !slices.ContainsFunc(lit.Elts, sets) {
				found = append(found, lit.Pos())
			}
			return true
		})
		return found
	}
}

func (c construct) matches(n mention) bool {
	return n.path == c.path && slices.ContainsFunc(c.names, func(pattern string) bool {
		ok, err := path.Match(pattern, n.name)
		return err == nil && ok
	})
}

func where(but []string) string {
	if len(but) == 0 {
		return "; allowed: nowhere"
	}
	return "; allowed in: " + strings.Join(but, ", ")
}

// checkConstructs checks every file that is not a test against both tables.
func checkConstructs(tr *tree) []finding {
	var found []finding
	m := tr.resolve()
	for _, s := range tr.code() {
		mentions := m.mentions(s, s.ast, false)
		for _, c := range constructs() {
			for _, n := range mentions {
				if c.matches(n) && !allowed(c.but, s) {
					found = append(found, finding{tr.where(n.pos), "use of " + path.Base(n.path) + "." + n.name + where(c.but), c.why})
				}
			}
		}
		for _, sh := range shapes() {
			if allowed(sh.but, s) {
				continue
			}
			for _, pos := range sh.find(m, s) {
				found = append(found, finding{tr.where(pos), sh.what + where(sh.but), sh.why})
			}
		}
	}
	return found
}

func TestConstructs(t *testing.T) { report(t, checkConstructs(readModule(t))) }
