package gopher

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

func fuzzHandler() *Handler {
	return New(Config{Limits: scheme.Limits{Entries: 8, Bytes: 4 << 10, Line: 256}})
}

// checkLink requires the properties of links that documents rely on.
func checkLink(t *testing.T, text string) {
	t.Helper()
	if text == "" {
		return
	}
	u, err := uri.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if err := u.Check(); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if u.Normalize() != u {
		t.Fatalf("%q is not in normal form", text)
	}
	if u.Scheme() != "tn3270" && checkLocation(text) != nil {
		t.Fatalf("%q is not allowed", text)
	}
	if user, _ := u.Userinfo(); strings.Contains(user, ":") {
		t.Fatalf("%q has a password", text)
	}
}

func checkListing(t *testing.T, l *scheme.Listing) {
	t.Helper()
	texts := append([]string{l.Title}, l.Notes...)
	for _, i := range l.Items {
		checkLink(t, i.URI)
		texts = append(texts, i.Name, i.Note, i.From, i.Type)
	}
	for _, p := range l.Properties {
		checkLink(t, p.URI)
		texts = append(texts, p.Name, p.Value)
	}
	for _, text := range texts {
		if text != scheme.DecodeText(text) {
			t.Fatalf("%q is not a text", text)
		}
	}
}

// FuzzMenu requires for any menu that its items are within the limits, that their links are safe, and that the
// link of an item requests its selector.
func FuzzMenu(f *testing.F) {
	for _, text := range []string{
		"0About\t0/about\th\t70\r\n1Menu\t\th\t7070\t+\r\n.\r\n", "hWeb\tURL:http://a/\th\t70\n", "8a\tb\tc\t23\n",
		"+a\tb\t::1\t1\n", "3no\t\terror.host\t1\n", "iT\tTITLE\n\nplain",
		"?\t%41?#\xff\t[::1]\t00070\t?", "hx\t/URL:javascript:a\t\t", "Ta\t:@/\t1.2.3.4\t0",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		h := fuzzHandler()
		m := menu{Listing: &scheme.Listing{}}
		if err := m.read(h.newLines(bytes.NewReader(text)), h.config.Limits); err != nil {
			t.Fatal(err)
		}
		if len(m.Items) > h.config.Limits.Entries {
			t.Fatalf("%d items", len(m.Items))
		}
		checkListing(t, m.Listing)
		_ = m.refusal()
		line, _, _ := strings.Cut(string(text), "\n")
		i, ok := parseItem(line)
		if location := link(i); ok && strings.HasPrefix(location, "gopher:") && i.kind != typeHTML {
			u, _ := uri.Parse(location)
			if g, err := u.Gopher(); err != nil || g.Type != i.kind || g.Selector != i.selector || g.Search != "" {
				t.Fatalf("%q leads to %q: %+v, %v", line, location, g, err)
			}
		}
	})
}

// FuzzPlusHead: a line is a Gopher+ status line only if it defines the end of the data; otherwise no bytes are
// consumed.
func FuzzPlusHead(f *testing.F) {
	for _, text := range []string{
		"+5\r\nhello", "+-1\r\na\r\n.\r\n", "+-2\n", "--1\r\n1 a\r\n", "-0\n", "+", "+9999999999999999999999\n",
		"+4611686018427387904\n", "+9223372036854775807\n", "++1\n", "text", "+ 1\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		in := bufio.NewReader(bytes.NewReader(text))
		head, found, err := readPlusHead(in)
		rest, _ := io.ReadAll(in)
		line, after, ended := bytes.Cut(text, []byte("\n"))
		switch {
		case errors.Is(err, scheme.ErrInvalidResponse) && !found:
		case err != nil && (found || !errors.Is(err, io.ErrUnexpectedEOF) || len(text) >= maxPlusHead):
			t.Fatalf("%v", err)
		case err == nil && !found && !bytes.Equal(rest, text):
			t.Fatalf("%q is left of %q", rest, text)
		case found && (!ended || !bytes.Equal(rest, after) || head.length < untilClose || len(line) >= maxPlusHead ||
			head.success != (line[0] == '+')):
			t.Fatalf("%+v of %q", head, text)
		}
		if found {
			data, err := io.ReadAll(head.data(bufio.NewReader(bytes.NewReader(after))))
			if head.length >= 0 && err == nil && int64(len(data)) != head.length {
				t.Fatalf("%d bytes of %d", len(data), head.length)
			}
		}
	})
}

// FuzzAttributes requires for any attributes that they are within the limits, and that their links are safe.
func FuzzAttributes(f *testing.F) {
	for _, text := range []string{
		"+INFO: 0a\tb\th\t70\t+\r\n+ADMIN:\r\n Admin: c\r\n Mod-Date: <19930728170201>\r\n+VIEWS:\r\n Text/plain " +
			"De_DE: <1k>\r\n",
		"+ASK:\r\n Choose: a\tb\tc\r\n+ABSTRACT: 0a\tb\th\t70\r\n text\r\n", "+URL: http://u:p@h/\n+\n+:\n x",
		" lost\n+INFO\n+INFO:\n+VIEWS\n/\n:\n",
	} {
		f.Add([]byte(text))
	}
	u, err := uri.Parse("gopher://h/0a%09%09!")
	if err != nil {
		f.Fatal(err)
	}
	q, err := newRequest(u)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		h := fuzzHandler()
		items, err := readAttributes(h.newLines(bytes.NewReader(text)), h.config.Limits.Entries)
		if err != nil {
			t.Fatal(err)
		}
		l, count := &scheme.Listing{}, 0
		for _, one := range items {
			describe(l, q, one)
			l.Items = append(l.Items, one.entry())
			count++
			for _, b := range one.blocks {
				count += 1 + len(b.lines)
			}
		}
		if count > 2*h.config.Limits.Entries { // a block may come without its item
			t.Fatalf("%d", count)
		}
		checkListing(t, l)
	})
}

// FuzzRequest requires that no URL causes a request of several lines, or with more fields than the protocol
// has.
func FuzzRequest(f *testing.F) {
	for _, path := range []string{
		"", "1", "0a%0D%0A", "7a%09b%09+c%20d", "0%09%09+%091%0D%0A+-1", "7?search=a+b%25", "7/q?a+b",
		"7%09?search=%0A%09",
		"8a", "hURL:http://a", "0a%09b%09c%09d",
	} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		u, err := uri.Parse("gopher://h/" + path)
		if err != nil {
			return
		}
		q, err := newRequest(u)
		if err != nil || q.isForm() {
			return
		}
		line, ended := strings.CutSuffix(q.line(), "\r\n")
		if !ended || strings.ContainsAny(line, "\r\n\x00") || strings.Count(line, "\t") > 2 {
			t.Fatalf("%q", q.line())
		}
		if location, ok := q.submitted(); ok && q.Type == typeSearch {
			checkLink(t, location)
		}
		checkListing(t, searchForm(q))
	})
}
