//go:build e2e

package failures

import (
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

func TestMain(m *testing.M) { urndtest.Main(m) }
