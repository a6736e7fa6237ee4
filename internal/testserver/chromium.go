package testserver

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"testing"
)

// ChromiumDOM returns the document at a URL as Chromium has it after its scripts have run. flags are
// those of Chromium, such as "--proxy-server=http://127.0.0.1:8141". It uses no profile but an own one.
func ChromiumDOM(t testing.TB, url string, flags ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*Patience) // it takes seconds to start
	defer cancel()
	profile := t.TempDir()
	arguments := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
		"--disable-component-update", "--no-first-run", "--disable-extensions", "--disable-features=HttpsUpgrades",
		"--user-data-dir=" + profile, "--disk-cache-dir=" + filepath.Join(profile, "cache"), "--timeout=15000", "--dump-dom",
	}, flags...)
	cmd := exec.CommandContext(ctx, Need(t, "chromium"), append(arguments, url)...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	dieWithParent(cmd)
	cmd.WaitDelay = Patience // its own processes hold its output
	if err := cmd.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, log.String())
	}
	return out.String()
}
