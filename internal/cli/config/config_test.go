package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/clitest"
)

// The environment overrides the defaults, and flags override both.
func TestShow(t *testing.T) {
	t.Setenv("URND_DNS_TIMEOUT", "750ms")
	got, _, err := clitest.Run(t, Command(Wiring{}), "", "show", "--dns", "192.0.2.1")
	if err != nil || !strings.Contains(got, "timeout: 750ms") || !strings.Contains(got, "- 192.0.2.1:53") {
		t.Errorf("%s, %v", got, err)
	}
}

// The file of URND_CONFIG is read unless --config names another, or none.
func TestDefaultConfiguration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "urnd.yaml")
	if err := os.WriteFile(path, []byte("dns: {timeout: 7s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(cli.ConfigVariable, path)
	if out, _, err := clitest.Run(t, Command(Wiring{}), "", "show"); err != nil || !strings.Contains(out, "timeout: 7s") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, _, err := clitest.Run(t, Command(Wiring{}), "", "show", "--config", ""); err != nil || strings.Contains(out, "timeout: 7s") {
		t.Errorf("without a file: %v\n%s", err, out)
	}
}
