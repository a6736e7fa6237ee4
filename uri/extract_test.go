package uri_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/uri"
)

func texts(found []uri.Found) []string {
	var s []string
	for _, f := range found {
		s = append(s, f.URI.String())
	}
	return s
}

func TestExtract(t *testing.T) {
	for _, tt := range []struct {
		section, text string
		want          []string
	}{
		{"draft-fielding-uri-syntax-02 appendix E", `
      Yes, Jim, I found it under "http://www.w3.org/Addressing/",
      but you can probably pick it up from <ftp://ds.internic.
      net/rfc/>.  Note the warning in <http://www.ics.uci.edu/pub/
      ietf/uri/historical.html#WARNING>.`, []string{
			"http://www.w3.org/Addressing/", "ftp://ds.internic.net/rfc/",
			"http://www.ics.uci.edu/pub/ietf/uri/historical.html#WARNING",
		}},
		{"RFC 1738 appendix", `
      Yes, Jim, I found it under <URL:ftp://info.cern.ch/pub/www/doc;
      type=d> but you can probably pick it up from <URL:ftp://ds.in
      ternic.net/rfc>.  Note the warning in <URL:http://ds.internic.
      net/instructions/overview.html#WARNING>.`, []string{
			"ftp://info.cern.ch/pub/www/doc;type=d", "ftp://ds.internic.net/rfc",
			"http://ds.internic.net/instructions/overview.html#WARNING",
		}},
		{
			"draft of 1996 appendix E",
			"in brackets [http://test.com/], braces {http://test.com} or <URL: http://test.com/>",
			[]string{
				"http://test.com/", "http://test.com", "http://test.com/",
			},
		},
		{
			"prose",
			"See http://a.example/b. (Or http://a.example/c(d)) or http://a.example/e, http://a.example/f; " +
				"http://a.example/g!",
			[]string{
				"http://a.example/b", "http://a.example/c(d)", "http://a.example/e", "http://a.example/f",
				"http://a.example/g",
			},
		},
		{
			"URNs", "the book urn:isbn:0-395-36341-1, URN:ietf:rfc:2648. and <urn:nbn:fi-\n fe1>, not urn:urn:a or urn:a",
			[]string{
				"urn:isbn:0-395-36341-1", "URN:ietf:rfc:2648", "urn:nbn:fi-fe1",
			},
		},
		{
			"ports before punctuation (RFC 3986 appendix C)",
			"Open http://localhost:8080, then (http://a.example:80) or telnet://h:23; or http://[::1]:80. Or " +
				"http://b.example:81? http://c.example:1!",
			[]string{
				"http://localhost:8080", "http://a.example:80", "telnet://h:23", "http://[::1]:80",
				"http://b.example:81", "http://c.example:1",
			},
		},
		{"what is no port", "http://a.example:8080,x@evil.example/ http://a.example:80a", nil},
		{
			"excluded characters end a URN (RFC 2141 section 2.4)", `urn:example:a^b urn:example:c\d and urn:example:e|f`,
			[]string{
				"urn:example:a",
				"urn:example:c", "urn:example:e",
			},
		},
		{"what is wrong in a URN, and no end of it", `urn:example:100% urn:example:a%zz urn:example:a#b#c`, nil},
		{
			"footnotes", "http://a.example/b[1] and http://c.example[12], http://d.example:80[3]. http://e.example/[x]",
			[]string{
				"http://a.example/b", "http://c.example", "http://d.example:80",
			},
		},
		{"words before colons", "note: this, e.g.:that, 10:30, C:\\x, a:b, std::string", nil},
		{"unknown schemes with an authority", "coap://a.example/x and unknown:thing", []string{"coap://a.example/x"}},
		{
			"other schemes", "mailto:a@b.example, news:comp.lang.go and file:///etc/motd.",
			[]string{"mailto:a@b.example", "news:comp.lang.go", "file:///etc/motd"},
		},
		{
			"IP literals", "[http://[::1]:80/a] http://[::1 see http://[::1]. and [http://[::2]]",
			[]string{"http://[::1]:80/a", "http://[::1]", "http://[::2]"},
		},
		{
			"invalid URIs",
			"http://a.example/b%zz http://a.example/c#d#e http:// http:// http://admin:pa^ss@host/ " +
				"ftp://me:secr^et@h.org/ http://a.org:80x/ http://a.org/?q[]=1", nil,
		},
		{"IRIs", "http://bücher.example/x, http://de.wikipedia.org/wiki/Müller. urn:example:Müller!", []string{
			"http://xn--bcher-kva.example/x", "http://de.wikipedia.org/wiki/M%C3%BCller", "urn:example:M%C3%BCller",
		}},
		{
			"other quotes and scripts",
			"“http://a.org/b” «http://e.org» —http://f.org/… 请访问http://h.org/。 \ufeffhttp://i.org " +
				"\u00a0http://c.org/d\u00a0 _http://g.org/b_ " + "`http://j.org/`" +
				` "http://k.org\\n" {"u":"http://l.org/m\\nx"}`,
			[]string{
				"http://a.org/b", "http://e.org", "http://f.org/", "http://h.org/", "http://i.org", "http://c.org/d",
				"http://g.org/b", "http://j.org/", "http://l.org/m",
			},
		},
		{"two between brackets", "<http://a.org/b and http://c.org/d>", []string{"http://a.org/b", "http://c.org/d"}},
		{"nothing but punctuation", "see news:* and http://a.org/*.", []string{"news:*", "http://a.org/"}},
		{"URL prefix without brackets", "URL:http://a.example/", []string{"http://a.example/"}},
		{
			"angle brackets without a URI", "a < b and http://a.example/ > c <not a uri> <b>",
			[]string{"http://a.example/"},
		},
		{
			"tags are not URIs without the URL prefix", "<xs:element> <URL:xs:element> <a href='http://a.example/'>",
			[]string{"xs:element", "http://a.example/"},
		},
	} {
		found := uri.Extract(tt.text, uri.ExtractOptions{})
		if got := texts(found); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.section, got, tt.want)
		}
		for _, f := range found {
			if squeezed, err := uri.FromIRI(strings.Join(strings.Fields(tt.text[f.Start:f.End]), "")); err != nil ||
				squeezed != f.URI {
				t.Errorf("%s: %q is at %d to %d: %q", tt.section, f.URI, f.Start, f.End, squeezed)
			}
		}
	}
}

