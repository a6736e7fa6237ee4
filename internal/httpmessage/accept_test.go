package httpmessage_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

// TestMediaRanges checks the parsing of Accept: RFC 9110 section 12.5.1.
func TestMediaRanges(t *testing.T) {
	for accept, want := range map[string][]httpmessage.MediaRange{
		"":                                 nil,
		"text/html":                        {{Type: "text/html", Quality: 1}},
		"Text/HTML;level=1;q=.5, */*;q=0":  {{Type: "text/html", Quality: .5}, {Type: "*/*", Quality: 0}},
		"text/plain; q=2, text/*; q=0.25":  {{Type: "text/*", Quality: .25}},
		"/, text/x;q=NaN, a/b;q=-1, a/b;q": nil,
	} {
		if got := httpmessage.ParseAccept(accept); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", accept, got, want)
		}
	}
	const most = 50
	if n := len(httpmessage.ParseAccept(strings.Repeat("a/b,", 1000))); n != most {
		t.Errorf("%d elements are read", n)
	}
}
