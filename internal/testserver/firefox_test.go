package testserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestFirefox: newer releases of Firefox do not open data: URLs by remote control.
func TestFirefox(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<p id=a onclick="this.textContent=40+2">0</p>`)
	}))
	defer server.Close()
	f := StartFirefox(t)
	f.Show(t, server.URL)
	f.Click(t, "#a")
	f.Run(t, "document.title = 'b'; return document.body")
	f.Run(t, "return new Promise(done => setTimeout(() => { document.title += 'c'; done(window) }))")
	var title string
	if f.Evaluate(t, "document.title", &title); title != "bc" {
		t.Errorf("statements have made %q", title)
	}
	var got string
	if f.Evaluate(t, "document.getElementById('a').textContent", &got); got != "42" {
		t.Errorf("%q", got)
	}
}
