package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// send sends a request as it is, with its fields, and returns the response.
func (w *testDaemon) send(t *testing.T, request, body string, fields ...string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	lines := append([]string{request + " HTTP/1.1", "Host: a", "Connection: close", fmt.Sprintf("Content-Length: %d", len(body))}, fields...)
	if _, err := io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n\r\n"+body); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%.80q: %v", request, err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	return response
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// password is in URLs of the tests, and must not be in a log.
const password = "s3cr3t"

// writeTemp returns the path of a new file.
func writeTemp(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const adminToken = "topsecret-0123456789"

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
	return fmt.Sprintf("%d %s: %s; %s", status, document.Status, strings.Join(document.Unready, ", "), strings.Join(document.Degraded, ", "))
}

// fastPathSetting turns the fast path off where it is "false", as in make test-slow-path.
const fastPathSetting = "URND_LISTEN_FAST_PATH"
