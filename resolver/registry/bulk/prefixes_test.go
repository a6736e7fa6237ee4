package bulk_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// Lines whose names are outside the owned prefixes are rejected with a reason, and the others are imported.
func TestImportOutsidePrefixes(t *testing.T) {
	r := open(t)
	config := configOf(t, r.Store(), r.Now)
	config.OwnedPrefixes = []string{"urn:nbn:fi:"}
	r = registry.New(config)
	report, rejected := imported(t, bulk.Import{Registry: r},
		"name,target\nurn:nbn:fi:a,https://a.example/\nurn:nbn:se:a,https://a.example/\n")
	if numbersOf(report) != (numbers{New: 1, Rejected: 1}) || len(rejected) != 1 || rejected[0].Line != 3 ||
		!strings.Contains(rejected[0].Reason.Error(), "outside the prefixes of this registry, urn:nbn:fi:") {
		t.Errorf("%+v, %v", report, rejected)
	}
}
