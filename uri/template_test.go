package uri_test

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
)

// templateValues are those of RFC 6570 section 3.2, and some of urnd: percent-encoded values, and characters of
// several bytes.
func templateValues() []uri.TemplateValue {
	return []uri.TemplateValue{
		{"dub", "me/too"},
		{"hello", "Hello World!"},
		{"half", "50%"},
		{"var", "value"},
		{"who", "fred"},
		{"base", "http://example.com/home/"},
		{"path", "/foo/bar"},
		{"v", "6"},
		{"x", "1024"},
		{"y", "768"},
		{"empty", ""},
		{"semi", ";"},
		{"id", "admin%2F"},
		{"not_pct", "%foo"},
		{"encoded", "%41%42c"},
		{"umlauts", "äöü/c"},
		{"umlaut", "%C3%A4b"},
		{"emoji", "😀😀a"},
		{"invalid", "\xff\xc3b"},
		{"a.b", "dots"},
		{"%41", "name"},
	}
}

// The vectors are those of RFC 6570 with string values, and others by its rules: a template, and its expansion,
// or "error" and a part of the error text, below "# section" lines.
func TestTemplates(t *testing.T) {
	file, err := os.Open("testdata/template.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	n := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		text, want, ok := strings.Cut(lines.Text(), "\t")
		if !ok || strings.HasPrefix(text, "# ") {
			continue
		}
		n++
		template, err := uri.ParseTemplate(text)
		reason, refused := strings.CutPrefix(want, "error ")
		switch {
		case refused && (err == nil || !strings.Contains(err.Error(), reason)):
			t.Errorf("%s: %v, want %s", text, err, want)
		case !refused && (err != nil || template.Expand(templateValues()) != want):
			t.Errorf("%s: %s, %v, want %s", text, template.Expand(templateValues()), err, want)
		}
	}
	const least = 120
	if n < least {
		t.Errorf("%d vectors", n)
	}
}

func TestTemplateVariables(t *testing.T) {
	template, err := uri.ParseTemplate("{a}x{?b:3,c*}{+a}")
	if got := template.Variables(); err != nil || !slices.Equal(got, []string{"a", "b", "c", "a"}) {
		t.Errorf("%q, %v", got, err)
	}
	if got := template.Expand([]uri.TemplateValue{{"a", "1"}, {"c", "2"}, {"a", "3"}}); got != "3x?c=23" {
		t.Errorf("of several values: %s", got)
	}
}

func TestTemplateAllocations(t *testing.T) {
	parsed, err := uri.ParseTemplate("https://a.example/{+v}?{w}")
	if err != nil {
		t.Fatal(err)
	}
	values := []uri.TemplateValue{{"v", "urn:a:b"}, {"w", "c/d"}}
	got := ""
	if n := testing.AllocsPerRun(100, func() { got = parsed.Expand(values) }); n > 1 ||
		got != "https://a.example/urn:a:b?c%2Fd" {
		t.Errorf("%q with %v allocations", got, n)
	}
}

// FuzzTemplate checks that expansions consist of characters of URIs (RFC 6570 section 3), and that a prefix
// expands to a prefix of the whole expansion.
func FuzzTemplate(f *testing.F) {
	for _, template := range []string{
		"https://a.example/{v}", "{v}{w}", "x", "", "{?v}", "{v,w}", "{v:3}", "{v*}", "{v", "v}", "{+}", "{}", "a b{v}",
		"'{v}'", "%41{v}", "%{v}", "{a.b}", "ä{v}", "{v%41}",
	} {
		for _, value := range []string{"2648", "a/b?c", "100%", "%41%c3", "%4", "ä\xff", "", "a b<>\"'`"} {
			f.Add(template, value, "3")
		}
	}
	f.Fuzz(func(t *testing.T, template, v, length string) {
		values := []uri.TemplateValue{{"v", v}, {"w", length}}
		if parsed, err := uri.ParseTemplate(template); err == nil {
			expanded := parsed.Expand(values)
			if i := strings.IndexFunc(expanded,
				func(c rune) bool { return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"<>\^{|}`+"`", c) }); i >= 0 {
				t.Errorf("%q of %q: %q", template, v, expanded)
			}
		}
		for _, operator := range []string{"", "+"} {
			cut, err := uri.ParseTemplate("{" + operator + "v:" + length + "}")
			if err != nil || strings.ContainsAny(length, ",{}") {
				return
			}
			whole, err := uri.ParseTemplate("{" + operator + "v}")
			if err != nil || !strings.HasPrefix(whole.Expand(values), cut.Expand(values)) {
				t.Errorf("%q of %q is not a prefix of %q, %v", cut.Expand(values), v, whole.Expand(values), err)
			}
		}
	})
}
