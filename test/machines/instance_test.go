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

// instance is an urnd that shares a registry or a level of caches with others.
type instance struct{ *urndtest.Daemon }

func startInstance(t *testing.T, dns string, change func(*config.Config)) instance {
	t.Helper()
	return instance{urndtest.Start(t, dns, change)}
}

// runUrnd runs a command of urnd, and returns all that it printed, and its exit status.
func runUrnd(t *testing.T, args ...string) (text string, exit int) {
	t.Helper()
	command := exec.CommandContext(t.Context(), urndtest.Binary(t), args...)
	out, err := command.CombinedOutput()
	if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return string(out), command.ProcessState.ExitCode()
}

// writeTemp writes a file that only its owner reads, and returns its path.
func writeTemp(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// readiness returns what /readyz says, such as "200 ready: ; " with what is unready and what is degraded.
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
	return fmt.Sprintf("%d %s: %s; %s", status, document.Status, strings.Join(document.Unready, ", "), strings.Join(document.Degraded, ", "))
}

// leads returns where a name leads to, or the text of the status.
func (w instance) leads(t *testing.T, name string) string {
	t.Helper()
	got := w.Get(t, "/"+name)
	if got.Location != "" {
		return got.Location
	}
	return http.StatusText(got.Status)
}

// expect waits until a name leads to a target.
func (w instance) expect(t *testing.T, name, target string) {
	t.Helper()
	testserver.Wait(t, name+" leads to "+target, func() bool { return w.leads(t, name) == target })
}

// crowd asks for names with many clients at once, and returns how many times each outcome came: a status, or where a redirect leads to.
func (w instance) crowd(t *testing.T, clients int, names ...string) map[string]int {
	t.Helper()
	var mu sync.Mutex
	outcomes := make(map[string]int)
	var asking sync.WaitGroup
	for n := range clients {
		asking.Go(func() {
			outcome := w.leads(t, names[n%len(names)])
			mu.Lock()
			defer mu.Unlock()
			outcomes[outcome]++
		})
	}
	asking.Wait()
	return outcomes
}

// change sends a change to the API of the registry, which must accept it.
func (w instance) change(t *testing.T, request, body string, fields ...string) {
	t.Helper()
	method, target, _ := strings.Cut(request, " ")
	got := urndtest.Send(t, method+" "+w.Admin+target, body, append(fields, "Content-Type: application/json")...)
	if got.Status >= http.StatusMultipleChoices {
		t.Fatalf("%s: %d %s", request, got.Status, got.Body)
	}
}

// set lets a name lead to a target, by the API of the registry, whatever version of it there is.
func (w instance) set(t *testing.T, name, target string) {
	t.Helper()
	w.change(t, "PUT /api/v1/names?uri="+name, `{"targets":[{"uri":"`+target+`"}]}`, `If-None-Match: "0"`)
}

// purge removes entries of a cache at a path of the API.
func (w instance) purge(t *testing.T, path string) {
	t.Helper()
	if status, body := w.AdminRequest(t, "DELETE /api/v1/"+path); status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, status, body)
	}
}

// proxied asks the instance as a proxy, and returns how its cache has answered, the status and the body without spaces.
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
	return strings.TrimSpace(fmt.Sprintf("%s %d %s", word, response.StatusCode, strings.Join(strings.Fields(string(body)), "")))
}
