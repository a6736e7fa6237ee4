package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// webServer is a scripted HTTP server that counts its requests.
type webServer struct {
	addr, port string
	requests   atomic.Int32
}

func serveHTTP(t *testing.T, handler http.HandlerFunc) *webServer {
	t.Helper()
	s := &webServer{}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		handler(w, r)
	}))
	t.Cleanup(h.Close)
	s.addr = h.Listener.Addr().String()
	_, s.port, _ = strings.Cut(s.addr, ":")
	return s
}
