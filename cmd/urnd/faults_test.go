package main

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/config"
)

// fault is a failure of other servers and its effect on one request: the response, the one
// warning in the log, and the metrics.
type fault struct {
	name   string
	dns    []dnsServer
	change func(*config.Config)
	path   string // "" is that of the rule oneRule

	status   int
	location string
	detail   string   // a part of the body
	log      string   // a part of the warning; "" is that there is none
	metrics  []string // lines, without "urnd_"; DNS1 is the first server
	asked    int32    // requests to the HTTP server
}

// faultLimit bounds a request, whatever fails.
const faultLimit = 2 * time.Second

func (f fault) run(t *testing.T, web *webServer) {
	var servers []config.Server
	var names []string
	for i, s := range f.dns {
		addr := s.serve(t)
		servers = append(servers, config.Server{AddrPort: netip.MustParseAddrPort(addr)})
		names = append(names, "DNS"+strconv.Itoa(i+1), addr)
	}
	path := cmp.Or(f.path, "/urn:name:1")
	before := web.asked.Load()
	d := startService(t, servers[0].String(), func(c *config.Config) {
		c.DNS.Servers, c.DNS.Timeout = servers, 10*time.Second
		c.DDDS.Roots = []string{"urn.example.org."}
		c.Cache.Answers, c.Cache.Records = 1<<20, 1<<20 // large ones take their time to make
		if f.change != nil {
			f.change(c)
		}
	})
	start := time.Now()
	got := d.get(t, path)
	if took := time.Since(start); took > faultLimit {
		t.Errorf("took %s", took)
	}
	if got.status != f.status || got.location != f.location || !strings.Contains(got.body, f.detail) {
		t.Errorf("got %+v", got)
	}
	named := strings.NewReplacer(names...)
	warned := d.warnings()
	switch {
	case f.log == "" && len(warned) > 0:
		t.Errorf("it is no failure of ours, and was logged: %q", warned)
	case f.log != "" && (len(warned) != 1 || !strings.Contains(warned[0], fmt.Sprintf(`msg="request failed" status=%d client=127.0.0.1 `, f.status)) ||
		!strings.Contains(warned[0], named.Replace(f.log))):
		t.Errorf("logged %q, want %q", warned, f.log)
	}
	service := "I2L"
	if strings.HasSuffix(path, "?s=I2R") {
		service = "I2R"
	}
	d.expectMetrics(t, fmt.Sprintf(`requests_total{code="%d",form="path",service="%s"} 1`, f.status, service))
	for _, line := range f.metrics {
		d.expectMetrics(t, named.Replace(line))
	}
	if asked := web.asked.Load() - before; asked != f.asked {
		t.Errorf("%d requests to the server, want %d", asked, f.asked)
	}
}

// warnings returns the lines of the log that are above INFO.
func (d *testService) warnings() []string {
	return slices.DeleteFunc(strings.Split(d.log.String(), "\n"), func(line string) bool {
		return line == "" || strings.Contains(line, " level=INFO ")
	})
}

func (d *testService) expectMetrics(t *testing.T, lines ...string) {
	t.Helper()
	text := d.scrape()
	for _, line := range lines {
		if !strings.Contains(text, "\nurnd_"+line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}

func runFaults(t *testing.T, web *webServer, faults []fault) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) { f.run(t, web) })
	}
}

// shortTimeout is for tests in which no DNS server answers, longTimeout for those in which
// one does.
func shortTimeout(c *config.Config) { c.DNS.Timeout = 50 * time.Millisecond }

func longTimeout(c *config.Config) { c.DNS.Timeout = 250 * time.Millisecond }

func hedging(c *config.Config) { c.DNS.HedgeAfter = 20 * time.Millisecond }

const oneRule = `name.urn.example.org. 60 IN NAPTR 100 10 "u" "http+N2L" "!^urn:name:(.+)$!https://a.example/\\1!" .`

// queryCount is the metric of one question for NAPTR records to the server n.
func queryCount(n int, rcode string) string {
	return fmt.Sprintf(`dns_queries_total{rcode="%s",server="DNS%d",type="NAPTR"} 1`, rcode, n)
}

