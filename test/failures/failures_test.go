//go:build e2e

package failures

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// failure is a failure of other servers and its effect on one request: the response, a warning in the log, and
// the metrics.
type failure struct {
	name   string
	dns    func(*testing.T, *urndtest.WebServer) []urndtest.DNSServer
	change func(*config.Config)
	path   string // "" is that of the rule urndtest.ExampleRule

	status   int
	location string
	detail   string // part of the body
	// Part of the error or the detail of the warning; "" is no warning; WEB is the port of the HTTP server.
	log     string
	metrics []string // lines added by the request, without "urnd_"; DNS1 is the first server
	queries int32    // number of requests to the HTTP server
}

// dnsTimeout is the timeout of a DNS server; failureLimit is the time limit of a request with any failure.
const (
	dnsTimeout   = time.Minute
	failureLimit = dnsTimeout / 2
)

func (f failure) run(t *testing.T, web *urndtest.WebServer) {
	var all []config.Server
	names := []string{"WEB", web.Port}
	for i, s := range f.dns(t, web) {
		addr := healthyAtStart(s).Serve(t)
		all = append(all, config.Server{AddrPort: netip.MustParseAddrPort(addr)})
		names = append(names, "DNS"+strconv.Itoa(i+1), addr)
	}
	path := cmp.Or(f.path, "/urn:name:1")
	d := urndtest.Start(t, all[0].String(), func(c *config.Config) {
		c.DNS.Servers, c.DNS.Timeout = all, dnsTimeout
		if f.change != nil {
			f.change(c)
		}
	})
	atStart, before := len(d.Log()), d.Scrape(t)
	start := time.Now()
	got := d.Get(t, path)
	if took := time.Since(start); took > failureLimit {
		t.Errorf("took %s", took)
	}
	if got.Status != f.status || got.Location != f.location || !strings.Contains(got.Body, f.detail) {
		t.Errorf("got %+v", got)
	}
	named := strings.NewReplacer(names...)
	f.wantMetrics(t, d, before, named)
	if requested := web.Requests.Load(); requested != f.queries {
		t.Errorf("%d requests to the server, want %d", requested, f.queries)
	}
	d.Stop()
	f.wantWarning(t, warnings(t, d.Log()[atStart:]), named)
}

// wantMetrics waits for the changes of the metrics by the request; before are the metrics before it.
func (f failure) wantMetrics(t *testing.T, d *urndtest.Daemon, before string, named *strings.Replacer) {
	t.Helper()
	service := "I2L"
	if strings.HasSuffix(f.path, "?s=I2R") {
		service = "I2R"
	}
	lines := append([]string{fmt.Sprintf(`requests_total{code="%d",form="path",service="%s"} 1`, f.status, service)},
		f.metrics...)
	for _, line := range lines {
		testserver.Wait(t, "the request adds "+line,
			func() bool { return isAdded(before, d.Scrape(t), named.Replace(line)) })
	}
}

// wantWarning checks the warning of the request, or that there is none.
func (f failure) wantWarning(t *testing.T, warned []warning, named *strings.Replacer) {
	t.Helper()
	switch {
	case f.log == "" && len(warned) > 0:
		t.Errorf("it is not a failure of urnd, and was logged: %+v", warned)
	case f.log != "" && (len(warned) != 1 || warned[0].Msg != "request failed" || warned[0].Status != f.status ||
		warned[0].Client != "127.0.0.1" ||
		!strings.Contains(warned[0].Error+"\n"+warned[0].Detail, named.Replace(f.log))):
		t.Errorf("logged %+v, want %q", warned, f.log)
	}
}

// isAdded reports whether a metric has grown by the value in line, "NAME VALUE".
func isAdded(before, after, line string) bool {
	at := strings.LastIndexByte(line, ' ')
	return strconv.Itoa(metric(after, line[:at])-metric(before, line[:at])) == line[at+1:]
}

// metric returns the value of a metric, 0 if it is missing.
func metric(text, name string) int {
	_, rest, _ := strings.Cut(text, "\nurnd_"+name+" ")
	value, _, _ := strings.Cut(rest, "\n")
	number, _ := strconv.Atoi(value) // 0 for ""
	return number
}

// warning is a line of the log.
type warning struct {
	Level, Msg, Client, Error, Detail string
	Status                            int
}

