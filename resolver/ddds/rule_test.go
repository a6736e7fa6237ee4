package ddds

import (
	"errors"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver"
)

func TestFlag(t *testing.T) {
	for _, c := range []struct {
		flags string
		flag  byte
		known bool
	}{
		{"", 0, true},
		{"s", 'S', true},
		{"S", 'S', true},
		{"a", 'A', true},
		{"A", 'A', true},
		{"u", 'U', true},
		{"U", 'U', true},
		{"p", 'P', true},
		{"P", 'P', true},
		{"su", 0, false},
		{"us", 0, false},
		{"uu", 0, false},
		{"ux", 0, false},
		{"SAUP", 0, false},
		{"x", 0, false},
		{"0", 0, false},
		{"9", 0, false},
		{"u9", 0, false},
		{" ", 0, false},
		{"u ", 0, false},
		{"\x00", 0, false},
		{"3", 0, false},
		{"\u017f", 0, false}, // its upper case in Unicode is S
	} {
		flag, known := NAPTR{Flags: c.flags}.flag()
		if flag != c.flag || known != c.known {
			t.Errorf("%q: got %q, %t", c.flags, flag, known)
		}
	}
}

func TestApply(t *testing.T) {
	const aus = "urn:foo:a.example"
	for _, c := range []struct {
		name    string
		record  NAPTR
		key     string
		err     error // error of the record
		failure error // fault of the result
	}{
		{"regexp", NAPTR{Regexp: `!^urn:foo:(.*)$!\1!`, Replacement: "."}, "a.example.", nil, nil},
		{"regexp, no replacement at all", NAPTR{Regexp: `!^urn:foo:(.*)$!\1!`}, "a.example.", nil, nil},
		{"replacement", NAPTR{Replacement: "urn-resolver.foo.com."}, "urn-resolver.foo.com.", nil, nil},
		{"replacement in mixed case", NAPTR{Replacement: "URN-Resolver.Foo.COM."}, "urn-resolver.foo.com.", nil, nil},
		{"both", NAPTR{Regexp: `!^urn:foo:(.*)$!\1!`, Replacement: "b.example."}, "", errBothFields, nil},
		{"neither", NAPTR{Replacement: "."}, "", errNoFields, nil},
		{"neither, not even a dot", NAPTR{}, "", errNoFields, nil},
		{"no match", NAPTR{Regexp: `!^urn:bar:(.*)$!\1!`, Replacement: "."}, "", errNoMatch, nil},
		{"empty result", NAPTR{Regexp: `!^urn:foo:!!`, Replacement: "."}, "", errEmpty, nil},
		{"empty group", NAPTR{Regexp: `!^urn:foo:(b)?!\1!`, Replacement: "."}, "", errEmpty, nil},
		{"services", NAPTR{Services: "EM:ProtA", Replacement: "a.example."}, "", errServices, nil},
		{"expression", NAPTR{Regexp: `!^urn:foo:\d!x!`, Replacement: "."}, "", errEscape, nil},
		{
			"u",
			NAPTR{Flags: "u", Regexp: `!^urn:foo:(.*)$!http://\1/!`, Replacement: "."},
			"http://a.example/", nil,
			nil,
		},
		{
			"u keeps case",
			NAPTR{Flags: "u", Regexp: `!^.*$!http://A.example/B!`, Replacement: "."},
			"http://A.example/B",
			nil, nil,
		},
		{"illegal name", NAPTR{Regexp: `!^.*$!user@www.example.com!`, Replacement: "."}, "", nil, errName},
		{"illegal replacement", NAPTR{Replacement: `a\.b.example.`}, "", nil, errName},
		{"RFC 3404 section 5.3, literally", NAPTR{Regexp: `!^urn:([^/:]+)!1!i`, Replacement: "."}, "", nil, errName},
		{
			"scheme",
			NAPTR{Flags: "u", Regexp: `!^.*$!javascript:alert(1)!`, Replacement: "."},
			"", nil,
			resolver.ErrForbidden,
		},
		{
			"file",
			NAPTR{Flags: "u", Regexp: `!^.*$!file:///etc/passwd!`, Replacement: "."},
			"", nil,
			resolver.ErrForbidden,
		},
	} {
		flag, known := c.record.flag()
		if !known {
			t.Errorf("%s: flag is unknown", c.name)
		}
		m, err := c.record.apply(aus, flag, newBudget())
		if !errors.Is(err, c.err) || !errors.Is(m.failure, c.failure) || m.key != c.key {
			t.Errorf("%s: got %q, failure %v, %v", c.name, m.key, m.failure, err)
		}
		if err == nil && (m.record != c.record || m.flag != flag) {
			t.Errorf("%s: got %+v", c.name, m)
		}
	}
}

func TestApplyRefusesInvalidURIs(t *testing.T) {
	for _, result := range []string{"a.example", "http://a b/", "http://[::1/", "/relative", ":", "http:// "} {
		m, err := NAPTR{Flags: "u", Regexp: "!.*!" + result + "!"}.apply("urn:foo:a", 'U', newBudget())
		if err != nil || m.failure == nil || m.key != "" {
			t.Errorf("%q: got %q, failure %v, %v", result, m.key, m.failure, err)
		}
	}
	m, err := NAPTR{Flags: "u", Replacement: "a.example."}.apply("urn:foo:a", 'U', newBudget())
	if err != nil || m.failure == nil {
		t.Errorf("a name as URI: got %q, failure %v, %v", m.key, m.failure, err)
	}
}

func TestDomainName(t *testing.T) {
	label := strings.Repeat("a", 63)
	longest := strings.Join([]string{label, label, label, label[:61]}, ".")
	for _, c := range [][2]string{
		{"example.com", "example.com."},
		{"example.com.", "example.com."},
		{"EXAMPLE.Com", "example.com."},
		{"_thttp._tcp.example.com", "_thttp._tcp.example.com."},
		{"a-b.1.2.example", "a-b.1.2.example."},
		{"foo", "foo."}, // a top-level domain is a key
		{"1a", "1a."},
		{label + ".example", label + ".example."},
		{longest, longest + "."},
		{longest + ".", longest + "."},
	} {
		if got, err := domainName(c[0]); err != nil || got != c[1] {
			t.Errorf("%q: got %q, %v", c[0], got, err)
		}
	}
	for _, name := range []string{
		"", ".", "..", "a..b", ".a", "a..", "-a.example", "a-.example", "a b", "a\x00b", "a/b", "user@example.com",
		"b.c?subject=x", `a\.b`, `a\032b`, "www.example.com:80", "1", "1.", "192.0.2.1", "a.1", "\u212a.example",
		"\u00e9.example", label + "a.example", longest + "a", longest + "a.",
	} {
		if got, err := domainName(name); !errors.Is(err, errName) || got != "" {
			t.Errorf("%q: got %q, %v", name, got, err)
		}
	}
}

func TestNAPTRString(t *testing.T) {
	r := NAPTR{100, 10, "u", "thttp+I2L", `!^(.*)$!\1!`, "."}
	if got, want := r.String(), `100 10 "u" "thttp+I2L" "!^(.*)$!\\1!" .`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
