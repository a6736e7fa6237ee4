package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// soakOrigin is the origin of a soak test of the proxy: /KIND/NUMBER.
type soakOrigin struct {
	*httptest.Server
	requests atomic.Int64       // requests, without those through tunnels
	versions [256]atomic.Uint64 // of the resources, which POST changes
	content  []byte
}

// soakSizes returns the sizes of resources, in order.
func soakSizes() []int { return []int{0, 1, 100, 5000, 64 << 10, 300_000, 2 << 20, 9 << 20} }

// sumField is the field with the checksum of the whole content.
const sumField = "X-Sum"

// ServeHTTP implements http.Handler.
func (o *soakOrigin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.TLS == nil {
		o.requests.Add(1)
	}
	kind, number, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	n, _ := strconv.Atoi(number)
	version := &o.versions[n%len(o.versions)]
	if r.Method == http.MethodPost {
		sum := sha256.New()
		_, _ = io.Copy(sum, r.Body)
		version.Add(1)
		_, _ = io.WriteString(w, hex.EncodeToString(sum.Sum(nil)))
		return
	}
	sizes := soakSizes()
	v := version.Load()
	start := (n*1009 + int(v)) % 4096
	content := o.content[start : start+sizes[n%len(sizes)]]
	sum := sha256.Sum256(content)
	header := w.Header()
	header.Set(sumField, hex.EncodeToString(sum[:]))
	header.Set("ETag", fmt.Sprintf(`"%d-%d"`, n, v))
	header.Set("Content-Type", "application/octet-stream")
	switch kind {
	case "fresh":
		header.Set("Cache-Control", "max-age=60")
	case "short":
		header.Set("Cache-Control", "max-age=1, stale-while-revalidate=1")
	case "private":
		header.Set("Cache-Control", "no-store")
	case "error":
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case "vary":
		header.Set("Cache-Control", "max-age=60")
		header.Set("Vary", "X-Variant")
		header.Del("ETag")
	case "chunked", "slow", "broken":
		header.Set("Cache-Control", "max-age=2")
		o.pieces(w, r.Method, content, kind)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// pieces sends a content in chunks, slowly, or incompletely.
func (o *soakOrigin) pieces(w http.ResponseWriter, method string, content []byte, kind string) {
	if kind == "broken" && rand.IntN(2) == 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(content)+1))
	}
	control := http.NewResponseController(w)
	_ = control.Flush() // a request without a response would be repeated: RFC 9110 section 9.2.2
	for rest := content; len(rest) > 0; {
		n := min(len(rest), 1+rand.IntN(len(content)))
		_, _ = w.Write(rest[:n])
		rest = rest[n:]
		_ = control.Flush()
		if kind == "slow" {
			time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond) // simulates a slow origin
		}
	}
	// The response to HEAD is complete anyway, and the next request on the connection, which the server then
	// closes, may be one that cannot be repeated: RFC 9112 section 9.3.1.
	if kind == "broken" && method != http.MethodHead {
		panic(http.ErrAbortHandler)
	}
}

// proxySoak sends mixed traffic through a proxy.
type proxySoak struct {
	p      *process
	origin *soakOrigin
	secure *httptest.Server
	client *http.Client
	// leaving is the client of aborted requests: net/http may abort the next request on the same connection
	// with them.
	leaving *http.Client

	kinds                        [10]atomic.Int64 // requests by kind
	sent, answered, tunnels      atomic.Int64
	hits, broken, left, failures atomic.Int64
	failure                      func(format string, arguments ...any)
}

// check compares a response with the content of the origin.
func (s *proxySoak) check(method, path, part string, got *http.Response, body []byte, err error) {
	fails := strings.HasPrefix(path, "/broken/")
	status := got.Header.Get("Cache-Status")
	if strings.HasPrefix(status, "urnd; hit") {
		s.hits.Add(1)
	}
	switch {
	case err != nil && fails, got.StatusCode == http.StatusBadGateway && fails:
		s.broken.Add(1)
		return
	case strings.HasPrefix(path, "/error/") && got.StatusCode == http.StatusServiceUnavailable &&
		err == nil, got.StatusCode == http.StatusNotModified,
		fails && method == http.MethodHead:
		return
	case fails:
		s.wrong("%s %s: a truncated body is complete: %d, %d bytes, %s", method, path, got.StatusCode,
			len(body), status)
		return
	case err != nil, got.StatusCode != http.StatusOK && got.StatusCode != http.StatusPartialContent &&
		got.StatusCode != http.StatusRequestedRangeNotSatisfiable:
		s.wrong("%s %s %s: %d, %v, %s", method, path, part, got.StatusCode, err, status)
		return
	}
	sum := sha256.Sum256(body)
	same := hex.EncodeToString(sum[:]) == got.Header.Get(sumField)
	if got.StatusCode == http.StatusOK && method == http.MethodGet && !same {
		s.wrong("GET %s: another body, of %d bytes, than that of %s; %s", path, len(body),
			got.Header.Get("ETag"), status)
	}
	if got.StatusCode == http.StatusPartialContent {
		s.checkPart(path, part, got, body)
	}
}

