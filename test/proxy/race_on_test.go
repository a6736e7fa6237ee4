//go:build e2e && race

package proxy

import (
	"os"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

// skipWithRace skips a test of memory where urnd is built with the race detector, which takes several times as much.
func skipWithRace(t *testing.T) {
	t.Helper()
	if os.Getenv(urndtest.Variable) == "" {
		t.Skip("the race detector takes memory")
	}
}
