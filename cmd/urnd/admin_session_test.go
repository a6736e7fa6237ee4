package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

// person is a browser that has logged in, or not.
type person struct {
	*http.Client
	admin string
}

func newPerson(w *testDaemon) *person {
	jar, _ := cookiejar.New(nil) // it never fails
	return &person{&http.Client{Jar: jar, Timeout: time.Minute}, w.admin}
}

// open asks for a page, or sends a form, which has the hidden field of the page, and returns the status, the path where that has led and
// the page.
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

// A session goes on after a reload, and ends with the token by which it began.
func TestSessionsAndReloads(t *testing.T) {
	token := writeTemp(t, "token", "0123456789abcdef")
	w := startDaemon(t, "127.0.0.1:9", 0, func(c *config.Config) { c.Access.AdminToken = token })
	const reloaded = "was reloaded"
	p := newPerson(w)
	if status, at, _ := p.open(t, "/status", nil); status != 200 || at != "/login" {
		t.Fatalf("without a session: %d at %s", status, at)
	}
	if status, at, _ := p.open(t, "/login?next=/status", url.Values{"token": {"0123456789abcdef"}}); status != 200 || at != "/status" {
		t.Fatalf("logging in: %d at %s", status, at)
	}
	for reloads, want := range []string{"/status", "/status", "/login"} {
		if reloads == 2 {
			other := writeTemp(t, "other", "fedcba9876543210")
			w.setLoad(func() (config.Config, error) {
				c := w.config
				c.Access.AdminToken = other
				return c, nil
			})
		}
		if reloads > 0 {
			before := strings.Count(w.log.String(), reloaded)
			w.hangups <- syscall.SIGHUP
			testserver.Wait(t, "urnd has reloaded", func() bool { return strings.Count(w.log.String(), reloaded) > before })
		}
		if status, at, _ := p.open(t, "/status", nil); status != 200 || at != want {
			t.Errorf("after %d reloads: %d at %s", reloads, status, at)
		}
	}
}

// So does a file that was sent to be imported.
func TestDraftsAndReloads(t *testing.T) {
	w := startDaemon(t, "127.0.0.1:9", 0, func(c *config.Config) {
		c.Registry.Store = "sqlite:" + filepath.Join(t.TempDir(), "registry.db")
	})
	p := newPerson(w)
	status, _, page := p.open(t, "/registry/import", url.Values{"text": {"name,target\nurn:nbn:fi:a,https://a.example/\n"}})
	if status != 200 || !strings.Contains(page, "urn:nbn:fi:a") {
		t.Fatalf("sending lines: %d, %s", status, page)
	}
	w.hangups <- syscall.SIGHUP
	w.waitForLog(t, "was reloaded")
	if status, _, page := p.open(t, "/registry/import", nil); status != 200 || !strings.Contains(page, "A file that you have sent is here still") {
		t.Errorf("after a reload: %d, %s", status, page)
	}
}
