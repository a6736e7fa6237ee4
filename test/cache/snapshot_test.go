//go:build e2e

package cache

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// counted counts the queries below a name, and forwards them to next.
func counted(name string, n *atomic.Int32, next dns.HandlerFunc) dns.HandlerFunc {
	return func(w dns.ResponseWriter, question *dns.Msg) {
		if strings.EqualFold(question.Question[0].Name, name) {
			n.Add(1)
		}
		next(w, question)
	}
}

// savedIn makes urnd save answers in a directory.
func savedIn(directory string, changes ...func(*config.Config)) func(*config.Config) {
	return func(c *config.Config) {
		c.Cache.Directory = directory
		for _, change := range changes {
			change(c)
		}
	}
}

// restored waits until urnd has restored answers.
func restored(t *testing.T, d *urndtest.Daemon) {
	t.Helper()
	d.WaitForLog(t, "snapshot of answers restored")
}

// aged returns a snapshot as if saved earlier. Its lines contain the expiry of answers, and the last one is
// their SHA-256.
func aged(t *testing.T, text string, by time.Duration) string {
	t.Helper()
	lines := text[:strings.LastIndexByte(text[:len(text)-1], '\n')+1]
	lines = regexp.MustCompile(`"expires":\d+`).ReplaceAllStringFunc(lines, func(field string) string {
		at, err := strconv.ParseInt(strings.TrimPrefix(field, `"expires":`), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`"expires":%d`, at-int64(by/time.Second))
	})
	return fmt.Sprintf("%s%x\n", lines, sha256.Sum256([]byte(lines)))
}

func TestWarmRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "answers")
	var requested atomic.Int32
	addr := urndtest.UDPAndTCP(counted("name.urn.example.org.", &requested, urndtest.Zone(t,
		strings.Replace(urndtest.ExampleRule, " 60 IN ", " 3600 IN ", 1)))).Serve(t)
	first := urndtest.Start(t, addr, savedIn(dir))
	if got := first.Get(t, "/urn:name:1"); got.CacheControl != "max-age=3600" || requested.Load() != 1 {
		t.Fatalf("%+v, after %d questions", got, requested.Load())
	}
	first.Get(t, "/urn:isbn:0-395-36341-1")
	first.Get(t, "/urn:none:1") // negative answers are not saved
	first.Stop()
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if _, err := os.Stat(file + ".new"); !os.IsNotExist(err) {
		t.Errorf("the temporary file is still there: %v", err)
	}
	text := urndtest.ReadFile(t, file)
	for _, tt := range []struct {
		by        time.Duration
		left      int // seconds, if no new query is needed
		requested int32
	}{
		{0, 3600, 0},
		{20 * time.Minute, 2400, 0},
		{59 * time.Minute, 60, 0},
		{-time.Hour, 3600, 1},
		{time.Hour, 3600, 1},
	} {
		copied := t.TempDir()
		saved := text
		if tt.by != 0 {
			saved = aged(t, text, tt.by)
		}
		if err := os.WriteFile(filepath.Join(copied, "answers"), []byte(saved), 0o600); err != nil {
			t.Fatal(err)
		}
		requested.Store(0)
		w := urndtest.Start(t, addr, savedIn(copied, func(c *config.Config) { // settings without effect on answers
			c.Cache.Answers, c.Limits.Requests, c.Log.Level = 2<<20, 7, -4
		}))
		restored(t, w)
		got := w.Get(t, "/URN:name:1")
		left, err := strconv.Atoi(strings.TrimPrefix(got.CacheControl, "max-age="))
		if got.Status != 302 || err != nil || left > tt.left || left < tt.left-59 || requested.Load() != tt.requested {
			t.Errorf("after %s: %+v, after %d questions", tt.by, got, requested.Load())
		}
		// If the clock was set back, the age of an answer is unknown.
		if got := w.Get(t, "/urn:isbn:0395363411"); strings.HasPrefix(got.CacheStatus, "urnd; hit") != (tt.by >= 0) {
			t.Errorf("after %s: %+v", tt.by, got)
		}
		w.ExpectMetrics(t, `cache_entries{cache="answers"} 2`)
		w.Stop()
	}
}

// TestInvalidSnapshots checks that an invalid file is renamed and logged; urnd starts as if it did not exist.
func TestInvalidSnapshots(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addr := urndtest.UDPAndTCP(urndtest.Zone(t, urndtest.ExampleRule)).Serve(t)
	first := urndtest.Start(t, addr, savedIn(dir))
	first.CacheStates(t, "/urn:name:1", "/urn:name:2")
	first.Stop()
	good := urndtest.ReadFile(t, filepath.Join(dir, "answers"))
	if strings.Count(good, "\n") != 4 {
		t.Fatalf("%s", good)
	}
	for name, tt := range map[string]struct {
		text    string
		change  func(*config.Config)
		message string
	}{
		"empty":   {"", nil, "another configuration or version"},
		"cut off": {good[:len(good)-10], nil, "damaged"},
		"a line less": {good[:strings.Index(good, "\n")+1] +
			good[strings.Index(good, "\n{")+1:][strings.Index(good[strings.Index(good, "\n{")+1:],
				"\n")+1:], nil, "damaged"},
		"another place":     {strings.ReplaceAll(good, "a.example", "b.example"), nil, "damaged"},
		"something else":    {"\x7fELF" + strings.Repeat("\x00", 4096), nil, "another configuration or version"},
		"one line for ever": {"urnd answers 1 " + strings.Repeat("a", 3<<20), nil, "another configuration or version"},
		"other roots": {
			good, func(c *config.Config) { c.DDDS.Roots = append(c.DDDS.Roots, "urn.example.net.") },
			"another configuration",
		},
		"other namespaces": {
			good,
			func(c *config.Config) { c.Namespaces = []config.Namespace{{NID: "name", Order: []string{"ddds"}}} },
			"another configuration",
		},
		"other destinations": {good, urndtest.OpenLoopback, "another configuration"},
		"other servers": {
			good, func(c *config.Config) { c.DNS.Servers = append(c.DNS.Servers, c.DNS.Servers[0]) },
			"another configuration",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "answers")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			w := urndtest.Start(t, addr, savedIn(dir, func(c *config.Config) {
				if tt.change != nil {
					tt.change(c)
				}
			}))
			w.WaitForLog(t, "invalid, renamed")
			if got := w.Get(t, "/urn:name:1"); got.Status != 302 ||
				got.CacheStatus != "urnd; fwd=uri-miss; stored; ttl=60" {
				t.Errorf("%+v", got)
			}
			if urndtest.ReadFile(t, file+".bad") != tt.text {
				t.Error("the renamed file is not the invalid snapshot")
			}
			var warned []string
			for line := range strings.Lines(w.Log()) {
				if strings.Contains(line, `"level":"WARN"`) {
					warned = append(warned, line)
				}
			}
			if all := strings.Join(warned, ""); !strings.Contains(all, tt.message) ||
				!strings.Contains(all, file+".bad") {
				t.Errorf("%q", warned)
			}
			w.Stop()
			if text := urndtest.ReadFile(t, file); strings.Count(text, "\n") != 3 {
				t.Errorf("no snapshot was saved at the end: %s", text)
			}
		})
	}
}

