//go:build e2e

package machines

import (
	"os"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

func TestMain(m *testing.M) {
	_ = os.Unsetenv("PGPASSWORD") // the tests set their own passwords
	_ = os.Setenv("PGPASSFILE", "/nowhere")
	urndtest.Main(m)
}
