package wais

import (
	"strings"
	"testing"
)

func str(tag uint32, s string) []byte { return encode(universal, false, tag, []byte(s)) }

// tagged returns a TaggedElement: ISO 23950 appendix REC.5.
func tagged(kind int64, name, content []byte) []byte {
	return group(universal, tagSequence, number(1, kind), group(contextual, 2, name), group(contextual, 4, content))
}

func grsExample() []byte {
	return group(universal, tagSequence,
		tagged(2, number(2, 1), str(tagGeneral, "A title")),
		tagged(3, text(1, "part"), group(contextual, 6,
			tagged(2, number(2, 6), str(tagOctetString, "two\r\nlines\x07")),
			tagged(1, number(2, 99), encode(universal, false, tagInteger, []byte{0xFE, 0xFF})),
			tagged(1, number(2, 100), encode(universal, false, tagBoolean, []byte{1})),
			tagged(1, number(2, 101), str(tagGeneralTime, "19960101000000Z")),
			tagged(1, number(2, 102), encode(contextual, false, 3, nil)),
		)),
	)
}

func TestGRS(t *testing.T) {
	e, _, err := parseElement(grsExample())
	if err != nil {
		t.Fatal(err)
	}
	const want = "title: A title\npart:\n  abstract:\n    two\n    lines\ufffd\n  (1,99): -257\n  (1,100): true\n  " +
		"(1,101): 19960101000000Z\n  (1,102): \n"
	if got := grsText(e); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (record{syntax: idGRS1, element: e}).brief().title; got != "A title" {
		t.Errorf("the title is %q", got)
	}
}

// TestMARC covers ISO 2709, with the MARC 21 leader for UTF-8 and for MARC-8.
func TestMARC(t *testing.T) {
	const directory = "245002100000260001000021\x1e"
	for _, c := range []struct{ leader, title, text, brief string }{
		{
			"00090nam a2200049   4500", "10\x1faCaf\u00e9 au lait  /\x1e",
			"245 10 $a Caf\u00e9 au lait  /\n260    $c 1996\n", "Caf\u00e9 au lait",
		},
		{
			"00090nam  2200049   4500", "10\x1faCaf\xe2e au lait  /\x1e",
			"245 10 $a Caf\u00e9 au lait  /\n260    $c 1996\n", "Caf\u00e9 au lait",
		},
	} {
		r := record{
			syntax: recordSyntaxes + "10",
			bytes:  []byte(c.leader + directory + c.title + "  \x1fc1996 \x1e\x1d"),
		}
		if got, want := r.text(), "LDR    "+c.leader+"\n"+c.text; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := r.brief(); got.title != c.brief || got.note != "1996" {
			t.Errorf("got %+v", got)
		}
	}
	// A short record whose fields all refer to the same bytes does not expand to a long text.
	const entries = 1000
	all := "00000nam a2212025   4500" + strings.Repeat("500900000000", entries) + "\x1e" + strings.Repeat("x", 9000)
	if got := (record{syntax: recordSyntaxes + "10", bytes: []byte(all)}).text(); len(got) > 2*len(all) {
		t.Errorf("%d bytes of text from %d", len(got), len(all))
	}
}