func TestFaultsOfDNSServers(t *testing.T) {
	well := udpAndTCP(zone(t, oneRule))
	failing, quiet := udpAndTCP(answerRcode(dns.RcodeServerFailure)), udpAndTCP(silent)
	cut := altered(well.udp, false, func(m *dns.Msg) { m.Truncated, m.Answer = true, nil })
	const found = "https://a.example/1"
	runFaults(t, &webServer{}, []fault{
		{
			name: "silent", dns: []dnsServer{quiet}, change: shortTimeout, status: 504,
			log: "asking for name.urn.example.org. NAPTR: context deadline exceeded: server DNS1: ", metrics: []string{queryCount(1, "timeout")},
		},
		{
			name: "all silent", dns: []dnsServer{quiet, quiet}, change: shortTimeout, status: 504,
			log: "context deadline exceeded: server DNS1: ", metrics: []string{queryCount(1, "timeout"), queryCount(2, "timeout")},
		},
		{
			name: "silent, and another one", dns: []dnsServer{quiet, well}, change: hedging, status: 302, location: found,
			metrics: []string{queryCount(1, "canceled"), queryCount(2, "NOERROR")},
		},
		{
			name: "nobody listens", dns: []dnsServer{{}}, status: 502,
			log: "source unreachable: server DNS1: receiving by udp: ", metrics: []string{queryCount(1, "error")},
		},
		{
			name: "nobody listens, and another one", dns: []dnsServer{{}, well}, status: 302, location: found,
			metrics: []string{queryCount(1, "error"), queryCount(2, "NOERROR")},
		},
		{
			name: "REFUSED", dns: []dnsServer{udpAndTCP(answerRcode(dns.RcodeRefused))}, status: 502,
			log: "source unreachable: server DNS1: it answered REFUSED", metrics: []string{queryCount(1, "REFUSED")},
		},
		{
			name: "SERVFAIL", dns: []dnsServer{failing}, status: 502,
			log: "source unreachable: server DNS1: it answered SERVFAIL", metrics: []string{queryCount(1, "SERVFAIL")},
		},
		{
			name: "SERVFAIL, and another one", dns: []dnsServer{failing, well}, status: 302, location: found,
			metrics: []string{queryCount(1, "SERVFAIL"), queryCount(2, "NOERROR")},
		},
		{
			name: "silent, and SERVFAIL", dns: []dnsServer{quiet, failing}, change: longTimeout, status: 502,
			log: `server DNS2: it answered SERVFAIL`, metrics: []string{queryCount(1, "timeout"), queryCount(2, "SERVFAIL")},
		},
		{ // RFC 7766 section 5: servers must speak TCP
			name: "truncated without TCP", dns: []dnsServer{{udp: cut}}, status: 502,
			log: "source unreachable: server DNS1: connecting to DNS1: dial tcp DNS1: connect: connection refused", metrics: []string{queryCount(1, "error")},
		},
		{
			name: "truncated, and silent by TCP", dns: []dnsServer{{cut, silent}}, change: longTimeout, status: 504,
			log: "context deadline exceeded: server DNS1: receiving by tcp: ", metrics: []string{queryCount(1, "timeout")},
		},
		{
			name: "truncated without TCP, and another one", dns: []dnsServer{{udp: cut}, well}, status: 302, location: found,
			metrics: []string{queryCount(1, "error"), queryCount(2, "NOERROR")},
		},
		{
			name: "truncated", dns: []dnsServer{{cut, well.tcp}}, status: 302, location: found, metrics: []string{queryCount(1, "NOERROR")},
		},
	})
}

// RFC 5452 section 4: a message that does not answer the question is skipped, and the
// answer is still waited for.
func TestFaultsOfOtherQuestions(t *testing.T) {
	well := zone(t, oneRule)
	for name, change := range map[string]func(*dns.Msg){
		"another identifier": func(m *dns.Msg) { m.Id++ },
		"another name":       func(m *dns.Msg) { m.Question[0].Name = "other.urn.example.org." },
		"another type":       func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeSRV },
		"another class":      func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS },
		"no question":        func(m *dns.Msg) { m.Question = nil },
		"a question":         func(m *dns.Msg) { m.Response = false },
	} {
		runFaults(t, &webServer{}, []fault{
			{
				name: name, dns: []dnsServer{{udp: altered(well, false, change)}}, change: shortTimeout, status: 504,
				log: "context deadline exceeded: server DNS1: ", metrics: []string{queryCount(1, "timeout")},
			},
			{
				name: name + ", then the answer", dns: []dnsServer{{udp: altered(well, true, change)}},
				status: 302, location: "https://a.example/1", metrics: []string{queryCount(1, "NOERROR")},
			},
		})
	}
}

// RFC 1034 section 3.6.2: chains of aliases are followed, and loops are errors.
func TestFaultsOfAliases(t *testing.T) {
	const rules = `rules.other.example. 300 IN NAPTR 100 10 "u" "http+N2L" "!^urn:name:(.+)$!https://a.example/\\1!" .`
	chain := func(n int) []string {
		lines := []string{"name.urn.example.org. 300 IN CNAME a0.other.example."}
		for i := range n {
			lines = append(lines, fmt.Sprintf("a%d.other.example. %d IN CNAME a%d.other.example.", i, 300-i, i+1))
		}
		return append(lines, fmt.Sprintf("a%d.other.example. 300 IN CNAME rules.other.example.", n))
	}
	loop := zone(t, "name.urn.example.org. 300 IN CNAME a.other.example.", "a.other.example. 300 IN CNAME name.urn.example.org.")
	runFaults(t, &webServer{}, []fault{
		{
			name: "chain", dns: []dnsServer{udpAndTCP(zone(t, append(chain(1), rules)...))}, status: 302, location: "https://a.example/1",
			metrics: []string{queryCount(1, "NOERROR"), "ddds_steps_total 1"},
		},
		{
			name: "long chain", dns: []dnsServer{udpAndTCP(zone(t, append(chain(40), rules)...))}, status: 302, location: "https://a.example/1",
			metrics: []string{queryCount(1, "NOERROR"), "ddds_steps_total 1"},
		},
		{
			name: "in disorder", dns: []dnsServer{udpAndTCP(altered(zone(t, append(chain(1), rules)...), false, func(m *dns.Msg) { slices.Reverse(m.Answer) }))},
			status: 302, location: "https://a.example/1", metrics: []string{queryCount(1, "NOERROR")},
		},
		{
			name: "chain to nowhere", dns: []dnsServer{udpAndTCP(zone(t, chain(1)...))}, status: 404,
			detail: "name.urn.example.org. does not exist (NXDOMAIN)", metrics: []string{queryCount(1, "NXDOMAIN")},
		},
		{ // as recursive servers report it
			name: "loop", dns: []dnsServer{udpAndTCP(altered(loop, false, func(m *dns.Msg) { m.Rcode, m.Ns = dns.RcodeServerFailure, nil }))},
			status: 502, log: "server DNS1: it answered SERVFAIL", metrics: []string{queryCount(1, "SERVFAIL")},
		},
	})
}
