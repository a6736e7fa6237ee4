package pages_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/pages"
)

// RFC 9110 section 12.5.4: the preferred language with a match of high confidence, otherwise that of the
// site.
func TestLanguage(t *testing.T) {
	site := pages.New(pages.Site{Language: pages.French})
	for _, tt := range []struct {
		accept string
		want   pages.Language
	}{
		{"", pages.French},
		{"de", pages.German},
		{"de-AT,de;q=0.8,en;q=0.5", pages.German},
		{"en-GB", pages.English},
		{"en;q=0.3, es-MX", pages.Spanish},
		{"zh", pages.Chinese},
		{"zh-CN,zh;q=0.9", pages.Chinese},
		{"zh-Hans-SG", pages.Chinese},
		{"zh-TW", pages.French}, // in other characters
		{"gsw", pages.German},   // its speakers read German
		{"pt-BR,pt;q=0.9", pages.French},
		{"pt-BR,pt;q=0.9,en;q=0.1", pages.English},
		{"ja,*", pages.French},
		{"*", pages.French},
		{"de;q=0", pages.French},
		{"de;q=0, en;q=0.1", pages.English},
		{"x", pages.French},
		{"de;q=x", pages.French},
		{"DE", pages.German},
		{strings.Repeat("de,", 200) + "en", pages.French},
		{"de\x00", pages.French},
	} {
		if got := site.Language(tt.accept); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.accept, got.Tag(), tt.want.Tag())
		}
	}
	for _, l := range pages.Languages() {
		for _, accept := range []string{l.Tag(), pages.Chosen(l.ShortTag()), pages.Chosen(l.Tag())} {
			if w := site.For(site.For(accept).Accept()); w != site.For(accept) || w.Fetch().Language != l.Tag() {
				t.Errorf("%s: %s", accept, w.Accept())
			}
		}
	}
}

func FuzzLanguage(f *testing.F) {
	for _, accept := range []string{
		"", "de", "en-GB,en;q=0.9", "*", "zh-Hant-TW;q=0.1,,", "de;q=0", "\xff",
		"a-b-c-d-e-f",
	} {
		f.Add(accept)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		if l := plain().Language(accept); l.Tag() == "" {
			t.Errorf("%q: %d", accept, l)
		}
	})
}

func BenchmarkLanguage(b *testing.B) {
	for name, accept := range map[string]string{
		"browser": "de-AT,de;q=0.9,en-US;q=0.8,en;q=0.7", "none": "",
		"longest": strings.Repeat("ab,", 85),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				plain().Language(accept)
			}
		})
	}
}
