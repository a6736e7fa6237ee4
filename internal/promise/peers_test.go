package promise

import (
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// startDNS starts a DNS server on loopback until the end of the test, and returns its address. It has DDDS
// rules (RFC 3403) for urn:dns:..., and hosts of promise.example; no other name exists.
func startDNS(t *testing.T) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	zone := map[string][]string{
		"dns.urn.promise.example.": {
			`100 5 "u" "N2X" "!^.*$!https://promise.example/!" .`,
			`100 10 "u" "N2L" "!^urn:dns:(.*)$!https://promise.example/\\1!" .`,
		},
	}
	started := make(chan struct{})
	answer := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		reply := new(dns.Msg).SetReply(q)
		name := strings.ToLower(q.Question[0].Name)
		data, ok := zone[name]
		if !ok {
			reply.Rcode = dns.RcodeNameError
		} else if q.Question[0].Qtype == dns.TypeNAPTR {
			for _, text := range data {
				record, err := dns.NewRR(q.Question[0].Name + " 3600 IN NAPTR " + text)
				if err != nil {
					t.Error(err)
				}
				reply.Answer = append(reply.Answer, record)
			}
		}
		_ = w.WriteMsg(reply)
	})
	server := &dns.Server{PacketConn: conn, Handler: answer, NotifyStartedFunc: func() { close(started) }}
	ended := make(chan error, 1)
	go func() { ended <- server.ActivateAndServe() }()
	<-started
	t.Cleanup(func() {
		_ = server.Shutdown()
		<-ended
	})
	return conn.LocalAddr().String()
}

// origin is a web server that records the names of the header fields that urnd sends.
type origin struct {
	url string

	purged chan struct{} // closed when a webhook is called

	mu   sync.Mutex
	once sync.Once
	seen map[string]bool
}

// startOrigin starts a web server on loopback until the end of the test. It also resolves names by THTTP.
func startOrigin(t *testing.T) *origin {
	t.Helper()
	o := &origin{seen: make(map[string]bool), purged: make(chan struct{})}
	s := httptest.NewServer(o)
	o.url = s.URL
	t.Cleanup(s.Close)
	return o
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	for name := range r.Header {
		o.seen[name] = true
	}
	o.mu.Unlock()
	if r.URL.Path == "/purge" {
		o.once.Do(func() { close(o.purged) })
	}
	if strings.HasPrefix(r.URL.Path, "/uri-res/") {
		w.Header().Set("Location", "https://promise.example/found")
		w.WriteHeader(http.StatusFound)
		return
	}
	w.Header().Set("Cache-Control", "max-age=60")
	w.Header().Set("Content-Type", "text/plain")
	_, _ = w.Write([]byte("a resource\n"))
}

// waitForPurge waits for the call of a webhook, which follows a change after a delay.
func (o *origin) waitForPurge(t *testing.T) {
	t.Helper()
	select {
	case <-o.purged:
	case <-time.After(waitLimit):
		t.Error("no webhook was called")
	}
}

// names returns the names of the received header fields.
func (o *origin) names() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Collect(maps.Keys(o.seen))
}