func TestXMLTitle(t *testing.T) {
	for in, want := range map[string]string{
		"<r><dc:title>A <b>b</b></dc:title></r>": "A b",
		`<r><datafield tag="100"><subfield code="a">N</subfield></datafield><datafield tag="245"><subfield code="a">T</subfield></datafield></r>`: "T",
		"<r>":                             "",
		"no markup":                       "",
		"<title>&#0;":                     "",
		"<TITLE>x</wrong>":                "",
		"<title></title><title>x</title>": "x",
	} {
		if got := xmlTitle([]byte(in)); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

// TestSearch covers words and phrases, and Prefix Query Format.
func TestSearch(t *testing.T) {
	for in, want := range map[string]string{
		"apple":                                "apple",
		"apple  pear":                          "(apple & pear)",
		`a "b  c"d`:                            "((a & b  c[4=1]) & d)",
		`"unclosed phrase`:                     "unclosed phrase[4=1]",
		"@and @attr 1=4 a @or b c":             "(a[1=4] & (b | c))",
		`@attr 1=1003 @not "x y" @attr 4=2 z`:  "(x y[1=1003] ! z[1=1003][4=2])",
		"":                                     "error",
		`""`:                                   "error",
		"@and a":                               "error",
		"@and a b c":                           "error",
		"@attr x=1 a":                          "error",
		"@attr 1=99999999999 a":                "error",
		"@prox a b":                            "error",
		strings.Repeat("@and a ", 40) + "a":    "error",
		strings.Repeat("@attr 1=4 ", 40) + "a": "error",
	} {
		query, err := parseSearch(in)
		got := "error"
		if err == nil {
			got = describe(query)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s (%v)", in, got, want, err)
		}
	}
}

func describe(n *node) string {
	if n.left != nil {
		return "(" + describe(n.left) + " " + string("&|!"[n.operator]) + " " + describe(n.right) + ")"
	}
	s := n.term
	for _, a := range n.attributes {
		s += "[" + string(rune('0'+a.kind)) + "=" + number10(a.value) + "]"
	}
	return s
}

func number10(n int64) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return number10(n/10) + string(rune('0'+n%10))
}

// TestObjectID covers X.690 section 8.19.
func TestObjectID(t *testing.T) {
	for _, s := range []string{"1.2.840.10003.5.109.10", "2.39.1", "0.0", "1.2.2147483647"} {
		id, err := parseObjectID(s)
		if err != nil {
			t.Fatal(err)
		}
		e, _, err := parseElement(objectID(universal, tagObjectID, id))
		if err != nil || e.objectID() != s {
			t.Errorf("%s becomes %s: %v", s, e.objectID(), err)
		}
	}
	for _, s := range []string{"", "1", "3.1", "1.40", "1.-2", "1.2.x", strings.Repeat("1.", 40) + "1"} {
		if _, err := parseObjectID(s); err == nil {
			t.Errorf("%q is an object identifier", s)
		}
	}
}

// TestInteger requires that integers are decoded as encoded.
func TestInteger(t *testing.T) {
	for _, n := range []int64{0, 1, 127, 128, -1, -128, -129, 1 << 20, 1<<63 - 1, -1 << 63} {
		e, _, err := parseElement(number(5, n))
		if err != nil || e.integer() != n {
			t.Errorf("%d becomes %d: %v", n, e.integer(), err)
		}
	}
}

// TestMARC8 covers MARC 21 Specifications, Character Sets, MARC-8.
func TestMARC8(t *testing.T) {
	for data, want := range map[string]string{
		"Caf\xe2e":                      "Café",
		"Universit\xe8at T\xe8ubingen":  "Universität Tübingen",
		"Stra\xc7e, \xb1\xf1odz, \xb2l": "Straße, łǫdz, øl",
		"\xf2\xe3a \xf2e":               "ậ ẹ",
		"\xe2":                          "\ufffd",
		"\xff\xaf\x80":                  "\ufffd\ufffd\ufffd",
		"a\x1b(3\x47\x1b(Bb":            "a\ufffdb",
		"a\x1b$1\x21\x30\x1b(Bb":        "a\ufffd\ufffdb",
		"H\x1bb2\x1bsO":                 "H\ufffdO",
		"\x1b":                          "",
	} {
		if got := marc8Text([]byte(data)); got != want {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	}
	if r := (record{
		syntax: recordSyntaxes + "1",
		bytes:  []byte("00090nam  2200049   4500245000500000260000500005\x1e10\x1fa\xe2\x1e" + "10\x1fae\x1e\x1d"),
	}); strings.Contains(r.text(), "é") {
		t.Errorf("UNIMARC: %q", r.text())
	}
}
