package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// serving are the files of this package that serve.
func serving() []string {
	return []string{
		"wire_admin.go", "wire_browse.go", "wire_cdn.go", "wire_commands.go", "wire_endpoints.go", "wire_gateways.go", "wire_generation.go",
		"wire_identifiers.go", "wire_pages.go", "wire_peers.go", "wire_proxy.go", "wire_service.go", "wire_sharedresponses.go", "wire_spaces.go", "wire_status.go",
	}
}

// copyWithout copies the module without its tests, and without what skip names.
func copyWithout(t *testing.T, skip func(path string) bool) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	err = filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && relative != "." || entry.Name() == "testdata" || skip(relative)):
			return filepath.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, relative), 0o755)
		case strings.HasSuffix(path, "_test.go") || skip(relative):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, relative), text, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// Without the proxy, the daemon and the commands that serve, all else builds, and urnd
// resolve answers: knowledge points down.
func TestWithoutService(t *testing.T) {
	dir := copyWithout(t, func(path string) bool {
		return path == "proxy" || path == "internal/daemon" || path == "internal/observe/requests" || path == "internal/cli/access" ||
			path == "internal/bench" || path == "internal/tools" ||
			filepath.Dir(path) == filepath.Join("cmd", "urnd") && slices.Contains(serving(), filepath.Base(path))
	})
	path := filepath.Join(dir, "cmd", "urnd", "main.go")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const commands = "\troot.AddCommand(serviceCommands()...)\n"
	without := strings.Replace(string(text), commands, "", 1)
	if without == string(text) {
		t.Fatalf("main.go does not add %s", commands)
	}
	if err := os.WriteFile(path, []byte(without), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "URND_DDDS_ENABLED=false")
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, text)
		}
		return string(text)
	}
	run("go", "vet", "-mod=mod", "./...")
	run("go", "build", "-pgo=off", "-mod=mod", "-o", "urnd", "./cmd/urnd")
	if got := run("./urnd", "resolve", "urn:ietf:rfc:2648"); got != "https://www.rfc-editor.org/info/rfc2648\n" {
		t.Errorf("got %q", got)
	}
}

// A configuration with secrets of the service and of the administration does not stop a
// command that only resolves.
func TestResolveNeedsNoSecrets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "urnd.yaml")
	text := "access: {admin_token: 'credential:admin-token', proxy_users: 'credential:proxy-users'}\n" +
		"listen: {tls: '127.0.0.1:0'}\ntls: {certificate: 'credential:certificate', key: 'credential:key'}\n" +
		"log: {access: json, access_file: /nowhere/access}\nddds: {enabled: false}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs([]string{"resolve", "--config", path, "urn:ietf:rfc:2648"})
	if err := root.ExecuteContext(t.Context()); err != nil || out.String() != "https://www.rfc-editor.org/info/rfc2648\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}
