package adversary

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// inside is the target of the names of the own web host.
const inside = "https://a.example/inside/"

// withOwnHost returns a function that starts a daemon whose web host purl.example has a prefix.
func (s *stage) withOwnHost() func() (*daemon, error) {
	return sync.OnceValues(func() (*daemon, error) {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		environment := []string{
			"URND_REGISTRY_STORE=sqlite:" + filepath.Join(s.directory, "ownhost.db"),
			"URND_REGISTRY_HOSTS=purl.example",
		}
		set := exec.CommandContext(ctx, s.binary, "registry", "set", "--prefix", "https://purl.example/p/", inside,
			"--redirect", "301")
		set.Env = append(set.Environ(), environment...)
		if reported, err := set.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("registering a prefix: %w: %s", err, reported)
		}
		return s.start(ctx, environment...)
	})
}

// ownHosts send foreign hosts to a web host whose paths are names, and request targets that its names must not
// have.
func (s *stage) ownHosts() []payload {
	started := s.withOwnHost()
	var payloads []payload
	add := func(name, section, target string, fields []string, check func(reply) error) {
		payloads = append(payloads, payload{
			family: "own web hosts", name: name, section: section,
			shows: "GET " + target + " " + strings.Join(fields, " | "),
			play: func(ctx context.Context) error {
				d, err := started()
				if err != nil {
					return err
				}
				got, err := ask(ctx, d.service, friend, "GET", target, "", fields...)
				if err != nil {
					return err
				}
				return check(got)
			},
		})
	}
	stays := func(r reply) error {
		location := r.header.Get("Location")
		switch {
		case location != "" && !strings.HasPrefix(location, inside):
			return fmt.Errorf("it leads to %q", location)
		case r.header.Get("Set-Cookie") != "":
			return errors.New("a field of the client is in the response")
		}
		return nil
	}
	nowhere := func(r reply) error {
		if location := r.header.Get("Location"); location != "" {
			return fmt.Errorf("it leads to %q", location)
		}
		return nil
	}
	own := []string{"Host: purl.example"}
	add("a name", "RFC 9110 section 7.2", "/p/x", own, func(r reply) error {
		if location := r.header.Get("Location"); r.status != 301 || location != inside+"x" {
			return fmt.Errorf("it is answered %d, and leads to %q", r.status, location)
		}
		return nil
	})
	for _, target := range []string{
		"/p/../../evil", "/p/%2e%2e/evil", "/p/..%2fevil", "/p//evil.example/", "/p/%2f%2fevil.example",
		`/p/\evil.example`, "/p/%5cevil.example",
		"/p/@evil.example/", "/p/.evil.example", "/p/x?//evil.example", "/p/x?q#@evil.example",
		"/p/x%0d%0aSet-Cookie:a=b",
		"/p/x?q=%0d%0aSet-Cookie:a=b", "/p/;/../../x", "//evil.example/p/x", "/http://evil.example/", privileged,
		"/?uri=javascript:alert(1)",
		"/fetch?uri=http://" + s.origin.address + "/",
	} {
		add("the path "+target, "RFC 3986 section 7.6", target, own, stays)
	}
	for _, host := range []string{
		"purl.example.evil.example", "evil.purl.example", "purl.example..", "purl.exampl", "purl.example%2eevil",
		"purl-example", "purl.example,evil.example",
	} {
		add("the host "+host, "RFC 9110 section 7.2", "/p/x", []string{"Host: " + host}, nowhere)
	}
	for _, field := range []string{
		"X-Forwarded-Host: purl.example", "Forwarded: host=purl.example", "X-Host: purl.example",
		"X-Original-Host: purl.example",
		"X-Original-URL: https://purl.example/p/x", "X-Rewrite-URL: /https://purl.example/p/x",
		"X-HTTP-Host-Override: purl.example",
	} {
		add("the field "+field, "RFC 9110 section 7.2", "/p/x", []string{"Host: localhost", field}, nowhere)
	}
	return payloads
}
