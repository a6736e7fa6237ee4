//go:build linux

package main

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWrite writes each configuration to check that place defines all variables of the templates.
func TestWrite(t *testing.T) {
	at := place{
		Forward: "127.0.0.1:1001", Gateway: "127.0.0.1:1002", Origin: "127.0.0.1:1003",
		Source: "127.0.0.1:1004", Sink: "127.0.0.1:1005", Host: gatewayHost, Name: namePath, Location: location,
		Admin: "127.0.0.1:1006", Secure: "127.0.0.1:1007", Store: "/registry.db", Processors: 1,
	}
	all := peers(settings{})
	for _, p := range all {
		for _, f := range []feature{logins, parents} {
			if p.squid {
				all = append(all, p.having(f))
			}
		}
	}
	for _, p := range all {
		t.Run(p.name+string(p.with), func(t *testing.T) {
			at.Dir, at.With, at.Parents = t.TempDir(), p.with, []string{"127.0.0.1:1008", "127.0.0.1:1009"}
			if err := p.write(at); err != nil {
				t.Fatal(err)
			}
			if _, err := tls.LoadX509KeyPair(filepath.Join(at.Dir, "tls.pem"),
				filepath.Join(at.Dir, "tls.pem")); (err == nil) != p.secure {
				t.Error(err)
			}
			var all strings.Builder
			for name := range p.files {
				text, err := os.ReadFile(filepath.Join(at.Dir, name))
				if err != nil {
					t.Fatal(err)
				}
				all.Write(text)
			}
			if strings.Contains(all.String(), "1009") != (p.with != none) ||
				strings.Contains(all.String(), "basic_fake_auth") != (p.with == logins) {
				t.Errorf("with %q: %s", p.with, all.String())
			}
			if !strings.Contains(all.String(), "100") || strings.Contains(all.String(), "{{") {
				t.Errorf("%s", all.String())
			}
		})
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		environment map[string]string
		ok          bool
	}{
		{map[string]string{"BENCH_URND": "/urnd"}, true},
		{map[string]string{"BENCH_URND": "/urnd", "BENCH_SECONDS": "2", "BENCH_ONLY": "urnd,nginx"}, true},
		{map[string]string{"BENCH_URND": "/urnd", "BENCH_PROCESSORS": "1,2"}, true},
		{map[string]string{"BENCH_URND": "/urnd", "BENCH_PROCESSORS": "1,0"}, false},
		{map[string]string{"BENCH_URND": "/urnd", "BENCH_SECONDS": "1,2"}, false},
		{map[string]string{"BENCH_URND": "/urnd", "BENCH_SECONDS": "0"}, false},
		{map[string]string{"BENCH_URND": "/urnd", "BENCH_CONNECTIONS": "many"}, false},
		{map[string]string{"BENCH_URND": "/urnd", "BENCH_ONLY": "ngnix"}, false},
		{nil, false},
	} {
		s, err := readSettings(func(name string) string { return c.environment[name] })
		if (err == nil) != c.ok {
			t.Errorf("%v: %v", c.environment, err)
		}
		if want := c.environment["BENCH_ONLY"]; c.ok && want != "" && !slices.Equal(s.only, []string{"urnd", "nginx"}) {
			t.Errorf("%v: %v", c.environment, s.only)
		}
	}
}

func TestWhy(t *testing.T) {
	p := peer{cannot: map[form]string{forward: noForward}}
	for _, c := range []struct {
		peer peer
		row  row
		has  bool
	}{
		{p, row{form: redirect}, true},
		{p, row{form: forward}, false},
		{p, row{form: registered}, false},
		{peer{names: true}, row{form: registered}, true},
		{p, row{form: redirect, link: overHTTP2}, false},
		{peer{secure: true}, row{form: redirect, link: overTLS}, true},
		{p, row{with: hosts}, false},
		{p, row{event: started}, false},
		{peer{squid: true}, row{with: hosts, event: started}, true},
	} {
		if got := c.peer.why(c.row); (got == "") != c.has {
			t.Errorf("%+v: %q", c.row, got)
		}
	}
}
