//go:build e2e

package proxy

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/test/urndtest"
)

// person is a browser, logged in or not.
type person struct {
	*http.Client
	admin string
}

func newPerson(w *urndtest.Daemon) *person {
	jar, _ := cookiejar.New(nil) // never fails
	return &person{&http.Client{Jar: jar, Timeout: time.Minute}, w.Admin}
}

// open requests a page, or submits a form including the hidden field of the page. It returns the status, the
// final path after redirects, and the page.
func (p *person) open(t *testing.T, path string, form url.Values) (status int, at, page string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, p.admin+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		_, _, before := p.open(t, path, nil)
		found := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(before)
		if found == nil {
			t.Fatalf("%s has no form: %s", path, before)
		}
		form.Set("csrf", found[1])
		if r, err = http.NewRequest(http.MethodPost, p.admin+path, strings.NewReader(form.Encode())); err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Accept", "text/html")
	response, err := p.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Request.URL.Path, string(body)
}

// TestSessionsAndReloads checks that a session continues after a reload, and ends when the token with which it
// began is revoked.
func TestSessionsAndReloads(t *testing.T) {
	t.Parallel()
	token := writeTemp(t, "token", "0123456789abcdef")
	w := urndtest.Start(t, noDNS, func(c *config.Config) { c.Access.AdminToken = token })
	p := newPerson(w)
	if status, at, _ := p.open(t, "/status", nil); status != 200 || at != "/login" {
		t.Fatalf("without a session: %d at %s", status, at)
	}
	if status, at, _ := p.open(t, "/login?next=/status", url.Values{"token": {"0123456789abcdef"}}); status != 200 ||
		at != "/status" {
		t.Fatalf("logging in: %d at %s", status, at)
	}
	other := writeTemp(t, "other", "fedcba9876543210")
	for reloads, want := range []string{"/status", "/status", "/login"} {
		if reloads > 0 && !reload(t, w, func(c *config.Config) {
			if reloads == 2 {
				c.Access.AdminToken = other
			}
		}) {
			t.Error("the reload is refused")
		}
		if status, at, _ := p.open(t, "/status", nil); status != 200 || at != want {
			t.Errorf("after %d reloads: %d at %s", reloads, status, at)
		}
	}
}

// TestDraftsAndReloads checks the same for a file uploaded for import.
func TestDraftsAndReloads(t *testing.T) {
	t.Parallel()
	w := urndtest.Start(t, noDNS, func(c *config.Config) {
		c.Registry.Store = "sqlite:" + filepath.Join(t.TempDir(), "registry.db")
	})
	p := newPerson(w)
	status, _, page := p.open(t, "/registry/import",
		url.Values{"text": {"name,target\nurn:nbn:fi:a,https://a.example/\n"}})
	if status != 200 || !strings.Contains(page, "urn:nbn:fi:a") {
		t.Fatalf("sending lines: %d, %s", status, page)
	}
	if !reload(t, w, keep) {
		t.Error("the reload is refused")
	}
	if status, _, page := p.open(t, "/registry/import", nil); status != 200 ||
		!strings.Contains(page, "Files that are uploaded and not imported yet") {
		t.Errorf("after a reload: %d, %s", status, page)
	}
}
