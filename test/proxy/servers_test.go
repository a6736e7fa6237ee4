//go:build e2e

package proxy

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// siteServer is a server of a site that reports its number and the number of its requests.
type siteServer struct {
	*httptest.Server
	requests atomic.Int64
}

func startSiteServer(t *testing.T, number int) *siteServer {
	t.Helper()
	s := new(siteServer)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Cache-Control", "no-store")
		fmt.Fprintf(w, "server %d", number)
	}))
	t.Cleanup(s.Close)
	return s
}

// kill closes the server immediately with its connections.
func (s *siteServer) kill() {
	_ = s.Listener.Close()
	s.CloseClientConnections()
}

// load sends requests for the site of urnd until it is stopped, and counts failed ones.
type load struct {
	*urndtest.Daemon
	method             string
	failed, sent, late atomic.Int64
	after              atomic.Pointer[time.Time] // time from which failures are counted as late
	stop               chan struct{}
	running            sync.WaitGroup
}

func (l *load) start(clients int) {
	l.stop = make(chan struct{})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	for range clients {
		l.running.Go(func() {
			for {
				select {
				case <-l.stop:
					return
				default:
					l.request(client)
				}
			}
		})
	}
}

func (l *load) request(client *http.Client) {
	var body io.Reader
	if l.method == http.MethodPost {
		body = strings.NewReader("content")
	}
	began := time.Now()
	r, err := http.NewRequest(l.method, l.URL+"/a", body)
	if err != nil {
		panic(err)
	}
	r.Host = "www.example.org"
	l.sent.Add(1)
	response, err := client.Do(r)
	if err == nil {
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	if err != nil || response.StatusCode != http.StatusOK {
		l.failed.Add(1)
		if after := l.after.Load(); after != nil && began.After(*after) {
			l.late.Add(1)
		}
	}
}

// TestServerDiesUnderLoad: when one of three servers dies under load, no request fails that may be retried. Of
// the others at most those in progress fail, and none after the first second.
func TestServerDiesUnderLoad(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		servers := []*siteServer{startSiteServer(t, 0), startSiteServer(t, 1), startSiteServer(t, 2)}
		d := urndtest.Start(t, noDNS, func(c *config.Config) {
			urndtest.OpenLoopback(c)
			site := config.Site{
				Hosts: []string{"www.example.org"},
				Check: config.SiteCheck{Path: "/health", Interval: time.Second},
			}
			for _, s := range servers {
				site.Servers = append(site.Servers, s.URL)
			}
			c.Proxy.Sites = []config.Site{site}
		})
		const clients = 16
		l := &load{Daemon: d, method: method}
		l.start(clients)
		testserver.Wait(t, "all servers have requests", func() bool {
			return servers[0].requests.Load() > 100 && servers[1].requests.Load() > 100 &&
				servers[2].requests.Load() > 100
		})
		servers[1].kill()
		after := time.Now().Add(time.Second)
		l.after.Store(&after)
		d.WaitForLog(t, "site server down, used only if all others are down or fail")
		sent := l.sent.Load()
		testserver.Wait(t, "more requests were sent", func() bool { return l.sent.Load() > sent+1000 })
		close(l.stop)
		l.running.Wait()
		most := int64(0)
		if method == http.MethodPost {
			most = clients // maximum number of requests in progress
		}
		if l.failed.Load() > most || l.late.Load() > 0 {
			t.Errorf("%s: of %d requests %d failed, %d of them after a second", method, l.sent.Load(), l.failed.Load(),
				l.late.Load())
		}
		d.ExpectMetrics(t, `site_server_up{server="`+servers[1].URL+`"} 0`)
	}
}

// TestServerIsDrained checks that a drained server gets no new requests, and that a reload keeps the state of
// the others and the cache.
func TestServerIsDrained(t *testing.T) {
	t.Parallel()
	servers := []*siteServer{startSiteServer(t, 0), startSiteServer(t, 1)}
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Cache.Responses, c.Cache.MaxResponse = 16<<20, 1<<20
		c.Proxy.Sites = []config.Site{{
			Hosts: []string{"www.example.org"}, Servers: []string{servers[0].URL, servers[1].URL},
			ResponseRemove: []string{"Cache-Control"},
			Cache:          []config.SiteCache{{MinTTL: time.Hour}},
		}}
	})
	d.At(t, http.MethodGet, "www.example.org", "/cached")
	had := servers[0].requests.Load() + servers[1].requests.Load()
	if !reload(t, d, func(c *config.Config) { c.Proxy.Sites[0].Drain = []string{servers[0].URL} }) {
		t.Fatal("the configuration was not reloaded")
	}
	d.At(t, http.MethodGet, "www.example.org", "/cached")
	if now := servers[0].requests.Load() + servers[1].requests.Load(); had != 1 || now != had {
		t.Errorf("%d requests, then %d: the cached responses are lost", had, now)
	}
	before := servers[0].requests.Load()
	for i := range 10 {
		if got := d.At(t, http.MethodGet, "www.example.org", fmt.Sprintf("/%d", i)); !strings.Contains(got, "200") {
			t.Errorf("%q", got)
		}
	}
	if got := servers[0].requests.Load() - before; got != 0 {
		t.Errorf("%d requests came to the server that is drained", got)
	}
	if !reload(t, d, func(c *config.Config) {
		c.Proxy.Sites[0].Servers, c.Proxy.Sites[0].Drain, c.Proxy.Sites[0].Cache = nil, nil, nil
		c.Proxy.Sites[0].Answer = config.SiteAnswer{Status: http.StatusServiceUnavailable, Body: "Back at nine."}
	}) {
		t.Fatal("the configuration was not reloaded")
	}
	if got := d.At(t, http.MethodGet, "www.example.org", "/cached"); !strings.Contains(got, "503") {
		t.Errorf("in maintenance: %q", got)
	}
}
