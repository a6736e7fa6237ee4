package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/urnd/urnd/config"
)

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// The traceparent of a client is not sent to resolution servers, since their answers are shared by all
// clients.
func TestTraceparentStaysHere(t *testing.T) {
	requested := "not asked"
	resolution := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requested = r.Header.Get("Traceparent")
		http.Redirect(w, r, "http://a.example/", http.StatusSeeOther)
	}))
	defer resolution.Close()
	d := startService(t, "127.0.0.1:9", func(c *config.Config) {
		openLoopback(c)
		c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{resolution.URL}, Schemes: []string{"ftp"}}}
	})
	if got := d.get(t, "/urn:book:1", "Traceparent: "+traceparent); got.status != http.StatusFound || requested != "" {
		t.Errorf("%d, and the server was asked with %q", got.status, requested)
	}
}
