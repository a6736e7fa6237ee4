package nntp

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// FuzzReply requires that a reply has a code of three digits, or is an error.
func FuzzReply(f *testing.F) {
	for _, s := range []string{"200 hello", "480", "99 x", "2000 x", "-12 x", "", "211 1 1 1 g"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r, err := parseReply(line)
		if (err == nil) != (r.code >= 100 && r.code <= 599) || err == nil && !strings.HasPrefix(line, r.String()[:3]) {
			t.Errorf("%q: %+v, %v", line, r, err)
		}
		if s, err := parseStatus(r.text); err == nil {
			p := s.page(uri.NewsQuery{}, 1000)
			for _, q := range []page{p, s.older(p, 1000), s.newer(p, 1000)} {
				if q != (page{}) && (q.first < 1 || q.first > q.last || q.last > s.high) {
					t.Errorf("%+v: %+v", s, q)
				}
			}
		}
	})
}

// FuzzOverview requires for any lines that each article is one item, and that threads have no cycles.
func FuzzOverview(f *testing.F) {
	f.Add("1\ta\tb\tSun, 22 Nov 2026 12:00:00 +0000\t<1@h>\t<2@h>\t10\t2\n2\tb\tc\td\t<2@h>\t<1@h> " +
		"<2@h>\n3\t\t\t\t<2@h>")
	f.Fuzz(func(t *testing.T, text string) {
		var found []overview
		for line := range strings.SplitSeq(text, "\n") {
			if o, ok := parseOverview(line); ok {
				found = append(found, o)
			}
		}
		items := exchange{target: target{links: links{news: "news:"}}}.threaded(found)
		if len(items) != len(found) {
			t.Fatalf("%d items of %d articles", len(items), len(found))
		}
		for _, i := range items {
			if _, err := i.Modified.MarshalJSON(); err != nil || i.Depth < 0 || i.Depth > maxDepth ||
				strings.ContainsAny(i.Name+i.From, "\r\n\x00") {
				t.Errorf("%+v, %v", i, err)
			}
		}
	})
}

// FuzzList requires that lines of LIST yield names without spaces, and non-negative counts.
func FuzzList(f *testing.F) {
	f.Add("a.b 10 1 y", false)
	f.Add("a.b 10 1 9 y", true)
	f.Add("a.b\tAbout", false)
	f.Fuzz(func(t *testing.T, line string, isCount bool) {
		if name, count, ok := parseActive(line, isCount); ok && (name == "" || count < 0 || !matchPattern("*", name)) {
			t.Errorf("%q: %q %d", line, name, count)
		}
		if name, _, ok := parseDescription(line); ok && strings.ContainsAny(name, " \t") {
			t.Errorf("%q: %q", line, name)
		}
	})
}

// FuzzBlock requires that a data block is read as it was sent.
func FuzzBlock(f *testing.F) {
	f.Add([]byte("..a\r\n.\r\n"))
	f.Add(bytes.Repeat([]byte("."), 10000))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 && data[len(data)-1] != '\n' {
			data = append(data, '\n')
		}
		var sent bytes.Buffer
		for line := range bytes.Lines(data) {
			if line[0] == '.' {
				sent.WriteByte('.')
			}
			sent.Write(line)
		}
		sent.WriteString(".\r\nrest")
		got, err := io.ReadAll(&block{scheme.DotReader{In: bufio.NewReader(&sent)}})
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%q: %q, %v", data, got, err)
		}
	})
}

// FuzzArticle requires that any article is displayed within the limits, and that each listed part can be
// fetched.
func FuzzArticle(f *testing.F) {
	f.Add([]byte("Subject: a\r\n\r\nb"))
	f.Add([]byte("Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: " +
		"text/html\n\n<p>a<script>b</script>\n--x\nContent-Type: image/png; name=\"a/b\"\n\nc\n--x--\n"))
	f.Add([]byte("Newsgroups: a,b c\nReferences: <a@b> <<\nContent-Type: multipart/mixed\n\na"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h := &Handler{config: Config{Limits: scheme.Limits{Bytes: 1 << 16}}}
		x := exchange{
			Handler: h, client: &client{ended: func() error { return nil }},
			target: target{links: links{news: "news:", self: "news:a@b"}},
		}
		l := &scheme.Listing{}
		x.show(l, data)
		if len(l.Items) > maxParts {
			t.Errorf("%d items", len(l.Items))
		}
		for _, i := range l.Items {
			u, err := uri.Parse(i.URI)
			if err != nil || strings.ContainsAny(i.Name, "/\\\r\n") {
				t.Fatalf("%+v: %v", i, err)
			}
			parts, err := u.News()
			if err != nil {
				t.Fatalf("%s: %v", i.URI, err)
			}
			if _, err := findPart(bytes.NewReader(data), parts.Query.Part, int64(len(data))); err != nil {
				t.Errorf("part %s is shown, but: %v", parts.Query.Part, err)
			}
		}
	})
}
