package ddds

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/resolver"
)

// families returns the addresses in it by name; the answer for a name without a key is negative.
type families map[string][]string

// Addresses implements AddressLookuper.
func (f families) Addresses(ctx context.Context, name string, family Family) ([]netip.Addr, RRsetInfo, error) {
	key := name + " " + map[Family]string{IPv4: "A", IPv6: "AAAA"}[family]
	texts, ok := f[key]
	if !ok {
		return nil, RRsetInfo{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: key + " does not exist"}
	}
	if slices.Contains(texts, "silent") {
		<-ctx.Done()
		return nil, RRsetInfo{}, context.Cause(ctx)
	}
	if slices.Contains(texts, "failing") {
		return nil, RRsetInfo{}, errTest
	}
	var addrs []netip.Addr
	for _, text := range texts {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, RRsetInfo{}, nil
}

var errTest = errors.New("server 192.0.2.53: refused")

func TestHosts(t *testing.T) {
	h := NewHosts(HostsConfig{
		Addresses: families{
			"both.example. A": {"192.0.2.1", "192.0.2.2", "192.0.2.3"}, "both.example. AAAA": {"2001:db8::1"},
			"four.example. A": {"192.0.2.1"}, "six.example. AAAA": {"2001:db8::1"},
			"late.example. A": {"192.0.2.1"}, "late.example. AAAA": {"silent"},
			"half.example. A": {"failing"}, "half.example. AAAA": {"2001:db8::1"},
			"other.example. A": {"192.0.2.1"}, "other.example. AAAA": {"failing"},
			"intranet.corp.example. A": {"192.0.2.7"}, "tld. A": {"192.0.2.8"},
			"fails.example. A":     {"failing"},
			"six-first.example. A": {"silent"}, "six-first.example. AAAA": {"2001:db8::1"},
			"broken.lab.example. A": {"failing"}, "broken.corp.example. A": {"192.0.2.6"},
		},
		Local: func(_ context.Context, host string) []netip.Addr {
			if host == "me.example" {
				return []netip.Addr{netip.MustParseAddr("192.0.2.9")}
			}
			return nil
		},
		Search: []string{".", "lab.example", "corp.example."},
	})
	for host, want := range map[string]string{
		"both.example":  "2001:db8::1 192.0.2.1 192.0.2.2 192.0.2.3",
		"BOTH.example.": "2001:db8::1 192.0.2.1 192.0.2.2 192.0.2.3", "four.example": "192.0.2.1",
		"six.example": "2001:db8::1", "late.example": "192.0.2.1", "half.example": "2001:db8::1",
		"other.example": "192.0.2.1", "intranet": "192.0.2.7", "tld": "192.0.2.8", "me.example": "192.0.2.9",
		"six-first.example": "2001:db8::1", "broken": "192.0.2.6",
		"localhost":    "::1 127.0.0.1",
		"a.LOCALHOST.": "::1 127.0.0.1",
	} {
		addrs, err := h.Lookup(t.Context(), host)
		if got := strings.Trim(strings.ReplaceAll(strings.Join(texts(addrs), " "), "  ", " "), " "); got != want ||
			err != nil {
			t.Errorf("%s: got %s, %v; want %s", host, got, err, want)
		}
	}
	for host, want := range map[string]string{
		"none.example": "no such host: none.example", "a b": "is not a host name", "": "is not a host name",
		"fails.example": "192.0.2.53: refused",
	} {
		_, err := h.Lookup(t.Context(), host)
		if err == nil || !strings.Contains(err.Error(), want) || errors.As(err, new(*resolver.Negative)) {
			t.Errorf("%q: %v", host, err)
		}
	}
}

func texts(addrs []netip.Addr) []string {
	var all []string
	for _, a := range addrs {
		all = append(all, a.String())
	}
	return all
}

// Addresses come from the servers of the client, and from the cache until they expire.
func TestAddresses(t *testing.T) {
	zone := dns.NewServeMux()
	zone.HandleFunc("host.example.", func(w dns.ResponseWriter, q *dns.Msg) {
		lines := map[uint16]string{
			dns.TypeA:    "host.example. 60 IN A 192.0.2.1",
			dns.TypeAAAA: "host.example. 60 IN AAAA 2001:db8::1",
		}
		reply{answer: []string{lines[q.Question[0].Qtype]}}.handler(t)(w, q)
	})
	c, asked := newTestClient(longTimeout, serve(t, zone.ServeDNS, nil)).countExchanges()
	var now clock
	h := NewHosts(HostsConfig{Addresses: NewCachedAddresses(newRecords(t, &now), c, Bounds{})})
	for i, advance := range []time.Duration{0, 59 * time.Second, time.Second} {
		now.advance(advance)
		addrs, err := h.Lookup(t.Context(), "host.example")
		if got := strings.Join(texts(addrs), " "); got != "2001:db8::1 192.0.2.1" || err != nil {
			t.Fatalf("got %s, %v", got, err)
		}
		if n := asked()[c.config.Servers[0].Address]; n != []int{2, 2, 4}[i] {
			t.Errorf("after lookup %d: %d queries", i, n)
		}
	}
}
