package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
)

// counted counts the questions below a name, and lets next answer them.
func counted(name string, n *atomic.Int32, next dns.HandlerFunc) dns.HandlerFunc {
	return func(w dns.ResponseWriter, question *dns.Msg) {
		if strings.EqualFold(question.Question[0].Name, name) {
			n.Add(1)
		}
		next(w, question)
	}
}

// savedIn lets urnd keep answers in a directory.
func savedIn(directory string, changes ...func(*config.Config)) func(*config.Config) {
	return func(c *config.Config) {
		c.Cache.Directory = directory
		for _, change := range changes {
			change(c)
		}
	}
}

func (w *testDaemon) answersRestored(t *testing.T) {
	t.Helper()
	w.waitForLog(t, "answers were restored")
}

func TestWarmRestart(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "answers")
	var asked atomic.Int32
	addr := udpAndTCP(counted("name.urn.example.org.", &asked, zone(t, oneRule))).serve(t)
	first := startDaemon(t, addr, 0, savedIn(dir))
	if got := first.get(t, "/urn:name:1"); got.cacheControl != "max-age=60" || asked.Load() != 1 {
		t.Fatalf("%+v, after %d questions", got, asked.Load())
	}
	first.get(t, "/urn:isbn:0-395-36341-1")
	first.get(t, "/urn:none:1") // negative answers are not saved
	first.stop()
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if _, err := os.Stat(file + ".new"); !os.IsNotExist(err) {
		t.Errorf("the temporary file is still there: %v", err)
	}
	for _, tt := range []struct {
		ahead        time.Duration
		cacheControl string
		asked        int32
	}{{0, "max-age=60", 0}, {20 * time.Second, "max-age=40", 0}, {59 * time.Second, "max-age=1", 0}, {-time.Hour, "max-age=60", 1}, {
		time.Minute,
		"max-age=60", 1,
	}} {
		copied := t.TempDir()
		if err := os.WriteFile(filepath.Join(copied, "answers"), []byte(readFile(t, file)), 0o600); err != nil {
			t.Fatal(err)
		}
		asked.Store(0)
		w := startDaemon(t, addr, tt.ahead, savedIn(copied, func(c *config.Config) { // on which answers do not depend
			c.Cache.Answers, c.Limits.Requests, c.Log.Level = 2<<20, 7, -4
		}))
		w.answersRestored(t)
		if got := w.get(t, "/URN:name:1"); got.status != 302 || got.cacheControl != tt.cacheControl || asked.Load() != tt.asked {
			t.Errorf("after %s: %+v, after %d questions", tt.ahead, got, asked.Load())
		}
		// Where the clock was set back, nobody knows how old an answer is.
		if got := w.get(t, "/urn:isbn:0395363411"); strings.HasPrefix(got.cacheStatus, "urnd; hit") != (tt.ahead >= 0) {
			t.Errorf("after %s: %+v", tt.ahead, got)
		}
		w.expectMetrics(t, `cache_entries{cache="answers"} 2`)
		w.stop()
	}
}

// An invalid file is renamed, and the log says so; urnd starts as if it were not there.
func TestInvalidSnapshots(t *testing.T) {
	dir := t.TempDir()
	addr := udpAndTCP(zone(t, oneRule)).serve(t)
	first := startDaemon(t, addr, 0, savedIn(dir))
	first.cacheStates(t, "/urn:name:1", "/urn:name:2")
	first.stop()
	good := readFile(t, filepath.Join(dir, "answers"))
	if strings.Count(good, "\n") != 4 {
		t.Fatalf("%s", good)
	}
	for name, tt := range map[string]struct {
		text   string
		change func(*config.Config)
		says   string
	}{
		"empty":   {"", nil, "another configuration or version"},
		"cut off": {good[:len(good)-10], nil, "damaged"},
		"a line less": {good[:strings.Index(good, "\n")+1] + good[strings.Index(good, "\n{")+1:][strings.Index(good[strings.Index(good, "\n{")+1:],
			"\n")+1:], nil, "damaged"},
		"another place":      {strings.ReplaceAll(good, "a.example", "b.example"), nil, "damaged"},
		"something else":     {"\x7fELF" + strings.Repeat("\x00", 4096), nil, "another configuration or version"},
		"one line for ever":  {"urnd answers 1 " + strings.Repeat("a", 3<<20), nil, "another configuration or version"},
		"other roots":        {good, func(c *config.Config) { c.DDDS.Roots = append(c.DDDS.Roots, "urn.example.net.") }, "another configuration"},
		"other namespaces":   {good, func(c *config.Config) { c.Namespaces = []config.Namespace{{NID: "name", Order: []string{"ddds"}}} }, "another configuration"},
		"other destinations": {good, openLoopback, "another configuration"},
		"other servers":      {good, func(c *config.Config) { c.DNS.Servers = append(c.DNS.Servers, c.DNS.Servers[0]) }, "another configuration"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "answers")
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		w := startDaemon(t, addr, 0, savedIn(dir, func(c *config.Config) {
			if tt.change != nil {
				tt.change(c)
			}
		}))
		w.waitForLog(t, "was renamed")
		if got := w.get(t, "/urn:name:1"); got.status != 302 || got.cacheStatus != "urnd; fwd=uri-miss; stored; ttl=60" {
			t.Errorf("%s: %+v", name, got)
		}
		if readFile(t, file+".bad") != tt.text {
			t.Errorf("%s: the renamed file is not the invalid snapshot", name)
		}
		if warned := w.warnings(); !strings.Contains(strings.Join(warned, "\n"), tt.says) || !strings.Contains(strings.Join(warned, "\n"), file+".bad") {
			t.Errorf("%s: %q", name, warned)
		}
		w.stop()
		if text := readFile(t, file); strings.Count(text, "\n") != 3 {
			t.Errorf("%s: no snapshot was saved at the end: %s", name, text)
		}
	}
}