func TestExtractHyphen(t *testing.T) {
	found := uri.Extract("<http://a.example/b-\n  c> <http://a.example/b-c> <http://a.example/b\n-c>",
		uri.ExtractOptions{})
	for i, want := range []bool{true, false, false} {
		if found[i].Hyphen != want || found[i].URI.String() != "http://a.example/b-c" {
			t.Errorf("%d: %q, hyphen %v", i, found[i].URI, found[i].Hyphen)
		}
	}
}

// Appendix F of draft-fielding-uri-syntax-02.
func TestExtractAbbreviated(t *testing.T) {
	text := "www.w3.org/Addressing/, ftp.is.co.za, example.org:8080/x. me@example.org, e.g. this, 3.14, " +
		"http://a.example/"
	want := []string{
		"http://www.w3.org/Addressing/", "ftp://ftp.is.co.za", "http://example.org:8080/x",
		"http://a.example/",
	}
	if got := texts(uri.Extract(text, uri.ExtractOptions{Abbreviated: true})); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := texts(uri.Extract(text, uri.ExtractOptions{})); !slices.Equal(got, want[3:]) {
		t.Errorf("without the option: %q", got)
	}
}

// FuzzExtract: every extracted URI is valid, is at the returned offsets without its delimiters, and is
// extracted again from its text.
func FuzzExtract(f *testing.F) {
	f.Add("see <URL:http://a/b-\n c> or (urn:a1:b), www.a.org.", true)
	f.Add("http://[::1]x/%zz#a#b", false)
	f.Add("http://[::1]. http://a/)http://a/[http://a/#", true)
	f.Fuzz(func(t *testing.T, text string, abbreviated bool) {
		last := 0
		for _, found := range uri.Extract(text, uri.ExtractOptions{Abbreviated: abbreviated}) {
			u, err := uri.Parse(found.URI.String())
			if err != nil || u != found.URI || u.Check() != nil || len(u.String()) > 8192+len("http://") {
				t.Fatalf("%q: %q is not a URI: %v", text, found.URI, err)
			}
			if found.Start < last || found.End <= found.Start || found.End > len(text) {
				t.Fatalf("%q: %q at %d to %d, after %d", text, found.URI, found.Start, found.End, last)
			}
			last = found.End
			source := text[found.Start:found.End]
			squeezed := strings.Join(strings.Fields(source), "")
			if iri, err := uri.FromIRI(squeezed); err == nil {
				squeezed = iri.String()
			}
			if prefix, ok := strings.CutSuffix(u.String(), squeezed); !ok ||
				prefix != "" && (!abbreviated || prefix != "http://" && prefix != "ftp://") {
				t.Fatalf("%q: %q is at %d to %d: %q", text, u, found.Start, found.End, source)
			}
			if strings.TrimSpace(source) != source ||
				strings.ContainsAny(source, " \t\r\n\f\v") && !strings.Contains(text[:found.Start], "<") {
				t.Fatalf("%q: %q has white space", text, source)
			}
			again := uri.Extract("<URL:"+u.String()+">", uri.ExtractOptions{})
			if len(u.String()) < 8000 && (len(again) != 1 || again[0].URI != u) {
				t.Fatalf("%q: %q between brackets is %v", text, u, texts(again))
			}
		}
	})
}

// Extract takes linear time for adversarial text. With quadratic time, four times the text takes sixteen times
// as long. A busy machine gets several tries.
func TestExtractIsLinear(t *testing.T) {
	const size, tries, most = 1 << 20, 5, 8
	for _, unit := range []string{
		"<", "<a:", "urn:", "a:", "http://", "(", "http://a/)", "a.", "http://[", "%", "URL:", "http://a/[",
		"http://a/#",
		"x://a b", "http://(", "mailto:a,",
	} {
		for _, abbreviated := range []bool{false, true} {
			extract := func(size int) time.Duration {
				text := strings.Repeat(unit, size/len(unit))
				start := time.Now()
				uri.Extract(text, uri.ExtractOptions{Abbreviated: abbreviated})
				return time.Since(start)
			}
			var part, whole time.Duration
			isLinear := func() bool {
				part, whole = extract(size/4), extract(size)
				return whole < time.Second || whole < most*part
			}
			for try := 0; !isLinear(); try++ {
				if try == tries {
					t.Errorf("1 MiB of %q took %s, and a quarter of it %s", unit, whole, part)
					break
				}
			}
		}
	}
}
