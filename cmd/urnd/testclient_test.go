package main

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// openLoopback lets urnd connect to loopback.
func openLoopback(c *config.Config) {
	c.Access.AllowDestinations = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// proxied sends a request to the proxy, and returns the first word of Cache-Status, the status and the body.
func (d *testService) proxied(t *testing.T, method, target string, fields ...string) string {
	t.Helper()
	at, err := url.Parse(d.url)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequest(method, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		request.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at), DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	word, _, _ := strings.Cut(strings.TrimPrefix(response.Header.Get("Cache-Status"), "urnd; "), ";")
	return strings.TrimSpace(fmt.Sprintf("%s %d %s", word, response.StatusCode,
		strings.Join(strings.Fields(string(body)), "")))
}

// savedIn lets urnd save answers in a directory.
func savedIn(directory string, changes ...func(*config.Config)) func(*config.Config) {
	return func(c *config.Config) {
		c.Cache.Directory = directory
		for _, change := range changes {
			change(c)
		}
	}
}
