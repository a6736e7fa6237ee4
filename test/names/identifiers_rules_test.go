//go:build e2e

package names

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/test/urndtest"
)

// TestIdentifierImport: GR 2.5.9: where links are registered. An import reports violations with their line, and
// imports the other lines; names are canonicalized.
func TestIdentifierImport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, store := filepath.Join(dir, "urnd.yaml"), filepath.Join(dir, "registry.db")
	text := "registry:\n  store: sqlite:" + store + "\n  digital_link: [{root: " + linkRoot + "/}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	names := strings.Join([]string{
		"name,target", linkRoot + "/01/9506000134352,https://a.example/1",
		linkRoot + gtin + "/10/L/21/S,https://a.example/2",
		linkRoot + "/01/09506000134351,https://a.example/3", linkRoot + "/about,https://a.example/4",
		linkRoot + "/01/09528765123457/10/L,https://a.example/5",
		linkRoot + gtin + "/21/a/10/b,https://a.example/6",
	}, "\n")
	table, rejected := filepath.Join(dir, "names.csv"), filepath.Join(dir, "rejected.csv")
	if err := os.WriteFile(table, []byte(names+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := urndtest.Run(t, "", "registry", "import", "--config", file, "--rejected", rejected, table)
	lines, readErr := os.ReadFile(rejected)
	if err == nil || readErr != nil {
		t.Fatalf("all lines were imported: %v, %v", err, readErr)
	}
	out := string(lines)
	for _, message := range []string{
		"the check digit should be 2",
		"links are registered at " + linkRoot + gtin + "/21/S, or ", "codes and values alternate",
		"in the order 22, 10, 21",
	} {
		if !strings.Contains(out, message) {
			t.Errorf("%q is not in %s", message, out)
		}
	}
	if out, err := urndtest.Run(t, "", "registry", "get", "--config", file,
		linkRoot+"/01/09506000134352/"); err != nil || !strings.Contains(out, "https://a.example/1") {
		t.Errorf("the item in another spelling: %q, %v", out, err)
	}
	if _, err := urndtest.Run(t, "", "registry", "set", "--config", file, linkRoot+"/01/09528765123457/21/s",
		"--target", "https://a.example/pip", "--rel", "gs1:pip"); err != nil {
		t.Error(err)
	}
	// A lot has a target of its own, the serial number does not: the item is missing.
	out, err = urndtest.Run(t, "", "registry", "check", "--config", file)
	want := linkRoot + "/01/09528765123457/21/s: warning: no default link (gs1:defaultLink), nor has " + linkRoot +
		"/01/09528765123457, its parent: add one (level)\n"
	if err != nil || out != want {
		t.Errorf("the check says %q, %v", out, err)
	}
}

// TestIdentifierAPI checks that the API responds with 422 to identifiers that cannot be registered, and with
// 400 to invalid names, as for other names.
func TestIdentifierAPI(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t)
	r.Put(t, registry.Name(linkRoot+gtin), linked("gs1:defaultLink https://a.example/"))
	w := r.Start(t, func(c *config.Config) { c.Registry.DigitalLink = urndtest.DigitalLinks() })
	if got := w.At(t, http.MethodGet, linkHost, gtin+"/10/l/21/s"); got != "307 https://a.example/" {
		t.Errorf("the serial number is %s", got)
	}
	for _, c := range []struct {
		name    string
		status  int
		message string
	}{
		{linkRoot + gtin + "/10/L/21/S", http.StatusUnprocessableEntity, "cannot be resolved here"},
		{"https://dpp.example/25P/A/1T/1/S/2", http.StatusUnprocessableEntity, "cannot be resolved here"},
		{linkRoot + "/01/09506000134351", http.StatusBadRequest, "the check digit should be 2"},
		{linkRoot + "/about", http.StatusBadRequest, "codes and values alternate"},
		{linkRoot + gtin + "/21/s/10/l", http.StatusBadRequest, "in the order 22, 10, 21"},
		{linkRoot + gtin + "/21/s", http.StatusCreated, ""},
	} {
		status, body := register(t, w, c.name)
		if status != c.status || !strings.Contains(body, c.message) {
			t.Errorf("%s is %d, %s", c.name, status, body)
		}
	}
	// Changes by this process are effective immediately, for all names below.
	if got := w.At(t, http.MethodGet, linkHost, gtin+"/10/l/21/s"); got != "307 https://b.example/" {
		t.Errorf("the serial number is %s", got)
	}
}

// register registers a name through the API.
func register(t *testing.T, w *urndtest.Daemon, name string) (status int, body string) {
	t.Helper()
	got := urndtest.Send(t, "PUT "+w.Admin+"/api/v1/names?uri="+name, `{"targets":[{"uri":"https://b.example/"}]}`,
		"Content-Type: application/json", "If-None-Match: *")
	return got.Status, got.Body
}
