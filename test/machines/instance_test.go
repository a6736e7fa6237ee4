//go:build e2e

package machines

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// instance is an urnd that shares a registry or a second-level cache with others.
type instance struct{ *urndtest.Daemon }

func startInstance(t *testing.T, dns string, change func(*config.Config)) instance {
	t.Helper()
	return instance{urndtest.Start(t, dns, change)}
}

// runUrnd runs a command of urnd, and returns its complete output and its exit status.
func runUrnd(t *testing.T, args ...string) (text string, exit int) {
	t.Helper()
	command := exec.CommandContext(t.Context(), urndtest.Binary(t), args...)
	out, err := command.CombinedOutput()
	if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return string(out), command.ProcessState.ExitCode()
}

// writeTemp writes a file that is only readable for its owner, and returns its path.
func writeTemp(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// readiness returns the result of /readyz, such as "200 ready: ; " with the unready and degraded reasons.
func (w instance) readiness(t *testing.T) string {
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

// target returns the target of a name, or the text of the status.
func (w instance) target(t *testing.T, name string) string {
	t.Helper()
	got := w.Get(t, "/"+name)
	if got.Location != "" {
		return got.Location
	}
	return http.StatusText(got.Status)
}

// expect waits until a name has a target.
func (w instance) expect(t *testing.T, name, target string) {
	t.Helper()
	testserver.Wait(t, name+" leads to "+target, func() bool { return w.target(t, name) == target })
}

// crowd requests names with many concurrent clients, and returns the number of each result: a status, or the
// target of a redirect.
func (w instance) crowd(t *testing.T, clients int, names ...string) map[string]int {
	t.Helper()
	var mu sync.Mutex
	outcomes := make(map[string]int)
	var asking sync.WaitGroup
	for n := range clients {
		asking.Go(func() {
			outcome := w.target(t, names[n%len(names)])
			mu.Lock()
			defer mu.Unlock()
			outcomes[outcome]++
		})
	}
	asking.Wait()
	return outcomes
}

// change sends a change to the registry API, which must accept it.
func (w instance) change(t *testing.T, request, body string, fields ...string) {
	t.Helper()
	method, target, _ := strings.Cut(request, " ")
	got := urndtest.Send(t, method+" "+w.Admin+target, body, append(fields, "Content-Type: application/json")...)
	if got.Status >= http.StatusMultipleChoices {
		t.Fatalf("%s: %d %s", request, got.Status, got.Body)
	}
}

// set sets the target of a name through the registry API, whatever its current version.
func (w instance) set(t *testing.T, name, target string) {
	t.Helper()
	w.change(t, "PUT /api/v1/names?uri="+name, `{"targets":[{"uri":"`+target+`"}]}`, `If-None-Match: "0"`)
}

// purge removes entries of a cache by a path of the API.
func (w instance) purge(t *testing.T, path string) {
	t.Helper()
	if status, body := w.AdminRequest(t, "DELETE /api/v1/"+path); status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, status, body)
	}
}

// proxied sends a request to the instance as a proxy, and returns the cache status, the status and the body
// without spaces.
func (w instance) proxied(t *testing.T, method, target string) string {
	t.Helper()
	at, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(at), DisableKeepAlives: true}
	response, err := transport.RoundTrip(request(t, method, target))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	word, _, _ := strings.Cut(strings.TrimPrefix(response.Header.Get("Cache-Status"), "urnd; "), ";")
	return strings.TrimSpace(fmt.Sprintf("%s %d %s", word, response.StatusCode,
		strings.Join(strings.Fields(string(body)), "")))
}
