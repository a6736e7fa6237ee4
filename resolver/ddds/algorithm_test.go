package ddds

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver"
)

// chosen returns the usable keys, and the skipped records with their reasons.
func chosen(aus string, records []NAPTR) (keys, why []string, matched bool) {
	s, _ := choose(context.Background(), aus, records, resolver.I2L, newBudget()) // fails only if its context ends
	for _, m := range s.usable {
		keys = append(keys, m.key)
	}
	for _, p := range s.skipped {
		why = append(why, p.record.String()+": "+p.reason)
	}
	return keys, why, s.matched
}

// to returns a non-terminal rule for all names.
func to(order, preference uint16, key string) NAPTR {
	return NAPTR{Order: order, Preference: preference, Replacement: key}
}

// located returns a terminal rule for the names with a prefix.
func located(order, preference uint16, prefix, services, uri string) NAPTR {
	return NAPTR{order, preference, "u", services, "!^" + prefix + ".*$!" + uri + "!", "."}
}

func TestSorted(t *testing.T) {
	records := []NAPTR{
		to(65535, 0, "j."), to(100, 10, "d."), to(32768, 0, "i."), to(100, 5, "c."), to(0, 65535, "b."),
		to(100, 10, "e."), to(0, 0, "a."), to(100, 10, "f."), to(100, 65535, "h."), to(100, 32768, "g."),
	}
	before := slices.Clone(records)
	var got []string
	for _, r := range sorted(records) {
		got = append(got, r.Replacement)
	}
	if s := strings.Join(got, ""); s != "a.b.c.d.e.f.g.h.i.j." {
		t.Errorf("got %s", s)
	}
	if !slices.Equal(records, before) {
		t.Error("the shared records were changed")
	}
}

// Equal records keep their order. An unstable sort would only be visible with many records.
func TestSortedIsStable(t *testing.T) {
	var records []NAPTR
	for i := range 200 {
		records = append(records, to(uint16(1-i%2), uint16(i/2%2), strconv.Itoa(i)))
	}
	var last NAPTR
	for i, r := range sorted(records) {
		came, err := strconv.Atoi(r.Replacement)
		if err != nil {
			t.Fatal(err)
		}
		if before, _ := strconv.Atoi(last.Replacement); i%50 != 0 &&
			(r.Order != last.Order || r.Preference != last.Preference || came <= before) {
			t.Fatalf("%s is after %s", r, last)
		}
		last = r
	}
}

