package charset_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"github.com/urnd/urnd/internal/charset"
)

func TestSource(t *testing.T) {
	for _, c := range []struct{ name, label, text, want, failure string }{
		{"UTF-8", "", "\u00c4iti", "\u00c4iti", ""},
		{"a byte order mark of UTF-8", "", "\ufeff\u00c4", "\u00c4", ""},
		{"only the first mark", "utf8", "\ufeff\ufeffa", "\ufeffa", ""},
		{
			"Latin-1 taken for UTF-8", "", "\xc4iti", "\xc4iti",
			"the byte 0xC4 is not UTF-8: set the encoding of the source (--encoding), such as windows-1252",
		},
		{
			"Latin-1 said to be UTF-8", "utf-8", "\xc4iti", "\xc4iti",
			"the byte 0xC4 is not UTF-8, the declared encoding of",
		},
		{"Latin-1", "latin1", "\xc4iti", "\u00c4iti", ""},
		{"U+FFFD of the source", "", "a\ufffdb", "a\ufffdb", ""},
		{"windows-1252", "Windows-1252", "\x80 \x93x\x94", "\u20ac \u201cx\u201d", ""},
		{"a byte that windows-1252 has not", "windows-1252", "a\x81b", "a\xffb", "not valid in windows-1252"},
		{"windows-1251", "windows-1251", "\xcc\xee\xf1\xea\xe2\xe0", "\u041c\u043e\u0441\u043a\u0432\u0430", ""},
		{"Shift JIS", "shift_jis", "\x93\xfa\x96\x7b", "\u65e5\u672c", ""},
		{"Shift JIS that ends within a character", "shift_jis", "\x93\xfa\x96", "\u65e5\xff", "not valid in shift_jis"},
		{"UTF-16LE by its mark", "", "\xff\xfe\xc4\x00i\x00", "\u00c4i", ""},
		{"UTF-16BE by its mark", "utf-16", "\xfe\xff\x00\xc4\x00i", "\u00c4i", ""},
		{"UTF-16BE", "utf-16be", "\x00\xc4\xd8\x3d\xde\x00", "\u00c4\U0001f600", ""},
		{"a surrogate alone", "utf-16le", "\x3d\xd8i\x00", "\xffi", "not valid in utf-16le"},
		{"a low surrogate alone", "utf-16le", "\x00\xdei\x00", "\xffi", "not valid in utf-16le"},
		{"a surrogate at the end", "utf-16le", "i\x00\x3d\xd8", "i\xff", "not valid in utf-16le"},
		{"U+FFFD in UTF-16", "utf-16le", "\xfd\xff", "\ufffd", ""},
		{"half a unit", "utf-16le", "i\x00j", "i\xff", "not valid in utf-16le"},
		{"UTF-16 without a mark", "", "i\x00j\x00", "i\x00j\x00", "(--encoding), such as utf-16le"},
		{"a NUL", "latin1", "a\x00", "a\x00", "the input has a NUL byte"},
		{"nothing", "latin1", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := charset.Parse(c.label)
			if err != nil {
				t.Fatal(err)
			}
			for name, r := range map[string]io.Reader{
				"whole":            strings.NewReader(c.text),
				"a byte at a time": iotest.OneByteReader(strings.NewReader(c.text)),
			} {
				s, err := e.NewSource(r)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(s)
				if err != nil || string(got) != c.want {
					t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
				}
				failure := s.Check(string(got))
				if (failure == nil) != (c.failure == "") ||
					failure != nil && !strings.Contains(failure.Error(), c.failure) {
					t.Errorf("%s: %v, want %s", name, failure, c.failure)
				}
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	for _, label := range []string{"utf-7", "utf-32", "iso-2022-kr", "x-user-defined", "x"} {
		if e, err := charset.Parse(label); err == nil {
			t.Errorf("%s is %s", label, e)
		}
	}
	for _, c := range []struct{ label, text, want string }{
		{"windows-1252", "\ufeffa", "byte order mark of utf-8"},
		{"utf-8", "\xff\xfea\x00", "byte order mark of utf-16le"},
		{"", "\xff\xfe\x00\x00", "utf-32le, which is not supported: save it as"},
		{"", "\x00\x00\xfe\xff", "utf-32be, which is not supported: save it as"},
	} {
		e, err := charset.Parse(c.label)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.NewSource(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %q: %v, want %s", c.label, c.text, err, c.want)
		}
	}
	if _, err := (charset.Encoding{}).NewSource(iotest.ErrReader(io.ErrClosedPipe)); err == nil {
		t.Error("an error of reading was lost")
	}
}

// TestCharsetReader checks that an XML document is decoded by its declared encoding unless one is specified
// externally.
func TestCharsetReader(t *testing.T) {
	const declared = `<?xml version="1.0" encoding="ISO-8859-1"?><a>`
	for _, c := range []struct{ label, text, want string }{
		{"", declared + "\xc4iti</a>", "\u00c4iti"},
		{"windows-1251", declared + "\xcc</a>", "\u041c"},
		{"utf-8", declared + "\u00c4</a>", "\u00c4"},
		{"", `<?xml version="1.0" encoding="windows-1252"?><a>` + "\x81</a>", "error"},
		{"", `<?xml version="1.0" encoding="x"?><a></a>`, "error"},
		{"", `<?xml version="1.0" encoding="us-ascii"?><a>b</a>`, "b"},
	} {
		e, err := charset.Parse(c.label)
		if err != nil {
			t.Fatal(err)
		}
		s, err := e.NewSource(strings.NewReader(c.text))
		if err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(s)
		d.CharsetReader = s.CharsetReader
		var got struct {
			Text string `xml:",chardata"`
		}
		if err := d.Decode(&got); err != nil {
			got.Text = "error"
		}
		if got.Text != c.want {
			t.Errorf("%s, %q: %q, want %q", c.label, c.text, got.Text, c.want)
		}
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("\u00c4\u20ac", 50_000)
	for text, want := range map[string]string{
		"":                           "",
		"a\nb":                       "",
		long + "\n" + long:           "",
		"a\nb\xe4\n":                 "line 2: the byte 0xE4",
		long + "\xe4" + long:         "line 1: the byte 0xE4",
		"a\n\n\x00":                  "line 3: the input has a NUL",
		"a" + long + "\n\xe2\x82":    "line 2: the byte 0xE2",
		"\xe4\n\n\xe5" + long + "\n": "line 1: the byte 0xE4; line 3: the byte 0xE5",
	} {
		s, err := (charset.Encoding{}).NewSource(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var bad []string
		got, err := io.ReadAll(s.Lines(func(line int64, _ string, failure error) error {
			reason, _, _ := strings.Cut(failure.Error(), " is not")
			reason, _, _ = strings.Cut(reason, " byte, like")
			bad = append(bad, fmt.Sprintf("line %d: %s", line, reason))
			return nil
		}))
		if err != nil || string(got) != text || strings.Join(bad, "; ") != want {
			t.Errorf("%.20q: %d bytes, %v, %v, want %s", text, len(got), err, bad, want)
		}
	}
	s, err := (charset.Encoding{}).NewSource(strings.NewReader("a\nb\xe4\nc"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(s.Lines(func(_ int64, _ string, failure error) error { return failure }))
	if err == nil || string(got) != "a\n" {
		t.Errorf("there is %q, %v", got, err)
	}
}

// FuzzSource checks that each input is decoded by its encoding or rejected by Check.
func FuzzSource(f *testing.F) {
	f.Add("latin1", []byte("\xc4\x81"))
	f.Add("utf-16", []byte("\xfe\xff\xd8\x3d\xde\x00"))
	f.Add("gb18030", []byte("\x84\x31\xa4\x37\x81"))
	f.Add("iso-2022-jp", []byte("\x1b$B\x00"))
	f.Fuzz(func(t *testing.T, label string, text []byte) {
		e, err := charset.Parse(label)
		if err != nil {
			return
		}
		s, err := e.NewSource(iotest.HalfReader(bytes.NewReader(text)))
		if err != nil {
			return
		}
		got, err := io.ReadAll(s)
		if err != nil {
			t.Fatal(err)
		}
		if e.String() == "" || strings.HasPrefix(e.String(), "utf-") || s.Check(string(got)) != nil ||
			bytes.Contains(got, []byte{0xff}) {
			return
		}
		of, err := htmlindex.Get(label)
		if err != nil {
			t.Fatal(err)
		}
		want, err := of.NewDecoder().Bytes(text)
		if err != nil || !bytes.Equal(got, want) || !utf8.Valid(got) {
			t.Fatalf("%s: %q, want %q, %v", e, got, want, err)
		}
	})
}

// FuzzUTF16 compares valid UTF-16 with another decoder.
func FuzzUTF16(f *testing.F) {
	f.Add("a\u00c4\U0001f600\ufffd\n")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		for label, order := range map[string]unicode.Endianness{
			"utf-16le": unicode.LittleEndian,
			"utf-16be": unicode.BigEndian,
		} {
			b, err := unicode.UTF16(order, unicode.IgnoreBOM).NewEncoder().Bytes([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			e, err := charset.Parse(label)
			if err != nil {
				t.Fatal(err)
			}
			s, err := e.NewSource(bytes.NewReader(b))
			if err != nil {
				return // begins with another byte order mark
			}
			if got, err := io.ReadAll(s); err != nil || string(got) != strings.TrimPrefix(text, "\ufeff") {
				t.Fatalf("%s: %q, %v, want %q", label, got, err, text)
			}
		}
	})
}

func ExampleParse() {
	e, err := charset.Parse("latin1")
	fmt.Println(e, err)
	// Output: windows-1252 <nil>
}
