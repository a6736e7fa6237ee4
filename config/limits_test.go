package config_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// What limits.documents bounds has a place in it.
func TestWarningsOfDocuments(t *testing.T) {
	const listing = "gateways.max_listing: 200MiB is more than "
	wantWarnings(t, map[string]string{
		"{limits: {documents: 1MiB}, gateways: {max_listing: 200MiB}}":                                              listing + "256KiB, which one client may have of limits.documents",
		"{limits: {documents: 400MiB}, gateways: {max_listing: 200MiB}}":                                            listing + "100MiB",
		"{limits: {documents: 400MiB, client_share: 50}, gateways: {max_listing: 200MiB}, access: {embedders: []}}": "limits.client_share: is 50 percent",
		"{limits: {documents: 800MiB}, gateways: {max_listing: 200MiB}}":                                            "",
		"limits: {documents: 16MiB}": "",
	})
}

// What the settings allow together has a place in the memory that there is.
func TestMemoryFaults(t *testing.T) {
	const most = 64<<20 + 16<<20 + 160<<20 + 256<<20 + 8192*32<<10 + 1024*32<<10 + 1024*128<<10 + 1024*128<<10 + 8*16<<20 + 32<<20
	const secure = "listen: {tls: ['127.0.0.1:443']}, tls: {certificate: /a, key: /b}"
	for _, test := range []struct {
		name, text string
		available  config.Size
		want       string // "" for none
	}{
		{"no limit", "{}", 0, ""},
		{"it fits the control group", "{}", most, ""},
		{"it does not", "{}", most - 1, "limits.memory: this process may have 1258291199B by its control group or container, and the settings allow 1200MiB together: "},
		{"a cache is larger", "cache: {responses: 129MiB}", most, "cache.responses and a quarter for those that arrive 165120KiB"},
		{"a registry", "registry: {store: 'sqlite:/var/lib/urnd/names.sqlite'}", most, "registry.store 136MiB"},
		{"limits.memory", "limits: {memory: 1199MiB}", 0, "limits.memory: 1199MiB is less than 1200MiB"},
		{"it goes before the control group", "limits: {memory: 1200MiB}", 1100 << 20, ""},
		{"it is more than the control group", "limits: {memory: 2GiB}", 1 << 30, "limits.memory: 2GiB is more than this process may have by its control group or container, 1GiB: "},
		{"connections", "limits: {memory: 2GiB, connections: 100000}", 0, "limits.connections 3125MiB"},
		{"documents", "limits: {memory: 2GiB, documents: 2GiB}", 0, "limits.documents 2GiB"},
		{"streams", "limits: {memory: 2GiB, streams: 100000, outgoing: 20000}", 0, "limits.streams 1250MiB"},
		{"streams that have no connections", "limits: {memory: 2GiB, streams: 100000}", 0, ""},
		{"fetches", "limits: {memory: 2GiB, fetches: 10000}", 0, "limits.fetches 1250MiB"},
		{"requests", "limits: {memory: 2GiB, requests: 100000}", 0, "limits.requests 3125MiB"},
		{"TLS", "{" + secure + ", limits: {memory: 1900MiB}}", 0, "limits.connections 512MiB, limits.requests 32MiB, limits.fetches 384MiB, limits.streams 384MiB"},
		{"TLS without HTTP/2", "{" + strings.Replace(secure, "}", ", http2: false}", 1) + ", limits: {memory: 1456MiB}}", 0, ""},
		{"of an office", "{cache: {responses: 64MiB, max_response: 8MiB, answers: 16MiB}, limits: {memory: 400MiB, documents: 16MiB, connections: 512, requests: 128, fetches: 128, streams: 128}}", 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := config.Load(write(t, "urnd.yaml", test.text), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.MemoryFaults(test.available); (test.want == "") != (len(got) == 0) || !strings.Contains(got.Error(), test.want) {
				t.Errorf("%v, want %q", got, test.want)
			}
		})
	}
}
