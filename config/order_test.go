package config_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// TestOrders: built-in rules take precedence over the DNS, configured THTTP servers over everything, and
// systems that resolve.order does not name are not used.
func TestOrders(t *testing.T) {
	for _, tt := range []struct{ order, agents, isbn, book string }{
		{"ddds,slp,namespace", "", "namespace ddds", "thttp ddds namespace"},
		{"ddds,slp,namespace", "192.0.2.1", "namespace ddds slp", "thttp ddds slp namespace"},
		{"namespace", "", "namespace", "thttp namespace"},
		{"ddds", "", "ddds", "thttp ddds"},
		{"thttp,namespace", "", "namespace thttp", "thttp namespace"},
	} {
		c := config.Default()
		c.Resolve.Order = strings.Split(tt.order, ",")
		if tt.agents != "" {
			c.SLP.Agents = make([]config.Agent, 1)
		}
		c.Namespaces = []config.Namespace{
			{NID: "Book", THTTP: []string{"http://a.example"}},
			{NID: "issn", THTTP: []string{"http://a.example"}},
		}
		got := c.Orders([]string{"isbn", "issn"})
		if isbn, book := strings.Join(got["isbn"], " "), strings.Join(got["book"], " "); isbn != tt.isbn ||
			book != tt.book {
			t.Errorf("%s: isbn %q, book %q", tt.order, isbn, book)
		}
		if issn := got["issn"]; issn[0] != "thttp" || strings.Count(strings.Join(issn, " "), "thttp") != 1 {
			t.Errorf("%s: issn %q", tt.order, issn)
		}
	}
}
