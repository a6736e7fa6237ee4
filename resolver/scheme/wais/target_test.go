package wais

import (
	"testing"

	"github.com/urnd/urnd/uri"
)

// TestSearchOfURL: a plus is data in a URL (RFC 1738 section 2.2), and a space only in the submission of a
// form.
func TestSearchOfURL(t *testing.T) {
	for url, want := range map[string]string{
		"wais://h/d?c++":                "c++",
		"wais://h/d?c%2B%2B":            "c++",
		"wais://h/d?a+b%20c":            "a+b c",
		"wais://h/d?a%26search=b":       "a&search=b",
		"wais://h/d?research=a+b":       "research=a+b",
		"wais://h/d?Search=a+b":         "Search=a+b",
		"wais://h/d?%20%22c++%20faq%22": `"c++ faq"`,
	} {
		if got, err := targetOf(t, url); err != nil || got.search != want || got.isForm {
			t.Errorf("%s: %+v, %v", url, got, err)
		}
	}
	for url, want := range map[string]string{
		"wais://h/d?search=c%2B%2B+faq": "c++ faq",
		"wais://h/d?search=a+b&x=y":     "a b",
		"wais://h/d?search=":            "",
	} {
		got, err := targetOf(t, url)
		if err != nil || !got.isForm || got.form != want || got.search != "" {
			t.Errorf("%s: %+v, %v", url, got, err)
		}
		if again, err := targetOf(t, got.searching(got.form)); err != nil || again.search != want {
			t.Errorf("%s leads to %+v, %v", url, again, err)
		}
	}
}

func targetOf(t *testing.T, url string) (target, error) {
	t.Helper()
	u, err := uri.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return newTarget(u)
}
