package present_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/present"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

type handlerFunc func(ctx context.Context, r scheme.Request) (*scheme.Resource, error)

func (f handlerFunc) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	return f(ctx, r)
}

// response is a response to a client.
type response struct {
	status int
	reason string
	header http.Header
	length int64
	body   string
	err    error
}

var client = netip.MustParseAddr("192.0.2.1")

// request returns a request for a URI; fields are pairs of a name and a value.
func request(t *testing.T, method, target string, fields ...string) scheme.Request {
	t.Helper()
	u, err := uri.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	return scheme.Request{Request: httpmessage.Request{
		Method: method, URI: u,
		Fields: httpmessage.NewFields(fields...),
	}, Client: client}
}

func fetch(t *testing.T, p *present.Handler, method, target string, fields ...string) response {
	t.Helper()
	resource, err := p.Fetch(t.Context(), request(t, method, target, fields...))
	if err != nil {
		return response{err: err}
	}
	defer resource.Body.Close()
	body, err := io.ReadAll(resource.Body)
	return response{
		resource.Status, resource.Reason, resource.Fields.Header(), resource.ContentLength,
		string(body), err,
	}
}

// shelf has a directory; it refuses other paths with the status in the path.
func shelf(_ context.Context, r scheme.Request) (*scheme.Resource, error) {
	switch path := r.URI.Path(); path {
	case "/pub/":
		resource := scheme.ListingResource(&scheme.Listing{
			Kind: scheme.KindDirectory, Title: "/pub/", URI: r.URI.String(),
			Items: []scheme.Item{{Kind: scheme.ItemFile, Name: "a", URI: r.URI.String() + "a"}},
		})
		resource.RemoteAddr = netip.MustParseAddrPort("192.0.2.9:21")
		if r.Fields.Has("Authorization") {
			resource.Fields = httpmessage.NewFields("Vary", "Authorization", "Cache-Control", "no-store")
		}
		return resource, nil
	case "/file":
		return &scheme.Resource{Response: httpmessage.Response{
			Status: http.StatusOK, Fields: httpmessage.NewFields("Content-Type", "text/x"),
			Body: io.NopCloser(strings.NewReader("content")), ContentLength: 7,
		}}, nil
	case "/unreachable":
		return nil, fmt.Errorf("connecting: %w", resolver.ErrUnreachable)
	default:
		status, err := strconv.Atoi(path[1:])
		refusal := &scheme.StatusError{Status: status, Reply: `550 "No" such file`}
		if status == http.StatusUnauthorized {
			refusal.Fields = httpmessage.NewFields("Www-Authenticate", `Basic realm="ftp"`)
		}
		return nil, errors.Join(refusal, err)
	}
}