// warnings returns the lines of a log above level INFO.
func warnings(t *testing.T, log string) (all []warning) {
	t.Helper()
	for line := range strings.Lines(log) {
		var w warning
		if err := json.Unmarshal([]byte(line), &w); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if w.Level != "INFO" {
			all = append(all, w)
		}
	}
	return all
}

// runFailures runs each fault with a separate HTTP server and urnd.
func runFailures(t *testing.T, handler http.HandlerFunc, failures []failure) {
	t.Helper()
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			f.run(t, urndtest.ServeHTTP(t, handler))
		})
	}
}

// shortTimeout is for tests in which no DNS server responds, longTimeout for those in which one does. Queries
// that fail at the start of urnd, on a busy machine, are repeated.
func shortTimeout(c *config.Config) { c.DNS.Timeout, c.Resolve.Backoff = 250*time.Millisecond, 0 }

func longTimeout(c *config.Config) { c.DNS.Timeout, c.Resolve.Backoff = 2*time.Second, 0 }

// queryCount is the metric of one NAPTR query to server n.
func queryCount(n int, rcode string) string {
	return fmt.Sprintf(`dns_queries_total{rcode="%s",server="DNS%d",type="NAPTR"} 1`, rcode, n)
}

func TestFailuresOfDNSServers(t *testing.T) {
	t.Parallel()
	well := urndtest.UDPAndTCP(urndtest.Zone(t, urndtest.ExampleRule))
	failing, quiet := urndtest.UDPAndTCP(urndtest.AnswerRcode(dns.RcodeServerFailure)),
		urndtest.UDPAndTCP(urndtest.Silent)
	cut := urndtest.AlterResponses(well.UDP, false, func(m *dns.Msg) { m.Truncated, m.Answer = true, nil })
	const found = "https://a.example/1"
	runFailures(t, redirectToLocation, []failure{
		{
			name: "silent", dns: servers(quiet), change: shortTimeout, status: 504,
			log:     "querying name.urn.example.org. NAPTR: context deadline exceeded: server DNS1: ",
			metrics: []string{queryCount(1, "timeout")},
		},
		{
			name: "all silent", dns: servers(quiet, quiet), change: shortTimeout, status: 504,
			log:     "context deadline exceeded: server DNS1: ",
			metrics: []string{queryCount(1, "timeout"), queryCount(2, "timeout")},
		},
		{
			name: "silent, and another one", dns: servers(quiet, well), status: 302, location: found,
			metrics: []string{queryCount(1, "canceled"), queryCount(2, "NOERROR")},
		},
		{
			name: "nobody listens", dns: servers(urndtest.DNSServer{}), status: 502,
			log: "source unreachable: server DNS1: receiving over udp: ", metrics: []string{queryCount(1, "error")},
		},
		{
			name: "nobody listens, and another one", dns: servers(urndtest.DNSServer{}, well), status: 302,
			location: found,
			metrics:  []string{queryCount(1, "error"), queryCount(2, "NOERROR")},
		},
		{
			name: "REFUSED", dns: servers(urndtest.UDPAndTCP(urndtest.AnswerRcode(dns.RcodeRefused))), status: 502,
			log: "source unreachable: server DNS1: response code REFUSED", metrics: []string{queryCount(1, "REFUSED")},
		},
		{
			name: "SERVFAIL", dns: servers(failing), status: 502,
			log:     "source unreachable: server DNS1: response code SERVFAIL",
			metrics: []string{queryCount(1, "SERVFAIL")},
		},
		{
			name: "SERVFAIL, and another one", dns: servers(failing, well), status: 302, location: found,
			metrics: []string{queryCount(1, "SERVFAIL"), queryCount(2, "NOERROR")},
		},
		{
			name: "silent, and SERVFAIL", dns: servers(quiet, failing), change: longTimeout, status: 502,
			log:     `server DNS2: response code SERVFAIL`,
			metrics: []string{queryCount(1, "timeout"), queryCount(2, "SERVFAIL")},
		},
		{ // RFC 7766 section 5: servers must support TCP
			name: "truncated without TCP", dns: servers(urndtest.DNSServer{UDP: cut}), status: 502,
			log:     "source unreachable: server DNS1: connecting to DNS1: dial tcp DNS1: connect: connection refused",
			metrics: []string{queryCount(1, "error")},
		},
		{
			name: "truncated, and silent by TCP", dns: servers(urndtest.DNSServer{UDP: cut, TCP: urndtest.Silent}),
			change: longTimeout, status: 504, log: "context deadline exceeded: server DNS1: receiving over tcp: ",
			metrics: []string{queryCount(1, "timeout")},
		},
		{
			name: "truncated without TCP, and another one", dns: servers(urndtest.DNSServer{UDP: cut}, well),
			status: 302, location: found,
			metrics: []string{queryCount(1, "error"), queryCount(2, "NOERROR")},
		},
		{
			name: "truncated", dns: servers(urndtest.DNSServer{UDP: cut, TCP: well.TCP}), status: 302, location: found,
			metrics: []string{queryCount(1, "NOERROR")},
		},
	})
}

