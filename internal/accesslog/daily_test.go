package accesslog_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/accesslog"
	"github.com/urnd/urnd/internal/testserver"
)

// dailyLog is a log with a test clock whose files are kept for three days.
type dailyLog struct {
	t    *testing.T
	dir  string
	now  time.Time
	logs strings.Builder
	*accesslog.File
}

func newDailyLog(t *testing.T, at string) *dailyLog {
	d := &dailyLog{t: t, dir: t.TempDir()}
	d.clock(at)
	return d
}

// clock sets the clock.
func (d *dailyLog) clock(at string) {
	d.t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		d.t.Fatal(err)
	}
	if d.now, err = time.ParseInLocation("2006-01-02 15:04:05", at, zone); err != nil {
		d.t.Fatal(err)
	}
}

func (d *dailyLog) path() string { return filepath.Join(d.dir, "access.log") }

// open opens another log of the same file.
func (d *dailyLog) open() *accesslog.File {
	d.t.Helper()
	f, err := accesslog.Open(accesslog.FileConfig{
		Config: accesslog.Config{Format: formatOf(d.t, "apache:%U"), Lost: func() { d.t.Error("a line is lost") }},
		Path:   d.path(), Keep: 3, ErrorLog: slog.New(slog.NewTextHandler(&d.logs, nil)),
		Now: func() time.Time { return d.now },
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return f
}

func (d *dailyLog) start() {
	d.t.Helper()
	d.File = d.open()
}

// log logs a request at a given time.
func (d *dailyLog) log(at, target string) {
	d.t.Helper()
	d.clock(at)
	d.Write(accesslog.Entry{Target: target})
	d.Flush()
}

// is compares the content of the directory with names and lines.
func (d *dailyLog) is(want ...string) {
	d.t.Helper()
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		text, _ := os.ReadFile(filepath.Join(d.dir, entry.Name())) // a directory has no content
		got = append(got, strings.TrimSpace(entry.Name()+" "+strings.Join(strings.Fields(string(text)), ",")))
	}
	if !slices.Equal(got, want) {
		d.t.Errorf("\ngot  %q\nwant %q", got, want)
	}
}

// put creates a file with a modification time.
func (d *dailyLog) put(name, text, at string) {
	d.t.Helper()
	now := d.now
	path := filepath.Join(d.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	d.clock(at)
	if err := os.Chtimes(path, d.now, d.now); err != nil {
		d.t.Fatal(err)
	}
	d.now = now
}

// TestDays checks that each day in the local time zone has its own file, and that files older than three days
// are removed, also around a day of 25 hours.
func TestDays(t *testing.T) {
	d := newDailyLog(t, "2026-10-23 12:00:00")
	d.start()
	defer func() { accesslog.Set{d.File}.Close() }()
	d.log("2026-10-23 23:59:59", "/a")
	d.log("2026-10-24 00:00:00", "/b")
	d.is("access.log /b", "access.log-20261023 /a")
	d.log("2026-10-25 00:00:00", "/c") // ends at 02:00 UTC
	d.log("2026-10-25 23:59:59", "/d")
	d.log("2026-10-26 00:00:00", "/e")
	d.is("access.log /e", "access.log-20261023 /a", "access.log-20261024 /b", "access.log-20261025 /c,/d")
	d.log("2026-10-27 00:00:01", "/f")
	d.is("access.log /f", "access.log-20261024 /b", "access.log-20261025 /c,/d", "access.log-20261026 /e")
	d.log("2026-10-26 12:00:00", "/back") // the clock was set back
	d.log("2026-10-27 12:00:00", "/g")
	d.log("2026-10-30 12:00:00", "/h") // no requests for days
	d.is("access.log /h", "access.log-20261027 /f,/back,/g")
	d.log("2026-10-31 00:00:00", "/i")
	d.clock("2031-01-01 00:00:00") // no line is written at this time
	d.log("2026-10-31 12:00:00", "/j")
	d.log("2026-11-01 00:00:00", "/k")
	d.is("access.log /k", "access.log-20261030 /h", "access.log-20261031 /i,/j")
	if failures := (accesslog.Set{d.File}).Failures(); len(failures) > 0 || d.logs.Len() > 0 {
		t.Errorf("%q, %s", failures, d.logs.String())
	}
}

// TestDaysAtStart checks that overdue rotations and removals are done at startup, and that other files are not
// touched.
func TestDaysAtStart(t *testing.T) {
	d := newDailyLog(t, "2026-11-30 12:00:00")
	const long = "2020-01-01 00:00:00"
	d.put("access.log", "/before\n", "2026-11-28 23:59:59")
	others := []string{
		"access.log-2020010", "access.log-20200101.gz", "access.log-20200101x", "access.log-20201301", "access.log.1",
		"access.log-", "access.log20200101", "xaccess.log-20200101", "urnd.log-20200101", "access.log-2020-01-01",
		"access.log-+2020010",
	}
	for _, name := range append(others, "access.log-20200101", "access.log-20261126", "access.log-20261127") {
		d.put(name, "", long)
	}
	if err := os.Symlink("access.log.1", filepath.Join(d.dir, "access.log-20200102")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(d.dir, "access.log-20200103"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.start()
	d.log("2026-11-30 12:00:00", "/after")
	accesslog.Set{d.File}.Close()
	want := append(others, "access.log /after", "access.log-20200102", "access.log-20200103", "access.log-20261127",
		"access.log-20261128 /before")
	slices.SortFunc(want, func(a, b string) int {
		return strings.Compare(strings.Fields(a)[0], strings.Fields(b)[0])
	})
	d.is(want...)
}

// TestDaysBeforeStart checks that a configuration that does not come into force, such as at a failed reload,
// renames and removes nothing.
func TestDaysBeforeStart(t *testing.T) {
	d := newDailyLog(t, "2026-11-30 12:00:00")
	d.put("access.log", "/before\n", "2026-11-28 23:59:59")
	d.put("access.log-20200101", "", "2020-01-01 23:59:59")
	d.open().Close()
	d.is("access.log /before", "access.log-20200101")
	d.start()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	set := accesslog.Set{d.File}
	set.Run(ctx, time.After)
	d.is("access.log", "access.log-20261128 /before")
	set.Close()
}

// TestDaysAfterRestart checks that a file of today is continued.
func TestDaysAfterRestart(t *testing.T) {
	d := newDailyLog(t, "2026-11-30 12:00:00")
	d.put("access.log", "/before\n", "2026-11-30 00:00:00")
	d.start()
	d.log("2026-11-30 12:00:00", "/after")
	accesslog.Set{d.File}.Close()
	d.is("access.log /before,/after")
}

// TestDaysOfTwo checks that the configurations before and after a reload can rotate the same file, and that
// logrotate may rename it.
func TestDaysOfTwo(t *testing.T) {
	d := newDailyLog(t, "2026-11-28 12:00:00")
	d.start()
	d.log("2026-11-28 12:00:00", "/a")
	before := d.File
	d.start()
	set := accesslog.Set{before, d.File}
	d.log("2026-11-29 00:00:00", "/b")
	before.Write(accesslog.Entry{Target: "/c"})
	before.Flush()
	d.is("access.log /b,/c", "access.log-20261128 /a")
	if err := os.Rename(d.path(), d.path()+".1"); err != nil {
		t.Fatal(err)
	}
	d.log("2026-11-29 12:00:00", "/d")
	if err := set.Reopen(); err != nil {
		t.Fatal(err)
	}
	d.log("2026-11-29 13:00:00", "/e")
	d.is("access.log /e", "access.log-20261128 /a", "access.log.1 /b,/c,/d")
	if err := os.Rename(d.path(), d.path()+".2"); err != nil {
		t.Fatal(err)
	}
	d.log("2026-11-30 00:00:00", "/f") // without a signal to reopen
	d.is("access.log /f", "access.log-20261128 /a", "access.log.1 /b,/c,/d", "access.log.2 /e")
	set.Close()
}

// TestDaysFail checks that a failed rotation loses no lines, is reported, and is retried. An existing file is
// not overwritten.
func TestDaysFail(t *testing.T) {
	d := newDailyLog(t, "2026-11-28 12:00:00")
	d.start()
	set := accesslog.Set{d.File}
	d.log("2026-11-28 12:00:00", "/a")
	d.put("access.log-20261128", "/theirs", "2026-11-28 12:00:00")
	d.log("2026-11-29 00:00:00", "/b")
	d.is("access.log /a,/b", "access.log-20261128 /theirs")
	failures := set.Failures()
	if len(failures) != 1 || !strings.Contains(failures[0], "access.log-20261128 exists already") ||
		!strings.Contains(d.logs.String(), "exists already") {
		t.Errorf("%q, %s", failures, d.logs.String())
	}
	d.log("2026-11-30 00:00:00", "/c")
	d.is("access.log /c", "access.log-20261128 /theirs", "access.log-20261129 /a,/b")
	if failures := set.Failures(); len(failures) > 0 {
		t.Errorf("%q", failures)
	}
	moved := d.dir + ".moved"
	if err := os.Rename(d.dir, moved); err != nil {
		t.Fatal(err)
	}
	d.log("2026-12-01 00:00:00", "/d")
	if failures := set.Failures(); len(failures) != 1 || !strings.Contains(failures[0], "no such file") {
		t.Errorf("%q", failures)
	}
	if err := os.Rename(moved, d.dir); err != nil {
		t.Fatal(err)
	}
	d.log("2026-12-01 00:01:00", "/e")
	d.is("access.log /e", "access.log-20261128 /theirs", "access.log-20261129 /a,/b", "access.log-20261130 /c,/d")
	set.Close()
}

// TestDaysLocked checks that a short lock by another log is not an error, and that a longer one is.
func TestDaysLocked(t *testing.T) {
	d := newDailyLog(t, "2026-11-28 12:00:00")
	d.start()
	set := accesslog.Set{d.File}
	d.log("2026-11-28 12:00:00", "/a")
	other, err := os.Open(d.path())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := syscall.Flock(int(other.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	d.log("2026-11-29 00:00:00", "/b")
	if failures := set.Failures(); len(failures) > 0 || d.logs.Len() > 0 {
		t.Errorf("%q, %s", failures, d.logs.String())
	}
	d.log("2026-11-29 00:01:00", "/c")
	if failures := set.Failures(); len(failures) != 1 || !strings.Contains(failures[0], "locking the file") {
		t.Errorf("%q", failures)
	}
	other.Close()
	d.log("2026-11-29 00:02:00", "/d")
	d.is("access.log /d", "access.log-20261128 /a,/b,/c")
	if failures := set.Failures(); len(failures) > 0 {
		t.Errorf("%q", failures)
	}
	set.Close()
}

// TestRun checks that the day ends without requests, too.
func TestRun(t *testing.T) {
	d := newDailyLog(t, "2026-11-29 23:00:01")
	d.start()
	set := accesslog.Set{d.File}
	d.log("2026-11-29 23:30:00", "/a")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var waits []time.Duration
	set.Run(ctx, func(wait time.Duration) <-chan time.Time {
		waits = append(waits, wait)
		elapsed := make(chan time.Time, 1)
		if d.now = d.now.Add(wait); len(waits) == 3 {
			cancel()
		} else {
			elapsed <- d.now
		}
		return elapsed
	})
	if want := []time.Duration{30 * time.Minute, time.Hour, time.Hour}; !slices.Equal(waits, want) {
		t.Errorf("%v", waits)
	}
	d.is("access.log", "access.log-20261129 /a")
	set.Close()
	accesslog.Set{open(t, accesslog.FileConfig{Writer: &d.logs})}.Run(t.Context(), time.After) // no daily files
}

// TestReopenWhileRotating reopens the file during a rotation and concurrent writes.
func TestReopenWhileRotating(t *testing.T) {
	d := newDailyLog(t, "2026-11-29 23:59:59")
	var clock atomic.Int64
	now := func() time.Time { return time.Unix(clock.Load(), 0).UTC() }
	clock.Store(d.now.Unix())
	f, err := accesslog.Open(accesslog.FileConfig{
		Config: accesslog.Config{Lost: func() { t.Error("a line is lost") }},
		Path:   d.path(), Keep: 3650, ErrorLog: slog.New(slog.DiscardHandler), Now: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	set := accesslog.Set{f}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	written := 0
	running.Go(func() {
		defer cancel()
		for range 50 {
			if err := set.Reopen(); err != nil {
				t.Error(err)
			}
		}
	})
	running.Go(func() {
		for ; ctx.Err() == nil; written++ {
			f.Write(accesslog.Entry{})
			f.Flush()
		}
	})
	set.Run(ctx, func(time.Duration) <-chan time.Time {
		elapsed := make(chan time.Time, 1)
		elapsed <- time.Unix(clock.Add(60*60), 0)
		return elapsed
	})
	running.Wait()
	set.Close()
	files, _ := filepath.Glob(d.path() + "*")
	lines := 0
	for _, name := range files {
		text, _ := os.ReadFile(name)
		lines += strings.Count(string(text), "\n")
	}
	if lines != written {
		t.Errorf("%d lines of %d", lines, written)
	}
}

// A named pipe is written to while a process reads it. Otherwise it cannot be opened, and nothing waits for a reader.
func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	open := func() (f *accesslog.File, err error) {
		testserver.Within(t, "opening", func() {
			f, err = accesslog.Open(accesslog.FileConfig{
				Config: accesslog.Config{Format: formatOf(t, "apache:%U"), Lost: func() { t.Error("a line is lost") }},
				Path:   path, ErrorLog: slog.New(slog.DiscardHandler), Now: time.Now,
			})
		})
		return f, err
	}
	if _, err := open(); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("without a reader: %v", err)
	}
	reader, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	f, err := open()
	if err != nil {
		t.Fatal(err)
	}
	f.Write(accesslog.Entry{Target: "/a"})
	f.Close()
	if text, err := io.ReadAll(reader); string(text) != "/a\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
