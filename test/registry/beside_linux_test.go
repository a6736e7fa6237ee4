//go:build e2e

package registry

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// set changes a name through the API.
func set(t *testing.T, d *urndtest.Daemon, name, target string) urndtest.Response {
	t.Helper()
	return urndtest.Send(t, "PATCH "+d.Admin+"/api/v1/names?uri="+name, fmt.Sprintf(`{"targets":[{"uri":%q}]}`, target),
		"Content-Type: application/merge-patch+json")
}

// TestCommandsBesideDaemon checks that a command and urnd can change names concurrently: each sees the changes
// of the other.
func TestCommandsBesideDaemon(t *testing.T) {
	onBoth(t, func(t *testing.T, newStore func(t *testing.T, name string) store) {
		s := newStore(t, "names")
		s.run(t, "set", "urn:example:a", "https://example.org/0")
		d := s.serve(t)
		for i := range 10 {
			answers(t, d, "urn:example:a", fmt.Sprint("https://example.org/", 2*i))
			if got := set(t, d, "urn:example:a", fmt.Sprint("https://example.org/", 2*i+1)); got.Status != 200 {
				t.Fatalf("%+v", got)
			}
			if got := s.run(t, "get", "urn:example:a"); !strings.Contains(got,
				fmt.Sprintf("https://example.org/%d\n", 2*i+1)) {
				t.Errorf("get: %s", got)
			}
			s.run(t, "set", "urn:example:a", fmt.Sprint("https://example.org/", 2*i+2))
		}
		if got := s.head(t); got != 21 {
			t.Errorf("the last number is %d", got)
		}
		s.sound(t)
	})
}

// TestNoChangesOnDisk checks that with a full or read-only disk names are resolved, and changes are rejected by
// urnd and by commands. Commands and the log report the reason. Afterwards everything works again.
func TestNoChangesOnDisk(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		begin   func(t testing.TB, dir string) (end func())
		message string
		first   bool // before urnd is started: mount(2) cannot make a file system with open writers read-only
	}{
		"full":      {testserver.Fill, "no space left", false},
		"read-only": {readOnly, "read-only", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := testserver.SmallDisk(t)
			s := fileStore(filepath.Join(dir, "names.db"))
			for _, name := range []string{"a", "b", "c"} {
				s.run(t, "set", "urn:example:"+name, "https://example.org/"+name)
			}
			var end func()
			if tt.first {
				end = tt.begin(t, dir)
			}
			d := s.serve(t)
			if !tt.first {
				end = tt.begin(t, dir)
			}
			answers(t, d, "urn:example:a", "https://example.org/a")
			refused := set(t, d, "urn:example:a", "https://example.org/new")
			if refused.Status != 503 && refused.Status != 507 {
				t.Errorf("PATCH: %+v", refused)
			}
			if !strings.Contains(refused.Body, tt.message) || strings.Contains(refused.Body, dir) {
				t.Errorf("PATCH: its answer does not say that there is %s, or names the file: %s", tt.message,
					refused.Body)
			}
			d.WaitForLog(t, tt.message)
			if got := s.try(t, "set", "urn:example:a", "https://example.org/new"); got.Status != 1 ||
				!strings.Contains(got.Err, tt.message) {
				t.Errorf("set: %+v", got)
			}
			testserver.Wait(t, "readiness says that changes are refused",
				func() bool { return strings.Contains(readiness(t, d), "registry") })
			answers(t, d, "urn:example:a", "https://example.org/a")
			answers(t, d, "urn:example:b", "https://example.org/b") // not requested before
			if got := s.run(t, "get", "urn:example:c"); !strings.Contains(got, "https://example.org/c") {
				t.Errorf("get: %s", got)
			}
			end()
			testserver.Wait(t, "changes are accepted",
				func() bool { return set(t, d, "urn:example:a", "https://example.org/new").Status == 200 })
			answers(t, d, "urn:example:a", "https://example.org/new")
			testserver.Wait(t, "readiness says nothing any more",
				func() bool { return !strings.Contains(readiness(t, d), "registry") })
			s.run(t, "set", "urn:example:b", "https://example.org/new")
			answers(t, d, "urn:example:b", "https://example.org/new")
			s.sound(t)
		})
	}
}

// readOnly makes a file system of SmallDisk read-only until the returned function is called.
func readOnly(t testing.TB, dir string) (end func()) {
	t.Helper()
	mount := func(flags uintptr) {
		t.Helper()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	mount(syscall.MS_RDONLY)
	return func() { t.Helper(); mount(0) }
}