// TestListing: a listing is a document with validators, in the negotiated type: RFC 9110 sections 8.8.3, 9.3.2,
// 12.5.5 and 13.1.2.
func TestListing(t *testing.T) {
	p := present.New(present.Config{
		Pages: pages.New(pages.Site{}), Fetch: handlerFunc(shelf), TTL: time.Minute,
		MaxBytes: 1 << 20,
	})
	etags := make(map[string]string)
	for _, tt := range []struct {
		accept, login     string
		kind, has         string
		vary, cacheFields string
	}{
		{
			"text/html", "", "text/html; charset=utf-8", `<a href="ftp://h.example/pub/a">`, "Accept, Accept-Language",
			"max-age=60",
		},
		{
			"text/plain", "", "text/plain; charset=utf-8", "ftp://h.example/pub/", "Accept, Accept-Language",
			"max-age=60",
		},
		{
			"application/json", "", "application/json", `"uri": "ftp://h.example/pub/a"`, "Accept, Accept-Language",
			"max-age=60",
		},
		{
			"application/linkset+json", "anna", "application/linkset+json", `"href":"ftp://h.example/pub/a"`,
			"Authorization, Accept, Accept-Language", "no-store",
		},
	} {
		fields := []string{"Accept", answer.ListingAccept(tt.accept, false, "")}
		if tt.login != "" {
			fields = append(fields, "Authorization", tt.login)
		}
		got := fetch(t, p, http.MethodGet, "ftp://h.example/pub/", fields...)
		if got.err != nil || got.status != 200 || got.reason != "OK" || got.header.Get("Content-Type") != tt.kind ||
			!strings.Contains(got.body, tt.has) {
			t.Errorf("%s: %+v", tt.accept, got)
		}
		if strings.Join(got.header["Vary"], ", ") != tt.vary || got.header.Get("Cache-Control") != tt.cacheFields {
			t.Errorf("%s: %v", tt.accept, got.header)
		}
		if got.length != int64(len(got.body)) || got.header.Get("Content-Length") != strconv.Itoa(len(got.body)) {
			t.Errorf("%s: a length of %d, and %d bytes", tt.accept, got.length, len(got.body))
		}
		if got.header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(got.header.Get("Content-Security-Policy"),
				"default-src 'none'") || got.header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: it may do more than be shown: %v", tt.accept, got.header)
		}
		etag := got.header.Get("Etag")
		if other, has := etags[etag]; has || etag == "" {
			t.Errorf("%s has the ETag %s of %s", tt.accept, etag, other)
		}
		etags[etag] = tt.accept
		if again := fetch(t, p, http.MethodGet, "ftp://h.example/pub/", append(fields, "If-None-Match",
			etag)...); again.status != 304 || again.body != "" || again.header.Get("Etag") != etag {
			t.Errorf("%s again: %+v", tt.accept, again)
		}
		if head := fetch(t, p, http.MethodHead, "ftp://h.example/pub/", fields...); head.status != 200 ||
			head.body != "" || head.length != got.length {
			t.Errorf("HEAD %s: %+v", tt.accept, head)
		}
	}
}

// TestRefusal: the refusal of a server is explained, with the server's text. A challenge is forwarded only to
// clients that use the proxy; at /fetch it would be one of this server.
func TestRefusal(t *testing.T) {
	p := present.New(present.Config{
		Pages: pages.New(pages.Site{}), Fetch: handlerFunc(shelf), MaxBytes: 1 << 20,
		Schemes: scheme.Infos{{Names: []string{"ftp"}, Noun: "file"}},
	})
	for _, tt := range []struct {
		target    string
		fetched   bool
		status    int
		kind, has string
	}{
		{"ftp://h.example/404", true, 404, "text/html; charset=utf-8", "The server has no such file or directory."},
		{"ftp://u:secret@h.example/404", true, 404, "text/html; charset=utf-8", `550 \&#34;No\&#34; such file`},
		{"ftp://h.example/401", true, 403, "text/html; charset=utf-8", "The server denies access to it."},
		{"ftp://h.example/401", false, 401, "text/html; charset=utf-8", "requires a user name and a password for it"},
		{"ftp://h.example/503", false, 503, "application/problem+json", `"status": 503`},
	} {
		accept := "text/html"
		if tt.kind != "text/html; charset=utf-8" {
			accept = "application/json"
		}
		chosen := answer.ListingAccept(accept, tt.fetched, "")
		got := fetch(t, p, http.MethodGet, tt.target, "Accept", chosen)
		if got.err != nil || got.status != tt.status || got.reason != http.StatusText(tt.status) ||
			got.header.Get("Content-Type") != tt.kind || !strings.Contains(got.body, tt.has) ||
			strings.Contains(got.body, "secret") {
			t.Errorf("%s at /fetch %t: %+v", tt.target, tt.fetched, got)
		}
		if challenge := got.header.Get("Www-Authenticate"); (challenge != "") != (got.status == http.StatusUnauthorized) {
			t.Errorf("%s at /fetch %t: %q", tt.target, tt.fetched, challenge)
		}
		// No error parameter: RFC 9209 section 2.1.1.
		if status := got.header.Get("Proxy-Status"); status != `urnd; details="550 \"No\" such file"` {
			t.Errorf("%s: %s", tt.target, status)
		}
		if head := fetch(t, p, http.MethodHead, tt.target, "Accept", chosen); head.body != "" ||
			head.length != got.length || head.status != got.status {
			t.Errorf("HEAD %s: %+v", tt.target, head)
		}
	}
	if got := fetch(t, p, http.MethodGet, "ftp://h.example/unreachable"); !errors.Is(got.err, resolver.ErrUnreachable) {
		t.Errorf("a missing answer is not a refusal: %+v", got)
	}
	if got := fetch(t, p, http.MethodGet,
		"ftp://h.example/file"); got.body != "content" || got.reason != "OK" ||
		got.header.Get("Content-Type") != "text/x" || got.header["Etag"] != nil {
		t.Errorf("a file is passed on as it is: %+v", got)
	}
	if got := fetch(t, p, http.MethodGet, "http://h.example/file"); got.body != "content" || got.reason != "" {
		t.Errorf("HTTP is passed on as it is: %+v", got)
	}
}

