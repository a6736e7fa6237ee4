package wais

import (
	"bufio"
	"bytes"
	"encoding/asn1"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/urnd/urnd/resolver/scheme"
)

// FuzzElement requires that an element read from a stream is within the limit, can be parsed completely, and
// has the elements that the DER parser of the standard library finds, as far as it finds any. Other forms than
// DER are compared with a library in test/wais.
func FuzzElement(f *testing.F) {
	f.Add([]byte("\x30\x80\x02\x01\x05\x00\x00"))
	f.Add([]byte("\xb7\x03\x02\x01\xff"))
	f.Add([]byte("\xbf\x81\x48\x80\x30\x80\x00\x00\x00\x00"))
	f.Add([]byte("\x24\x80\x04\x01a\x04\x01b\x00\x00"))
	f.Add([]byte(strings.Repeat("\x30\x80", 100)))
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 1 << 12
		read, n, err := readElement(bufio.NewReader(iotest.HalfReader(bytes.NewReader(b))), limit)
		if err != nil {
			return
		}
		if n > limit || n > int64(len(b)) {
			t.Fatalf("%d bytes are read of %d", n, len(b))
		}
		checkNested(t, read, maxDepth)
		compare(t, read)
		_ = read.bytes()
		_ = diagnosticOf(read)
		_ = parseDiagnostic(read)
		_ = refuseSession(read)
		r := parseRecord(read)
		checkText(t, r.text(), len(b))
		_ = r.brief()
	})
}

// checkNested requires that nested elements fill their element.
func checkNested(t *testing.T, e element, depth int) {
	t.Helper()
	if depth < 0 {
		t.Fatal("nested too deep")
	}
	if !e.constructed {
		return
	}
	for rest := e.content; len(rest) > 0; {
		child, after, err := parseElement(rest)
		if err != nil {
			t.Fatalf("%x: %v", rest, err)
		}
		checkNested(t, child, depth-1)
		rest = after
	}
}

// compare compares the elements in e, which have definite lengths, with those that the standard library finds,
// as far as they are DER.
func compare(t *testing.T, e element) {
	t.Helper()
	rest := e.content
	for child := range e.children() {
		var value asn1.RawValue
		var err error
		if rest, err = asn1.Unmarshal(rest, &value); err != nil {
			return
		}
		if int(child.class) != value.Class || int(child.tag) != value.Tag || child.constructed != value.IsCompound ||
			!bytes.Equal(child.content, value.Bytes) {
			t.Fatalf("%+v is %+v to the library", child, value)
		}
		compare(t, child)
	}
}

// checkText requires that a text has no control characters except line feeds and tabs, and is not much longer
// than its source.
func checkText(t *testing.T, text string, length int) {
	t.Helper()
	if text != scheme.DecodeLines(text) || strings.Contains(text, "\r") {
		t.Fatalf("control characters in %q", text)
	}
	if len(text) > 8*length+8192 {
		t.Fatalf("%d bytes of text from %d", len(text), length)
	}
}

// FuzzMARC parses records of ISO 2709.
func FuzzMARC(f *testing.F) {
	f.Add([]byte("00071nam a2200049   4500001000300000245001600003\x1e42\x1e10\x1faA title /\x1fcX\x1e\x1d"))
	f.Add([]byte("99999nam  2299999   4500245000500000245000500000"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, id := range []string{recordSyntaxes + "10", idXML, idSUTRS, ""} {
			r := record{syntax: id, bytes: b}
			checkText(t, r.text(), len(b))
			for _, s := range []string{r.brief().title, r.brief().author, r.brief().note} {
				if s != scheme.DecodeText(s) || len(s) > 1000 {
					t.Fatalf("%q", s)
				}
			}
		}
	})
}

// FuzzGRS parses elements of ISO 23950 appendix REC.5.
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

// FuzzSearch requires that a search is an error, or can be encoded as elements.
func FuzzSearch(f *testing.F) {
	for _, s := range []string{
		"a b", `"a b" c`, "@and @attr 1=4 a b", "@or a", `"`, "@attr 1= x",
		strings.Repeat("@and a ", 50),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		query, err := parseSearch(s)
		if err != nil {
			return
		}
		for _, q := range queriesFor(query, false) {
			encoded := q.encode()
			e, rest, err := parseElement(encoded)
			if err != nil || len(rest) > 0 {
				t.Fatalf("%q is encoded as %x: %v", s, encoded, err)
			}
			checkNested(t, e, maxDepth)
		}
	})
}
