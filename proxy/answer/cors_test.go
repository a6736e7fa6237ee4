package answer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/route"
)

// Fetch standard section 3.2: an origin may read if it is listed, or if all are and all clients may resolve
// names. A reply that depends on the origin has it in Vary, even without an origin.
func TestAllow(t *testing.T) {
	a, b := []string{"https://a.example"}, []string{"https://b.example"}
	for name, tt := range map[string]struct {
		cors    answer.CORS
		origin  []string
		allowed string // "" for none
		varies  bool
	}{
		"none is named":    {answer.CORS{AllMayResolve: true}, a, "", false},
		"it is named":      {answer.CORS{Origins: a}, a, "https://a.example", true},
		"another is named": {answer.CORS{Origins: b}, a, "", true},
		"no origin":        {answer.CORS{Origins: a}, nil, "", true},
		"two lines": {
			answer.CORS{Origins: a},
			[]string{"https://a.example", "https://a.example"},
			"",
			true,
		},
		"null":                   {answer.CORS{Origins: a}, []string{"null"}, "", true},
		"another case":           {answer.CORS{Origins: a}, []string{"https://A.example"}, "", true},
		"all, for everybody":     {answer.CORS{Origins: []string{"*"}, AllMayResolve: true}, a, "*", false},
		"all, without an origin": {answer.CORS{Origins: []string{"*"}, AllMayResolve: true}, nil, "*", false},
		"all, but not everybody": {answer.CORS{Origins: []string{"*"}}, a, "", true},
		"one of those that may all": {
			answer.CORS{Origins: []string{"*", "https://a.example"}},
			a, "https://a.example",
			true,
		},
	} {
		fields := httpmessage.NewFields("Vary", "Accept")
		allowed := tt.cors.Allow(&fields, tt.origin)
		if got := fields.Get("Access-Control-Allow-Origin"); got != tt.allowed || allowed != (tt.allowed != "") {
			t.Errorf("%s: %t, %q", name, allowed, got)
		}
		if fields.Get("Vary") != "Accept" || slices.Contains(fields.Values("Vary"), "Origin") != tt.varies {
			t.Errorf("%s: Vary: %q", name, fields.Values("Vary"))
		}
		if got := fields.Get("Access-Control-Expose-Headers"); allowed != strings.Contains(got, "X-Request-Id") {
			t.Errorf("%s: a page may read %q", name, got)
		}
	}
}

// Fetch standard section 3.2.3: a preflight returns the methods of a path.
func TestPreflight(t *testing.T) {
	for path, methods := range map[string]string{
		"/api/v1/resolve": "GET, HEAD, POST", "/api/v1/resolve?service=I2C": "GET, HEAD, POST",
		"/uri-res/N2C?urn:a1:b": "GET, HEAD, OPTIONS",
	} {
		response := written(nil, answer.Preflight(&route.Request{Path: path}), nil)
		if h := response.Header; response.StatusCode != 204 || h.Get("Access-Control-Allow-Methods") != methods ||
			h.Get("Access-Control-Max-Age") != "86400" ||
			!strings.Contains(h.Get("Access-Control-Allow-Headers"), "Content-Type") ||
			h.Get("Vary") != "Origin, Access-Control-Request-Method" {
			t.Errorf("%s: %d %v", path, response.StatusCode, h)
		}
	}
}
