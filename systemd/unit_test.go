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

// maxExposure is the maximum exposure level of a unit, on the scale of systemd-analyze from 0 to 10.
const maxExposure = 1.5

// unitsIn writes the units, with an existing program and an instance of the template, to a directory.
func unitsIn(t *testing.T) (directory string) {
	t.Helper()
	directory = t.TempDir()
	for name, unit := range map[string]string{
		"urnd.service": "urnd.service", "urnd@north.service": "urnd@.service", "urnd.socket": "urnd.socket",
		"urnd-https.socket": "urnd-https.socket",
	} {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		replaced := strings.ReplaceAll(string(text), "/usr/bin/urnd", "/bin/true")
		if err := os.WriteFile(filepath.Join(directory, name), []byte(replaced), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

func TestUnitIsClosed(t *testing.T) {
	testserver.Need(t, "systemd-analyze")
	directory := unitsIn(t)
	for _, unit := range []string{"urnd.service", "urnd@north.service"} {
		out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--no-pager",
			filepath.Join(directory, unit)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		level := regexp.MustCompile(`Overall exposure level for ` + regexp.QuoteMeta(unit) +
			`: ([0-9.]+)`).FindSubmatch(out)
		if level == nil {
			t.Fatalf("no exposure level in the output:\n%s", out)
		}
		if exposed, err := strconv.ParseFloat(string(level[1]), 64); err != nil || exposed > maxExposure {
			t.Errorf("the exposure level of %s is %s, want at most %.1f:\n%s", unit, level[1], maxExposure, out)
		}
	}
}

// systemd-analyze finds no errors in the units.
func TestUnitsVerify(t *testing.T) {
	testserver.Need(t, "systemd-analyze")
	directory := unitsIn(t)
	for _, unit := range []string{"urnd.service", "urnd@north.service", "urnd.socket", "urnd-https.socket"} {
		out, err := exec.Command("systemd-analyze", "verify", "--man=no", "--recursive-errors=no",
			filepath.Join(directory, unit)).CombinedOutput()
		if err != nil || strings.Contains(string(out), "urnd") {
			t.Errorf("%s: %v\n%s", unit, err, out)
		}
	}
}

// An instance is confined like the service, and uses its own names: all other lines equal those of
// urnd.service.
func TestInstanceIsTheService(t *testing.T) {
	lines := func(unit string) string {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(string(text), "")
	}
	want := lines("urnd.service")
	for _, change := range [][2]string{
		{`(?m)^(Description=.*)$`, "$1, instance %i"},
		{`/etc/urnd/urnd\.yaml`, "/etc/urnd/%i.yaml"},
		{`(?m)^((?:State|Cache|Runtime|Logs)Directory=urnd)$`, "$1-%i"},
		{`(?m)^(LoadCredential=[a-z-]+:urnd)\.`, "$1-%i."},
	} {
		want = regexp.MustCompile(change[0]).ReplaceAllString(want, change[1])
	}
	if got := lines("urnd@.service"); got != want {
		t.Errorf("urnd@.service is\n%s\nwant\n%s", got, want)
	}
}

// The unit passes the credentials that a configuration can refer to.
func TestUnitPassesCredentials(t *testing.T) {
	text, err := os.ReadFile("urnd.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Type=notify\n", "WatchdogSec=", "DynamicUser=yes\n", "StateDirectory=urnd\n", "CacheDirectory=urnd\n",
		"ExecReload=/bin/kill -HUP $MAINPID\n",
		"Restart=on-failure\n",
		"LoadCredential=admin-token:", "LoadCredential=proxy-users:", "LoadCredential=certificate:",
		"LoadCredential=key:", "LoadCredential=news-login:",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the unit has no line %q", want)
		}
	}
}

// The unit passes the credentials in the example of all settings and in the documentation.
func TestUnitPassesCredentialsOfDocuments(t *testing.T) {
	unit, err := os.ReadFile("urnd.service")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, document := range []string{
		"../config/example.yaml", "../docs/recipes.md", "../docs/operations.md", "../docs/proxy.md",
		"../docs/registry-operations.md", "../docs/scale.md", "../docs/gateways.md",
	} {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`credential:([a-z][a-z-]*)`).FindAllSubmatch(text, -1) {
			found++
			if line := "LoadCredential=" + string(name[1]) + ":urnd." + string(name[1]) +
				"\n"; !strings.Contains(string(unit), line) {
				t.Errorf("%s: the unit has no %s", document, line)
			}
		}
	}
	if found == 0 {
		t.Error("no document names a credential")
	}
}
