package ddds

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/resolver"
)

const soa = "urn.arpa. %d IN SOA ns.example. root.example. 1 2 3 4 %d"

// TestClientNAPTR reads records from the wire: two backslashes in a master file are one on the wire (RFC 3403
// section 6.1).
func TestClientNAPTR(t *testing.T) {
	addr := serve(t, reply{answer: []string{
		`foo.urn.arpa. 300 IN NAPTR 100 10 "" "" "!^urn:cid:.+@([^\\.]+\\.)(.*)$!\\2!i" .`,
		`FOO.urn.ARPA. 60 IN NAPTR 65535 32768 "U" "thttp+I2L" "!\"\200\\\\!\195\169\000!" .`,
		`foo.urn.arpa. 600 IN NAPTR 0 0 "s" "e2u+sip" "" _sip._tcp.Example.COM.`,
		`foo.urn.arpa. 1 IN A 192.0.2.1`,
		`bar.urn.arpa. 1 IN NAPTR 9 9 "" "" "" other.example.`,
	}}.handler(t), nil)
	got, info, err := newTestClient(longTimeout, addr).NAPTR(t.Context(), "Foo.URN.arpa")
	want := []NAPTR{
		{100, 10, "", "", `!^urn:cid:.+@([^\.]+\.)(.*)$!\2!i`, "."},
		{65535, 32768, "U", "thttp+I2L", "!\"\xc8\\\\!\u00e9\x00!", "."},
		{0, 0, "s", "e2u+sip", "", "_sip._tcp.Example.COM."},
	}
	if !slices.Equal(got, want) || info.TTL != time.Minute || err != nil {
		t.Errorf("got %q for %s, %v", got, info.TTL, err)
	}
}

func TestClientSRV(t *testing.T) {
	addr := serve(t, reply{answer: []string{
		"_thttp._tcp.example. 60 IN SRV 65535 1 80 a.example.", "_thttp._tcp.example. 30 IN SRV 0 65535 65535 .",
	}}.handler(t), nil)
	got, info, err := newTestClient(longTimeout, addr).SRV(t.Context(), "_thttp._tcp.example.")
	if want := []SRV{{65535, 1, 80, "a.example."}, {0, 65535, 65535, "."}}; !slices.Equal(got, want) ||
		info.TTL != 30*time.Second || err != nil {
		t.Errorf("got %v for %s, %v", got, info.TTL, err)
	}
}

func TestClientTTL(t *testing.T) {
	for _, c := range []struct {
		ttls []uint32
		want time.Duration
	}{
		{[]uint32{60}, time.Minute},
		{[]uint32{60, 0, 30}, 0},
		{[]uint32{1<<31 - 1}, maxTTL},
		{[]uint32{1 << 31}, 0}, // RFC 2181 section 8
		{[]uint32{60, 1<<32 - 1}, 0},
	} {
		addr := serve(t, reply{change: func(m *dns.Msg) {
			for _, ttl := range c.ttls {
				m.Answer = append(m.Answer, &dns.SRV{
					Hdr:    dns.RR_Header{Name: "a.example.", Rrtype: dns.TypeSRV, Class: dns.ClassINET, Ttl: ttl},
					Target: ".",
				})
			}
		}}.handler(t), nil)
		got, info, err := newTestClient(longTimeout, addr).SRV(t.Context(), "a.example.")
		if len(got) != len(c.ttls) || info.TTL != c.want || err != nil {
			t.Errorf("%v: got %v for %s, %v", c.ttls, got, info.TTL, err)
		}
	}
}

func TestClientFollowsAliases(t *testing.T) {
	const record = `c.example. 300 IN NAPTR 1 1 "" "" "" r.example.`
	for _, c := range []struct {
		name   string
		answer []string
		want   string
		ttl    time.Duration
	}{
		{
			"in order",
			[]string{"foo.urn.arpa. 200 IN CNAME b.example.", "b.example. 100 IN CNAME c.example.", record},
			"r.example.", 100 * time.Second,
		},
		{
			"in no order",
			[]string{record, "b.example. 400 IN CNAME C.example.", "FOO.urn.arpa. 400 IN CNAME B.example."},
			"r.example.", 300 * time.Second,
		},
		{
			"beside others",
			[]string{"x.example. 1 IN CNAME c.example.", "foo.urn.arpa. 200 IN CNAME c.example.", record},
			"r.example.", 200 * time.Second,
		},
	} {
		got, info, err := newTestClient(longTimeout,
			serve(t, reply{answer: c.answer}.handler(t), nil)).NAPTR(t.Context(), name)
		if replacements(got) != c.want || info.TTL != c.ttl || err != nil {
			t.Errorf("%s: got %v for %s, %v", c.name, got, info.TTL, err)
		}
	}
}

