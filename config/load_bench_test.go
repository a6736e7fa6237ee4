package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// BenchmarkLoadRules loads 10,000 rules with 100,000 hosts, and computes the warnings, as at startup.
func BenchmarkLoadRules(b *testing.B) {
	var text strings.Builder
	text.WriteString("access: {proxy_clients: [127.0.0.0/8]}\nproxy:\n  rules:\n")
	for i := range 10_000 {
		fmt.Fprintf(&text, "    - id: r%d\n      action: deny\n      hosts:\n", i)
		for j := range 5 {
			fmt.Fprintf(&text, "        - .site-%d-%d.example\n        - www.other-%[1]d-%d.example\n", i, j)
		}
	}
	path := write(b, "urnd.yaml", text.String())
	b.ReportAllocs()
	for b.Loop() {
		c, _, err := config.LoadOrigins(path, nil)
		if err != nil || len(c.Proxy.Rules) != 10_000 || len(c.Warnings()) > 0 {
			b.Fatal(err, c.Warnings())
		}
	}
}
