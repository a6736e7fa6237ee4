//go:build e2e

package proxy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestLogrotate checks that the logrotate configuration of the package rotates the access log without losing
// lines.
func TestLogrotate(t *testing.T) {
	t.Parallel()
	logrotate := testserver.Need(t, "logrotate")
	dir := t.TempDir()
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		c.Log.Access, c.Namespaces = []config.AccessLog{{Format: "combined", File: filepath.Join(dir, "access.log")}},
			[]config.Namespace{book("a")}
	})
	text, err := os.ReadFile(filepath.Join(urndtest.Root(), "packaging/logrotate"))
	if err != nil {
		t.Fatal(err)
	}
	rules := strings.ReplaceAll(string(text), "/var/log/urnd/", dir+"/")
	rules = regexp.MustCompile(`(?s)postrotate.*endscript`).ReplaceAllString(rules,
		fmt.Sprintf("postrotate\nkill -HUP %d\nendscript", d.Process.Pid))
	file := filepath.Join(t.TempDir(), "logrotate.conf")
	if err := os.WriteFile(file, []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	has := func(name, part string) func() bool {
		return func() bool {
			text, _ := os.ReadFile(filepath.Join(dir, name))
			return strings.Contains(string(text), part)
		}
	}
	d.Get(t, "/urn:book:before")
	testserver.Wait(t, "the request is logged", has("access.log", "urn:book:before"))
	if out, err := exec.Command(logrotate, "--force", "--state", filepath.Join(t.TempDir(), "state"),
		file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	d.WaitForLog(t, "configuration reloaded")
	d.Get(t, "/urn:book:after")
	testserver.Wait(t, "the next request is in the new file", has("access.log", "urn:book:after"))
	if !has("access.log.1", "urn:book:before")() || has("access.log", "urn:book:before")() ||
		has("access.log.1", "urn:book:after")() {
		t.Error("the lines are not where they belong")
	}
}

// TestAccessLogIsKept checks that a daily log gets a new file when urnd starts on another day, and that old
// files are removed.
func TestAccessLogIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const day = 24 * time.Hour
	now := time.Now()
	dated := func(ago int) string { return "access-" + now.AddDate(0, 0, -ago).Format("20060102") }
	for name, ago := range map[string]int{"access": 1, dated(2): 2, dated(9): 9} {
		path := filepath.Join(dir, name)
		at := now.AddDate(0, 0, -ago)
		if err := os.WriteFile(path, []byte("before\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		c.Log.Access = []config.AccessLog{{Format: "squid", File: filepath.Join(dir, "access"), Keep: 7 * day}}
	})
	d.Get(t, "/urn:ietf:rfc:2648")
	d.Stop()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if want := []string{"access", dated(2), dated(1)}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if text := urndtest.ReadFile(t, filepath.Join(dir, "access")); strings.Contains(text, "before") ||
		!strings.Contains(text, "urn:ietf:rfc:2648") {
		t.Errorf("%q", text)
	}
}