func TestClientNegative(t *testing.T) {
	const (
		missing = "foo.urn.arpa. does not exist (NXDOMAIN)"
		empty   = "foo.urn.arpa. has no NAPTR records"
		ns      = "urn.arpa. 9 IN NS ns.example."
		alias   = "foo.urn.arpa. 90 IN CNAME c.example."
	)
	for _, c := range []struct {
		name   string
		reply  reply
		reason string
		ttl    time.Duration
	}{
		{
			"NXDOMAIN, the minimum is less",
			reply{rcode: dns.RcodeNameError, ns: []string{fmt.Sprintf(soa, 3600, 60)}},
			missing, time.Minute,
		},
		{
			"NXDOMAIN, the TTL is less",
			reply{rcode: dns.RcodeNameError, ns: []string{fmt.Sprintf(soa, 60, 3600)}},
			missing, time.Minute,
		},
		{
			"NXDOMAIN of type 1",
			reply{rcode: dns.RcodeNameError, ns: []string{ns, fmt.Sprintf(soa, 60, 60)}},
			missing,
			time.Minute,
		},
		{"NXDOMAIN of type 3", reply{rcode: dns.RcodeNameError}, missing, 0},
		{"NXDOMAIN of type 4", reply{rcode: dns.RcodeNameError, ns: []string{ns}}, missing, 0},
		{
			"NXDOMAIN behind an alias",
			reply{rcode: dns.RcodeNameError, answer: []string{alias}, ns: []string{fmt.Sprintf(soa, 3600, 3600)}},
			missing,
			90 * time.Second,
		},
		{"NODATA of type 1", reply{ns: []string{ns, fmt.Sprintf(soa, 60, 3600)}}, empty, time.Minute},
		{"NODATA of type 2", reply{ns: []string{fmt.Sprintf(soa, 3600, 60)}}, empty, time.Minute},
		{"NODATA of type 3", reply{}, empty, 0},
		{"NODATA of an authority", reply{authoritative: true, ns: []string{ns}}, empty, 0},
		{
			"NODATA behind an alias",
			reply{answer: []string{alias}, ns: []string{fmt.Sprintf(soa, 60, 3600)}},
			empty,
			time.Minute,
		},
		{
			"NODATA, the alias lives shorter",
			reply{answer: []string{alias}, ns: []string{fmt.Sprintf(soa, 3600, 3600)}},
			empty, 90 * time.Second,
		},
		{"other types", reply{answer: []string{"foo.urn.arpa. 60 IN A 192.0.2.1"}}, empty, 0},
		{"other names", reply{answer: []string{`bar.urn.arpa. 60 IN NAPTR 1 1 "" "" "" a.example.`}}, empty, 0},
		{"minimum 0", reply{ns: []string{fmt.Sprintf(soa, 3600, 0)}}, empty, 0},
		{"TTL with the highest bit", reply{ns: []string{fmt.Sprintf(soa, 3600, 3600)}, change: func(m *dns.Msg) {
			high := dns.Copy(m.Ns[0])
			high.Header().Ttl = 1 << 31
			m.Ns = []dns.RR{high}
		}}, empty, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			records, info, err := newTestClient(longTimeout, serve(t, c.reply.handler(t), nil)).NAPTR(t.Context(), name)
			expectNegative(t, err, resolver.ErrNotFound, c.ttl, c.reason)
			if records != nil || info.TTL != 0 {
				t.Errorf("got %v for %s", records, info.TTL)
			}
		})
	}
}

