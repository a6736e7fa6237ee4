package testserver

import (
	"os"
	"path/filepath"
	"testing"
)

// NodeModules returns the folder of packages installed by npm.sh, or that of the environment variable
// URND_NODE_MODULES. If a package is missing, the test is skipped, or fails if the environment variable CI is
// not empty and npm was reachable.
func NodeModules(t testing.TB, packages ...string) string {
	t.Helper()
	modules := os.Getenv("URND_NODE_MODULES")
	if modules == "" {
		modules = "/usr/local/share/urnd-npm/node_modules"
	}
	for _, name := range packages {
		_, err := os.Stat(filepath.Join(modules, name, "package.json"))
		if err == nil {
			continue
		}
		_, unreachable := os.Stat(filepath.Join(filepath.Dir(modules), "unreachable"))
		const missing = "%s is not there: run internal/testserver/npm.sh as root, or set URND_NODE_MODULES: %v"
		if os.Getenv("CI") != "" && unreachable != nil {
			t.Fatalf(missing, name, err)
		}
		t.Skipf(missing, name, err)
	}
	return modules
}
