package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// soakTime returns the duration of TestSoak: some seconds, or the value of SOAK.
func soakTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("SOAK")
	if text == "" {
		return 3 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Modes of the DNS server of a soak test, in order.
const (
	dnsAnswers = iota
	dnsSilent
	dnsFails
	dnsModes
)

// startSwitchedDNS runs a DNS server that answers, is silent or fails. Its rules have a TTL of one second, so
// that it is queried repeatedly.
func startSwitchedDNS(t *testing.T, mode *atomic.Int32) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	rule, err := dns.NewRR(`x. 1 IN NAPTR 1 1 "u" "" "!^urn:soak:(.*)$!http://a.example/\\1!" .`)
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		reply := new(dns.Msg).SetReply(q)
		switch mode.Load() {
		case dnsSilent:
			return
		case dnsFails:
			reply.Rcode = dns.RcodeServerFailure
		default:
			own := dns.Copy(rule)
			own.Header().Name = q.Question[0].Name
			reply.Answer = append(reply.Answer, own)
		}
		_ = w.WriteMsg(reply)
	})}
	go func() { _ = server.ActivateAndServe() }()
	t.Cleanup(func() { _ = server.Shutdown() })
	return conn.LocalAddr().String()
}

// soak sends mixed traffic to a daemon.
type soak struct {
	p      *process
	origin string
	client *http.Client
	seen   [600]atomic.Uint64 // responses for I2L, by status
	lost   atomic.Uint64      // requests for I2L without a response
}

// step sends one request of a random kind.
func (s *soak) step(n int) {
	switch k := rand.IntN(100); {
	case k < 60:
		s.get(fmt.Sprintf("/urn:ietf:rfc:%d", rand.IntN(2000)+1))
	case k < 72:
		s.get(fmt.Sprintf("/urn:soak:%d", rand.IntN(50)))
	case k < 75: // of a new namespace: it fails while the DNS does
		s.get(fmt.Sprintf("/urn:soak%d:1", n))
	case k < 85:
		s.get("/urn:isbn:" + strconv.Itoa(n)) // nearly always invalid
	case k < 90:
		s.forward()
	case k < 95:
		s.abort("GET /urn:ietf:rfc:1?s=I2Ls HTTP/1.1\r\nHost: a\r\n\r\n")
	case k < 98:
		s.abort("GET /urn:ietf:rfc:1?s=I2Ls HT") // a slow client that aborts
	default:
		s.abort("\x16\x03\x01\x00\xa5 this is no HTTP\r\n\r\n")
	}
}

func (s *soak) get(path string) {
	request, err := http.NewRequest(http.MethodGet, s.p.service+path, nil)
	if err != nil {
		return
	}
	response, err := s.client.Transport.RoundTrip(request)
	if err != nil {
		s.lost.Add(1)
		return
	}
	_, _ = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	s.seen[response.StatusCode].Add(1)
}

// forward requests a page of an origin through the proxy, which is not counted.
func (s *soak) forward() {
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.p.service, "http://"))
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", s.origin)
	_, _ = io.Copy(io.Discard, conn)
}

// abort sends a text, and closes the connection without reading the response.
func (s *soak) abort(text string) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.p.service, "http://"))
	if err != nil {
		return
	}
	_, _ = io.WriteString(conn, text)
	_ = conn.Close()
}

// Mixed traffic at full speed, while the DNS fails and recovers: nothing crashes, nothing leaks, and the
// counters of client and daemon agree.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	duration := soakTime(t)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("page ", 2000))
	}))
	defer origin.Close()
	var mode atomic.Int32
	server := startSwitchedDNS(t, &mode)
	file := filepath.Join(t.TempDir(), "urnd.yaml")
	text := "dns: {servers: [" + server +
		"], timeout: 100ms, rounds: 1}\naccess: {allow_destinations: [127.0.0.0/8]}\ncache: {retry_after: 1s, " +
		"answers: 4MiB}\nlog: {level: error}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &soak{
		p: launch(t, filepath.Join(build(t), "urnd"), []string{"URND_DNS_SERVERS=" + server, "URND_LOG_LEVEL=info"},
			"--config", file), origin: origin.URL,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
	run := func(duration time.Duration) (requests int64) {
		var workers sync.WaitGroup
		var n atomic.Int64
		end := time.Now().Add(duration)
		for range 16 {
			workers.Go(func() {
				for time.Now().Before(end) {
					s.step(int(n.Add(1)))
				}
			})
		}
		for time.Now().Before(end) {
			mode.Store(int32(time.Until(end)/(duration/10+1)) % dnsModes)
			s.get("/urn:soak:mode")
		}
		mode.Store(dnsAnswers)
		workers.Wait()
		s.client.CloseIdleConnections()
		return n.Load()
	}
	run(duration / 4)
	const slack = 1.25 // for the runtime itself
	goroutines, descriptors, heap := s.p.scraped(t, "go_goroutines"), s.p.scraped(t, "process_open_fds"),
		s.p.scraped(t, "go_memstats_heap_inuse_bytes")
	requests := run(duration)
	s.p.waitBelow(t, "go_goroutines", goroutines*slack+5)
	s.p.waitBelow(t, "process_open_fds", descriptors*slack+5)
	s.p.waitBelow(t, "go_memstats_heap_inuse_bytes", heap*slack+8<<20)
	for status := range s.seen {
		counted := s.p.scraped(t, fmt.Sprintf(`urnd_requests_total\{code="%d",form="path",service="I2L"\}`, status))
		if seen := s.seen[status].Load(); float64(seen) != counted {
			t.Errorf("status %d: %d were seen and %.0f are counted", status, seen, counted)
		}
		if s.seen[status].Load() > 0 {
			t.Logf("status %d: %d", status, s.seen[status].Load())
		}
	}
	if lost := s.lost.Load(); lost > 0 {
		t.Errorf("%d requests got no response", lost)
	}
	t.Logf("%d requests of all kinds in %s; goroutines %.0f, descriptors %.0f, heap %.1f MiB, resident %.1f MiB",
		requests, duration,
		s.p.scraped(t, "go_goroutines"), s.p.scraped(t, "process_open_fds"),
		s.p.scraped(t, "go_memstats_heap_inuse_bytes")/(1<<20), s.p.scraped(t,
			"process_resident_memory_bytes")/(1<<20))
}
