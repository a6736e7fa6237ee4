package uri_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
)

// TestMatrices compares every URN of the examples in a specification with every other. A line of the file is a
// URN and its row: a letter for each URN of the section, "=" identical, "s" equal by syntax, "u" by the steps
// for URNs, "." different.
func TestMatrices(t *testing.T) {
	letters := map[uri.Rung]string{
		uri.RungIdentical: "=", uri.RungSyntax: "s", uri.RungName: "u",
		uri.RungDifferent: ".",
	}
	for name, objectives := range map[string]map[string]uri.Objective{
		"matrix_rfc2141.tsv": {
			"RFC 2141 section 6, naming":  uri.ObjectiveNaming,
			"RFC 2141 section 6, caching": uri.ObjectiveCaching,
		},
		"matrix_seed003.tsv": {
			"draft-ietf-urnbis-rfc2141bis-urn-03 section 5.1, naming (step 5a)":  uri.ObjectiveNaming,
			"draft-ietf-urnbis-rfc2141bis-urn-03 section 5.1, caching (step 5b)": uri.ObjectiveCaching,
			"draft-ietf-urnbis-rfc2141bis-urn-03 section 2.3, naming":            uri.ObjectiveNaming,
			"draft-ietf-urnbis-rfc2141bis-urn-03 section 2.3, caching":           uri.ObjectiveCaching,
		},
		"matrix_rfc8141.tsv": {
			"RFC 8141 section 3.2, naming":  uri.ObjectiveNaming,
			"RFC 8141 section 3.2, caching": uri.ObjectiveCaching,
		},
	} {
		rows := make(map[string][]vector)
		for _, v := range readVectors(t, name, 2) {
			rows[v.section] = append(rows[v.section], v)
		}
		if len(rows) != len(objectives) {
			t.Errorf("%s has %d sections, want %d", name, len(rows), len(objectives))
		}
		for section, vectors := range rows {
			objective, ok := objectives[section]
			if !ok {
				t.Fatalf("%s: unknown section %q", name, section)
			}
			for _, v := range vectors {
				var row strings.Builder
				for _, w := range vectors {
					row.WriteString(letters[uri.CompareFor(objective, mustParse(t, v.fields[0]),
						mustParse(t, w.fields[0])).Rung])
				}
				if row.String() != v.fields[1] {
					t.Errorf("%s (%s): got %s", v.where, section, row.String())
				}
			}
		}
	}
}
