package arch

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// construct is a set of names in a foreign package that may be used only in
// some places: called, or mentioned in any other way.
type construct struct {
	path  string   // the import path; the package may be imported under any name
	names []string // patterns
	but   []string // the places that may
	why   string
}

// constructs is the table of forbidden names.
func constructs() []construct {
	const (
		guard      = "internal/netguard/..."
		peers      = "internal/testserver/..."
		dialWhy    = "netguard is the one dialer: it keeps a name from leading us into the inner network. Take a dial function or an *http.Client that was built on it"
		lookupWhy  = "a lookup is a way out as much as a dial: names are resolved by ddds through its Lookuper, or by netguard when it dials"
		listenWhy  = "listening is the beginning of the program: cmd/urnd opens the listener or takes systemd's, and passes it down"
		globalHTTP = "what is global in net/http is shared with every library and dials where it likes: take an *http.Client or build a server of your own"
		slogWhy    = "the default logger is a global: two servers in one test would write to each other's log. Take a *slog.Logger"
		promWhy    = "a global metric registry panics on the second instance and its counters die after a reload: internal/metrics makes instances, passed down"
		clockWhy   = "the clock is passed in: take a func() time.Time, so that expiry is tested without waiting (cmd/urnd passes time.Now)"
	)
	return []construct{
		{"net", []string{"Dial*"}, []string{guard, peers}, dialWhy},
		{"crypto/tls", []string{"Dial*"}, []string{guard, peers}, dialWhy},
		{"net", []string{"Lookup*", "DefaultResolver", "Resolver", "Resolve*Addr"}, []string{guard, peers}, lookupWhy},
		{"net", []string{"Listen", "ListenConfig"}, []string{"cmd/urnd", guard, peers}, listenWhy},
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
			"TODO is a promise to pass a context: pass it, or a request that its client gave up goes on for ever",
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
		{"time", []string{"Now", "Since", "Until"}, []string{"cmd/urnd", guard, peers}, clockWhy},
	}
}

// shape is a forbidden form that is more than a name.
type shape struct {
	what string
	but  []string
	find func(*meanings, *source) []token.Pos
	why  string
}

// shapes is the table of forbidden forms.
func shapes() []shape {
	outward := []string{"internal/netguard/...", "internal/testserver/..."}
	return []shape{
		{
			"func init()", nil, initFuncs,
			"init runs because of an import, in an order nobody wrote: list what there is explicitly (urnns/builtin.go, cmd/urnd/wire.go)",
		},
		{
			"panic outside a function named must... or Must...", nil, panics,
			"a server must survive every input: return an error. A function that may panic says so in its name, and is only called on constants",
		},
		{
			"package-level logger", nil, packageLoggers,
			"a logger of the package cannot be told apart by instance nor silenced in a test: take a *slog.Logger in the constructor",
		},
		{
			"import with a dot", nil, dotImports,
			"a dot hides where a name comes from, from readers and from this test",
		},
		{
			"http.Client literal without Transport", outward,
			literalWithout("net/http", "Client", "Transport"),
			"a client without a transport is http.DefaultTransport by another name, and dials past netguard: say which transport",
		},
		{
			"http.Transport literal without DialContext", outward,
			literalWithout("net/http", "Transport", "DialContext"),
			"a transport without a dial function brings its own dialer, past netguard: set DialContext",
		},
	}
}

func initFuncs(_ *meanings, s *source) []token.Pos {
	var found []token.Pos
	for _, d := range s.ast.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			found = append(found, f.Pos())
		}
	}
	return found
}

func panics(m *meanings, s *source) []token.Pos {
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

func packageLoggers(m *meanings, s *source) []token.Pos {
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

func dotImports(_ *meanings, s *source) []token.Pos {
	var found []token.Pos
	for _, spec := range s.ast.Imports {
		if spec.Name != nil && spec.Name.Name == "." {
			found = append(found, spec.Pos())
		}
	}
	return found
}

// literalWithout finds the literals of a struct type that do not set a field.
func literalWithout(importPath, name, field string) func(*meanings, *source) []token.Pos {
	sets := func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return true // without keys every field is set
		}
		key, ok := kv.Key.(*ast.Ident)
		return ok && key.Name == field
	}
	return func(m *meanings, s *source) []token.Pos {
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

// checkConstructs holds every file that is not a test against both tables.
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

func TestConstructs(t *testing.T) { report(t, checkConstructs(house(t))) }
