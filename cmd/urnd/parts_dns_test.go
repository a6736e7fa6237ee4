package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

const arpaZone = `
$TTL 300
@        IN SOA ns.elsewhere.test. hostmaster.elsewhere.test. 1 3600 600 86400 60
@        IN NS  ns.elsewhere.test.
direct   120 IN NAPTR 100 10 "u" "http+N2L" "!^urn:direct:(.+)$!https://direct.example/\\1!" .
shared   200 IN NAPTR 100 10 ""  ""         "" rules.urn.example.org.
`

const organisationZone = `
$TTL 300
@     IN SOA ns.elsewhere.test. hostmaster.elsewhere.test. 1 3600 600 86400 45
@     IN NS  ns.elsewhere.test.
rules 50 IN NAPTR 100 10 "u" "http+N2L" "!^urn:shared:([a-z]+)$!https://org.example/\\1!i" .
own   70 IN NAPTR 100 10 "u" "http+N2L" "!^urn:own:(.+)$!https://first.example/\\1!" .
`

// While the DNS servers are unavailable, cached answers are served stale for cache.stale_for (an answer made
// of stale records for twice that), and other names fail. After their recovery, they are queried once for
// each record set, for any number of concurrent requests.
func TestDNSAway(t *testing.T) {
	bind := testserver.StartBIND(t, testserver.Zone{Name: "urn.arpa", Text: arpaZone},
		testserver.Zone{Name: "urn.example.org", Text: organisationZone})
	w := startDaemon(t, bind.Addr(), 0,
		func(c *config.Config) { c.DDDS.Roots = []string{"urn.example.org.", "urn.arpa."} })
	var names []string
	for n := range 20 {
		names = append(names, fmt.Sprintf("urn:own:%d", n), fmt.Sprintf("urn:direct:%d", n))
	}
	all := func(what string, refused bool) {
		t.Helper()
		for outcome, times := range w.crowd(t, 10*len(names), names...) {
			if strings.HasPrefix(outcome, "https://") == refused || refused && outcome != "Bad Gateway" {
				t.Errorf("%s: %d times %s", what, times, outcome)
			}
		}
	}
	all("at first", false)
	bind.Stop()
	w.clock.advance(w.config.Cache.StaleFor) // and the lifetimes of the records
	all("without the DNS", false)
	if got := w.target(t, "urn:shared:a"); got != "Bad Gateway" {
		t.Errorf("a name that was not known leads to %s", got)
	}
	w.clock.advance(w.config.Cache.StaleFor + time.Minute)
	all("beyond twice cache.stale_for", true)

	bind.Start()
	w.clock.advance(w.config.Cache.RetryAfter)
	all("with the DNS again", false)
	got := bind.Queries()
	// The probes for their recovery are separate queries, as long as it lasts.
	got = slices.DeleteFunc(got, func(q string) bool { return q == ". NS" || q == "urn.example.org NAPTR" })
	slices.Sort(got)
	if want := []string{
		"direct.urn.arpa NAPTR", "direct.urn.example.org NAPTR",
		"own.urn.example.org NAPTR",
	}; !slices.Equal(got, want) {
		t.Errorf("the DNS was asked %q, want %q", got, want)
	}
}
