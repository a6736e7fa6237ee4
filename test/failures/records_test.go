//go:build e2e

package failures

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

// TestFailuresOfLargeSets: record sets that exceed a UDP packet are sent by TCP, in any order (RFC 3403 section
// 4.1, RFC 2782).
func TestFailuresOfLargeSets(t *testing.T) {
	t.Parallel()
	set := func(line func(i int) string, more ...string) func(*testing.T, *urndtest.WebServer) []urndtest.DNSServer {
		lines := more
		for i := range 500 {
			lines = append(lines, line(499-i))
		}
		return servers(urndtest.UDPAndTCP(urndtest.Zone(t, lines...)))
	}
	rules := set(func(i int) string {
		return fmt.Sprintf(`name.urn.example.org. 60 IN NAPTR %d 10 "u" "http+N2L" "!^urn:name:%d$!https://a.example/%d!" .`, i, i, i)
	})
	runFailures(t, redirectToLocation, []failure{
		{
			name: "500 rules, the first", dns: rules, path: "/urn:name:0", status: 302, location: "https://a.example/0",
			metrics: []string{queryCount(1, "NOERROR"), `ddds_records_discarded_total{reason="order"} 99`},
		},
		{
			name: "500 rules, the 100th", dns: rules, path: "/urn:name:99", status: 302,
			location: "https://a.example/99",
			metrics:  []string{queryCount(1, "NOERROR"), `ddds_records_discarded_total{reason="no_match"} 99`},
		},
		{
			name: "500 rules, none", dns: rules, path: "/urn:name:500", status: 502,
			log:     "none of the first 100 rules of name.urn.example.org. matches this name",
			metrics: []string{queryCount(1, "NOERROR"), `ddds_records_discarded_total{reason="no_match"} 100`},
		},
		{
			name: "500 records that are no rules", status: 502,
			log: "none of the first 100 rules of name.urn.example.org. matches this name",
			dns: set(func(i int) string {
				return fmt.Sprintf(`name.urn.example.org. 60 IN NAPTR %d 10 "u" "http+N2L" "!(!!" .`, i)
			}),
			metrics: []string{
				queryCount(1, "NOERROR"), `ddds_records_discarded_total{reason="invalid"} 100`,
				`ddds_records_discarded_total{reason="excess"} 400`,
			},
		},
		{
			name: "500 servers, none", status: 502, change: urndtest.OpenLoopback,
			dns: set(func(i int) string {
				return fmt.Sprintf(`_thttp._tcp.urn.example.org. 60 IN SRV %d 0 1 host.example.org.`, i)
			}, thttpRule, "host.example.org. 60 IN A 127.0.0.1"),
			log: "connection refused", metrics: []string{`gateway_exchanges_total{gateway="thttp",outcome="failed"} 1`},
		},
		{
			name: "500 servers", status: 302, location: "https://a.example/", change: urndtest.OpenLoopback, queries: 1,
			dns: func(t *testing.T, web *urndtest.WebServer) []urndtest.DNSServer {
				return set(func(i int) string {
					port := "1" // closed port
					if i == 0 {
						port = web.Port
					}
					return fmt.Sprintf(`_thttp._tcp.urn.example.org. 60 IN SRV %d 0 %s host.example.org.`, i, port)
				}, thttpRule, "host.example.org. 60 IN A 127.0.0.1")(t, web)
			},
			metrics: []string{`gateway_exchanges_total{gateway="thttp",outcome="found"} 1`},
		},
	})
}

// TestErrorsInExpressions: a character-string holds 255 bytes (RFC 1035 section 3.3). An expression that
// backtracking engines take years to match, or that is invalid in POSIX, only discards its own record.
func TestErrorsInExpressions(t *testing.T) {
	t.Parallel()
	full := func(begin, pad, end string) string {
		n := 255 - len(begin) - len(end)
		return begin + strings.Repeat(pad, n/len(pad)+1)[:n] + end
	}
	nested := strings.Repeat("(", 100) + "a+" + strings.Repeat(")", 100)
	var failures []failure
	for _, tt := range []struct{ name, expression, reason string }{
		{"255 bytes that match", full("!^urn:name:(", "b|", "a+)x$!https://a.example/!"), ""},
		{"255 bytes of replacement", full("!^urn:name:a+x$!https://a.example/", "b", "!"), ""},
		{"100 groups in each other", "!^urn:name:" + nested + "x$!https://a.example/!", ""},
		{"255 bytes without end", full("!", "(", ""), "invalid"},
		{"255 bytes of open groups", full("!", "(", "!https://b.example/!"), "invalid"},
		{"255 bytes of delimiters", full("", "!", ""), "invalid"},
		{"(a+)+", "!^urn:name:(a+)+$!https://b.example/!", "no_match"},
		{"(a|a)*", "!^urn:name:(a|a)*$!https://b.example/!", "no_match"},
		{"(a|aa)+", "!^urn:name:(a|aa)+$!https://b.example/!", "no_match"},
		{"((a*)*)*", "!^urn:name:((a*)*)*$!https://b.example/!", "no_match"},
		{"(.*a){20}", "!^urn:name:(.*a){20}$!https://b.example/!", "no_match"},
		{"(.?){99}", "!^urn:name:(.?){99}z$!https://b.example/!", "no_match"},
		{"stars", full("!^", ".*", "z$!https://b.example/!"), "no_match"},
		{"groups of stars", "!^" + strings.Repeat("(.*)", 50) + "z$!https://b.example/!", "no_match"},
		{"(.?){999}", "!^urn:name:(.?){999}z$!https://b.example/!", "invalid"},
		{"counts of counts", "!^((((a{1,9}){1,9}){1,9}){1,9}){1,9}$!https://b.example/!", "invalid"},
		{"more than 1000", "!^urn:name:a{1001}!https://b.example/!", "invalid"},
		{"back-reference", `!^urn:name:(a+)\1$!https://b.example/!`, "invalid"},
	} {
		f := failure{
			name: tt.name, path: "/urn:name:" + strings.Repeat("a", 4000) + "x", status: 302,
			metrics: []string{queryCount(1, "NOERROR")},
		}
		lines := []string{fmt.Sprintf(`name.urn.example.org. 60 IN NAPTR 1 10 "u" "http+N2L" "%s" .`,
			strings.ReplaceAll(tt.expression, `\`, `\\`))}
		if tt.reason != "" {
			lines = append(lines, `name.urn.example.org. 60 IN NAPTR 2 10 "u" "http+N2L" "!^.*$!https://a.example/!" .`)
			f.metrics = append(f.metrics, `ddds_records_discarded_total{reason="`+tt.reason+`"} 1`)
		}
		f.location = "https://a.example/"
		if tt.name == "255 bytes of replacement" {
			f.location = strings.TrimSuffix(tt.expression[len("!^urn:name:a+x$!"):], "!")
		}
		f.dns = servers(urndtest.UDPAndTCP(urndtest.Zone(t, lines...)))
		failures = append(failures, f)
	}
	runFailures(t, redirectToLocation, failures)
}
