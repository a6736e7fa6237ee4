package config_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
)

// TestWarningsOfDocuments requires a warning if a listing does not fit into the share of limits.documents.
func TestWarningsOfDocuments(t *testing.T) {
	const listing = "gateways.max_listing: 200MiB is greater than "
	wantWarnings(t, map[string]string{
		"{limits: {documents: 1MiB}, gateways: {max_listing: 200MiB}}":                                              listing + "256KiB, the limit of one client in limits.documents: a listing",
		"{limits: {documents: 400MiB}, gateways: {max_listing: 200MiB}}":                                            listing + "100MiB",
		"{limits: {documents: 400MiB, client_share: 50}, gateways: {max_listing: 200MiB}, access: {embedders: []}}": "limits.client_share: is 50 percent",
		"{limits: {documents: 800MiB}, gateways: {max_listing: 200MiB}}":                                            "",
		"limits: {documents: 16MiB}": "",
	})
}

// TestMemoryErrors requires an error if the memory that the settings allow exceeds the available memory.
func TestMemoryErrors(t *testing.T) {
	const most = 64<<20 + 16<<20 + 160<<20 + 256<<20 + 8192*32<<10 + 1024*32<<10 + 1024*128<<10 + 1024*128<<10 +
		8*16<<20 + 32<<20
	const secure = "listen: {tls: ['127.0.0.1:443']}, tls: {certificate: /a, key: /b}"
	for _, test := range []struct {
		name, text string
		available  config.Size
		want       string // "" for none
	}{
		{"no limit", "{}", 0, ""},
		{"it fits the control group", "{}", most, ""},
		{
			"it does not", "{}", most - 1,
			"limits.memory: this process may use 1258291199B by its control group or container, and the settings " +
				"allow 1200MiB in total: ",
		},
		{
			"a cache is larger", "cache: {responses: 129MiB}", most,
			"cache.responses and a quarter of it for incoming responses 165120KiB",
		},
		{"a registry", "registry: {store: 'sqlite:/var/lib/urnd/names.sqlite'}", most, "registry.store 136MiB"},
		{"limits.memory", "limits: {memory: 1199MiB}", 0, "limits.memory: 1199MiB is less than 1200MiB"},
		{"it goes before the control group", "limits: {memory: 1200MiB}", 1100 << 20, ""},
		{
			"it is more than the control group", "limits: {memory: 2GiB}", 1 << 30,
			"limits.memory: 2GiB is more than this process may use by its control group or container, 1GiB: ",
		},
		{"connections", "limits: {memory: 2GiB, connections: 100000}", 0, "limits.connections 3125MiB"},
		{"documents", "limits: {memory: 2GiB, documents: 2GiB}", 0, "limits.documents 2GiB"},
		{"streams", "limits: {memory: 2GiB, streams: 100000, outgoing: 20000}", 0, "limits.streams 1250MiB"},
		{"streams that have no connections", "limits: {memory: 2GiB, streams: 100000}", 0, ""},
		{"fetches", "limits: {memory: 2GiB, fetches: 10000}", 0, "limits.fetches 1250MiB"},
		{"requests", "limits: {memory: 2GiB, requests: 100000}", 0, "limits.requests 3125MiB"},
		{
			"TLS", "{" + secure + ", limits: {memory: 1900MiB}}", 0,
			"limits.connections 512MiB, limits.requests 32MiB, limits.fetches 384MiB, limits.streams 384MiB, " +
				"batches 128MiB, limits.connections over HTTP/2 with 8 requests each 2GiB",
		},
		{
			"what to write", "{" + secure + ", limits: {memory: 1900MiB}}", 0,
			": write limits.memory: 4016MiB, or limits.connections: 1420",
		},
		{
			"it was written", "{" + secure + ", limits: {memory: 1900MiB, connections: 1420, client_connections: 1024}}",
			0, "",
		},
		{
			"one more", "{" + secure + ", limits: {memory: 1900MiB, connections: 1421, client_connections: 1024}}", 0,
			"limits.connections: 1420",
		},
		{
			"what connections do not help", "{" + secure + ", limits: {memory: 1GiB}}", 0,
			": write limits.memory: 4016MiB",
		},
		{
			"TLS and the control group", "{" + secure + "}", 2 << 30,
			": reduce some of them, or limits.connections: 1894",
		},
		{"TLS with the defaults", "{" + secure + "}", 4016 << 20, ""},
		{
			"of few connections",
			"{" + secure +
				", cache: {responses: 16MiB, max_response: 1MiB, answers: 8MiB, records: 4MiB}, limits: {memory: " +
				"350MiB, connections: 200, client_connections: 100, documents: 8MiB, requests: 64, fetches: 64, " +
				"streams: 64}}", 0, "",
		},
		{"TLS without HTTP/2", "{" + strings.Replace(secure, "}", ", http2: false}", 1) +
			", limits: {memory: 1456MiB}}", 0, ""},
		{
			"of an office",
			"{cache: {responses: 64MiB, max_response: 8MiB, answers: 16MiB}, limits: {memory: 400MiB, documents: " +
				"16MiB, connections: 512, requests: 128, fetches: 128, streams: 128}}", 0, "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := config.Load(write(t, "urnd.yaml", test.text), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.MemoryDiagnostics(test.available); (test.want == "") != (len(got) == 0) ||
				!strings.Contains(got.Error(), test.want) {
				t.Errorf("%v, want %q", got, test.want)
			}
		})
	}
}

// TestHTTP2Requests: an HTTP/2 connection allows as many concurrent requests as memory permits.
func TestHTTP2Requests(t *testing.T) {
	const secure = "listen: {tls: ['127.0.0.1:443']}, tls: {certificate: /a, key: /b}"
	const others = 1968 << 20 // memory that the other settings allow
	for _, test := range []struct {
		text      string
		available config.Size
		want      int
	}{
		{"{" + secure + "}", 0, 100},
		{"{" + secure + "}", 100 << 30, 100},
		{"{" + secure + "}", others + 8192*50*32<<10, 50},
		{"{" + secure + "}", others + 8192*50*32<<10 - 1, 49},
		{"{" + secure + "}", others, 8},
		{"{" + secure + "}", 1 << 20, 8},
		{"{" + secure + ", limits: {memory: 4080MiB}}", 1 << 20, 8},
		{"{" + secure + ", limits: {memory: 4528MiB}}", 0, 10},
		{"{" + secure + ", limits: {memory: 4528MiB, connections: 2048}}", 0, 46},
	} {
		c, err := config.Load(write(t, "urnd.yaml", test.text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.HTTP2Requests(test.available); got != test.want {
			t.Errorf("%s, with %d: %d, want %d", test.text, test.available, got, test.want)
		}
	}
}

// TestStopTimeout requires that stopTimeout equals that of the systemd units.
func TestStopTimeout(t *testing.T) {
	for _, unit := range []string{"urnd.service", "urnd@.service"} {
		text, err := os.ReadFile("../systemd/" + unit)
		if err != nil || !strings.Contains(string(text), "\nTimeoutStopSec=60s\n") {
			t.Errorf("%s: %v", unit, err)
		}
	}
	c := config.Default()
	c.Limits.NoticeTime, c.Limits.DrainTime, c.Limits.ShutdownTimeout = 0, 0, time.Minute
	if got := c.Warnings(); len(got) > 0 {
		t.Error(got)
	}
	c.Limits.DrainTime = time.Millisecond
	if got := c.Warnings(); len(got) != 1 ||
		!strings.Contains(got[0].Message, "but its systemd unit kills it after 1m") {
		t.Error(got)
	}
}
