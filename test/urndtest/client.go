package urndtest

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// Response is a response received by a client.
type Response struct {
	Status                              int
	Location, CacheStatus, CacheControl string
	Header                              http.Header
	Body                                string
}

// Get sends a GET request for a path on a new connection, with fields such as "Accept: text/html". It follows
// no redirects.
func (d *Daemon) Get(t testing.TB, path string, fields ...string) Response {
	t.Helper()
	return Send(t, "GET "+d.URL+path, "", fields...)
}

// Post sends a POST request with a body to a path.
func (d *Daemon) Post(t testing.TB, path, body string, fields ...string) Response {
	t.Helper()
	return Send(t, "POST "+d.URL+path, body, fields...)
}

// AdminRequest sends a request "METHOD TARGET" to the admin listener.
func (d *Daemon) AdminRequest(t testing.TB, request string, fields ...string) (int, string) {
	t.Helper()
	method, target, _ := strings.Cut(request, " ")
	a := Send(t, method+" "+d.Admin+target, "", fields...)
	return a.Status, a.Body
}

// Send sends a request "METHOD URL" with a body, "" for none, on a new connection. It follows no redirects.
func Send(t testing.TB, request, body string, fields ...string) Response {
	t.Helper()
	method, url, _ := strings.Cut(request, " ")
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, url, content)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
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

// CacheStates returns the first word of Cache-Status for each path.
func (d *Daemon) CacheStates(t testing.TB, paths ...string) string {
	t.Helper()
	var all []string
	for _, path := range paths {
		word, _, _ := strings.Cut(strings.TrimPrefix(d.Get(t, path).CacheStatus, "urnd; "), ";")
		all = append(all, strings.TrimPrefix(word, "fwd=uri-"))
	}
	return strings.Join(all, " ")
}
