package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/clitest"
)

// The environment overrides the defaults, and flags override both. Only values that differ from the defaults
// are shown, unless --all is given.
func TestShow(t *testing.T) {
	show := func(args ...string) string {
		got, _, err := clitest.Run(t, Command(Wiring{}), "", append([]string{"show", "--config", ""}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := show(); got != "# All settings have their defaults: --all shows them.\n" {
		t.Errorf("defaults: %s", got)
	}
	t.Setenv("URND_DNS_TIMEOUT", "750ms")
	t.Setenv("URND_DNS_ROUNDS", "2") // equal to the default
	if got, want := show("--dns",
		"192.0.2.1"), "dns:\n  servers:\n    - 192.0.2.1:53\n  timeout: 750ms\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := show("--origin"), "dns.timeout                750ms (environment URND_DNS_TIMEOUT)\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	all := show("--all")
	path := filepath.Join(t.TempDir(), "urnd.yaml")
	if err := os.WriteFile(path, []byte(all), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := config.Load(path, nil); err != nil || c.DNS.Timeout != 750*time.Millisecond ||
		!strings.Contains(all, "rounds: 2") {
		t.Errorf("the output is not a configuration: %v\n%s", err, all)
	}
	if got := show("--all", "--origin"); !strings.Contains(got,
		"dns.rounds                 2 (environment URND_DNS_ROUNDS)\n") || !strings.Contains(got, "(default)") {
		t.Errorf("all origins: %s", got)
	}
}

// The file named by URND_CONFIG is read, unless --config names another one, or none.
func TestDefaultConfiguration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "urnd.yaml")
	if err := os.WriteFile(path, []byte("dns: {timeout: 7s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(cli.ConfigVariable, path)
	if out, _, err := clitest.Run(t, Command(Wiring{}), "", "show"); err != nil ||
		!strings.Contains(out, "timeout: 7s") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, _, err := clitest.Run(t, Command(Wiring{}), "", "show", "--config", ""); err != nil ||
		strings.Contains(out, "timeout: 7s") {
		t.Errorf("without a file: %v\n%s", err, out)
	}
}

// A setting is explained as text, as a row and as a document. An unknown setting is a usage error with a
// suggestion.
func TestExplain(t *testing.T) {
	for args, want := range map[string]string{
		"log.level":                      "log.level\n  ",
		"log.level --output json":        `{"setting":"log.level","doc":"`,
		"log.level tls.key --output csv": "setting,doc,values,default,variable,reload,sample\nlog.level,",
		"--output csv":                   "\nnamespaces,",
		"watch reload":                   "\n\nreload\n  ",
		"log.leval": "urnd: log.leval: unknown key; did you mean log.level?\nhint: urnd " +
			"config explain prints all settings\n",
		"log.level.x --output=json log.lvl": "urnd: log.level.x: unknown key",
	} {
		out, messages, err := clitest.Run(t, Command(Wiring{}), "",
			append([]string{"explain"}, strings.Fields(args)...)...)
		status := 0
		if err != nil {
			out, status = out+messages, cli.StatusOf(err)
		}
		if wrong := strings.HasPrefix(want, "urnd:"); !strings.Contains(out, want) ||
			(status == cli.StatusUsage) != wrong {
			t.Errorf("%s: %d, %s, want %s", args, status, out, want)
		}
	}
}

// A configuration of Squid is converted; lost directives are a table on standard error, with exit status 1.
func TestImport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "squid.conf")
	for text, lost := range map[string]string{
		"acl office src 10.1.0.0/16\nhttp_access allow office\n": "",
		"acl office src 10.1.0.0/16\nhttp_access allow office\ndelay_pools 1\n": "LINE          DIRECTIVE    WHY    " +
			"  INSTEAD\n" +
			"squid.conf:3  delay_pools  missing  limits.rate and limits.client_share\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, messages, err := clitest.Run(t, Command(Wiring{}), "", "import", path)
		if messages != lost || (err != nil) != (lost != "") ||
			!strings.Contains(out, "  proxy_clients: [10.1.0.0/16]\n") {
			t.Errorf("%s: %v, %s\n%s", text, err, messages, out)
		}
	}
}
