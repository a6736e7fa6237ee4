//go:build e2e

package machines

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// pairFiles contains the paths of a certificate and its key.
type pairFiles struct{ certificate, key string }

// newPair writes a certificate for a host.
func newPair(t *testing.T, ca *testserver.Authority, host string) pairFiles {
	t.Helper()
	certificate, key := ca.Issue(time.Hour, host)
	dir := t.TempDir()
	p := pairFiles{filepath.Join(dir, "certificate.pem"), filepath.Join(dir, "key.pem")}
	if err := errors.Join(os.WriteFile(p.certificate, certificate, 0o600),
		os.WriteFile(p.key, key, 0o600)); err != nil {
		t.Fatal(err)
	}
	return p
}
