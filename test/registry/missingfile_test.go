//go:build e2e

package registry

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestRegistryLost checks that a registry is created at the first start, which is logged once. If it is missing
// later, no other one is created, and this is reported everywhere.
func TestRegistryLost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	volume := filepath.Join(dir, "volume")
	path := filepath.Join(volume, "names.db")
	if err := os.Mkdir(volume, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "urnd.yaml")
	text := "listen: {service: ['127.0.0.1:0'], admin: '127.0.0.1:0'}\ndns: {servers: ['127.0.0.1:9']}\nlog: " +
		"{format: json}\n" +
		"registry: {store: 'sqlite:" + path + "'}\ncache: {directory: '" + dir + "'}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *urndtest.Daemon {
		return urndtest.StartCommand(t, exec.Command(urndtest.Binary(t), "serve", "--config", file))
	}
	l := start()
	const made = "registry created"
	testserver.Wait(t, "the registry is made", func() bool { return strings.Count(l.Log(), made) == 1 })
	if err := l.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	l.WaitForLog(t, "configuration reloaded")
	if out, err := urndtest.Run(t, "", "config", "check", file); err != nil ||
		strings.Contains(out, "registry.store: registry unavailable") {
		t.Errorf("%s, %v", out, err)
	}
	if err := os.Rename(volume, volume+".unmounted"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(volume, 0o700); err != nil {
		t.Fatal(err)
	}
	const lost = "registry-file shows that it existed"
	again := start()
	again.WaitForLog(t, lost)
	for _, args := range [][]string{
		{"registry", "set", "urn:example:a", "https://example.org/"},
		{"registry", "get", "urn:example:a"},
		{"registry", "stats"},
		{"registry", "backup", filepath.Join(dir, "b")},
		{"registry", "import", "--dry-run", "-"},
		{"registry", "verify"},
	} {
		if got := urndtest.RunWith(t, nil, "", append(args, "--config", file)...); got.Status == 0 ||
			!strings.Contains(got.Out+got.Err, lost) {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if got := urndtest.RunWith(t, nil, "", "config", "check", file); got.Status != 0 ||
		!strings.Contains(got.Err, "registry.store: registry unavailable: ") || !strings.Contains(got.Err, lost) {
		t.Errorf("%+v", got)
	}
	if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
		t.Errorf("there is %q", left)
	}
	if err := os.RemoveAll(volume); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(volume+".unmounted", volume); err != nil {
		t.Fatal(err)
	}
	again.WaitForLog(t, "registry available again")
	if n := strings.Count(again.Log(), made); n > 0 {
		t.Errorf("a registry was made %d times", n)
	}
}
