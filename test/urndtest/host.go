package urndtest

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// RequestHost requests an unmodified path of a web host. It follows no redirects.
func (d *Daemon) RequestHost(t testing.TB, method, host, path string, fields ...string) Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, d.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Opaque, r.Host = path, host
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		r.Header.Set(name, value)
	}
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	h := response.Header
	return Response{
		response.StatusCode, h.Get("Location"), h.Get("Cache-Status"), h.Get("Cache-Control"), h,
		string(text),
	}
}

// At is like RequestHost, but returns the status, and the location if there is one.
func (d *Daemon) At(t testing.TB, method, host, path string, fields ...string) string {
	t.Helper()
	a := d.RequestHost(t, method, host, path, fields...)
	return strings.TrimSpace(strconv.Itoa(a.Status) + " " + a.Location)
}
