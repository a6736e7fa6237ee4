//go:build e2e

package registry

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

// readiness returns the status and the reasons of /readyz.
func readiness(t *testing.T, w *urndtest.Daemon) string {
	t.Helper()
	status, body := w.AdminRequest(t, "GET /readyz")
	var document struct {
		Status            string
		Unready, Degraded []string
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s: %s; %s", status, document.Status, strings.Join(document.Unready, ", "),
		strings.Join(document.Degraded, ", "))
}
