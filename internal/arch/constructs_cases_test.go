package arch

import (
	"path"
	"strings"
	"testing"
)

// TestConstructsSweep proves that every name of every row is reported where it is
// forbidden, but neither in the places that the row excepts nor in tests.
func TestConstructsSweep(t *testing.T) {
	for _, c := range constructs() {
		for _, pattern := range c.names {
			name := strings.ReplaceAll(pattern, "*", "Sample")
			t.Run(c.path+"."+name, func(t *testing.T) {
				text := "package x\n\nimport q \"" + c.path + "\"\n\nfunc f() { g(q." + name + ") }\n"
				at := func(file string) []finding { return checkConstructs(fakeTree(t, map[string]string{file: text})) }
				wantFindings(t, at("resolver/x.go"), "resolver/x.go:5 use of "+path.Base(c.path)+"."+name)
				wantFindings(t, at("resolver/x_test.go"))
				for _, pattern := range c.but {
					wantFindings(t, at(place(pattern)))
				}
			})
		}
	}
}

func TestConstructsFire(t *testing.T) {
	for _, c := range []struct {
		name, path, text string
		want             string // part of the message; "" without a finding
	}{
		{"dial", "proxy/x.go", `import "net"; func f() { net.Dial() }`, "use of net.Dial;"},
		{"dial with a timeout", "proxy/x.go", `import "net"; func f() { net.DialTimeout() }`, "use of net.DialTimeout"},
		{"dialer literal", "proxy/x.go", `import "net"; var d = net.Dialer{}`, "use of net.Dialer"},
		{"dialer type, by alias", "proxy/x.go", `import n "net"; type T struct { d *n.Dialer }`, "use of net.Dialer"},
		{"dialer in netguard", "internal/netguard/x.go", `import "net"; var d = net.Dialer{}`, ""},
		{"method called Dial", "proxy/x.go", `func f(net thing) { net.Dial() }`, ""},
		{"listen in the daemon", "internal/daemon/endpoint.go", `import "net"; func f() { net.Listen(); var _ net.ListenConfig }`, ""},
		{"listen outside the daemon", "systemd/x.go", `import "net"; func f() { net.Listen() }`, "allowed in: internal/daemon"},
		{"packets in cmd", "cmd/urnd/x.go", `import "net"; func f() { net.ListenPacket() }`, "use of net.ListenPacket"},
		{"multicast", "resolver/slp/x.go", `import "net"; func f() { net.ListenMulticastUDP() }`, "use of net.ListenMulticastUDP"},
		{"listener type", "proxy/x.go", `import "net"; func f(l net.Listener, c net.Conn) {}`, ""},
		{"lookup", "resolver/ddds/x.go", `import "net"; func f() { net.LookupNAPTR() }`, "use of net.LookupNAPTR"},
		{"own lookup", "resolver/ddds/x.go", `func f(l Lookuper) { l.LookupNAPTR() }`, ""},
		{"http.Get", "resolver/thttp/x.go", `import "net/http"; func f() { http.Get() }`, "use of http.Get;"},
		{"http.MethodGet", "resolver/thttp/x.go", `import "net/http"; var m = http.MethodGet`, ""},
		{"http package that is ours", "proxy/x.go", `import "` + fakeModule + `/resolver/scheme/http"; func f() { http.Get() }`, ""},
		{"default client", "proxy/x.go", `import web "net/http"; var c = web.DefaultClient`, "use of http.DefaultClient"},
		{"client without transport", "proxy/x.go", `import "net/http"; var c = &http.Client{Timeout: 1}`, "http.Client literal"},
		{"client with transport", "proxy/x.go", `import "net/http"; var c = &http.Client{Timeout: 1, Transport: t}`, ""},
		{"client in netguard", "internal/netguard/x.go", `import "net/http"; var c = &http.Client{}`, ""},
		{"transport with its own dialer", "proxy/x.go", `import "net/http"; var c = http.Transport{}`, "http.Transport literal"},
		{"transport on a dialer", "proxy/x.go", `import "net/http"; var c = http.Transport{DialContext: d}`, ""},
		{"client of ours", "proxy/x.go", `type Client struct{}; var c = Client{}`, ""},
		{"init", "urnns/x.go", `func init() {}`, "func init()"},
		{"method init", "urnns/x.go", `type T int; func (T) init() {}`, ""},
		{"slog.Info", "proxy/x.go", `import "log/slog"; func f() { slog.Info("x") }`, "use of slog.Info;"},
		{"slog.ErrorContext", "proxy/x.go", `import "log/slog"; func f() { slog.ErrorContext() }`, "use of slog.ErrorContext"},
		{"slog.SetDefault in cmd", "cmd/urnd/x.go", `import "log/slog"; func f() { slog.SetDefault() }`, "use of slog.SetDefault"},
		{"level and attribute", "proxy/x.go", `import "log/slog"; func f(l *slog.Logger) { l.Log(slog.LevelInfo, slog.Int()) }`, ""},
		{"new logger in a function", "cmd/urnd/x.go", `import "log/slog"; func f() { l := slog.New(h); l.Info("x") }`, ""},
		{"package logger", "cmd/urnd/x.go", `import "log/slog"; var log = slog.New(h)`, "package-level logger"},
		{"package variable of another type", "proxy/x.go", `import "log/slog"; var level = slog.LevelInfo; var _ slog.Handler = T{}`, ""},
		{"package logger by type", "proxy/x.go", `import "log/slog"; var (log *slog.Logger)`, "package-level logger"},
		{"package function that takes a logger", "proxy/x.go", `import "log/slog"; var f = func(l *slog.Logger) { slog.New(h) }`, ""},
		{"local variable named slog", "proxy/x.go", `func f(slog thing) { slog.Info("x") }`, ""},
		{"context.TODO", "cmd/urnd/x.go", `import "context"; func f() { g(context.TODO()) }`, "use of context.TODO"},
		{"context.Background", "cmd/urnd/x.go", `import "context"; func f() { g(context.Background()) }`, ""},
		{"exit", "config/x.go", `import "os"; func f() { os.Exit(1) }`, "use of os.Exit"},
		{"exit in cmd", "cmd/urnd/main.go", `import "os"; func main() { os.Exit(1) }`, ""},
		{
			"promauto, global", "internal/metrics/x.go",
			`import "github.com/prometheus/client_golang/prometheus/promauto"; func f() { promauto.NewCounter() }`, "use of promauto.NewCounter",
		},
		{
			"promauto, instance", "internal/metrics/x.go",
			`import "github.com/prometheus/client_golang/prometheus/promauto"; func f() { promauto.With(r).NewCounter() }`, "",
		},
		{
			"registry instance", "internal/metrics/x.go",
			`import "github.com/prometheus/client_golang/prometheus"; func f() { prometheus.NewRegistry().MustRegister() }`, "",
		},
		{"clock", "cache/x.go", `import "time"; func f() { g(time.Now()) }`, "use of time.Now"},
		{"clock as a value", "cache/x.go", `import "time"; var d = T{now: time.Now}`, "use of time.Now"},
		{"clock in disguise", "cache/x.go", `import "time"; func f(t time.Time) { g(time.Since(t)) }`, "use of time.Since"},
		{"clock in cmd", "cmd/urnd/x.go", `import "time"; func f() { g(time.Now()) }`, ""},
		{"clock passed in", "cache/x.go", `import "time"; type T struct { now func() time.Time }; func (t T) f() { g(t.now()) }`, ""},
		{"panic", "cache/x.go", `func f() { panic("x") }`, "panic outside"},
		{"panic in a literal", "cache/x.go", `var f = func() { panic("x") }`, "panic outside"},
		{"panic in cmd", "cmd/urnd/x.go", `func f() { panic("x") }`, "panic outside"},
		{"panic in must", "uri/x.go", `func mustParse() { func() { panic("x") }() }`, ""},
		{"panic in Must", "uri/x.go", `type T int; func (T) MustParse() { panic("x") }`, ""},
		{"function called panic", "uri/x.go", `func f(panic func(string)) { panic("x") }`, ""},
		{"dot import", "proxy/x.go", `import . "strings"`, "import with a dot"},
		{"blank import", "urnns/x.go", `import _ "embed"`, ""},
		{"only a comment", "proxy/x.go", `/* net.Dial, panic("x"), time.Now */`, ""},
		{"only a string", "proxy/x.go", `const s = "panic(net.Dial)"`, ""},
		{"a test", "proxy/x_test.go", `import "time"; func init() { panic(time.Now()) }`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := fakeTree(t, map[string]string{c.path: "package x\n" + c.text + "\n"})
			var want []string
			if c.want != "" {
				want = []string{c.path + ":2 " + c.want}
			}
			wantFindings(t, checkConstructs(tr), want...)
		})
	}
}

