package uri_test

import (
	"testing"

	"github.com/urnd/urnd/uri"
)

// RFC 6570 section 2.4.1.
func TestTemplatePrefixes(t *testing.T) {
	values := uri.Variables{"v": "value", "e": "%41%42c", "u": "%C3%A4b", "k": "äb/c", "p": "100%"}
	for template, want := range map[string]string{
		"{v:3}": "val", "{v:30}": "value", "{v:9999}": "value", "{v,e:1}": "value,%25", "{k:1}": "%C3%A4",
		"{+v:1}": "v", "{+e:1}": "%41", "{+e:2}": "%41%42", "{+e:3}": "%41%42c", "{#e:1}": "#%41", "{+u:1}": "%C3%A4", "{+u:2}": "%C3%A4b", "{+k:3}": "%C3%A4b/",
		"{+p:4}": "100%25", "x{+v:2,e:1}y": "xva,%41y", "{?v:2}": "?v=va", "{+undefined:2}": "", "https://a.example/{v}": "https://a.example/value",
		"{v:0}": "", "{v:01}": "", "{v:10000}": "", "{v:}": "", "{v:x}": "", "{+v:0}": "", "{?v:-1}": "", "{v:1:2}": "",
	} {
		got, err := uri.ExpandTemplate(template, values)
		if isError := want == "" && template != "{+undefined:2}"; got != want && !isError || (err != nil) != isError {
			t.Errorf("%s: %q, %v, want %q", template, got, err, want)
		}
	}
}

// FuzzExpandTemplate checks that what a prefix cuts is a beginning of the whole.
func FuzzExpandTemplate(f *testing.F) {
	f.Add("%41b", "1")
	f.Add("%C3%A4", "2")
	f.Add("%c3", "9999")
	f.Fuzz(func(t *testing.T, value, length string) {
		cut, err := uri.ExpandTemplate("{+v:"+length+"}", uri.Variables{"v": value})
		if err != nil {
			return
		}
		whole, err := uri.ExpandTemplate("{+v}", uri.Variables{"v": value})
		if err != nil || len(cut) > len(whole) || whole[:len(cut)] != cut {
			t.Errorf("%q of %q is no beginning of %q, %v", cut, value, whole, err)
		}
	})
}
