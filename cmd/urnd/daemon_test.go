package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/daemon"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/proxy/listen"
)

// clock is a clock that a test sets.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(4_000_000_000, c.ahead.Load()) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// testService is an urnd that a test has started.
type testService struct {
	url     string
	clock   clock
	log     logBuffer
	metrics *metrics.Metrics
}

// logBuffer collects the log.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
	next io.Writer
}

func (j *logBuffer) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text.Write(p)
	return j.next.Write(p)
}

func (j *logBuffer) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// startService runs urnd with a DNS server of the test, and no admin listener.
func startService(t *testing.T, dns string, change func(*config.Config)) *testService {
	t.Helper()
	c := config.Default()
	c.Listen = config.Listen{Service: []string{"127.0.0.1:0"}}
	c.DNS.Servers = []config.Server{{AddrPort: netip.MustParseAddrPort(dns)}}
	c.DNS.Timeout, c.DNS.Rounds = time.Second, 1
	c.DDDS.Roots = []string{"urn.example.org.", "urn.arpa."}
	if change != nil {
		change(&c)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	d := &testService{}
	d.log.next = t.Output()
	log := slog.New(slog.NewTextHandler(&d.log, nil))
	s := newDependencies()
	s.log, s.now = log, d.clock.now
	d.metrics = s.metrics
	p, err := wireAll(c, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	d.url = "http://" + serveClients(t, c, p.service, s)
	return d
}

// serveClients serves clients with a configuration on a loopback port until the end of the test, and returns
// its address.
func serveClients(tb testing.TB, c config.Config, handler httpmessage.Handler, d dependencies) (address string) {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	serving := serverConfig(c, nameHTTP, nil, nil, d)
	serving.Log = d.log
	protocol := protocolOf(c, nameHTTP, 1,
		d)(daemon.CurrentHandlers{Handler: handler, WriteDeadline: func() time.Time { return time.Time{} }})
	serving.Serve = protocol.Serve
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- listen.NewServer(serving).Serve(ctx, listener) }()
	tb.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
		protocol.Close()
	})
	return listener.Addr().String()
}

// clientResponse is the visible part of a response.
type clientResponse struct {
	status                              int
	location, cacheStatus, cacheControl string
	body                                string
}

func (d *testService) get(t *testing.T, path string, fields ...string) clientResponse {
	t.Helper()
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	request, err := http.NewRequest(http.MethodGet, d.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		if request.Header.Set(name, value); name == "Host" {
			request.Host = value
		}
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	h := response.Header
	return clientResponse{
		response.StatusCode, h.Get("Location"), h.Get("Cache-Status"), h.Get("Cache-Control"),
		string(body),
	}
}