// An endless chain of aliases is a server error, and no negative answer (RFC 1034 section 3.6.2).
func TestAliasesWithoutEnd(t *testing.T) {
	for what, answer := range map[string][]string{
		"CNAME loop":           {"foo.urn.arpa. 60 IN CNAME c.example.", "c.example. 60 IN CNAME foo.urn.arpa."},
		"loop":                 {"foo.urn.arpa. 60 IN CNAME foo.urn.arpa."},
		"CNAME record without": {"foo.urn.arpa. 60 IN CNAME c.example."},
	} {
		_, _, err := newTestClient(longTimeout,
			serve(t, reply{answer: answer}.handler(t), nil)).NAPTR(t.Context(), name)
		if !errors.Is(err, resolver.ErrUnreachable) || !strings.Contains(err.Error(), what) {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

// A resolution with client and cache.
func TestResolveByDNS(t *testing.T) {
	zone := dns.NewServeMux()
	for owner, lines := range map[string][]string{
		"foo.urn.arpa.": {`foo.urn.arpa. 86400 IN NAPTR 100 10 "" "" "!^urn:foo:.+@([^\\.]+\\.)(.*)$!\\2!i" .`},
		"example.com.": {
			`example.com. 3600 IN NAPTR 100 20 "s" "thttp+I2L" "" _thttp._tcp.example.com.`,
			`example.com. 3600 IN NAPTR 100 10 "s" "rcds+I2C" "" _rcds._udp.example.com.`,
		},
		"_thttp._tcp.example.com.": {"_thttp._tcp.example.com. 60 IN SRV 0 0 8080 host.example.com."},
	} {
		zone.Handle(owner, reply{answer: lines}.handler(t))
	}
	zone.Handle(".", reply{rcode: dns.RcodeNameError, ns: []string{fmt.Sprintf(soa, 3600, 60)}}.handler(t))
	addr := serve(t, zone.ServeDNS, nil)
	var now clock
	r := New(Config{
		Lookup: NewCached(newRecords(t, &now), newTestClient(longTimeout, addr), Bounds{}),
		Roots:  []string{"urn.arpa."}, MaxDomains: 5,
	})

	ctx, trace := resolver.WithTrace(t.Context(), now.now)
	for range 2 {
		answer, err := r.Resolve(ctx, query(t, "urn:foo:1@bar.example.com"))
		if want := "http://host.example.com:8080/uri-res/N2L?urn:foo:1@bar.example.com"; err != nil ||
			locations(answer) != want || answer.TTL != time.Minute {
			t.Errorf("got %q for %s, %v", locations(answer), answer.TTL, err)
		}
	}
	want := []string{
		"foo.urn.arpa. NAPTR at " + addr + ": NOERROR, 1 record, ttl 24h0m0s, not authenticated in 0s",
		"example.com. NAPTR at " + addr + ": NOERROR, 2 records, ttl 1h0m0s, not authenticated in 0s",
		"_thttp._tcp.example.com. SRV at " + addr + ": NOERROR, 1 record, ttl 1m0s, not authenticated in 0s",
		"foo.urn.arpa. NAPTR from the cache, 0s old, ttl 24h0m0s, 1 record, not authenticated",
		"example.com. NAPTR from the cache, 0s old, ttl 1h0m0s, 2 records, not authenticated",
		"_thttp._tcp.example.com. SRV from the cache, 0s old, ttl 1m0s, 1 record, not authenticated",
	}
	if got := details(trace, "dns"); !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	_, err := r.Resolve(t.Context(), query(t, "urn:bar:1"))
	expectNegative(t, err, resolver.ErrUnsupported, time.Minute, "bar.urn.arpa. does not exist (NXDOMAIN)")
}

func TestReadSystem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resolv.conf")
	for text, want := range map[string][]string{
		"": {},
		"# none\nsearch example.com\noptions ndots:5 rotate\n":            {},
		"nameserver 192.0.2.1\nnameserver 2001:db8::1\noptions timeout:9": {"192.0.2.1:53", "[2001:db8::1]:53"},
		"nameserver\n nameserver\tfe80::1%eth0 # the router\n":            {"[fe80::1%eth0]:53"},
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadSystem(path)
		if !slices.Equal(got.Servers, want) || err != nil {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	if got, err := ReadSystem(path + ".none"); got.Servers != nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got %q, %v", got, err)
	}
}
