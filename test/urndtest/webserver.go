package urndtest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// WebServer is a scripted HTTP server that counts its requests.
type WebServer struct {
	Addr, Port string
	Requests   atomic.Int32
}

// ServeHTTP runs a handler on a loopback port until the end of the test.
func ServeHTTP(t testing.TB, handler http.HandlerFunc) *WebServer {
	t.Helper()
	s := new(WebServer)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Requests.Add(1)
		handler(w, r)
	}))
	t.Cleanup(h.Close)
	s.Addr = h.Listener.Addr().String()
	_, s.Port, _ = strings.Cut(s.Addr, ":")
	return s
}
