package proxy_test

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// quotas are all limits that the requests of a server can exhaust.
type quotas struct {
	documents                           *quota.Memory
	requests, fetches, streams          quota.Semaphore
	outgoing, searches, sitemaps, bound quota.Semaphore
}

func newQuotas() *quotas {
	slots := func() quota.Semaphore { return make(quota.Semaphore, 4) }
	q := &quotas{
		requests: slots(), fetches: slots(), streams: slots(), outgoing: slots(), searches: slots(), sitemaps: slots(),
		bound: slots(),
	}
	const documents = 64
	share := quota.NewClientLimits(documents/2, documents/2, resolver.ErrBusy)
	q.documents = quota.NewMemory(quota.Limit{
		Semaphore: make(quota.Semaphore, documents), Clients: share,
		Busy: problem.ErrDocuments,
	})
	return q
}

// exhaust acquires all slots, and returns the function that releases them.
func exhaust(slots quota.Semaphore) (release func()) {
	n := 0
	for slots.TryAcquire() {
		n++
	}
	return func() {
		for range n {
			slots.Release()
		}
	}
}

// exhaustShare acquires all slots that a client on this machine may have.
func exhaustShare(t *testing.T, q quota.Limit) (release func()) {
	t.Helper()
	var all []func()
	for {
		one, err := q.Acquire(netip.MustParseAddr("127.0.0.1"))
		if err != nil {
			break
		}
		all = append(all, one.Release)
	}
	if len(all) == 0 || len(q.Semaphore) == cap(q.Semaphore) {
		t.Fatalf("the share is %d of %d slots", len(all), cap(q.Semaphore))
	}
	return func() {
		for _, one := range all {
			one()
		}
	}
}

// config makes a server use the quotas. Its pages and error replies are larger than the size that needs no quota.
func (q *quotas) config(t *testing.T, site string) func(*proxy.Config) {
	t.Helper()
	return func(c *proxy.Config) {
		withHandles(c)
		withCache(t, c)
		known := c.Resolver
		c.Resolver = resolver.Limit{Semaphore: q.requests, Next: known, Busy: resolver.ErrBusy}
		fetch := c.Fetch
		c.Fetch = handlerFunc(func(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
			if !q.outgoing.TryAcquire() {
				return nil, resolver.ErrBusy
			}
			defer q.outgoing.Release()
			if r.URI.Scheme() == "gopher" {
				return large(ctx, r)
			}
			return fetch.Fetch(ctx, r)
		})
		c.DocumentMemory, c.ListingSize, c.Forward.Accept = q.documents, 1<<20, answer.ListingAccept
		c.Forward.Fetches = quota.Limit{Semaphore: q.fetches, Busy: problem.ErrTooManyFetches}
		c.Forward.Streams = quota.Limit{Semaphore: q.streams, Busy: problem.ErrTooManyStreams}
		c.Forward.Bound = quota.Limit{Semaphore: q.bound, Busy: problem.ErrTooManyBoundConnections}
		lists := oneListed()
		c.Lists = lists
		c.Lists.Search = func(ctx context.Context, s resolver.NameSearch) (resolver.NamePage, error) {
			if !q.searches.TryAcquire() {
				return resolver.NamePage{}, resolver.ErrBusy
			}
			defer q.searches.Release()
			return lists.Search(ctx, s)
		}
		c.Lists.File = func(ctx context.Context, file string, client netip.Addr) (func(io.Writer) error,
			func(), error,
		) {
			if !q.sitemaps.TryAcquire() {
				return nil, nil, resolver.ErrBusy
			}
			write, release, err := lists.File(ctx, file, client)
			if err != nil {
				q.sitemaps.Release()
				return nil, nil, err
			}
			return write, func() { release(); q.sitemaps.Release() }, nil
		}
		c.Access.Browse = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}
		c.Access.Purge = []netip.Prefix{loopback}
		c.MaxTarget = 16 << 10
		c.Sites = []proxy.Site{siteAt(t, nil, "http://"+site)}
		long := strings.Repeat("The Library of a Long Name ", 20)
		c.Pages = pages.New(pages.Site{
			Name: long, Contact: "https://a.example/" + long, Imprint: "https://a.example/" + long,
			Privacy: "https://a.example/" + long, All: []pages.Namespace{{NID: "isbn"}}, HasNameList: true,
		})
	}
}