// urnd stops while it waits for a registry that cannot be opened, to learn which saved answers are of its names, and keeps them.
func TestStopWhileRestoring(t *testing.T) {
	dir := t.TempDir()
	addr := udpAndTCP(zone(t, oneRule)).serve(t)
	file, store := filepath.Join(dir, "answers"), filepath.Join(dir, "registry.db")
	withRegistry := savedIn(dir, func(c *config.Config) { c.Registry.Store, c.Registry.Only = "sqlite:"+store, []string{"urn:own:"} })
	first := startDaemon(t, addr, 0, withRegistry)
	first.cacheStates(t, "/urn:name:1", "/urn:name:2")
	first.stop()
	saved, names := readFile(t, file), readFile(t, store)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(store, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("that of another program")
	second := startDaemon(t, addr, 0, withRegistry)
	second.waitForLog(t, "the registry is not available")
	testserver.Within(t, "stopping", second.stop)
	if second.waitForLog(t, "answers were not restored"); readFile(t, file) != saved {
		t.Errorf("the saved answers have become %s", readFile(t, file))
	}
	write(names)
	third := startDaemon(t, addr, 0, withRegistry)
	third.answersRestored(t)
	if got := third.cacheStates(t, "/urn:name:1", "/urn:name:2"); got != "hit hit" {
		t.Errorf("saved answers are %s", got)
	}
}

func TestSavedAnswersAreBounded(t *testing.T) {
	addr := udpAndTCP(zone(t, oneRule)).serve(t)
	for most, want := range map[config.Size]func(n int) bool{
		0: func(n int) bool { return n == 0 }, 1 << 10: func(n int) bool { return n > 0 && n < 10 }, 1 << 20: func(n int) bool { return n == 50 },
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "answers")
		bound := func(c *config.Config) { c.Cache.MaxSaved = most }
		w := startDaemon(t, addr, 0, savedIn(dir, bound))
		for i := range 50 {
			w.get(t, fmt.Sprintf("/urn:name:%d", i))
		}
		w.stop()
		info, err := os.Stat(file)
		if most == 0 {
			if !os.IsNotExist(err) {
				t.Errorf("there is a snapshot with a maximum of 0: %v", err)
			}
			continue
		}
		if err != nil || info.Size() > int64(most) || !want(strings.Count(readFile(t, file), "\n")-2) {
			t.Errorf("at most %d: %v, %v", most, info, err)
		}
		again := startDaemon(t, addr, 0, savedIn(dir, bound))
		again.answersRestored(t)
	}
}

// A named pipe in place of a snapshot delays neither the start, nor requests, nor the end, which
// replaces it.
func TestPipeInPlaceOfSnapshot(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "answers")
	for _, pipe := range []string{path, path + ".new"} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := startDaemon(t, udpAndTCP(zone(t, oneRule)).serve(t), 0, savedIn(dir)) // it is ready
	if got := w.get(t, "/urn:name:1"); got.status != 302 {
		t.Errorf("%+v", got)
	}
	w.waitForLog(t, "it is not a regular file")
	w.hangups <- syscall.SIGHUP
	w.waitForLog(t, "was reloaded")
	w.stop()
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || !strings.Contains(w.log.String(), "answers were saved") {
		t.Errorf("%v, %v", info, err)
	}
}

// A snapshot that cannot be saved is a warning in the log, and nothing else.
func TestSavingFails(t *testing.T) {
	for _, dir := range []string{"/nonexistent/urnd", writeTemp(t, "file", "")} {
		w := startDaemon(t, "127.0.0.1:9", 0, savedIn(dir))
		w.get(t, "/urn:ietf:rfc:1")
		w.stop()
		if !strings.Contains(w.log.String(), "answers were not saved") || !strings.Contains(w.log.String(), "urnd has stopped") {
			t.Errorf("%s: %s", dir, w.log.String())
		}
	}
}

// A snapshot may still be restored into a cache that a reload, or the end, closes.
func TestRestoringWhileClosing(t *testing.T) {
	for range 20 {
		c := config.Default()
		c.Cache.Answers, c.Cache.Records, c.DDDS.Enabled = 1<<20, 1<<20, false
		p, err := wireAll(c, newDependencies())
		if err != nil {
			t.Fatal(err)
		}
		begun, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("it panics: %v", p)
				}
			}()
			for i := range 3000 {
				p.answers.Seed(fmt.Sprintf("urn:a1:%d", i), resolver.Locations{{URI: "http://a.example/", From: &resolver.Source{}}}, time.Hour)
				if i == 10 {
					close(begun)
				}
			}
		}()
		<-begun
		p.close()
		testserver.Within(t, "the last answer", func() { <-ended })
	}
}
