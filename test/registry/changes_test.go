//go:build e2e

package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/test/urndtest"
)

// TestChangeIsAnsweredAtOnce checks that the daemon that made a change uses it immediately, regardless of its
// cache.
func TestChangeIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t)
	r.Put(t, registry.Name("urn:example:a"), registry.Record{Targets: urndtest.Targets("https://a.example/0")})
	r.Put(t, registry.Name("urn:example:alias"), registry.Record{Alias: "urn:example:a"})
	r.Put(t, registry.Prefix("urn:example:p:"), registry.Record{Targets: urndtest.Targets("https://a.example/0/")})
	w := r.Start(t, nil)
	w.Target(t, "urn:example:alias")
	w.Target(t, "urn:example:p:x")
	for i := range 10 {
		w.Target(t, "urn:example:a")
		body := fmt.Sprintf(`{"targets":[{"uri":"https://a.example/%d"}]}`, i+1)
		w.Change(t, "PATCH /api/v1/names?uri=urn:example:a", "application/merge-patch+json", body)
		for _, name := range []string{"urn:example:a", "urn:example:alias"} {
			if got, want := w.Target(t, name), fmt.Sprintf("https://a.example/%d", i+1); got != want {
				t.Errorf("%s leads to %s, want %s", name, got, want)
			}
		}
	}
	w.Change(t, "PATCH /api/v1/prefixes?uri=urn:example:p:", "application/merge-patch+json",
		`{"targets":[{"uri":"https://a.example/1/"}]}`)
	if got := w.Target(t, "urn:example:p:x"); got != "https://a.example/1/x" {
		t.Errorf("below the prefix it leads to %s", got)
	}
	w.Change(t, "POST /api/v1/names/withdraw?uri=urn:example:a", "application/json", `{"reason":"why"}`)
	if got := w.Target(t, "urn:example:alias"); got != "Gone" {
		t.Errorf("a withdrawn name leads to %s", got)
	}
}

// TestRegistryFileIsReplaced checks that a file replaced while the daemon is running is used from then on. If
// it is removed, no change is lost in the removed file, and no new file is created in its place.
func TestRegistryFileIsReplaced(t *testing.T) {
	t.Parallel()
	r, other := urndtest.NewRegistry(t), urndtest.NewRegistry(t)
	r.Put(t, registry.Name("urn:example:a"), registry.Record{Targets: urndtest.Targets("https://old.example/")})
	other.Put(t, registry.Name("urn:example:a"), registry.Record{Targets: urndtest.Targets("https://new.example/")})
	for _, of := range []urndtest.Registry{r, other} {
		if err := of.Store().Close(); err != nil { // all data is in the file then
			t.Fatal(err)
		}
	}
	w := r.Start(t, nil)
	if got := w.Target(t, "urn:example:a"); got != "https://old.example/" {
		t.Fatalf("it leads to %s", got)
	}
	move := func(from, to string) {
		t.Helper()
		for _, beside := range []string{"-wal", "-shm"} {
			_ = os.Remove(to + beside)
		}
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	move(other.Path, r.Path)
	testserver.Wait(t, "the new file is used",
		func() bool { return w.Target(t, "urn:example:a") == "https://new.example/" })

	away := filepath.Join(t.TempDir(), "away.db")
	move(r.Path, away)
	testserver.Wait(t, "readiness says that there is no file",
		func() bool { return strings.Contains(readiness(t, w), "file "+r.Path+" missing") })
	if got := w.Target(t, "urn:example:b"); got != "Service Unavailable" {
		t.Errorf("another name without a file: %s", got)
	}
	if _, err := os.Stat(r.Path); err == nil {
		t.Error("an empty file was made")
	}
	move(away, r.Path)
	testserver.Wait(t, "readiness says nothing any more",
		func() bool { return !strings.Contains(readiness(t, w), "registry") })
	if got := w.Target(t, "urn:example:a"); got != "https://new.example/" {
		t.Errorf("with the file again it leads to %s", got)
	}
}
