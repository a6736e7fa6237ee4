//go:build e2e && race

package proxy

import (
	"os"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

// skipWithRace skips a memory test if urnd is built with the race detector, which multiplies memory usage.
func skipWithRace(t *testing.T) {
	t.Helper()
	if os.Getenv(urndtest.Variable) == "" {
		t.Skip("the race detector takes memory")
	}
}
