package list

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// fixture is a File with a clock and a file that the test controls.
type fixture struct {
	t    *testing.T
	path string
	now  time.Time
	log  *recorder
	file HostFile
}

// recorder is a slog.Handler that records messages.
type recorder struct {
	slog.Handler
	mu       sync.Mutex
	messages []string
	added    chan string // receives messages, if not nil
}

func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }

func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	r.mu.Lock()
	r.messages = append(r.messages, record.Message)
	r.mu.Unlock()
	if r.added != nil {
		r.added <- record.Message
	}
	return nil
}

// count returns the number of messages that contain a text, and forgets all messages.
func (r *recorder) count(text string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, message := range r.messages {
		if strings.Contains(message, text) {
			n++
		}
	}
	r.messages = nil
	return n
}

// newFixture opens a file with n names.
func newFixture(t *testing.T, n int) *fixture {
	t.Helper()
	x := &fixture{t: t, path: filepath.Join(t.TempDir(), "list.txt"), now: time.Now(), log: new(recorder)}
	x.replace(names(n))
	x.now = x.now.Add(time.Hour) // the file is old
	file, err := OpenHosts(x.config())
	if err != nil {
		t.Fatal(err)
	}
	x.file = file
	x.log.count("")
	return x
}

func (x *fixture) config() Config {
	return Config{Path: x.path, Log: slog.New(x.log), Now: func() time.Time { return x.now }}
}

// names returns a list of a0.example, a1.example and so on.
func names(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "a%d.example\n", i)
	}
	return text.String()
}

// replace replaces the file by a rename.
func (x *fixture) replace(text string) {
	x.t.Helper()
	next := x.path + ".next"
	if err := errors.Join(os.WriteFile(next, []byte(text), 0o600), os.Rename(next, x.path)); err != nil {
		x.t.Fatal(err)
	}
}

// write truncates the file and writes it.
func (x *fixture) write(text string) {
	x.t.Helper()
	if err := os.WriteFile(x.path, []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
	x.touch()
}

// touch gives the file a new modification time.
func (x *fixture) touch() {
	x.t.Helper()
	x.now = x.now.Add(time.Millisecond)
	if err := os.Chtimes(x.path, x.now, x.now); err != nil {
		x.t.Fatal(err)
	}
}

// look calls look until nothing is pending, and returns the time that this took on the test clock.
func (x *fixture) look() (took time.Duration) {
	x.t.Helper()
	for range 100 {
		wait := x.file.look(x.t.Context())
		if wait == 0 {
			return took
		}
		x.now = x.now.Add(wait)
		took += wait
	}
	x.t.Fatal("it never ends")
	return 0
}

// has checks whether the list has a name, and its number of entries.
func (x *fixture) has(name string, entries int) {
	x.t.Helper()
	if !x.file.Has(name, netip.Addr{}) || x.file.Info().Entries != entries {
		x.t.Errorf("no %s, or not %d entries: %+v, %v", name, entries, x.file.Info(), x.file.Failures())
	}
}

// faulty checks that a failure with a text is reported, and that its start was logged once.
func (x *fixture) faulty(text string) {
	x.t.Helper()
	failures := x.file.Failures()
	if len(failures) != 1 || !strings.Contains(failures[0], text) || !strings.Contains(failures[0], x.path) {
		x.t.Errorf("no fault with %q: %q", text, failures)
	}
	if n := x.log.count("list reload failed"); n != 1 {
		x.t.Errorf("%d messages", n)
	}
}

// sound checks that the failure has ended, and that this was logged once.
func (x *fixture) sound() {
	x.t.Helper()
	if failures := x.file.Failures(); failures != nil {
		x.t.Error(failures)
	}
	if n := x.log.count("list reload recovered"); n != 1 {
		x.t.Errorf("%d messages", n)
	}
}

func TestReplaced(t *testing.T) {
	x := newFixture(t, 3)
	if took := x.look(); took != 0 {
		t.Error("a file without a change was under way for", took)
	}
	x.replace("b.example\nc.example\n")
	if took := x.look(); took != quietTime {
		t.Error("it took", took)
	}
	x.has("b.example", 2)
	x.write("d.example\n/a\n")
	x.look()
	x.has("d.example", 1)
	if info := x.file.Info(); info.Skipped != 1 || info.Mistakes[0].Line != 2 || !info.Loaded.Equal(x.now) ||
		info.Path != x.file.String() {
		t.Error(info)
	}
	if n := x.log.count("list loaded"); n != 2 {
		t.Error(n, "messages")
	}
}

func TestMissing(t *testing.T) {
	x := newFixture(t, 3)
	for range 2 {
		if err := os.Rename(x.path, x.path+".away"); err != nil {
			t.Fatal(err)
		}
		x.look()
		x.faulty("no such file")
		x.has("a0.example", 3)
		if err := os.Rename(x.path+".away", x.path); err != nil {
			t.Fatal(err)
		}
		x.look()
		x.sound()
	}
	if err := os.Remove(x.path); err != nil {
		t.Fatal(err)
	}
	x.file.look(t.Context())
	x.replace(names(5)) // within a second: not reported
	x.look()
	x.has("a4.example", 5)
	if x.log.count("used") != 0 {
		t.Error("a file that was removed for a moment is said")
	}
}

func TestUnusable(t *testing.T) {
	x := newFixture(t, 3)
	for text, failure := range map[string]string{
		"":                         "the file is empty",
		"<html>\n<p>503</p>\n":     "the file has no valid entry",
		"# nothing\n":              "the file has 0 entries, 3 before",
		"||a^$b\nx y\n||c.d.e^$f,": "the file has no valid entry",
	} {
		x.write(text)
		x.look()
		x.faulty(failure)
		x.has("a0.example", 3)
		x.write(names(3))
		x.look()
		x.sound()
	}
	if err := errors.Join(os.Remove(x.path), os.Mkdir(x.path, 0o700)); err != nil {
		t.Fatal(err)
	}
	x.look()
	x.faulty("not a regular file")
}

func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads every file")
	}
	x := newFixture(t, 3)
	x.replace(names(4))
	if err := os.Chmod(x.path, 0); err != nil {
		t.Fatal(err)
	}
	x.look()
	x.faulty("permission denied")
	if err := os.Chmod(x.path, 0o600); err != nil { // changes neither time nor size
		t.Fatal(err)
	}
	x.look()
	x.has("a3.example", 4)
	x.sound()
}

