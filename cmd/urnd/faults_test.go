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

// fault is what goes wrong at others, and what becomes of one request: what the client
// gets, the one warning in the log, and what is counted.
type fault struct {
	name   string
	dns    []script
	change func(*config.Config)
	path   string // "" is that of the rule oneRule

	status   int
	location string
	says     string   // a part of the body
	log      string   // a part of the warning; "" is that there is none
	metrics  []string // lines, without "urnd_"; DNS1 is the first server
	asked    int32    // requests to the HTTP server
}

// faultLimit bounds a request, whatever is wrong.
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
	d := startDaemon(t, servers[0].String(), func(c *config.Config) {
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
	if got.status != f.status || got.location != f.location || !strings.Contains(got.body, f.says) {
		t.Errorf("got %+v", got)
	}
	named := strings.NewReplacer(names...)
	warned := d.warnings()
	switch {
	case f.log == "" && len(warned) > 0:
		t.Errorf("it is no failure of ours, and was logged: %q", warned)
	case f.log != "" && (len(warned) != 1 || !strings.Contains(warned[0], fmt.Sprintf(`msg="request failed" status=%d client=127.0.0.1:`, f.status)) ||
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
func (d *running) warnings() []string {
	return slices.DeleteFunc(strings.Split(d.log.String(), "\n"), func(line string) bool {
		return line == "" || strings.Contains(line, " level=INFO ")
	})
}

func (d *running) expectMetrics(t *testing.T, lines ...string) {
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

// impatient is for servers of which none answers, patient for those of which some do.
func impatient(c *config.Config) { c.DNS.Timeout = 50 * time.Millisecond }

func patient(c *config.Config) { c.DNS.Timeout = 250 * time.Millisecond }

func hedging(c *config.Config) { c.DNS.HedgeAfter = 20 * time.Millisecond }

const oneRule = `name.urn.example.org. 60 IN NAPTR 100 10 "u" "http+N2L" "!^urn:name:(.+)$!https://a.example/\\1!" .`

// queried is the count of one question for NAPTR records to the server n.
func queried(n int, rcode string) string {
	return fmt.Sprintf(`dns_queries_total{rcode="%s",server="DNS%d",type="NAPTR"} 1`, rcode, n)
}

func TestFaultsOfDNSServers(t *testing.T) {
	well := both(zone(t, oneRule))
	failing, quiet := both(says(dns.RcodeServerFailure)), both(silent)
	cut := changed(well.udp, false, func(m *dns.Msg) { m.Truncated, m.Answer = true, nil })
	const found = "https://a.example/1"
	runFaults(t, &webServer{}, []fault{
		{
			name: "silent", dns: []script{quiet}, change: impatient, status: 504,
			log: "asking for name.urn.example.org. NAPTR: context deadline exceeded: server DNS1: ", metrics: []string{queried(1, "timeout")},
		},
		{
			name: "all silent", dns: []script{quiet, quiet}, change: impatient, status: 504,
			log: "context deadline exceeded: server DNS1: ", metrics: []string{queried(1, "timeout"), queried(2, "timeout")},
		},
		{
			name: "silent, and another one", dns: []script{quiet, well}, change: hedging, status: 302, location: found,
			metrics: []string{queried(1, "canceled"), queried(2, "NOERROR")},
		},
		{
			name: "nobody listens", dns: []script{{}}, status: 502,
			log: "source unreachable: server DNS1: receiving by udp: ", metrics: []string{queried(1, "error")},
		},
		{
			name: "nobody listens, and another one", dns: []script{{}, well}, status: 302, location: found,
			metrics: []string{queried(1, "error"), queried(2, "NOERROR")},
		},
		{
			name: "REFUSED", dns: []script{both(says(dns.RcodeRefused))}, status: 502,
			log: "source unreachable: server DNS1: it answered REFUSED", metrics: []string{queried(1, "REFUSED")},
		},
		{
			name: "SERVFAIL", dns: []script{failing}, status: 502,
			log: "source unreachable: server DNS1: it answered SERVFAIL", metrics: []string{queried(1, "SERVFAIL")},
		},
		{
			name: "SERVFAIL, and another one", dns: []script{failing, well}, status: 302, location: found,
			metrics: []string{queried(1, "SERVFAIL"), queried(2, "NOERROR")},
		},
		{
			name: "silent, and SERVFAIL", dns: []script{quiet, failing}, change: patient, status: 502,
			log: `server DNS2: it answered SERVFAIL`, metrics: []string{queried(1, "timeout"), queried(2, "SERVFAIL")},
		},
		{ // RFC 7766 section 5: servers must speak TCP
			name: "truncated without TCP", dns: []script{{udp: cut}}, status: 502,
			log: "source unreachable: server DNS1: connecting to DNS1: dial tcp DNS1: connect: connection refused", metrics: []string{queried(1, "error")},
		},
		{
			name: "truncated, and silent by TCP", dns: []script{{cut, silent}}, change: patient, status: 504,
			log: "context deadline exceeded: server DNS1: receiving by tcp: ", metrics: []string{queried(1, "timeout")},
		},
		{
			name: "truncated without TCP, and another one", dns: []script{{udp: cut}, well}, status: 302, location: found,
			metrics: []string{queried(1, "error"), queried(2, "NOERROR")},
		},
		{
			name: "truncated", dns: []script{{cut, well.tcp}}, status: 302, location: found, metrics: []string{queried(1, "NOERROR")},
		},
	})
}

// RFC 5452 section 4: what does not answer the question is passed over, and who waits
// for it waits on.
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
				name: name, dns: []script{{udp: changed(well, false, change)}}, change: impatient, status: 504,
				log: "context deadline exceeded: server DNS1: ", metrics: []string{queried(1, "timeout")},
			},
			{
				name: name + ", then the answer", dns: []script{{udp: changed(well, true, change)}},
				status: 302, location: "https://a.example/1", metrics: []string{queried(1, "NOERROR")},
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
			name: "chain", dns: []script{both(zone(t, append(chain(1), rules)...))}, status: 302, location: "https://a.example/1",
			metrics: []string{queried(1, "NOERROR"), "ddds_steps_total 1"},
		},
		{
			name: "long chain", dns: []script{both(zone(t, append(chain(40), rules)...))}, status: 302, location: "https://a.example/1",
			metrics: []string{queried(1, "NOERROR"), "ddds_steps_total 1"},
		},
		{
			name: "in disorder", dns: []script{both(changed(zone(t, append(chain(1), rules)...), false, func(m *dns.Msg) { slices.Reverse(m.Answer) }))},
			status: 302, location: "https://a.example/1", metrics: []string{queried(1, "NOERROR")},
		},
		{
			name: "chain to nowhere", dns: []script{both(zone(t, chain(1)...))}, status: 404,
			says: "name.urn.example.org. does not exist (NXDOMAIN)", metrics: []string{queried(1, "NXDOMAIN")},
		},
		{ // as recursive servers say it
			name: "loop", dns: []script{both(changed(loop, false, func(m *dns.Msg) { m.Rcode, m.Ns = dns.RcodeServerFailure, nil }))},
			status: 502, log: "server DNS1: it answered SERVFAIL", metrics: []string{queried(1, "SERVFAIL")},
		},
	})
}
