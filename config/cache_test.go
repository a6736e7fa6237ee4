package config_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// TestUnkeyedFields: fields for which the cache has rules, and too broad patterns, are rejected.
func TestUnkeyedFields(t *testing.T) {
	for field, want := range map[string]string{
		"X-App-Version": "", "npm-*": "", "x_app": "", "Content-Type": "",
		"a b": "is not a field name", "": "is not a field name", "*": "is not a field name",
		"a*b": "is not a field name", "a*b*": "is not a field name",
		"x-*": "too many fields", "Cookie": "is handled by the cache itself (RFC",
		"authorization": "is handled by the cache itself (RFC", "if_none_match": "is handled by the cache itself (RFC",
		"auth*": "is handled by the cache itself (RFC", "Range": "is handled by the cache itself (RFC",
		"con*": "is handled by the cache itself (RFC", "content-*": "is handled by the cache itself (RFC",
		"Content-T*": "is handled by the cache itself (RFC",
		"content_*":  "is handled by the cache itself (RFC",
	} {
		_, err := config.Load(write(t, "urnd.yaml", "cache:\n  unkeyed_fields: [\""+field+"\"]\n"), nil)
		if want == "" && err != nil ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want) ||
				!strings.Contains(err.Error(), "cache.unkeyed_fields.0")) {
			t.Errorf("%q: %v, want %q", field, err, want)
		}
	}
}

// TestWarningsOfUnkeyedFields: fields that often affect responses may be listed, with a warning.
func TestWarningsOfUnkeyedFields(t *testing.T) {
	cases := map[string]string{
		"X-App-Version": "", "npm-*": "", "Content-Type": "", "X-Requested-With": "",
		"X-Forwarder": "", "x-app*": "", "hosts": "",
	}
	for _, field := range []string{
		"x-f*", "Forwarded", "forw*", "X-Forwarded-Host", "x-forwarded-*", "X_Forwarded_Proto", "X-Forwarded-Anything",
		"X-Real-IP", "x-r*", "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Anything-Override",
		"x-http-*", "X-Original-URL", "x-orig*", "X-Rewrite-URL", "X-Host", "x-h*",
	} {
		cases[field] = "cache.unkeyed_fields.0: origins are known to vary responses by "
	}
	settings := make(map[string]string)
	for field, want := range cases {
		settings["cache: {unkeyed_fields: ['"+field+"']}"] = want
	}
	wantWarnings(t, settings)
}