// exhaustedRequest is one of the tested requests.
type exhaustedRequest struct {
	method, target, host string // default: GET, a
	fields, body         string
	onlyHTTP11           bool
}

func exhaustedRequests(origin, upgrades string) []exhaustedRequest {
	long := strings.Repeat("x", 5000)
	all := []exhaustedRequest{
		// names, and failures about them
		{target: "/urn:a1:b"},
		{target: "/urn:a1:gone"},
		{target: "/urn:a1:unknown"},
		{target: "/urn:a1:down"},
		{target: "/urn:unknown-nid:a"},
		{target: "/urn:isbn:0-395-36341-2"},
		{target: "/urn:a1:" + long},
		{target: "/" + long},
		{target: "/urn:a1:b?+format=html"},
		{target: "/uri-res/N2L?urn:a1:b"},
		{target: "/uri-res/N2Ls?urn:a1:b"},
		{target: "/uri-res/N2C?urn:a1:b"},
		{target: "/uri-res/N2R?urn:a1:b"},
		{target: "/uri-res/N2L?urn:a1:" + long},
		{target: "/uri-res/N2L?" + long},
		{target: "/api/v1/resolve?uri=urn:a1:b"},
		{target: "/api/v1/explain?uri=urn:a1:b"},
		{target: "/api/v1/resolve?uri=" + long},
		{target: "/api/handles/20.500.1/b"},
		{target: "/api/handles/20.500.1/unknown"},
		{target: "/api/handles/" + long},
		{target: "/timegate/urn:a1:b"},
		{target: "/timemap/urn:a1:b"},
		{target: "/memento/20310501120000/urn:a1:b"},
		{target: "/memento/1/" + long},
		{target: "/http://a.example/b/../c"},
		{target: "/http://a.example/" + long},
		{method: "OPTIONS", target: "/urn:a1:b"},
		// pages and documents
		{target: "/"},
		{target: "/names"},
		{target: "/names?q=" + long},
		{target: "/sitemap.xml"},
		{target: "/sitemap-~.xml"},
		{target: "/namespaces"},
		{target: "/namespaces/isbn"},
		{target: "/docs"},
		{target: "/docs/" + long},
		{target: "/api/v1/openapi.json"},
		{target: "/robots.txt"},
		{target: "/.well-known/api-catalog"},
		{target: "/opensearch.xml"},
		{method: "DELETE", target: "/"},
		// resources
		{target: "/fetch"},
		{target: "/fetch?uri=http://" + origin + "/a"},
		{target: "/fetch?uri=http://127.0.0.1:1/" + long},
		{target: "/fetch?uri=" + long},
		{target: "http://" + origin + "/b"},
		{target: "http://127.0.0.1:1/" + long},
		{target: "/a", host: "www.example"},
		{target: "/" + long, host: "www.example"},
		{method: "PURGE", target: "http://" + origin + "/b"},
		{
			method: "POST", target: "/api/v1/resolve", fields: "Content-Type: application/json\r\n",
			body: `["urn:a1:b", "urn:a1:gone", "urn:a1:down"]`,
		},
		{
			method: "POST", target: "/api/v1/resolve", fields: "Content-Type: application/json\r\n",
			body: strings.Repeat("[", 5000),
		},
		{method: "CONNECT", target: "127.0.0.1:1", onlyHTTP11: true},
		{target: upgrades + "/", fields: "Connection: Upgrade\r\nUpgrade: echo\r\n", onlyHTTP11: true},
	}
	for i := range all {
		if all[i].method == "" {
			all[i].method = http.MethodGet
		}
		if all[i].host == "" {
			all[i].host = "a"
		}
	}
	return all
}

// exhaustedModes are the versions of HTTP, the code paths and the response formats of a request.
var exhaustedModes = []struct{ name, version, fields string }{
	{"HTTP/1.1, JSON", "1.1", ""},
	{"HTTP/1.1, a page", "1.1", "Accept: text/html\r\nReferer: http://a/\r\nAccept-Language: fr\r\n"},
	{"HTTP/1.1, close", "1.1", "Accept: text/html\r\nConnection: close\r\n"},
	{"HTTP/1.0", "1.0", "Accept: text/html\r\n"},
	{"HTTP/2", "2", "Accept: text/html\r\n"},
}

