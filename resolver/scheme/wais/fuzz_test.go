package wais

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"testing/iotest"

	ber "github.com/go-asn1-ber/asn1-ber"

	"github.com/urnd/urnd/resolver/scheme"
)

// FuzzElement: what is read from a stream is what is parsed at once, is no longer than the limit, and has
// the elements that a library finds in it, where that finds any.
func FuzzElement(f *testing.F) {
	f.Add([]byte("\x30\x80\x02\x01\x05\x00\x00"))
	f.Add([]byte("\xb7\x03\x02\x01\xff"))
	f.Add([]byte("\xbf\x81\x48\x80\x30\x80\x00\x00\x00\x00"))
	f.Add([]byte("\x24\x80\x04\x01a\x04\x01b\x00\x00"))
	f.Add([]byte(strings.Repeat("\x30\x80", 100)))
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 1 << 12
		read, n, err := readElement(bufio.NewReader(iotest.HalfReader(bytes.NewReader(b))), limit)
		parsed, rest, parseErr := parseElement(b)
		if err == nil && (parseErr != nil || n > limit || len(rest) != len(b)-int(n) || !bytes.Equal(read.content, parsed.content)) {
			t.Fatalf("read %+v of %d octets, parsed %+v (%v) with %d left", read, n, parsed, parseErr, len(rest))
		}
		if err != nil {
			return
		}
		if packet, err := ber.DecodePacketErr(b[:n]); err == nil {
			compare(t, read, packet)
		}
		_ = read.octets()
		_ = diagnosticOf(read)
		_ = parseDiagnostic(read)
		_ = refuseSession(read)
		r := parseRecord(read)
		checkText(t, r.text(), len(b))
		_ = r.brief()
	})
}

func compare(t *testing.T, e element, p *ber.Packet) {
	t.Helper()
	if byte(e.class)<<6 != byte(p.ClassType) || uint64(e.tag) != uint64(p.Tag) || e.constructed != (p.TagType == ber.TypeConstructed) {
		t.Fatalf("%+v is %+v to the library", e, p.Identifier)
	}
	if !e.constructed {
		if !bytes.Equal(e.content, p.Data.Bytes()) {
			t.Fatalf("%x is %x to the library", e.content, p.Data.Bytes())
		}
		return
	}
	i := 0
	for child := range e.children() {
		if i == len(p.Children) {
			t.Fatalf("more than the %d elements of the library", i)
		}
		compare(t, child, p.Children[i])
		i++
	}
	if i != len(p.Children) {
		t.Fatalf("%d elements of %d", i, len(p.Children))
	}
}

// checkText: a text has no control characters but line feeds and tabs, and is not much longer than what it is
// made of.
func checkText(t *testing.T, text string, length int) {
	t.Helper()
	if text != scheme.TextLines(text) || strings.Contains(text, "\r") {
		t.Fatalf("control characters in %q", text)
	}
	if len(text) > 8*length+8192 {
		t.Fatalf("%d octets of text from %d", len(text), length)
	}
}

// FuzzMARC: records of ISO 2709.
func FuzzMARC(f *testing.F) {
	f.Add([]byte("00071nam a2200049   4500001000300000245001600003\x1e42\x1e10\x1faA title /\x1fcX\x1e\x1d"))
	f.Add([]byte("99999nam  2299999   4500245000500000245000500000"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, id := range []string{recordSyntaxes + "10", idXML, idSUTRS, ""} {
			r := record{syntax: id, octets: b}
			checkText(t, r.text(), len(b))
			for _, s := range []string{r.brief().title, r.brief().author, r.brief().note} {
				if s != scheme.Text(s) || len(s) > 1000 {
					t.Fatalf("%q", s)
				}
			}
		}
	})
}

// FuzzGRS: elements of ISO 23950 appendix REC.5.
func FuzzGRS(f *testing.F) {
	f.Add(grsExample())
	f.Fuzz(func(t *testing.T, b []byte) {
		e, _, err := parseElement(b)
		if err != nil {
			return
		}
		for _, id := range []string{idGRS1, idOPAC} {
			r := record{syntax: id, element: e}
			checkText(t, r.text(), len(b))
			_ = r.brief()
		}
	})
}

// FuzzSearch: a search is understood or not, and what is understood is encoded as elements.
func FuzzSearch(f *testing.F) {
	for _, s := range []string{"a b", `"a b" c`, "@and @attr 1=4 a b", "@or a", `"`, "@attr 1= x", strings.Repeat("@and a ", 50)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		query, err := parseSearch(s)
		if err != nil {
			return
		}
		for _, q := range queriesFor(query, false) {
			if _, err := ber.ReadPacket(bytes.NewReader(q.encode())); err != nil {
				t.Fatalf("%q: %v", s, err)
			}
		}
	})
}
