//go:build e2e

package proxy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// The file of the package rotates the access log, and no line of it is lost.
func TestLogrotate(t *testing.T) {
	t.Parallel()
	logrotate := testserver.Need(t, "logrotate")
	dir := t.TempDir()
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		c.Log.Access, c.Namespaces = []config.AccessLog{{Format: "combined", File: filepath.Join(dir, "access.log")}}, []config.Namespace{book("a")}
	})
	text, err := os.ReadFile(filepath.Join(urndtest.Root(), "packaging/logrotate"))
	if err != nil {
		t.Fatal(err)
	}
	rules := strings.ReplaceAll(string(text), "/var/log/urnd/", dir+"/")
	rules = regexp.MustCompile(`(?s)postrotate.*endscript`).ReplaceAllString(rules, fmt.Sprintf("postrotate\nkill -HUP %d\nendscript", d.Process.Pid))
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
	if out, err := exec.Command(logrotate, "--force", "--state", filepath.Join(t.TempDir(), "state"), file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	d.WaitForLog(t, "was reloaded")
	d.Get(t, "/urn:book:after")
	testserver.Wait(t, "the next request is in the new file", has("access.log", "urn:book:after"))
	if !has("access.log.1", "urn:book:before")() || has("access.log", "urn:book:before")() || has("access.log.1", "urn:book:after")() {
		t.Error("the lines are not where they belong")
	}
}