// TestConstructsNamed lists the names that the design forbids, so that it fails if
// a row is removed or narrowed.
func TestConstructsNamed(t *testing.T) {
	const prom = "github.com/prometheus/client_golang/prometheus"
	for _, c := range []struct{ path, names string }{
		{"net", "Dial DialTimeout DialTCP DialUDP DialIP DialUnix Dialer ListenPacket ListenUDP Listen ListenConfig"},
		{"net", "LookupHost LookupIP LookupAddr LookupTXT LookupSRV LookupMX DefaultResolver Resolver ResolveTCPAddr"},
		{"crypto/tls", "Dial DialWithDialer Dialer"},
		{"net/http", "DefaultClient DefaultTransport Get Head Post PostForm ListenAndServe ListenAndServeTLS"},
		{"log/slog", "Default SetDefault Debug Info Warn Error DebugContext InfoContext WarnContext ErrorContext Log LogAttrs With"},
		{"context", "TODO"},
		{"os", "Exit"},
		{"time", "Now Since Until"},
		{prom, "DefaultRegisterer DefaultGatherer Register MustRegister Unregister"},
		{prom + "/promauto", "NewCounter NewGauge NewHistogramVec"},
		{prom + "/promhttp", "Handler"},
	} {
		for name := range strings.FieldsSeq(c.names) {
			text := "package x\nimport q \"" + c.path + "\"\nvar _ = q." + name
			tr := fakeTree(t, map[string]string{"resolver/x.go": text})
			wantFindings(t, checkConstructs(tr), "resolver/x.go:3 use of "+path.Base(c.path)+"."+name)
		}
	}
}

// A package may have one file per operating system, and so the same name twice.
func TestConstructsInEverySystem(t *testing.T) {
	text := "\n\npackage x\n\nimport \"net\"\n\nfunc f() { net.Dial() }\n"
	tr := fakeTree(t, map[string]string{
		"proxy/a_linux.go":   "//go:build linux" + text,
		"proxy/a_windows.go": "//go:build windows" + text,
		"proxy/gen.go":       "//go:build ignore\n\npackage main\n\nimport \"net\"\n\nfunc f() { net.Dial() }\n",
	})
	wantFindings(t, checkConstructs(tr),
		"proxy/a_linux.go:7 use of net.Dial", "proxy/a_windows.go:7 use of net.Dial", "proxy/gen.go:7 use of net.Dial")
}
