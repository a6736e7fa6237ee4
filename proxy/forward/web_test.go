package forward_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/proxytest"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

var origin = netip.MustParseAddrPort("192.0.2.80:80")

// web is a Proxy whose origins are played by the test.
type web struct {
	*forward.Proxy
	cache *httpcache.Cache
	slots quota.Semaphore // of fetches

	mu        sync.Mutex
	answer    func(scheme.Request) (*scheme.Resource, error)
	requested []scheme.Request
}

// newWeb returns a web whose origins answer 200 without content. With a nil store nothing is stored.
func newWeb(t testing.TB, store httpcache.Store, change func(*forward.Config)) *web {
	t.Helper()
	w := &web{
		slots:  make(quota.Semaphore, 8),
		answer: func(scheme.Request) (*scheme.Resource, error) { return respond(200, ""), nil },
	}
	w.cache = httpcache.New(httpcache.Config{
		Store: store, Now: time.Now, MaxObject: 1 << 20, MaxArriving: 1 << 20,
		SameOrigin: func(string, string) (string, bool) { return "", false },
	})
	t.Cleanup(w.cache.Close)
	config := forward.Config{
		Fetch: w, Cache: w.cache, Via: httpmessage.NewViaName(), Now: time.Now,
		Fetches: quota.Limit{Semaphore: w.slots}, Streams: quota.Limit{Semaphore: make(quota.Semaphore, 2)},
		Bound:    quota.Limit{Semaphore: make(quota.Semaphore, 2)},
		Language: func(_, languages string) string { return languages },
		Accept: func(accept string, fetched bool, order string) string {
			return fmt.Sprintf("listing of %q, fetched %t, by %q", accept, fetched, order)
		},
		TunnelPort: func(port uint16) bool { return port == 443 }, TunnelIdle: time.Minute,
	}
	if change != nil {
		change(&config)
	}
	w.Proxy = forward.New(config)
	return w
}

func newStore(t testing.TB) httpcache.Store {
	t.Helper()
	store, err := memory.New(memory.Config[*httpcache.Entry]{MaxBytes: 16 << 20, Size: (*httpcache.Entry).Size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

// Fetch implements scheme.Handler.
func (w *web) Fetch(_ context.Context, r scheme.Request) (*scheme.Resource, error) {
	w.mu.Lock()
	w.requested = append(w.requested, r)
	answer := w.answer
	w.mu.Unlock()
	return answer(r)
}

// last returns the last request to an origin, and the number of requests since the previous call.
func (w *web) last() (r scheme.Request, count int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if count = len(w.requested); count > 0 {
		r = w.requested[count-1]
	}
	w.requested = nil
	return r, count
}

// answers sets the response of all origins.
func (w *web) answers(status int, body string, fields ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = func(scheme.Request) (*scheme.Resource, error) { return respond(status, body, fields...), nil }
}

// respond returns a response of an origin, with fields as pairs of name and value.
func respond(status int, body string, fields ...string) *scheme.Resource {
	return &scheme.Resource{Response: httpmessage.Response{
		Status: status, Reason: "Words", Fields: httpmessage.NewFields(fields...),
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), RemoteAddr: origin,
	}}
}

// parsed returns a URI.
func parsed(t testing.TB, text string) uri.URI {
	t.Helper()
	u, err := uri.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// requested returns a client's request for a URI, with fields as pairs of name and value.
func requested(t testing.TB, method, target string, fields ...string) *forward.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/", nil)
	r.RequestURI = target
	asked := of(t, r, target)
	asked.Fields = httpmessage.NewFields(fields...)
	return asked
}

// of converts a request of net/http to one for a URI.
func of(t testing.TB, r *http.Request, target string) *forward.Request {
	t.Helper()
	requested := &forward.Request{
		Request: httpmessage.FromRequest(r), Key: parsed(t, target), Target: r.RequestURI, Authority: r.Host,
		Major: r.ProtoMajor, Minor: r.ProtoMinor,
	}
	requested.URI = requested.Key
	return requested
}

// recorder is a forward.ResponseWriter that records the response.
type recorder struct {
	proxytest.Recorder
	closes bool
	server netip.AddrPort
	broken error
	cached string
	err    error
}

// CloseAfterResponse implements forward.ResponseWriter.
func (r *recorder) CloseAfterResponse() { r.closes = true }

// SetServer implements forward.ResponseWriter.
func (r *recorder) SetServer(server netip.AddrPort) { r.server = server }

// SourceFailed implements forward.ResponseWriter.
func (r *recorder) SourceFailed(err error) { r.broken = err }

// serve returns the response to a request.
func (w *web) serve(t testing.TB, r *forward.Request) *recorder {
	t.Helper()
	return w.serveIn(t.Context(), r)
}

// serveIn is serve with a context.
func (w *web) serveIn(ctx context.Context, r *forward.Request) *recorder {
	client := new(recorder)
	client.cached, client.err = w.Serve(ctx, client, r)
	return client
}

// get returns the response to a GET for a URI.
func (w *web) get(t testing.TB, target string, fields ...string) *recorder {
	t.Helper()
	return w.serve(t, requested(t, http.MethodGet, target, fields...))
}

// written returns a reply as sent to a client.
func written(reply message.Reply) *recorder {
	client := new(recorder)
	message.Write(client, http.MethodGet, reply, nil)
	return client
}

// linesOf returns the lines of some fields as one text.
func linesOf(fields httpmessage.Fields, names ...string) string {
	var all []string
	for _, name := range names {
		for _, line := range fields.Values(name) {
			all = append(all, name+"="+line)
		}
	}
	return strings.Join(all, " ")
}
