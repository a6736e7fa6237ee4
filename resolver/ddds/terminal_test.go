package ddds

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func targets(servers []SRV) string {
	var names []string
	for _, s := range servers {
		names = append(names, s.Target)
	}
	return strings.Join(names, " ")
}

func TestServersByPriority(t *testing.T) {
	servers := []SRV{{65535, 9, 1, "e."}, {2, 9, 1, "c."}, {0, 0, 1, "a."}, {32768, 9, 1, "d."}, {1, 0, 1, "b."}}
	before := targets(servers)
	if got := targets(inOrder(servers)); got != "a. b. c. d. e." {
		t.Errorf("got %s", got)
	}
	if targets(servers) != before {
		t.Error("the shared records were changed")
	}
}

func TestUnusableServers(t *testing.T) {
	for _, c := range []struct {
		servers []SRV
		want    string
	}{
		{nil, ""},
		{[]SRV{{0, 0, 0, "."}}, ""},
		{[]SRV{{0, 0, 0, "."}, {1, 0, 1, "a.example."}}, "a.example."},
		{
			[]SRV{{0, 0, 1, `a\.b.example.`}, {0, 0, 1, "192.0.2.1."}, {0, 0, 1, "a/b."}, {1, 0, 1, "a.example."}},
			"a.example.",
		},
	} {
		if got := targets(inOrder(c.servers)); got != c.want {
			t.Errorf("%v: got %q", c.servers, got)
		}
	}
}

// Three quarters of the logins go to new-fast-box in the example of RFC 2782, and weight 0 beside other weights
// has a very small chance.
func TestServersByWeight(t *testing.T) {
	const runs = 20000
	for _, c := range []struct {
		weights []uint16
		shares  []float64 // probability of being the first
	}{
		{[]uint16{1, 3}, []float64{0.25, 0.75}},
		{[]uint16{3, 1}, []float64{0.75, 0.25}},
		{[]uint16{0, 0, 0, 0}, []float64{0.25, 0.25, 0.25, 0.25}},
		{[]uint16{0, 1}, []float64{0.01, 0.99}},
		{[]uint16{1, 0}, []float64{0.99, 0.01}},
		{[]uint16{10, 20, 70}, []float64{0.1, 0.2, 0.7}},
		{[]uint16{65535, 65535}, []float64{0.5, 0.5}},
		{[]uint16{9}, []float64{1}},
	} {
		servers := make([]SRV, len(c.weights))
		for i, weight := range c.weights {
			servers[i] = SRV{Weight: weight, Port: uint16(i), Target: "a.example."}
		}
		first := make([]int, len(servers))
		for range runs {
			ordered := inOrder(servers)
			if len(ordered) != len(servers) {
				t.Fatalf("%v: got %d servers", c.weights, len(ordered))
			}
			first[ordered[0].Port]++
		}
		for i, want := range c.shares {
			// Six standard deviations: once in a billion runs.
			if got := float64(first[i]) / runs; math.Abs(got-want) > 6*math.Sqrt(want*(1-want)/runs) {
				t.Errorf("weights %v: server %d is first in %.3f of all, want %.3f", c.weights, i, got, want)
			}
		}
	}
}

// The servers of one priority in RFC 3404 section 5.1 come in any order.
func TestServersOfRFC3404(t *testing.T) {
	servers := []SRV{
		{0, 0, 1000, "deffoo.example.com."},
		{0, 0, 1000, "dbexample.com.au."},
		{0, 0, 1000, "ukexample.com.uk."},
	}
	orders := make(map[string]bool)
	for range 1000 {
		orders[targets(inOrder(servers))] = true
	}
	if len(orders) != 6 {
		t.Errorf("in a thousand runs %d of 6 orders", len(orders))
	}
}

// The order contains all servers.
func TestOrderHasAllServers(t *testing.T) {
	servers := []SRV{{0, 5, 0, "a."}, {0, 0, 1, "b."}, {0, 90, 2, "c."}, {1, 0, 3, "d."}}
	for range 200 {
		ordered := inOrder(servers)
		seen := make(map[string]bool)
		for _, s := range ordered {
			seen[s.Target] = true
		}
		if len(ordered) != 4 || len(seen) != 4 || ordered[3].Target != "d." {
			t.Fatalf("got %v", ordered)
		}
	}
}

func TestTerminalS(t *testing.T) {
	deffoo := SRV{0, 0, 1000, "deffoo.example.com."}
	s := func(preference uint16, services, key string) NAPTR {
		return NAPTR{100, preference, "s", services, "", key}
	}
	u := NAPTR{100, 90, "u", "", "!^.*$!http://u.example/!", "."}
	const path = "/uri-res/N2L?urn:foo:002372413:annual-report-1997"
	for _, c := range []struct {
		name      string
		records   []NAPTR
		sets      map[string]set
		want      string
		ttl       time.Duration
		requested int
	}{
		{"RFC 3404 section 5.1", rfc3404(), map[string]set{
			"thttp.tcp.example.com. SRV": {srv: []SRV{deffoo}, ttl: time.Minute},
		}, "http://deffoo.example.com:1000" + path, time.Minute, 2},
		{"by priority", []NAPTR{s(1, "https+I2L", "a.example.")}, map[string]set{
			"a.example. SRV": {
				srv: []SRV{{2, 0, 8443, "C.example."}, {1, 0, 443, "b.example."}, {3, 0, 1, "."}},
				ttl: day,
			},
		}, "https://b.example:443" + path + " https://C.example:8443" + path, hour, 2},
		{
			"the alternative has no records",
			[]NAPTR{s(1, "thttp+I2L", "a.example."), s(2, "thttp+I2L", "b.example."), u},
			map[string]set{
				"a.example. SRV": {srv: []SRV{deffoo}, ttl: day},
			},
			"http://deffoo.example.com:1000" + path + " http://u.example/", hour, 3,
		},
		{
			"alternative unreachable",
			[]NAPTR{s(1, "thttp+I2L", "a.example."), s(2, "thttp+I2L", "b.example.")},
			map[string]set{
				"a.example. SRV": {srv: []SRV{deffoo}, ttl: day}, "b.example. SRV": {err: errors.New("down")},
			},
			"http://deffoo.example.com:1000" + path, incompleteTTL, 3,
		},
		{
			"the alternative is the shortest-lived",
			[]NAPTR{s(1, "thttp+I2L", "a.example."), s(2, "thttp+I2L", "b.example.")},
			map[string]set{
				"a.example. SRV": {srv: []SRV{deffoo}, ttl: day},
				"b.example. SRV": {srv: []SRV{{0, 0, 80, "b.example."}}, ttl: time.Second},
			},
			"http://deffoo.example.com:1000" + path + " http://b.example:80" + path, time.Second, 3,
		},
	} {
		sets := map[string]set{"foo.urn.arpa. NAPTR": {naptr: c.records, ttl: hour}}
		for key, found := range c.sets {
			sets[key] = found
		}
		script := &script{sets: sets}
		answer, err := resolve(t, script, "urn:foo:002372413:annual-report-1997")
		if got := locations(answer); err != nil || got != c.want || answer.TTL != c.ttl ||
			len(script.queried) != c.requested {
			t.Errorf("%s: got %q for %s, %v, asked %q", c.name, got, answer.TTL, err, script.queried)
		}
	}
}