// send returns the status and the header of the response, which must be complete.
func (r *exhaustedRequest) send(
	t *testing.T, plain *server, client http.RoundTripper, version, fields string,
) (int, http.Header) {
	t.Helper()
	if version != "2" {
		if r.body != "" {
			fields += "Content-Length: " + strconv.Itoa(len(r.body)) + "\r\n"
		}
		request := r.method + " " + r.target + " HTTP/" + version + "\r\nHost: " + r.host + "\r\n" + fields + r.fields +
			"\r\n" + r.body
		response := plain.ask(t, request)[0]
		return response.StatusCode, response.Header
	}
	target := r.target
	if strings.HasPrefix(target, "/") {
		target = "https://" + r.host + target
	}
	ctx, cancel := context.WithTimeout(t.Context(), testserver.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, r.method, target, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(fields+r.fields, "\r\n"), "\r\n") {
		name, value, _ := strings.Cut(line, ": ")
		request.Header.Set(name, value)
	}
	response, err := client.RoundTrip(request)
	if err != nil {
		t.Fatalf("%s %.60s: %v", r.method, r.target, err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Errorf("%s %.60s: %v", r.method, r.target, err)
	}
	return response.StatusCode, response.Header
}

// An error response never needs the exhausted resource: whichever quota is exhausted, each request in each format gets
// its usual response or a complete error response with Retry-After, and the usual response once the quota is released.
func TestExhausted(t *testing.T) {
	for name, take := range map[string]func(*testing.T, *quotas) func(){
		"documents":          func(_ *testing.T, q *quotas) func() { return exhaust(q.documents.Limit().Semaphore) },
		"share of documents": func(t *testing.T, q *quotas) func() { return exhaustShare(t, q.documents.Limit()) },
		"requests":           func(_ *testing.T, q *quotas) func() { return exhaust(q.requests) },
		"fetches":            func(_ *testing.T, q *quotas) func() { return exhaust(q.fetches) },
		"streams":            func(_ *testing.T, q *quotas) func() { return exhaust(q.streams) },
		"outgoing":           func(_ *testing.T, q *quotas) func() { return exhaust(q.outgoing) },
		"searches":           func(_ *testing.T, q *quotas) func() { return exhaust(q.searches) },
		"sitemaps":           func(_ *testing.T, q *quotas) func() { return exhaust(q.sitemaps) },
		"all": func(_ *testing.T, q *quotas) func() {
			var all []func()
			for _, slots := range []quota.Semaphore{
				q.documents.Limit().Semaphore, q.requests, q.fetches, q.streams,
				q.bound, q.outgoing, q.searches, q.sitemaps,
			} {
				all = append(all, exhaust(slots))
			}
			return func() {
				for _, release := range all {
					release()
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q, web, upgrading := newQuotas(), origin(t), echo(t).URL
			set := func(e *engine) { e.protocols.MaxHeaderBytes = 32 << 10 }
			plain, secure := startOn(t, nil, q.config(t, web), set), startOn(t, certificate(t), q.config(t, web), set)
			client := secure.client2(t, "a")
			refused := 0
			for _, mode := range exhaustedModes {
				for _, r := range exhaustedRequests(web, upgrading) {
					if mode.version != "1.1" && r.onlyHTTP11 ||
						strings.Contains(mode.fields, "Connection") && strings.Contains(r.fields, "Connection") {
						continue
					}
					idle, _ := r.send(t, plain, client, mode.version, mode.fields)
					release := take(t, q)
					status, header := r.send(t, plain, client, mode.version, mode.fields)
					release()
					switch {
					case status == http.StatusServiceUnavailable && idle != status:
						refused++
						if header.Get("Retry-After") == "" || header.Get("Cache-Control") != "no-store" {
							t.Errorf("%s: %s %.60s: %d without what it needs: %v", mode.name, r.method, r.target,
								status, header)
						}
					case status != idle:
						t.Errorf("%s: %s %.60s: %d, and %d where nothing is exhausted", mode.name, r.method, r.target,
							status, idle)
					}
					if after, _ := r.send(t, plain, client, mode.version, mode.fields); after != idle {
						t.Errorf("%s: %s %.60s: %d after it, and %d before", mode.name, r.method, r.target, after, idle)
					}
				}
			}
			if refused == 0 {
				t.Error("nothing was refused")
			}
		})
	}
}
