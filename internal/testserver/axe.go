package testserver

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// axeSum is the SHA-256 of axe.min.js of axe-core 4.14.1, which axe.sh fetches.
const axeSum = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"

// AxeCore returns axe-core, a script that finds what in a page keeps people with disabilities from using it. It is the file of the
// environment variable URND_AXE, or what axe.sh has fetched. If it is missing, the test is skipped, or fails if the environment
// variable CI is not empty and npm could be reached.
func AxeCore(t testing.TB) string {
	t.Helper()
	path := os.Getenv("URND_AXE")
	if path == "" {
		path = "/usr/local/share/axe-core/axe.min.js"
	}
	script, err := os.ReadFile(path)
	if err != nil {
		_, unreachable := os.Stat(filepath.Join(filepath.Dir(path), "unreachable"))
		const missing = "axe-core is not there: run internal/testserver/axe.sh as root, or set URND_AXE: %v"
		if os.Getenv("CI") != "" && unreachable != nil {
			t.Fatalf(missing, err)
		}
		t.Skipf(missing, err)
	}
	if sum := sha256.Sum256(script); hex.EncodeToString(sum[:]) != axeSum {
		t.Fatalf("%s is not that of axe-core 4.14.1", path)
	}
	return string(script)
}

// AxeViolations returns what axe-core, the script of AxeCore, finds on the page that is shown: rules of WCAG 2.2, levels A and AA, and
// what is good practice besides.
func (c *Chromium) AxeViolations(t testing.TB, axe string) (violations []string) {
	t.Helper()
	// It describes no elements that pass, and none by a selector.
	c.Evaluate(t, axe+`;axe.run({
		runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"], selectors: false,
	}).then(r => r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html + " " + n.failureSummary).join(" | ")))`, &violations)
	return violations
}
