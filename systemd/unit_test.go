package systemd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// maxExposure is the greatest exposure level allowed, on the scale of systemd-analyze
// from 0 to 10.
const maxExposure = 1.5

func TestUnitIsClosed(t *testing.T) {
	testserver.Need(t, "systemd-analyze")
	out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--no-pager", "urnd.service").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	level := regexp.MustCompile(`Overall exposure level for urnd.service: ([0-9.]+)`).FindSubmatch(out)
	if level == nil {
		t.Fatalf("no exposure level in the output:\n%s", out)
	}
	if exposed, err := strconv.ParseFloat(string(level[1]), 64); err != nil || exposed > maxExposure {
		t.Errorf("the exposure level is %s, want at most %.1f:\n%s", level[1], maxExposure, out)
	}
}

// systemd finds no errors in the units, with a program that exists.
func TestUnitsVerify(t *testing.T) {
	testserver.Need(t, "systemd-analyze")
	dir := t.TempDir()
	for _, name := range []string{"urnd.service", "urnd.socket"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		replaced := strings.ReplaceAll(string(text), "/usr/bin/urnd", "/bin/true")
		if err := os.WriteFile(filepath.Join(dir, name), []byte(replaced), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", filepath.Join(dir, "urnd.service"), filepath.Join(dir,
		"urnd.socket")).CombinedOutput()
	if err != nil || strings.Contains(string(out), "urnd.") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The unit passes on the credentials that a configuration can name.
func TestUnitPassesCredentials(t *testing.T) {
	text, err := os.ReadFile("urnd.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Type=notify\n", "WatchdogSec=", "DynamicUser=yes\n", "StateDirectory=urnd\n", "CacheDirectory=urnd\n", "ExecReload=/bin/kill -HUP $MAINPID\n",
		"Restart=on-failure\n",
		"LoadCredential=admin-token:", "LoadCredential=proxy-users:", "LoadCredential=certificate:", "LoadCredential=key:", "LoadCredential=news-login:",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the unit has no line %q", want)
		}
	}
}

// It passes on those that the example of all settings and the recipes name.
func TestUnitPassesCredentialsOfDocuments(t *testing.T) {
	unit, err := os.ReadFile("urnd.service")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, document := range []string{
		"../config/example.yaml", "../docs/recipes.md", "../docs/operations.md", "../docs/proxy.md",
		"../docs/registry-operations.md",
	} {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`credential:([a-z][a-z-]*)`).FindAllSubmatch(text, -1) {
			found++
			if line := "LoadCredential=" + string(name[1]) + ":urnd." + string(name[1]) + "\n"; !strings.Contains(string(unit), line) {
				t.Errorf("%s: the unit has no %s", document, line)
			}
		}
	}
	if found == 0 {
		t.Error("no document names a credential")
	}
}