// checkPart compares a part with the content of the same version.
func (s *proxySoak) checkPart(path, part string, got *http.Response, body []byte) {
	var n, version, from, to, all int
	_, tagErr := fmt.Sscanf(got.Header.Get("ETag"), `"%d-%d"`, &n, &version)
	_, rangeErr := fmt.Sscanf(got.Header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &all)
	start := (n*1009+version)%4096 + from
	if tagErr != nil || rangeErr != nil || !bytes.Equal(body, s.origin.content[start:start+to-from+1]) {
		s.wrong("GET %s %s: %d bytes of %q, %q", path, part, len(body), got.Header.Get("Content-Range"),
			got.Header.Get("ETag"))
	}
}

func (s *proxySoak) wrong(format string, arguments ...any) {
	if s.failures.Add(1) < 20 {
		s.failure(format, arguments...)
	}
}

// step sends one request of a random kind.
func (s *proxySoak) step() {
	kinds := []string{
		"fresh", "fresh", "fresh", "short", "short", "private", "vary", "chunked", "slow",
		"broken", "error",
	}
	path := fmt.Sprintf("/%s/%d", kinds[rand.IntN(len(kinds))], rand.IntN(128))
	switch k := rand.IntN(100); {
	case k < 45:
		s.do(0, http.MethodGet, path, nil, 0)
	// A response to HEAD without a validator updates a stale response of another version: RFC 9111 section
	// 4.3.5.
	case k < 50:
		s.do(1, http.MethodHead, strings.Replace(path, "/vary/", "/fresh/", 1), nil, 0)
	case k < 60: // only resources with ranges
		s.do(2, http.MethodGet, fmt.Sprintf("/fresh/%d", rand.IntN(128)), nil, 0, "Range",
			fmt.Sprintf("bytes=%d-%d", rand.IntN(200), 200+rand.IntN(100_000)))
	case k < 67:
		s.do(3, http.MethodGet, path, nil, 0, "If-None-Match", fmt.Sprintf(`"%d-%d"`, rand.IntN(128), rand.IntN(3)))
	case k < 72:
		s.do(4, http.MethodGet, path, nil, 0, "X-Variant", strconv.Itoa(rand.IntN(4)))
	case k < 77:
		s.do(5, http.MethodGet, path, nil, 0, "Cache-Control", "no-cache")
	case k < 82:
		s.do(6, http.MethodPost, path, s.origin.content[:rand.IntN(100_000)], 0)
	case k < 84:
		s.do(7, "PURGE", path, nil, 0)
	case k < 94: // a client that disconnects
		s.do(8, http.MethodGet, path, nil, time.Duration(1+rand.IntN(20_000))*time.Microsecond)
	default:
		s.tunnel()
	}
}

// do sends a request through the proxy, and aborts it after leaves, unless that is 0.
func (s *proxySoak) do(kind int, method, path string, content []byte, leaves time.Duration, field ...string) {
	s.kinds[kind].Add(1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, s.origin.URL+path, bytes.NewReader(content))
	if err != nil {
		s.wrong("%s %s: %v", method, path, err)
		return
	}
	part := ""
	if len(field) > 0 {
		request.Header.Set(field[0], field[1])
		part = field[1]
	}
	client := s.client
	if leaves > 0 {
		client = s.leaving
		timer := time.AfterFunc(leaves, cancel)
		defer timer.Stop()
	} else {
		s.sent.Add(1)
	}
	got, err := client.Transport.RoundTrip(request)
	if err != nil {
		if leaves > 0 && errors.Is(err, context.Canceled) {
			s.left.Add(1)
			return
		}
		// A reset may overtake the response before it.
		if strings.HasPrefix(path, "/broken/") && errors.Is(err, syscall.ECONNRESET) {
			if leaves == 0 {
				s.answered.Add(1)
			}
			s.broken.Add(1)
			return
		}
		s.wrong("%s %s: no response: %v", method, path, err)
		return
	}
	defer got.Body.Close()
	if leaves == 0 {
		s.answered.Add(1)
	}
	body, err := io.ReadAll(got.Body)
	switch {
	case leaves > 0 && err != nil:
		s.left.Add(1)
	case method == "PURGE":
		if got.StatusCode != http.StatusOK && got.StatusCode != http.StatusNotFound {
			s.wrong("PURGE %s: %d", path, got.StatusCode)
		}
	case method == http.MethodPost:
		if sum := sha256.Sum256(content); string(body) != hex.EncodeToString(sum[:]) {
			s.wrong("POST %s: %d, another body came to the origin: %.300s", path, got.StatusCode, body)
		}
	default:
		s.check(method, path, part, got, body, err)
	}
}

