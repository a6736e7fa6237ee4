package registry_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

func TestCheckPattern(t *testing.T) {
	for pattern, want := range map[string]bool{
		"": true, `^\d+$`: true, `a|b`: true, `(`: false, `a)(b`: false, `(?=a)`: false,
		strings.Repeat("a", registry.MaxPattern+1): false,
	} {
		if err := registry.CheckPattern(pattern); (err == nil) != want {
			t.Errorf("%.20q: %v", pattern, err)
		}
	}
}