// TestFailuresOfOtherQueries: RFC 5452 section 4: a message that does not match the query is ignored, and the
// response is still awaited.
func TestFailuresOfOtherQueries(t *testing.T) {
	t.Parallel()
	well := urndtest.Zone(t, urndtest.ExampleRule)
	for name, change := range map[string]func(*dns.Msg){
		"another identifier": func(m *dns.Msg) { m.Id++ },
		"another name":       func(m *dns.Msg) { m.Question[0].Name = "other.urn.example.org." },
		"another type":       func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeSRV },
		"another class":      func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS },
		"no question":        func(m *dns.Msg) { m.Question = nil },
		"a question":         func(m *dns.Msg) { m.Response = false },
	} {
		runFailures(t, redirectToLocation, []failure{
			{
				name: name, dns: servers(urndtest.DNSServer{UDP: urndtest.AlterResponses(well, false, change)}),
				change: shortTimeout, status: 504, log: "context deadline exceeded: server DNS1: ",
				metrics: []string{queryCount(1, "timeout")},
			},
			{
				name:   name + ", then the answer",
				dns:    servers(urndtest.DNSServer{UDP: urndtest.AlterResponses(well, true, change)}),
				status: 302, location: "https://a.example/1", metrics: []string{queryCount(1, "NOERROR")},
			},
		})
	}
}

// TestErrorsInAliases: RFC 1034 section 3.6.2: chains of aliases are followed, and loops are errors.
func TestErrorsInAliases(t *testing.T) {
	t.Parallel()
	const rules = `rules.other.example. 300 IN NAPTR 100 10 "u" "http+N2L" "!^urn:name:(.+)$!https://a.example/\\1!" .`
	chain := func(n int) []string {
		lines := []string{"name.urn.example.org. 300 IN CNAME a0.other.example."}
		for i := range n {
			lines = append(lines, fmt.Sprintf("a%d.other.example. %d IN CNAME a%d.other.example.", i, 300-i, i+1))
		}
		return append(lines, fmt.Sprintf("a%d.other.example. 300 IN CNAME rules.other.example.", n))
	}
	loop := urndtest.Zone(t, "name.urn.example.org. 300 IN CNAME a.other.example.",
		"a.other.example. 300 IN CNAME name.urn.example.org.")
	runFailures(t, redirectToLocation, []failure{
		{
			name: "chain", dns: servers(urndtest.UDPAndTCP(urndtest.Zone(t, append(chain(1), rules)...))), status: 302,
			location: "https://a.example/1",
			metrics:  []string{queryCount(1, "NOERROR"), "ddds_steps_total 1"},
		},
		{
			name: "long chain", dns: servers(urndtest.UDPAndTCP(urndtest.Zone(t, append(chain(40), rules)...))),
			status: 302, location: "https://a.example/1",
			metrics: []string{queryCount(1, "NOERROR"), "ddds_steps_total 1"},
		},
		{
			name: "in disorder",
			dns: servers(urndtest.UDPAndTCP(urndtest.AlterResponses(urndtest.Zone(t, append(chain(1), rules)...),
				false, func(m *dns.Msg) { slices.Reverse(m.Answer) }))),
			status: 302, location: "https://a.example/1", metrics: []string{queryCount(1, "NOERROR")},
		},
		{
			name: "chain to nowhere", dns: servers(urndtest.UDPAndTCP(urndtest.Zone(t, chain(1)...))), status: 404,
			detail: "name.urn.example.org. does not exist (NXDOMAIN)", metrics: []string{queryCount(1, "NXDOMAIN")},
		},
		{ // as reported by recursive servers
			name: "loop",
			dns: servers(urndtest.UDPAndTCP(urndtest.AlterResponses(loop, false,
				func(m *dns.Msg) { m.Rcode, m.Ns = dns.RcodeServerFailure, nil }))), status: 502,
			log: "server DNS1: response code SERVFAIL", metrics: []string{queryCount(1, "SERVFAIL")},
		},
	})
}