// tunnel sends a TLS request through a tunnel.
func (s *proxySoak) tunnel() {
	s.kinds[9].Add(1)
	path := fmt.Sprintf("/private/%d", rand.IntN(128))
	s.tunnels.Add(1)
	transport := s.client.Transport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequest(http.MethodGet, s.secure.URL+path, nil)
	if err != nil {
		s.wrong("%v", err)
		return
	}
	got, err := transport.RoundTrip(request)
	if err != nil {
		s.wrong("GET https %s: %v", path, err)
		return
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	s.check(http.MethodGet, path, "", got, body, err)
}

// run sends traffic for a duration.
func (s *proxySoak) run(duration time.Duration) {
	var workers sync.WaitGroup
	end := time.Now().Add(duration)
	for range 16 {
		workers.Go(func() {
			for time.Now().Before(end) {
				s.step()
			}
		})
	}
	workers.Wait()
	s.client.CloseIdleConnections()
	s.leaving.CloseIdleConnections()
}

// Mixed traffic at full speed through the proxy: every body is that of the origin, the counters of both sides
// agree, and nothing leaks.
func TestSoakProxy(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	duration := soakTime(t)
	origin := &soakOrigin{content: randomBytes(10 << 20)}
	origin.Server = httptest.NewServer(origin)
	defer origin.Close()
	secure := httptest.NewTLSServer(origin)
	defer secure.Close()
	p := launchWith(t, build(t), filepath.Join(t.TempDir(), "urnd.yaml"),
		loopbackConfig+
			"cache: {responses: 64MiB, max_response: 4MiB}\nlimits: {client_share: 100}\nlog: {level: error}\n",
		"URND_LOG_LEVEL=info")
	proxy, err := url.Parse(p.service)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{
		Proxy: func(*http.Request) (*url.URL, error) { return proxy, nil }, DisableCompression: true,
		MaxIdleConnsPerHost: 64,
	}
	s := &proxySoak{
		p: p, origin: origin, secure: secure, failure: t.Errorf, client: &http.Client{Transport: transport},
		leaving: &http.Client{Transport: transport.Clone()},
	}
	s.run(duration / 4)
	const slack = 1.25 // for the runtime itself
	s.settle(t)
	goroutines, descriptors := p.scraped(t, "go_goroutines"), p.scraped(t, "process_open_fds")
	start := time.Now()
	s.run(duration)
	took := time.Since(start)
	s.settle(t)
	p.waitBelow(t, "go_goroutines", goroutines*slack+5)
	p.waitBelow(t, "process_open_fds", descriptors*slack+5)
	p.waitBelow(t, "go_memstats_heap_inuse_bytes", 64<<20*1.5+32<<20)
	s.compare(t)
	t.Logf("%d requests, %d tunnels in %s and a warm-up of a quarter; %d hits, %d clients left, %d broken bodies; "+
		"the origin answered %d; by kind %v",
		s.sent.Load(), s.tunnels.Load(), took, s.hits.Load(), s.left.Load(), s.broken.Load(), origin.requests.Load(),
		s.counts())
	t.Logf("goroutines %.0f (%.0f after the warm-up), descriptors %.0f (%.0f), heap %.1f MiB, resident %.1f MiB",
		p.scraped(t, "go_goroutines"), goroutines,
		p.scraped(t, "process_open_fds"), descriptors, p.scraped(t, "go_memstats_heap_inuse_bytes")/(1<<20),
		p.scraped(t, "process_resident_memory_bytes")/(1<<20))
}

func (s *proxySoak) counts() (all []int64) {
	for i := range s.kinds {
		all = append(all, s.kinds[i].Load())
	}
	return all
}

// settle waits until no request is in progress.
func (s *proxySoak) settle(t *testing.T) {
	t.Helper()
	for _, limit := range []string{"fetches", "streams"} {
		s.p.waitBelow(t, `urnd_limit_used\{limit="`+limit+`"\}`, 0)
	}
}

// compare compares the counters of both sides of the proxy with its own.
func (s *proxySoak) compare(t *testing.T) {
	t.Helper()
	counted := int64(s.p.scraped(t, `urnd_requests_total\{.*form="(?:forward|purge)".*\}`))
	atLeast, atMost := s.answered.Load(), s.sent.Load()+s.kinds[8].Load()
	if s.answered.Load() != s.sent.Load() || counted < atLeast || counted > atMost {
		t.Errorf("%d requests were sent and %d answered; %d are counted, besides up to %d of clients that left",
			s.sent.Load(), s.answered.Load(), counted,
			s.kinds[8].Load())
	}
	if tunnels := int64(s.p.scraped(t, `urnd_requests_total\{.*form="connect".*\}`)); tunnels != s.tunnels.Load() {
		t.Errorf("%d tunnels, and %d are counted", s.tunnels.Load(), tunnels)
	}
	// An exchange that is aborted before its header may or may not have reached the origin.
	exchanges := int64(s.p.scraped(t, `urnd_gateway_exchanges_total\{gateway="fetch",outcome="[a-z_]+"\}`))
	canceled := int64(s.p.scraped(t, `urnd_gateway_exchanges_total\{gateway="fetch",outcome="canceled"\}`))
	if requested := s.origin.requests.Load(); requested > exchanges || requested < exchanges-canceled {
		t.Errorf("the origin was asked %d times; %d exchanges are counted, of which %d were given up", requested,
			exchanges,
			canceled)
	}
	if panics := s.p.scraped(t, "urnd_panics_total"); panics > 0 {
		t.Errorf("%.0f panics", panics)
	}
}
