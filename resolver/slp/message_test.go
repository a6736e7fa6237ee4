package slp

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
)

// The bytes follow the field layouts of RFC 2608 sections 8 and 8.1.
func TestRequest(t *testing.T) {
	r := request{
		xid: 0x1234, lang: "en", service: "service:x", scopes: []string{"DEFAULT", "a,b"},
		predicate: "(nid=foo)",
	}
	got, err := r.message()
	want := slices.Concat(
		[]byte{2, 1, 0, 0, 65, 0, 0, 0, 0, 0, 0x12, 0x34}, // version, function, length, flags, extension, XID
		[]byte{0, 2}, []byte("en"),
		[]byte{0, 0},
		[]byte{0, 9}, []byte("service:x"),
		[]byte{0, 13}, []byte(`DEFAULT,a\2cb`),
		[]byte{0, 9}, []byte("(nid=foo)"),
		[]byte{0, 0},
	)
	want[4] = byte(len(want))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v\ngot  %q\nwant %q", err, got, want)
	}
	r.predicate = strings.Repeat("a", 1<<16)
	if _, err := r.message(); err == nil {
		t.Error("a predicate longer than its field is sent")
	}
}

// header returns the header of a reply to the XID 1, in English, without its length.
func header(flags byte) []byte { return []byte{2, 2, 0, 0, 0, flags, 0, 0, 0, 0, 0, 1, 0, 2, 'e', 'n'} }

// sized joins parts, and sets the length of the message.
func sized(parts ...[]byte) []byte {
	message := slices.Concat(parts...)
	putLength(message)
	return message
}

// The bytes follow sections 8.2 and 4.3.
func TestParseReply(t *testing.T) {
	first := slices.Concat([]byte{0, 0x0E, 0x10, 0, 11}, []byte("service:x:a"), []byte{0})
	signed := slices.Concat([]byte{0, 0, 60, 0, 11}, []byte("service:x:b"), []byte{1, 0, 2, 0, 8, 1, 2, 3, 4})
	both := []entry{{"service:x:a", 3600}, {"service:x:b", 60}}
	for _, tt := range []struct {
		name    string
		message []byte
		entries []entry
		code    uint16
		ok      bool
	}{
		{
			"two, one of them with an authentication block", sized(header(0), []byte{0, 0, 0, 2}, first, signed), both,
			0, true,
		},
		{"none", sized(header(0), []byte{0, 0, 0, 0}), nil, 0, true},
		{"an error without entries", sized(header(0), []byte{0, 4}), nil, 4, true},
		{
			"one is truncated, with the flag", sized(header(0x80), []byte{0, 0, 0, 2}, first, signed[:9]), both[:1],
			0, true,
		},
		{"one is truncated", sized(header(0), []byte{0, 0, 0, 2}, first, signed[:9]), nil, 0, false},
		{"one is missing", sized(header(0), []byte{0, 0, 0, 2}, first), nil, 0, false},
		{
			"a block shorter than its header",
			sized(header(0), []byte{0, 0, 0, 1}, signed[:len(signed)-8], []byte{0, 2, 0, 3}), nil, 0, false,
		},
		{"no code", sized(header(0)), nil, 0, false},
		{"version 1", append([]byte{1}, sized(header(0), []byte{0, 0, 0, 0})[1:]...), nil, 0, false},
		{"a request", append([]byte{2, 1}, sized(header(0), []byte{0, 0, 0, 0})[2:]...), nil, 0, false},
		{"nothing", nil, nil, 0, false},
	} {
		got, err := parseReply(tt.message)
		if (err == nil) != tt.ok ||
			err == nil && (got.xid != 1 || got.lang != "en" || got.code != tt.code ||
				!slices.Equal(got.entries, tt.entries)) {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
	}
}

// FuzzReply: the entries of a reply have no more bytes than its message.
func FuzzReply(f *testing.F) {
	f.Add(sized(header(0), []byte{0, 0, 0, 1, 0, 0, 60, 0, 1, 'a', 1, 0, 2, 0, 8, 1, 2, 3, 4}))
	f.Add(sized(header(0x80), []byte{0, 0, 0xFF, 0xFF}))
	f.Fuzz(func(t *testing.T, message []byte) {
		r, err := parseReply(message)
		size := 0
		for _, e := range r.entries {
			size += 6 + len(e.url)
		}
		if err == nil && size > len(message) {
			t.Fatalf("%q holds %d bytes of entries", message, size)
		}
	})
}

// FuzzRequest: an encoded request decodes to its fields.
func FuzzRequest(f *testing.F) {
	f.Add(uint16(1), "en", "service:x", "DEFAULT", "(a=b)")
	f.Fuzz(func(t *testing.T, xid uint16, lang, service, scope, value string) {
		r := request{
			xid: xid, lang: lang, service: service, scopes: []string{scope},
			predicate: "(nid=" + escape(value) + ")",
		}
		message, err := r.message()
		if err != nil {
			return
		}
		if messageLength(message) != len(message) {
			t.Fatalf("%q has the length %d", message, messageLength(message))
		}
		in := reader{message[headerSize-2:]}
		var fields []string
		for len(in.rest) > 0 {
			field, ok := in.text()
			if !ok {
				t.Fatalf("%q is cut", message)
			}
			fields = append(fields, field)
		}
		if want := []string{lang, "", service, escape(scope), r.predicate, ""}; !slices.Equal(fields, want) {
			t.Fatalf("%q, want %q", fields, want)
		}
		if strings.ContainsAny(r.predicate[1:len(r.predicate)-1], "()*") {
			t.Fatalf("%q is another filter", r.predicate)
		}
	})
}

func TestBaseOf(t *testing.T) {
	for service, want := range map[string]string{
		"service:urn-resolver:thttp://a.example:8080": "http://a.example:8080",
		"SERVICE:URN-Resolver:THTTP://A.example/":     "http://a.example",
		"service:urn-resolver:thttp://a.example/base": "",
		"service:urn-resolver:thttps://a.example":     "",
		"service:urn-resolver:thttp://[::1]:80":       "http://[::1]",
		"service:urn-resolver:z3950://a.example":      "",
		"service:urn-resolver:thttp://u@a.example":    "",
		"service:urn-resolver:thttp:a":                "",
		"http://a.example":                            "",
		"service:urn-resolver:thttp://a.example,60":   "",
		"service:urn-resolver:thttp://a.example/?q":   "",
	} {
		if got, err := baseOf(service); got != want || (err == nil) != (want != "") ||
			errors.As(err, new(*uri.ParseError)) {
			t.Errorf("%s: %q, %v", service, got, err)
		}
	}
}
