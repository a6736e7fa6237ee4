package testserver

import (
	"os"
	"path/filepath"
	"testing"
)

// AxeCore returns axe-core, a script that checks the accessibility of a page. If NodeModules does not contain
// it, the test is skipped.
func AxeCore(t testing.TB) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(NodeModules(t, "axe-core"), "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// AxeViolations returns the violations that axe-core, the script of AxeCore, finds on the current page: rules
// of WCAG 2.2, levels A and AA, and best practices.
func (c *Chromium) AxeViolations(t testing.TB, axe string) (violations []string) {
	t.Helper()
	// Passed rules and selectors are not reported.
	c.Evaluate(t, axe+`;axe.run({
		runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
		resultTypes: ["violations"], selectors: false,
	}).then(r => r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html + " " + n.failureSummary).join(" | ")))`, &violations)
	return violations
}
