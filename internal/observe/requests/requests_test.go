package requests

import (
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/accesslog"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/proxy"
)

func TestObserveAllocations(t *testing.T) {
	log, err := accesslog.Open(accesslog.FileConfig{
		Writer: io.Discard, ErrorLog: slog.New(slog.DiscardHandler),
		Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	set := accesslog.Set{log}
	defer set.Close()
	at := time.Unix(4e9, 0)
	observe := Observer(metrics.New("test"), set, func() time.Time { return at })
	e := &proxy.Event{
		Method: http.MethodGet, Target: "/urn:ietf:rfc:2648", Proto: "HTTP/1.1", UserAgent: "a",
		Client: netip.MustParseAddr("2001:db8::1"), Form: "path", Cache: "hit", Status: http.StatusFound,
		Duration: time.Microsecond,
	}
	if n := testing.AllocsPerRun(1000, func() { observe(e) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestEntryOf checks that the line of a request for a site or by HTTP/2 contains the complete target, except in
// Apache's format, and that only a response with an error counts as rejected by urnd.
func TestEntryOf(t *testing.T) {
	e := &proxy.Event{
		Method: http.MethodGet, Target: "/a", Host: "www.example.org", Proto: "HTTP/2.0",
		Form: "gateway", Scheme: "https", Status: http.StatusForbidden,
		Server: netip.MustParseAddrPort("[fe80::1%eth0]:80"),
	}
	for format, want := range map[string]string{
		"json":     `"target":"https://www.example.org/a","proto":"HTTP/2.0","status":403,"bytes":0,"ms":0,"cache":"bypass","origin":"[fe80::1]:80",`,
		"combined": `"GET /a HTTP/2.0" 403 - `,
		"squid":    ` TCP_MISS/403 0 GET https://www.example.org/a - HIER_DIRECT/fe80::1 -`,
	} {
		var b strings.Builder
		parsed, err := accesslog.ParseFormat(format)
		if err != nil {
			t.Fatal(err)
		}
		log := accesslog.New(&b, accesslog.Config{Format: parsed})
		log.Write(entryOf(e, time.Unix(4e9, 0)))
		log.Close()
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s: %s", format, b.String())
		}
	}
	if e.Err = io.EOF; !entryOf(e, time.Time{}).Refused {
		t.Error("it is not a refusal")
	}
}

// TestDenied checks that all formats mark requests rejected by the rules, including tunnels that they
// terminated.
func TestDenied(t *testing.T) {
	for _, tt := range []struct {
		e      proxy.Event
		denied bool
	}{
		{proxy.Event{Status: 403, Err: io.EOF}, true},
		{proxy.Event{Status: 407, Err: io.EOF}, true},
		{proxy.Event{Status: 429, Err: io.EOF}, true},
		{proxy.Event{Status: 403}, false}, // from an origin
		{proxy.Event{Status: 502, Err: io.EOF}, false},
		{proxy.Event{Status: 200, Method: "CONNECT"}, false},
		{proxy.Event{Status: 200, Method: "CONNECT", Err: io.EOF, Denied: true}, true},
	} {
		for format, want := range map[string]string{
			"json": `,"denied":true,`, "squid": " TCP_DENIED/", "apache:%s %{denied}n": " denied",
			"squid:%>Hs %{denied}note": " denied",
		} {
			parsed, err := accesslog.ParseFormat(format)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			log := accesslog.New(&b, accesslog.Config{Format: parsed})
			log.Write(entryOf(&tt.e, time.Unix(4e9, 0)))
			log.Close()
			if strings.Contains(b.String(), want) != tt.denied {
				t.Errorf("%+v: %s", tt.e, b.String())
			}
		}
	}
}
