package disk

import (
	"bytes"
	"errors"
	"testing"
)

func FuzzTrailer(f *testing.F) {
	for _, t := range []trailer{
		{},
		{key: "k", head: []byte("a head")},
		{body: 5000, key: "GET http://example.org/", head: []byte("a head"), sumOfSums: 7},
		{body: maxBody, key: "k"},
	} {
		f.Add(t.append(nil), t.contentSize()+t.size())
	}
	f.Add([]byte("urnd"), int64(4))
	f.Add(make([]byte, footerSize), int64(footerSize))
	f.Fuzz(func(t *testing.T, b []byte, end int64) {
		parsed, err := parseTrailer(b, end)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%v is not ErrCorrupt", err)
			}
			return
		}
		if parsed.body < 0 || parsed.body > maxBody || len(parsed.key) > MaxKey || len(parsed.head) > MaxHead ||
			parsed.contentSize()+parsed.size() > end {
			t.Errorf("a trailer out of bounds: body %d, key %d, head %d, end %d", parsed.body, len(parsed.key),
				len(parsed.head), end)
		}
		// The 2 bytes after the version may be used by a later version.
		if again := parsed.append(nil); !bytes.Equal(again[:len(again)-footerSize+6], b[:len(b)-footerSize+6]) {
			t.Errorf("%x was parsed, and is written as %x", b, again)
		}
	})
}

func FuzzName(f *testing.F) {
	n := name{digestOf("k"), 1_800_000_000<<32 | 0xabcdef, 5000}
	for _, text := range []string{
		n.String(), "", "-", "--", n.String() + "0", n.String()[1:],
		n.String()[:33] + "-1-+5",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := parseName(text)
		if !ok {
			return
		}
		if n.String() != text || n.length < footerSize || n.length > maxFile {
			t.Errorf("%q is parsed as %+v", text, n)
		}
	})
}

func TestDirectoryNames(t *testing.T) {
	for number := range directories {
		if n, ok := parseDirectoryName(directoryName(number)); !ok || n != number || len(directoryName(number)) != 3 {
			t.Errorf("%d is named %s, which is %d", number, directoryName(number), n)
		}
	}
	for _, name := range []string{"", "1", "ABC", "1234", "-12", "xyz", "+12", "0x1", incoming, "lock"} {
		if n, ok := parseDirectoryName(name); ok {
			t.Errorf("%q is %d", name, n)
		}
	}
}
