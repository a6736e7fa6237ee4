package uri_test

import (
	"testing"

	"github.com/urnd/urnd/uri"
)

// A template is expanded as by ExpandTemplate, whichever way it takes: RFC 6570.
func FuzzTemplate(f *testing.F) {
	for _, template := range []string{
		"https://a.example/{v}", "https://a.example/{+v}", "{v}{w}", "x", "", "{?v}", "{v,w}", "{v:3}", "{v*}", "{v", "v}", "{+}", "{}", "a b{v}", "'{v}'", "%41{v}",
		"https://a.example/#{v}", "{a.b}", "{+v}{v}{none}", "ä{v}", "{v%41}",
	} {
		for _, value := range []string{"2648", "a/b?c", "100%", "%41%c3", "%4", "ä\xff", "", "a b<>\"'`"} {
			f.Add(template, value, "w")
		}
	}
	f.Fuzz(func(t *testing.T, template, v, w string) {
		want, fault := uri.ExpandTemplate(template, uri.Variables{"v": v, "w": w})
		parsed, err := uri.ParseTemplate(template)
		if err != nil {
			return // a value cannot make it valid
		}
		got, err := parsed.Expand([]uri.TemplateValue{{"v", v}, {"w", w}})
		if got != want || (err != nil) != (fault != nil) {
			t.Errorf("%q of %q, %q: %q, %v, want %q, %v", template, v, w, got, err, want, fault)
		}
	})
}

func TestTemplateAllocations(t *testing.T) {
	parsed, err := uri.ParseTemplate("https://a.example/{+v}?{w}")
	if err != nil {
		t.Fatal(err)
	}
	values := []uri.TemplateValue{{"v", "urn:a:b"}, {"w", "c/d"}}
	got := ""
	if n := testing.AllocsPerRun(100, func() { got, err = parsed.Expand(values) }); n > 1 || got != "https://a.example/urn:a:b?c%2Fd" || err != nil {
		t.Errorf("%q, %v, with %v allocations", got, err, n)
	}
}