func TestHalfWritten(t *testing.T) {
	x := newFixture(t, 300)
	x.write(names(10)) // the writer stalls
	x.look()
	x.faulty("the file has 10 entries, 300 before")
	x.write(names(20))
	x.look()
	x.has("a299.example", 300)
	x.write(names(301))
	x.look()
	x.sound()
	x.has("a300.example", 301)

	x.write(names(10))
	x.look()
	x.faulty("touch it")
	x.look()
	x.has("a299.example", 301)
	x.touch()
	x.look()
	x.sound()
	x.has("a9.example", 10)
}

func TestUnfinishedLine(t *testing.T) {
	x := newFixture(t, 3)
	x.write(names(4) + "b.exam")
	x.now = x.now.Add(quietTime)
	x.file.look(t.Context())
	x.now = x.now.Add(quietTime)
	x.file.look(t.Context())
	x.has("a0.example", 3) // not yet
	x.write(names(4) + "b.example\n")
	x.look()
	x.has("b.example", 5)
	x.write(names(4) + "c.example")
	if took := x.look(); took != rereadTime {
		t.Error("it took", took)
	}
	x.has("c.example", 5)
	if x.log.count("list reload failed") != 0 {
		t.Error("a fault was logged")
	}
}

// TestWrittenSlowly writes for two minutes without a second of quiet.
func TestWrittenSlowly(t *testing.T) {
	x := newFixture(t, 3)
	for i := range 240 {
		x.write(names(4 + i))
		x.now = x.now.Add(quietTime / 2)
		x.file.look(t.Context())
	}
	x.has("a0.example", 3)
	x.faulty("changing for more than a minute")
	x.look()
	x.sound()
	x.has("a242.example", 243)
}

func TestOpenRejects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	config := Config{Path: path, Log: slog.New(new(recorder)), Now: time.Now}
	if _, err := OpenNetworks(config); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	for text, wanted := range map[string]error{
		"": errEmpty, "<html>\n": errNoEntries, "# none\n": nil,
		"192.0.2.1": nil,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenNetworks(config); !errors.Is(err, wanted) {
			t.Errorf("%q: %v", text, err)
		}
	}
	config.Path = filepath.Dir(path)
	if _, err := OpenURLs(config); !errors.Is(err, errNotRegular) {
		t.Error(err)
	}
}

// TestNewFile: a file that was just written when it was opened is read again, as its next change may have the
// same time.
func TestNewFile(t *testing.T) {
	x := newFixture(t, 3)
	info, err := os.Stat(x.path)
	if err != nil {
		t.Fatal(err)
	}
	x.now = info.ModTime()
	if x.file, err = OpenHosts(x.config()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(x.path, []byte("b0.example\nb1.example\nb2.example\n"), 0o600),
		os.Chtimes(x.path, x.now, x.now)); err != nil {
		t.Fatal(err)
	}
	x.look()
	x.has("b2.example", 3)
}

// TestLookUpsDuringReplaces: the list is available at every moment.
func TestLookUpsDuringReplaces(t *testing.T) {
	x := newFixture(t, 200)
	ended := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				if !x.file.Has("a0.example", netip.Addr{}) || x.file.Has("b.example", netip.Addr{}) ||
					x.file.Info().Entries < 200 {
					t.Error("the list was away")
					return
				}
				x.file.Failures()
			}
		})
	}
	for i := range 100 {
		if i%2 == 0 {
			x.replace(names(200 + i))
		} else {
			x.write(names(200 + i))
		}
		x.look()
		x.has("a0.example", 200+i)
	}
	close(ended)
	readers.Wait()
}

// TestRun: file system events trigger a reload, and Run ends with its context.
func TestRun(t *testing.T) {
	x := newFixture(t, 3)
	var mu sync.Mutex // guards the clock
	config := x.config()
	config.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return x.now
	}
	config.After = func(d time.Duration) <-chan time.Time {
		fires := make(chan time.Time, 1)
		if d == pollEvery {
			return fires // never fires: only events remain
		}
		mu.Lock()
		defer mu.Unlock()
		x.now = x.now.Add(d)
		fires <- x.now
		return fires
	}
	file, err := OpenHosts(config)
	if err != nil {
		t.Fatal(err)
	}
	x.log.added = make(chan string, 100)
	x.file = file
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { file.Run(ctx) })
	for i := range 3 { // the first may be noticed by the first check
		x.replace(names(4 + i))
		if message := <-x.log.added; message != "list loaded" {
			t.Error(message)
		}
		x.has("a3.example", 4+i)
	}
	if err := os.Remove(x.path); err != nil {
		t.Fatal(err)
	}
	if message := <-x.log.added; !strings.Contains(message, "list reload failed") {
		t.Error(message)
	}
	x.replace("b.example\n")
	if message := <-x.log.added; message != "list loaded" {
		t.Error(message)
	}
	cancel()
	running.Wait()
}
