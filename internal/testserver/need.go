// Package testserver starts real servers and browsers for tests, on loopback and free ports, and stops them
// when the test ends: DNS (BIND), HTTP servers and proxies, FTP, NNTP, gopher, finger, SLP (RFC 2608), Z39.50,
// LDAP, Kerberos, ACME, PostgreSQL, Redis, Chromium and Firefox. A test passes itself and a configuration; it
// receives an address, and often the log of the server.
//
// install.sh installs the programs. If one is missing, its tests are skipped, except in CI, where they fail: a
// skip would hide that nothing was tested.
package testserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Need returns the path of the program called binary. If it is missing, the test is
// skipped, or fails if the environment variable CI is not empty.
func Need(t testing.TB, binary string) string {
	t.Helper()
	// The PATH of an ordinary user lacks the folders of daemons.
	for _, dir := range []string{"", "/usr/local/sbin", "/usr/sbin", "/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, binary)); err == nil {
			return path
		}
	}
	const missing = "%s is not installed: run internal/testserver/install.sh as root"
	if os.Getenv("CI") != "" {
		t.Fatalf(missing, binary)
	}
	t.Skipf(missing, binary)
	return ""
}
