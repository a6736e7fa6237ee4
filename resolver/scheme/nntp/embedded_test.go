package nntp

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
)

// yenc encodes bytes as yEnc.
func yenc(name string, data []byte) string {
	var b strings.Builder
	b.WriteString("=ybegin line=128 size=" + strconv.Itoa(len(data)) + " name=" + name + "\r\n")
	for i, c := range data {
		c += 42
		if strings.IndexByte("\x00\r\n=", c) >= 0 {
			b.WriteByte('=')
			c += 64
		}
		b.WriteByte(c)
		if i%128 == 127 {
			b.WriteString("\r\n")
		}
	}
	b.WriteString("\r\n=yend size=" + strconv.Itoa(len(data)) + "\r\n")
	return b.String()
}

func allBytes() []byte {
	data := make([]byte, 1000)
	for i := range data {
		data[i] = byte(i)
	}
	return data
}

const uuCat = "begin 644 cat.txt\r\n#0V%T\r\n`\r\nend\r\n" // "Cat", from the manual of uuencode

func TestDetach(t *testing.T) {
	for _, tt := range []struct {
		name, body, rest string
		files            []embedded
	}{
		{"none", "hello\r\nbegin with it\r\n", "hello\r\nbegin with it\r\n", nil},
		{
			"uuencode", "before\r\n" + uuCat + "after\r\n", "before\r\nafter\r\n",
			[]embedded{{name: "cat.txt", bytes: []byte("Cat")}},
		},
		{"two", uuCat + "\r\n" + strings.ReplaceAll(uuCat, "644 cat", "0755 my cat"), "\r\n", []embedded{
			{name: "cat.txt", bytes: []byte("Cat")},
			{name: "my cat.txt", bytes: []byte("Cat")},
		}},
		{"blanks lost", "begin 644 z\n\"  \n#\n\nend\n", "", []embedded{{name: "z", bytes: []byte{0, 0, 0, 0, 0}}}},
		{"without end", "begin 644 cat.txt\r\n#0V%T\r\n", "begin 644 cat.txt\r\n#0V%T\r\n", nil},
		{"no line of it", "begin 644 cat.txt\r\nhello\r\nend\r\n", "begin 644 cat.txt\r\nhello\r\nend\r\n", nil},
		{"no mode", strings.Replace(uuCat, "644", "9", 1), strings.Replace(uuCat, "644", "9", 1), nil},
		{
			"yEnc", "text\r\n" + yenc("a b.bin", allBytes()), "text\r\n",
			[]embedded{{name: "a b.bin", bytes: allBytes()}},
		},
		{
			"a part of yEnc",
			"=ybegin part=2 total=3 line=128 size=9 name=a.bin\r\n=ypart begin=4 end=6\r\nklm\r\n=yend size=3 " +
				"part=2\r\n", "",
			[]embedded{{name: "a.bin.part2", note: "part 2 of 3", bytes: []byte("ABC")}},
		},
		{"damaged", "=ybegin line=128 size=4 name=a\r\nklm\r\n=yend size=4\r\n", "", []embedded{{
			name: "a", note: "damaged: expected size 4 bytes",
			bytes: []byte("ABC"),
		}}},
		{
			"yEnc without end", "=ybegin line=128 size=4 name=a\r\nklm\r\n",
			"=ybegin line=128 size=4 name=a\r\nklm\r\n", nil,
		},
	} {
		const header = "Subject: s\r\n\r\n"
		rest, files := detach([]byte(header + tt.body))
		if got := strings.TrimPrefix(string(rest), header); got != tt.rest || len(files) != len(tt.files) {
			t.Errorf("%s: %q, %+v", tt.name, got, files)
			continue
		}
		for i, want := range tt.files {
			if got := files[i]; got.name != want.name || got.note != want.note || !bytes.Equal(got.bytes, want.bytes) {
				t.Errorf("%s: %+v, want %+v", tt.name, got, want)
			}
		}
	}
}

func FuzzDetach(f *testing.F) {
	f.Add([]byte("a: b\n\n" + uuCat))
	f.Add([]byte("\n\n" + yenc("a", allBytes())))
	f.Fuzz(func(t *testing.T, article []byte) {
		rest, files := detach(article)
		size := len(rest)
		for _, file := range files {
			size += len(file.bytes)
		}
		if size > 2*len(article) || len(files) > maxParts {
			t.Errorf("%d bytes and %d files of %d bytes", size, len(files), len(article))
		}
	})
}

// TestUnflow covers RFC 3676 sections 4.2 to 4.5.
func TestUnflow(t *testing.T) {
	for text, want := range map[string]string{
		"one \r\ntwo\r\nthree\r\n":      "one two\nthree\n",
		"> a \n> b\n>> c\nd\n":          "> a b\n>> c\nd\n",
		"> a \nb\n":                     "> a \nb\n",
		"a \n-- \nme\n":                 "a \n-- \nme\n",
		" >no quote\n  two\n From me\n": ">no quote\n two\nFrom me\n",
		"last ":                         "last ",
		"":                              "",
		"\n\n":                          "\n\n",
	} {
		if got := unflow(text, false); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := unflow("日 \n本\n", true); got != "日本\n" {
		t.Errorf("DelSp: %q", got)
	}
}
