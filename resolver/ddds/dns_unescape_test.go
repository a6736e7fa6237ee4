package ddds

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// naptrFromWire decodes a record with this REGEXP with the library.
func naptrFromWire(t testing.TB, regexp []byte) *dns.NAPTR {
	t.Helper()
	rdata := append([]byte{0, 1, 0, 2, 0, 0, byte(len(regexp))}, regexp...)
	rdata = append(rdata, 0) // the root name
	message := []byte{0, 0, byte(dns.TypeNAPTR), 0, byte(dns.ClassINET), 0, 0, 0, 60}
	message = binary.BigEndian.AppendUint16(message, uint16(len(rdata)))
	rr, _, err := dns.UnpackRR(append(message, rdata...), 0)
	if err != nil {
		t.Fatal(err)
	}
	return rr.(*dns.NAPTR)
}

func TestUnescape(t *testing.T) {
	for _, c := range [][2]string{
		{"", ""},
		{"a", "a"},
		{`\\1`, `\1`},
		{`\\\\`, `\\`},
		{`\"`, `"`},
		{`\065`, "A"},
		{`\000`, "\x00"},
		{`\255`, "\xff"},
		{`\195\169`, "\u00e9"},
		{`\\065`, `\065`},
		{`\\\065`, `\A`},
		{`\06`, "06"},
		{`\0`, "0"},
		{`\0a5`, "0a5"},
		{`\256`, "256"},
		{`\999`, "999"},
		{`\`, `\`},
		{`a\`, `a\`},
		{`\.`, "."},
		{`\0655`, "A5"},
	} {
		if got := unescape(c[0]); got != c[1] {
			t.Errorf("%q: got %q, want %q", c[0], got, c[1])
		}
	}
}

func TestUnescapeEveryByte(t *testing.T) {
	for b := range 256 {
		raw := []byte{byte(b), '\\', byte(b), '0', '6', '5', byte(b)}
		if got := unescape(naptrFromWire(t, raw).Regexp); got != string(raw) {
			t.Errorf("%q came out as %q", raw, got)
		}
	}
}

// FuzzUnescape: unescape restores the bytes from the wire, and never panics.
func FuzzUnescape(f *testing.F) {
	for _, seed := range []string{
		"", `!^urn:cid:.+@([^\.]+\.)(.*)$!\2!i`, `\065`, `\\`, `"`, "\x00\xff\u00e9", `\256`,
		`\`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := unescape(s); len(got) > len(s) {
			t.Fatalf("%q: got %q", s, got)
		}
		if len(s) > maxExpression {
			s = s[:maxExpression]
		}
		escaped := naptrFromWire(t, []byte(s)).Regexp
		if got := unescape(escaped); got != s {
			t.Fatalf("%q is %q in the library and came out as %q", s, escaped, got)
		}
		if !strings.Contains(escaped, `\`) && escaped != s {
			t.Fatalf("%q became %q", s, escaped)
		}
	})
}