// TestMemory: the maximum size of a document is reserved before the fetch, its actual size until it is read,
// and nothing for HTTP, which is streamed.
func TestMemory(t *testing.T) {
	const slots = 8
	memory := quota.NewMemory(quota.Limit{Semaphore: make(quota.Semaphore, slots), Busy: problem.ErrDocuments})
	var requested int
	p := present.New(present.Config{
		Pages: pages.New(pages.Site{}), MaxBytes: slots * quota.MemoryUnit, Memory: memory,
		Fetch: handlerFunc(func(_ context.Context,
			r scheme.Request,
		) (*scheme.Resource, error) {
			requested = len(memory.Limit().Semaphore)
			if r.URI.Path() == "/panics" {
				panic("a fault in a handler")
			}
			if r.URI.Path() == "/fails" {
				return nil, resolver.ErrUnreachable
			}
			return scheme.ListingResource(&scheme.Listing{
				Kind: scheme.KindArticle,
				Text: strings.Repeat("a", 3*quota.MemoryUnit/2),
			}), nil
		}),
	})
	for _, tt := range []struct {
		method, target  string
		requested, held int
	}{
		{http.MethodGet, "news:1@a.example", slots, 2},
		{http.MethodHead, "news:1@a.example", slots, 0},
		{http.MethodGet, "ftp://h.example/fails", slots, 0},
		{http.MethodGet, "http://h.example/", 0, 0},
	} {
		resource, err := p.Fetch(t.Context(), request(t, tt.method, tt.target, "Accept", "text/plain"))
		if requested != tt.requested || len(memory.Limit().Semaphore) != tt.held ||
			(err != nil) != strings.HasSuffix(tt.target, "fails") {
			t.Errorf("%s %s: %d slots while it is asked, then %d, %v", tt.method, tt.target, requested,
				len(memory.Limit().Semaphore), err)
		}
		if err == nil {
			_ = resource.Body.Close()
		}
		if len(memory.Limit().Semaphore) != 0 {
			t.Errorf("%s %s: %d slots in the end", tt.method, tt.target, len(memory.Limit().Semaphore))
		}
	}
	func() {
		defer func() {
			if recover() == nil || len(memory.Limit().Semaphore) != 0 {
				t.Errorf("after a panic: %d slots", len(memory.Limit().Semaphore))
			}
		}()
		_, _ = p.Fetch(t.Context(), request(t, http.MethodGet, "ftp://h.example/panics"))
	}()
	for range slots {
		memory.Limit().Semaphore <- struct{}{} // other requests use up the memory
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	requested = -1
	if _, err := p.Fetch(ctx, request(t, http.MethodGet, "news:1@a.example")); !errors.Is(err, resolver.ErrBusy) ||
		requested != -1 {
		t.Errorf("without memory: %v, with %d slots", err, requested)
	}
	waiting := make(chan error, 1)
	go func() {
		resource, err := p.Fetch(t.Context(), request(t, http.MethodGet, "news:1@a.example", "Accept", "text/plain"))
		if err == nil {
			err = resource.Body.Close()
		}
		waiting <- err
	}()
	for range slots {
		<-memory.Limit().Semaphore
	}
	first, err := p.Fetch(t.Context(), request(t, http.MethodGet, "news:1@a.example", "Accept", "text/plain"))
	if err != nil {
		t.Fatal(err)
	}
	_ = first.Body.Close() // wakes the waiting request
	if err := <-waiting; err != nil || len(memory.Limit().Semaphore) != 0 {
		t.Errorf("after others: %v, %d slots", err, len(memory.Limit().Semaphore))
	}
}