func TestChoose(t *testing.T) {
	const aus = "urn:foo:1"
	type want struct {
		keys    string
		why     string // parts of the reasons, one for each record
		matched bool
	}
	for _, c := range []struct {
		name    string
		records []NAPTR
		want    want
	}{
		{"none", nil, want{}},
		{"by preference within an order", []NAPTR{to(1, 2, "b.x."), to(1, 1, "a.x.")}, want{"a.x. b.x.", "", true}},
		{
			"order before preference",
			[]NAPTR{to(2, 0, "b.x."), to(1, 9, "a.x.")},
			want{"a.x.", "order 1 already matched", true},
		},
		{"order 65535", []NAPTR{to(65535, 0, "a.x.")}, want{"a.x.", "", true}},
		{
			"order 65535 is not -1",
			[]NAPTR{to(65535, 0, "b.x."), to(0, 0, "a.x.")},
			want{"a.x.", "order 0 already matched", true},
		},
		{"a record that does not match locks nothing", []NAPTR{
			located(1, 1, "urn:foo:2", "", "http://a.x/"), located(2, 1, "", "", "http://b.x/"),
		}, want{"http://b.x/", "does not match", true}},
		{"nothing matches", []NAPTR{located(1, 1, "urn:foo:2", "", "http://a.x/")}, want{"", "does not match", false}},
		{"a record with unusable services locks", []NAPTR{
			located(1, 1, "", "rcds+I2C", "http://a.x/"), located(2, 1, "", "", "http://b.x/"),
		}, want{"", "do not offer I2L|order 1 already matched", true}},
		{"after unusable services the order continues", []NAPTR{
			located(1, 1, "", "rcds+I2C", "http://a.x/"), located(1, 2, "", "http+I2L", "http://b.x/"),
			located(2, 1, "", "", "http://c.x/"),
		}, want{"http://b.x/", "do not offer I2L|order 1 already matched", true}},
		{"an empty result does not lock", []NAPTR{
			{1, 1, "u", "", "!^.*$!!", "."}, located(2, 1, "", "", "http://b.x/"),
		}, want{"http://b.x/", "the result is empty", true}},
		{"a location that is not allowed locks", []NAPTR{
			located(1, 1, "", "", "sips:a@x"), located(1, 2, "", "", "http://b.x/"),
			located(2, 1, "", "", "http://c.x/"),
		}, want{"http://b.x/", "destination not allowed|order 1 already matched", true}},
		{"an illegal key locks", []NAPTR{
			{1, 1, "", "", "!^.*$!user@a.x!", "."}, to(2, 1, "b.x."),
		}, want{"", "not a domain name|order 1 already matched", true}},
		{"unknown flags are skipped first", []NAPTR{
			{1, 1, "x", "", "", "a.x."}, {1, 2, "su", "", "", "a.x."}, {1, 3, "9", "", "", "a.x."}, to(2, 1, "b.x."),
		}, want{"b.x.", `"x" are unknown|"su" are unknown|"9" are unknown`, true}},
		{
			"unknown flags after a match",
			[]NAPTR{to(1, 1, "a.x."), {2, 1, "x", "", "", "b.x."}},
			want{"a.x.", `"x" are unknown`, true},
		},
		{"a malformed record is skipped alone", []NAPTR{
			{1, 1, "", "", "!^.*$!a.x!", "a.x."}, // both fields
			{1, 2, "", "", "", "."},              // neither
			{1, 3, "", "", "!^(.*$!a.x!", "."},
			{1, 4, "", "", `!^.*$!\1!`, "."},
			{1, 5, "", "+", "", "a.x."},
			{1, 6, "", "EM:ProtA", "", "a.x."}, // another application (RFC 3958)
			to(2, 1, "b.x."),
		}, want{"b.x.", "both used|neither|missing closing|has \\1|services field is not|services field is not", true}},
		{
			"flag p",
			[]NAPTR{
				{1, 1, "p", "thttp+I2L", "", "a.x."},
				to(1, 2, "b.x."),
				{1, 3, "P", "rcds+I2L", "", "d.x."},
				to(2, 1, "c.x."),
			},
			want{"a.x. b.x.", `protocol "rcds" is not|order 1 already matched`, true},
		},
		{"protocols of s and a", []NAPTR{
			{1, 1, "s", "", "", "a.x."},
			{1, 2, "a", "ftp+I2L", "", "b.x."},
			{1, 3, "s", "https+I2L", "", "c.x."},
			{1, 4, "A", "HTTP+N2L", "", "d.x."},
			{1, 5, "S", "thttp", "", "e.x."},
			{1, 6, "s", "+I2L", "", "f.x."},
		}, want{"c.x. d.x. e.x.", `protocol "" is not|protocol "ftp" is not|protocol "" is not`, true}},
		{"unsupported protocols are last", []NAPTR{
			{1, 1, "a", "z3950+N2L+N2C", "", "a.x."},
			{1, 2, "s", "http+N2L", "", "b.x."},
			{1, 3, "p", "z3950+N2L", "", "c.x."},
			to(1, 4, "d.x."),
		}, want{"b.x. d.x. a.x. c.x.", "", true}},
		{
			"services of a non-terminal rule do not count",
			[]NAPTR{{1, 1, "", "rcds+I2C", "", "a.x."}},
			want{"a.x.", "", true},
		},
	} {
		keys, why, matched := chosen(aus, c.records)
		if got := strings.Join(keys, " "); got != c.want.keys || matched != c.want.matched {
			t.Errorf("%s: got %q, matched %t, skipped %q", c.name, got, matched, why)
		}
		var parts []string
		if c.want.why != "" {
			parts = strings.Split(c.want.why, "|")
		}
		if !slices.EqualFunc(why, parts, strings.Contains) {
			t.Errorf("%s: skipped %q", c.name, why)
		}
	}
}

