package http_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

// TestMixedExchanges requires that a response belongs to its request, whatever happened to earlier exchanges on
// the connection.
func TestMixedExchanges(t *testing.T) {
	serving := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("mode") {
		case "abort":
			panic(http.ErrAbortHandler)
		case "early":
			w.WriteHeader(http.StatusForbidden)
		case "echo":
			_, _ = io.Copy(io.Discard, r.Body)
		case "flush":
			_ = http.NewResponseController(w).Flush()
		}
		fmt.Fprint(w, strings.Repeat(r.URL.Path, 1000))
	})
	for name, start := range map[string]func(*httptest.Server){
		"HTTP/1.1": (*httptest.Server).Start, "TLS": (*httptest.Server).StartTLS,
		"HTTP/2": func(s *httptest.Server) {
			s.EnableHTTP2 = true
			s.StartTLS()
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(serving)
			start(server)
			defer server.Close()
			h := newHandler(t, func(c *schemehttp.Config) {
				c.MaxIdle = 4
				if transport, ok := server.Client().Transport.(*http.Transport); ok {
					c.TLS = transport.TLSClientConfig
				}
			})
			var all sync.WaitGroup
			for worker := range 8 {
				all.Go(func() {
					for i := range 14 {
						path := fmt.Sprintf("/%d-%d", worker, i)
						exchangeOnce(t, h, server.URL, path,
							[]string{"", "abort", "early", "echo", "flush", "cancel", "close"}[(worker+i)%7])
					}
				})
			}
			all.Wait()
		})
	}
}

// exchangeOnce fetches a path in one of the modes, and checks a complete response.
func exchangeOnce(t *testing.T, h *schemehttp.Handler, base, path, mode string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, base+path+"?mode="+mode)}}
	switch mode {
	case "early", "echo":
		r.Method, r.Body, r.ContentLength = "POST", io.LimitReader(zeros{}, 300_000), -1
	case "cancel":
		time.AfterFunc(time.Duration(len(path))*100*time.Microsecond, cancel)
	}
	resource, err := h.Fetch(ctx, r)
	if err != nil {
		if mode != "abort" && mode != "cancel" && mode != "early" {
			t.Errorf("%s %s: %v", path, mode, err)
		}
		return
	}
	if mode == "close" {
		_, _ = resource.Body.Read(make([]byte, 10))
		resource.Body.Close()
		return
	}
	text, err := body(resource)
	if want := strings.Repeat(path, 1000); text != want && (err == nil || !strings.HasPrefix(want, text)) ||
		err != nil && mode != "cancel" && mode != "early" {
		t.Errorf("%s %s: %d bytes that begin with %.20q, %v", path, mode, len(text), text, err)
	}
}
