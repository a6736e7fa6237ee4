//go:build e2e

package registry

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/test/urndtest"
)

const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// TestResolutionsAreCounted checks that every kind of answer of the registry is counted, by name and day,
// separately for people and bots, also across a reload; answers of other systems are not counted.
func TestResolutionsAreCounted(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t)
	const name = "urn:example:a"
	r.Put(t, registry.Name(name), registry.Record{Targets: urndtest.Targets("https://example.org/a")})
	r.Put(t, registry.Name("urn:example:alias"), registry.Record{Alias: name})
	r.Put(t, registry.Name("urn:example:gone"), registry.Record{Targets: urndtest.Targets("https://example.org/b")})
	r.Edit(t, registry.Edit{
		Key: registry.Name("urn:example:gone"), IfVersion: registry.AnyVersion,
		Change: registry.Withdraw("it had errors"),
	})
	r.Put(t, registry.Prefix("urn:example:below:"),
		registry.Record{Targets: urndtest.Targets("https://example.org/below/")})
	w := r.Start(t, nil)
	get := func(path, userAgent, body string) {
		t.Helper()
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		urndtest.Send(t, method+" "+w.URL+path, body, "User-Agent: "+userAgent)
	}
	for _, path := range []string{
		"/" + name, "/URN:EXAMPLE:a", "/urn:example:alias", "/uri-res/N2Ls?" + name, "/uri-res/N2C?" + name,
		"/uri-res/N2Ns?" + name, "/api/v1/resolve?uri=" + name, "/api/v1/explain?uri=" + name,
	} {
		get(path, browser, "")
		get(path, "curl/8.14.1", "")
		get(path, "curl/8.14.1", "")
	}
	w.Reload(t, func(*config.Config) {})
	get("/"+name, browser, "")
	get("/api/v1/resolve", "curl/8.14.1", `["urn:example:a","urn:example:gone","urn:example:other"]`)
	get("/urn:example:gone", browser, "")
	get("/uri-res/N2C?urn:example:gone", browser, "")
	get("/urn:example:below:x", browser, "")
	get("/urn:ietf:rfc:2648", browser, "")
	get("/urn:example:unknown", browser, "")
	w.Stop()

	day := time.Now().UTC().Format("2006-01-02")
	for _, tt := range []struct{ args, want string }{
		{name + " --since " + day, "  people  bots  day\n       9    17  " + day + "\n       9    17  all\n"},
		{
			name + " --output json",
			`{"name":"urn:example:a","periods":[{"period":"` + day +
				`","people":9,"bots":17}],"sum":{"people":9,"bots":17}}` + "\n",
		},
		{name + " --until 2001-01-01", "  people  bots  day\n       0     0  all\n"},
		{
			name + " --day 2001-01-01 --output json",
			`{"name":"urn:example:a","periods":[],"sum":{"people":0,"bots":0}}` + "\n",
		},
		{"urn:example:below: --prefix", "  people  bots  day\n       1     0  " + day + "\n       1     0  all\n"},
		{"--since " + day, "  people  bots  day\n      12    18  " + day + "\n      12    18  all\n"},
		{"--day 2001-01-01 --output json", `{"periods":[],"sum":{"people":0,"bots":0}}` + "\n"},
		{
			"--top 2",
			"  people  bots  name\n       9    17  urn:example:a\n       2     1  urn:example:gone\n      12    18  " +
				"all\n",
		},
		{"--top 1 --day 2001-01-01 --output json", `{"names":[],"sum":{"people":0,"bots":0}}` + "\n"},
	} {
		out, err := urndtest.Run(t, "",
			append([]string{"registry", "stats", "--store", "sqlite:" + r.Path}, strings.Fields(tt.args)...)...)
		if err != nil || out != tt.want {
			t.Errorf("stats %s: %v\n%s\nwant\n%s", tt.args, err, out, tt.want)
		}
	}
	for args, want := range map[string]string{
		"--top 0":              "from 1 to 10000",
		name + " --top 3":      "mutually exclusive",
		name + " --day monday": `"monday" is not a day`,
	} {
		got := urndtest.RunWith(t, nil, "",
			append([]string{"registry", "stats", "--store", "sqlite:" + r.Path}, strings.Fields(args)...)...)
		if got.Status != 2 || !strings.Contains(got.Err, want) {
			t.Errorf("stats %s: %+v, want %q", args, got, want)
		}
	}
}
