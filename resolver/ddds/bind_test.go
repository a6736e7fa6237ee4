package ddds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// TestVectorsOverBIND resolves with the records of the RFCs and of the public zones, served by BIND:
// testdata/*.zone and bind.tsv.
func TestVectorsOverBIND(t *testing.T) {
	var zones []testserver.Zone
	for _, name := range []string{"urn.arpa", "uri.arpa", "example.com"} {
		text, err := os.ReadFile(filepath.Join("testdata", name+".zone"))
		if err != nil {
			t.Fatal(err)
		}
		zones = append(zones, testserver.Zone{Name: name, Text: string(text)})
	}
	client := newTestClient(longTimeout, testserver.StartBIND(t, zones...).Addr())
	resolvers := map[string]*Resolver{
		"urn": New(Config{Lookup: client, Roots: []string{"urn.arpa."}, MaxDomains: 5}),
		"uri": New(Config{Lookup: client, Roots: []string{"uri.arpa."}, MaxDomains: 5, BySchemes: true}),
	}
	for _, v := range readVectors(t, "bind.tsv", 3) {
		answer, err := resolvers[v.fields[0]].Resolve(t.Context(), query(t, v.fields[1]))
		v.failure = strings.TrimSpace(v.failure)
		v.check(t, locations(answer), err)
	}
}
