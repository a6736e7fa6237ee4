package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readiness returns the status of /readyz, and its reasons.
func (w *testDaemon) readiness(t *testing.T) string {
	t.Helper()
	status, body := w.adminRequest(t, "GET /readyz")
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
