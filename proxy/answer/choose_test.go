package answer

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
)

// located returns locations of "URI, type, language" texts.
func located(texts ...string) []resolver.Location {
	var locations []resolver.Location
	for _, text := range texts {
		parts := append(strings.Split(text, ", "), "", "")
		locations = append(locations,
			resolver.Location{URI: parts[0], From: &resolver.Source{Type: parts[1], Language: parts[2]}})
	}
	return locations
}

// responderWhere returns a Responder for which the given locations fail.
func responderWhere(failing ...string) *Responder {
	return New(Config{Failing: func(location string) bool { return slices.Contains(failing, location) }})
}

// Failures take precedence over type and language, which are weighed together (RFC 9110 section 12.5.1).
func TestChoose(t *testing.T) {
	all := located("a, text/html, de", "b, text/html, en", "c, application/pdf, en", "d")
	for _, tt := range []struct {
		name             string
		locations        []resolver.Location
		failing          []string
		accept, language string
		want, vary       string
	}{
		{"one", all[:1], nil, "image/png", "fr", "a", ""},
		{"one that fails", all[:1], []string{"a"}, "", "", "a", ""},
		{"no field", all[:3], nil, "", "", "a", "Accept, Accept-Language"},
		{"no field, and one without type", all, nil, "", "", "a", "Accept, Accept-Language"},
		{"everything", all, nil, "*/*", "", "a", "Accept, Accept-Language"},
		{"a type", all, nil, "application/pdf", "de", "c", "Accept, Accept-Language"},
		{"a language of a type", all, nil, "text/html", "en", "b", "Accept, Accept-Language"},
		{"a language alone", all[1:3], nil, "", "de", "b", "Accept, Accept-Language"},
		{
			"type and language together", located("a, application/pdf, en", "b, text/html, de"), nil, "", "de", "b",
			"Accept, Accept-Language",
		},
		{
			"qualities of both", located("a, application/pdf, en", "b, text/html, de"), nil,
			"application/pdf, text/html;q=0.5", "de, en;q=0.4", "b",
			"Accept, Accept-Language",
		},
		{
			"an exact language before a similar one", located("a, text/html, da", "b, text/html, nb"), nil, "",
			"nb, da;q=0.5", "b", "Accept, Accept-Language",
		},
		{
			"any other language", located("a, text/html, de", "b, text/html, fr"), nil, "", "de;q=0.1, *;q=0.9", "b",
			"Accept, Accept-Language",
		},
		{"any language", all[:3], nil, "", "*", "a", "Accept, Accept-Language"},
		{"a range of types", all, nil, "text/*;q=0.1, application/*", "", "c", "Accept, Accept-Language"},
		{"a type that is refused", all[:3], nil, "text/html;q=0, */*;q=0.1", "", "c", "Accept, Accept-Language"},
		{"a type that none has", all, nil, "image/png", "", "d", "Accept, Accept-Language"},
		{"a language that none has", all[:2], nil, "", "fr", "a", "Accept, Accept-Language"},
		{"the best one fails", all, []string{"c"}, "application/pdf", "", "d", "Accept, Accept-Language"},
		{"all but one fail", all, []string{"a", "b", "c"}, "text/html", "de", "d", "Accept, Accept-Language"},
		{"all fail", all, []string{"a", "b", "c", "d"}, "application/pdf", "", "c", "Accept, Accept-Language"},
		{"fields that are not valid", all[:3], nil, "no type", "no language!", "a", "Accept, Accept-Language"},
	} {
		header := make(http.Header)
		for name, value := range map[string]string{"Accept": tt.accept, "Accept-Language": tt.language} {
			if value != "" {
				header.Set(name, value)
			}
		}
		got, vary := responderWhere(tt.failing...).choose(httpmessage.NewHeader(header), tt.locations)
		if got.URI != tt.want || vary != tt.vary {
			t.Errorf("%s: %s, Vary %q; want %s, %q", tt.name, got.URI, vary, tt.want, tt.vary)
		}
	}
}

// Lines of a repeated field form one list: RFC 9110 section 5.3.
func TestChooseByRepeatedFields(t *testing.T) {
	header := http.Header{"Accept": {"image/png", "application/pdf"}, "Accept-Language": {"fr", "en"}}
	got, _ := responderWhere().choose(httpmessage.NewHeader(header),
		located("a, text/html, en", "b, application/pdf, de", "c, application/pdf, en"))
	if got.URI != "c" {
		t.Error(got.URI)
	}
}

func TestInOrder(t *testing.T) {
	all := located("a, text/html", "b, application/pdf", "c")
	for _, tt := range []struct {
		accept  string
		failing []string
		limit   int
		want    string
	}{
		{"*/*", nil, 10, "a b c"},
		{"*/*", nil, 2, "a b"},
		{"application/pdf", nil, 10, "b a c"},
		{"application/pdf", nil, 1, "b"},
		{"text/html", []string{"a"}, 10, "c a b"},
		{"*/*", []string{"a", "b", "c"}, 10, "a b c"},
	} {
		ordered := responderWhere(tt.failing...).InOrder(httpmessage.NewFields("Accept", tt.accept).Values,
			all, tt.limit)
		if got := strings.Join(textsOf(ordered), " "); got != tt.want {
			t.Errorf("%q where %q fail, at most %d: %s, want %s", tt.accept, tt.failing, tt.limit, got, tt.want)
		}
	}
}

// A location is the choice for all clients only if it does not depend on the request.
func TestChoice(t *testing.T) {
	for _, tt := range []struct {
		locations []resolver.Location
		failing   []string
		want      string
		ok        bool
	}{
		{located("a"), nil, "a", true},
		{located("a, text/html, de"), nil, "a", true},
		{located("a", "b"), nil, "a", true},
		{located("a", "b"), []string{"a"}, "b", true},
		{located("a", "b"), []string{"a", "b"}, "a", true},
		{located("a", "b, text/html"), nil, "", false},
		{located("a, , de", "b"), nil, "", false},
	} {
		if got, ok := responderWhere(tt.failing...).Choice(tt.locations); got != tt.want || ok != tt.ok {
			t.Errorf("%v where %q fail: %q, %t", textsOf(tt.locations), tt.failing, got, ok)
		}
	}
}

// No locations yield no choice.
func TestChooseOfNone(t *testing.T) {
	r := responderWhere()
	if location, ok := r.Choice(nil); ok || location != "" {
		t.Errorf("%q", location)
	}
	if ordered := r.InOrder(nil, nil, 1); len(ordered) != 0 {
		t.Errorf("%v", ordered)
	}
}
