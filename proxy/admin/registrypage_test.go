package admin_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/resolver/registry"
)

// Large entries are split over several pages of a list and of a search, each entry on exactly one.
func TestPagesOfLargeEntries(t *testing.T) {
	s := library(t)
	const names, most = 140, 10 << 20
	edits := make([]registry.Edit, names)
	for i := range edits {
		edits[i] = registry.Edit{
			Key:       registry.Name(fmt.Sprintf("urn:nbn:fi:large-%03d", i)),
			IfVersion: registry.AnyVersion, Change: registry.Put(registry.Record{
				Targets:  []registry.Target{{URI: "https://large.example/"}},
				Metadata: `{"x":"` + strings.Repeat("x", registry.MaxMetadata-100) + `"}`,
			}),
		}
	}
	if _, err := s.registry.Apply(t.Context(), registry.Actor{Name: "root", Role: registry.Admin},
		edits...); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"prefix=urn:nbn:fi:large-", "text=large.example"} {
		seen, pages, cursor := make(map[string]int), 0, ""
		for {
			r := s.ask("GET /api/v1/names?limit=1000&"+query+"&cursor="+url.QueryEscape(cursor), "", admins)
			var page api.NamePage
			if err := json.Unmarshal([]byte(r.body), &page); err != nil || r.status != 200 || len(r.body) > most ||
				pages > 5 {
				t.Fatalf("%s: %d, %d bytes, page %d, %v", query, r.status, len(r.body), pages, err)
			}
			for _, n := range page.Names {
				seen[n.Name]++
			}
			if pages, cursor = pages+1, page.Next; cursor == "" {
				break
			}
		}
		if len(seen) != names || pages < 2 {
			t.Errorf("%s: %d names on %d pages", query, len(seen), pages)
		}
		for name, n := range seen {
			if n != 1 {
				t.Errorf("%s: %s is on %d pages", query, name, n)
			}
		}
	}
}
