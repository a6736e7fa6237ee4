package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// A registry is made at the first start, which the log says once. Where it is missing later, nobody makes another one, and all say so.
func TestRegistryLost(t *testing.T) {
	dir := t.TempDir()
	volume := filepath.Join(dir, "volume")
	path := filepath.Join(volume, "names.db")
	if err := os.Mkdir(volume, 0o700); err != nil {
		t.Fatal(err)
	}
	l := start(t, "registry: {store: 'sqlite:"+path+"'}", "cache: {directory: '"+dir+"'}")
	const made = "there was no registry: an empty one was made"
	testserver.Wait(t, "the registry is made", func() bool { return l.logged(made) == 1 })
	if !l.reload(t) {
		t.Fatal("the reload is refused")
	}
	if out, err := run(t, "", "config", "check", l.file); err != nil || strings.Contains(out, "registry.store: the registry") {
		t.Errorf("%s, %v", out, err)
	}
	if err := os.Rename(volume, volume+".unmounted"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(volume, 0o700); err != nil {
		t.Fatal(err)
	}
	const lost = "registry-file shows that there was one"
	again := start(t, "registry: {store: 'sqlite:"+path+"'}", "cache: {directory: '"+dir+"'}")
	testserver.Wait(t, "it is not made again", func() bool { return again.logged(lost) > 0 })
	for _, args := range [][]string{
		{"registry", "set", "urn:example:a", "https://example.org/"},
		{"registry", "get", "urn:example:a"},
		{"registry", "stats"},
		{"registry", "backup", filepath.Join(dir, "b")},
		{"registry", "import", "--dry-run", "-"},
		{"registry", "verify"},
	} {
		out, err := run(t, "", append(args, "--config", again.file)...)
		if err == nil || !strings.Contains(out+err.Error(), lost) {
			t.Errorf("%q: %s, %v", args, out, err)
		}
	}
	var out, messages bytes.Buffer
	root := newRoot()
	root.SetArgs([]string{"config", "check", again.file})
	root.SetOut(&out)
	root.SetErr(&messages)
	if err := root.ExecuteContext(t.Context()); err != nil || !strings.Contains(messages.String(), "registry.store: the registry is not available: ") ||
		!strings.Contains(messages.String(), lost) {
		t.Errorf("%s, %v", messages.String(), err)
	}
	if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
		t.Errorf("there is %q", left)
	}
	if err := os.RemoveAll(volume); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(volume+".unmounted", volume); err != nil {
		t.Fatal(err)
	}
	testserver.Wait(t, "it is there again", func() bool { return again.logged("the registry can be asked again") > 0 })
	if n := again.logged(made); n > 0 {
		t.Errorf("a registry was made %d times", n)
	}
}
