package ftp

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/scheme"
)

// TestClose closes a stream during a Read of another goroutine.
func TestClose(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	f := &fake{body: func() io.Reader {
		return io.MultiReader(strings.NewReader(strings.Repeat("a", 2*scheme.SniffLength)), in)
	}}
	h := handler(t, func(c *Config) { c.TLS = TLSNever })
	resource, err := h.Fetch(t.Context(), request(t, http.MethodGet, "ftp://"+f.start(t)+"/a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { _, err := io.ReadAll(resource.Body); ended <- err }()
	testserver.Within(t, "Close", func() { resource.Body.Close() })
	if err := <-ended; err == nil {
		t.Error("a stream that was closed is whole")
	}
	if _, err := resource.Body.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("after Close: %v", err)
	}
	if n := h.pool.Len(); n != 0 {
		t.Errorf("%d connections wait, after a transfer that is not over", n)
	}
	if err := resource.Body.Close(); err != nil || errors.Is(err, net.ErrClosed) {
		t.Errorf("Close again: %v", err)
	}
}