func TestChooseVectors(t *testing.T) {
	rfc5483 := []NAPTR{
		{2, 1, "u", "e2u+sip", `!^(.*)$!sip:\1@biloxi.example.com!`, "."},
		{1, 1, "u", "e2u+sip", `!^(\+441632960.*)$!sips:\1@atlanta.example.com!`, "."},
	}
	for _, c := range []struct {
		source, aus string
		records     []NAPTR
		keys, why   string
	}{
		{
			"RFC 3404 section 5.1", "urn:foo:002372413:annual-report-1997", rfc3404(), "thttp.tcp.example.com.",
			"foolink.udp.example.com.: protocol \"foolink\" is not supported\nrcds.udp.example.com.: services " +
				"\"rcds+I2C\" do not offer I2L",
		},
		{"RFC 3403 section 6.1", "urn:cid:199606121851.1@bar.example.com", []NAPTR{
			{100, 50, "a", "z3950+N2L+N2C", "", "cidserver.example.com."},
			{100, 50, "a", "rcds+N2C", "", "cidserver.example.com."},
			{100, 50, "s", "http+N2L+N2C+N2R", "", "www.example.com."},
		}, "www.example.com. cidserver.example.com.", "cidserver.example.com.: services \"rcds+N2C\" do not offer I2L"},
		{"RFC 3404 section 5.2", "cid:199606121851.1@bar.example.com", []NAPTR{
			{100, 50, "s", "z3950+I2L+I2C", "", "z3950.tcp.example.com."},
			{100, 50, "s", "rescap+I2C", "", "rescap.udp.example.com."},
			{100, 50, "s", "thttp+I2L+I2C+I2R", "", "thttp.tcp.example.com."},
		}, "thttp.tcp.example.com. z3950.tcp.example.com.", "services \"rescap+I2C\" do not offer I2L"},
		{"RFC 3403 section 6.2: never 102 where 100 matched", "+17705551212", []NAPTR{
			{102, 10, "u", "smtp+E2U", "!^.*$!mailto:information@foo.se!i", "."},
			{100, 10, "u", "sip+E2U", "!^.*$!sip:information@foo.se!i", "."},
		}, "", "destination not allowed\norder 100 already matched"},
		{
			"RFC 5483 section 4.1.1: never the second", "+441632960123", rfc5483, "",
			"destination not allowed\norder 1 already matched",
		},
		{"RFC 5483 section 4.1.1: another number", "+4655123", rfc5483, "", "does not match\ndestination not allowed"},
		{
			"RFC 3405 section 8", "urn:foo:bar",
			[]NAPTR{{0, 0, "", "", `/^urn:([^:]+)/\2/i`, "."}},
			"",
			`replacement has \2`,
		},
		{"uri.arpa", "URN:foo:foospace", []NAPTR{{0, 0, "", "", `/urn:([^:]+)/\1/i`, "."}}, "foo.", ""},
		{
			"uri.arpa", "http://user@www.example.com:80/x",
			[]NAPTR{{0, 0, "", "", `!^http://([^:/?#]*).*$!\1!i`, "."}},
			"", "not a domain name",
		},
		{
			"uri.arpa", "mailto:a@b.c?subject=x",
			[]NAPTR{{0, 0, "", "", `!^mailto:(.*)@(.*)$!\2!i`, "."}},
			"",
			"not a domain name",
		},
		{
			"uri.arpa", "mailto:a@example.com?subject=x@y",
			[]NAPTR{{0, 0, "", "", `!^mailto:(.*)@(.*)$!\2!i`, "."}},
			"y.", "",
		},
	} {
		keys, why, _ := chosen(c.aus, c.records)
		if got := strings.Join(keys, " "); got != c.keys {
			t.Errorf("%s, %s: got %q", c.source, c.aus, got)
		}
		var parts []string
		if c.why != "" {
			parts = strings.Split(c.why, "\n")
		}
		if !slices.EqualFunc(why, parts, strings.Contains) {
			t.Errorf("%s, %s: skipped %q", c.source, c.aus, why)
		}
	}
}

// rfc3404 is the record set of foo.urn.arpa. in RFC 3404 section 5.1.
func rfc3404() []NAPTR {
	return []NAPTR{
		{100, 10, "s", "foolink+I2L+I2C", "", "foolink.udp.example.com."},
		{100, 20, "s", "rcds+I2C", "", "rcds.udp.example.com."},
		{100, 30, "s", "thttp+I2L+I2C+I2R", "", "thttp.tcp.example.com."},
	}
}

func TestChooseIsBounded(t *testing.T) {
	var records []NAPTR
	for i := range 150 {
		records = append(records, to(uint16(200-i), 0, "k"+strconv.Itoa(200-i)+".example."))
	}
	keys, why, _ := chosen("urn:foo:a", records)
	if !slices.Equal(keys, []string{"k51.example."}) || len(why) != maxRules || !strings.HasSuffix(why[len(why)-1],
		"only the first 100 records are used; this and all following ones are skipped") {
		t.Errorf("%q, %d skipped, last %q", keys, len(why), why[len(why)-1])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := choose(ctx, "urn:foo:a", records, resolver.I2L, newBudget()); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// The result of a rule without services is a location, and neither a description nor another name.
func TestRulesWithoutServices(t *testing.T) {
	records := []NAPTR{{Order: 1, Preference: 1, Flags: "u", Regexp: "!^.*$!http://a.example/!"}, {
		Order: 1, Preference: 2, Flags: "a",
		Services: "z3950+N2Ns+N2C", Replacement: "a.example.",
	}}
	for want, usable := range map[resolver.Service]int{resolver.I2L: 1, resolver.I2C: 0, resolver.I2Ns: 0} {
		s, err := choose(t.Context(), "urn:foo:1", records, want, newBudget())
		if err != nil || len(s.usable) != usable {
			t.Errorf("%s: %d rules, %v", want, len(s.usable), err)
		}
	}
}
