package config_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// What the cache has rules for cannot be declared harmless, nor half of all fields.
func TestHarmlessFields(t *testing.T) {
	for field, want := range map[string]string{
		"X-App-Version": "", "npm-*": "", "x_app": "", "Content-Type": "",
		"a b": "is not the name of a field", "": "is not the name of a field", "*": "is not the name of a field", "a*b": "is not the name of a field", "a*b*": "is not the name of a field",
		"x-*": "too many fields", "Cookie": "rules of its own", "authorization": "rules of its own", "if_none_match": "rules of its own", "auth*": "rules of its own", "Range": "rules of its own",
	} {
		_, err := config.Load(write(t, "urnd.yaml", "cache:\n  harmless_fields: [\""+field+"\"]\n"), nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "cache.harmless_fields.0")) {
			t.Errorf("%q: %v, want %q", field, err, want)
		}
	}
}