// TestStopWhileRestoring checks that urnd can stop while it waits for a registry that cannot be opened, from
// which it would learn which saved answers belong to its names, and that it keeps them.
func TestStopWhileRestoring(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addr := urndtest.UDPAndTCP(urndtest.Zone(t, urndtest.ExampleRule)).Serve(t)
	file, store := filepath.Join(dir, "answers"), filepath.Join(dir, "registry.db")
	withRegistry := savedIn(dir,
		func(c *config.Config) { c.Registry.Store, c.Registry.Owned = "sqlite:"+store, []string{"urn:own:"} })
	first := urndtest.Start(t, addr, withRegistry)
	first.CacheStates(t, "/urn:name:1", "/urn:name:2")
	first.Stop()
	saved, names := urndtest.ReadFile(t, file), urndtest.ReadFile(t, store)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(store, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("that of another program")
	second := urndtest.Start(t, addr, withRegistry)
	second.WaitForLog(t, "registry unavailable")
	testserver.Within(t, "stopping", second.Stop)
	if second.WaitForLog(t, "snapshot of answers partly restored"); urndtest.ReadFile(t, file) != saved {
		t.Errorf("the saved answers have become %s", urndtest.ReadFile(t, file))
	}
	write(names)
	third := urndtest.Start(t, addr, withRegistry)
	restored(t, third)
	if got := third.CacheStates(t, "/urn:name:1", "/urn:name:2"); got != "hit hit" {
		t.Errorf("saved answers are %s", got)
	}
}

func TestSavedAnswersAreBounded(t *testing.T) {
	t.Parallel()
	addr := urndtest.UDPAndTCP(urndtest.Zone(t, urndtest.ExampleRule)).Serve(t)
	for most, want := range map[config.Size]func(n int) bool{
		0: func(n int) bool { return n == 0 }, 1 << 10: func(n int) bool { return n > 0 && n < 10 },
		1 << 20: func(n int) bool { return n == 50 },
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "answers")
		bound := func(c *config.Config) { c.Cache.MaxSaved = most }
		w := urndtest.Start(t, addr, savedIn(dir, bound))
		for i := range 50 {
			w.Get(t, fmt.Sprintf("/urn:name:%d", i))
		}
		w.Stop()
		info, err := os.Stat(file)
		if most == 0 {
			if !os.IsNotExist(err) {
				t.Errorf("there is a snapshot with a maximum of 0: %v", err)
			}
			continue
		}
		if err != nil || info.Size() > int64(most) || !want(strings.Count(urndtest.ReadFile(t, file), "\n")-2) {
			t.Errorf("at most %d: %v, %v", most, info, err)
		}
		again := urndtest.Start(t, addr, savedIn(dir, bound))
		restored(t, again)
	}
}

// TestPipeInPlaceOfSnapshot checks that a named pipe in place of a snapshot delays neither the start, nor
// requests, nor the shutdown, which replaces it.
func TestPipeInPlaceOfSnapshot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "answers")
	for _, pipe := range []string{path, path + ".new"} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := urndtest.Start(t, urndtest.UDPAndTCP(urndtest.Zone(t, urndtest.ExampleRule)).Serve(t), savedIn(dir)) // ready
	if got := w.Get(t, "/urn:name:1"); got.Status != 302 {
		t.Errorf("%+v", got)
	}
	w.WaitForLog(t, "not a regular file")
	w.Reload(t, func(*config.Config) {})
	w.WaitForLog(t, "configuration reloaded")
	w.Stop()
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() ||
		!strings.Contains(w.Log(), "snapshot of answers saved") {
		t.Errorf("%v, %v", info, err)
	}
}

// TestSavingFails checks that a failure to save a snapshot is only logged as a warning.
func TestSavingFails(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"/nonexistent/urnd", writeFile(t, "file", "")} {
		w := urndtest.Start(t, "127.0.0.1:9", savedIn(dir))
		w.Get(t, "/urn:ietf:rfc:1")
		w.Stop()
		if !strings.Contains(w.Log(), "saving the snapshot of answers failed") ||
			!strings.Contains(w.Log(), "urnd has stopped") {
			t.Errorf("%s: %s", dir, w.Log())
		}
	}
}
