package accesslog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/internal/accesslog"
)

// recorder records writes.
type recorder struct {
	mu     sync.Mutex
	writes []string
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes = append(r.writes, string(p))
	return len(p), nil
}

// count returns the number of writes.
func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.writes)
}

func newLog(t *testing.T, w io.Writer) *accesslog.Log {
	t.Helper()
	return newLogOf(w, "combined", func() { t.Error("a line is lost") })
}

func entry(target string) accesslog.Entry {
	return accesslog.Entry{Method: "GET", Target: target, Proto: "HTTP/1.1", Status: 302}
}

// TestWriteBatching checks that lines of a short period are written in one batch. It uses the fake
// clock of synctest.
func TestWriteBatching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		log := newLog(t, r)
		for round := range 3 {
			for i := range 5 {
				log.Write(entry(fmt.Sprintf("/%d/%d", round, i)))
			}
			time.Sleep(9 * time.Millisecond)
			synctest.Wait()
			if n := r.count(); n != round {
				t.Errorf("%d writes at once", n)
			}
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if n := r.count(); n != round+1 {
				t.Errorf("%d writes after a while", n)
			}
		}
		log.Close()
		if len(r.writes) != 3 || strings.Count(r.writes[2], "\n") != 5 || !strings.Contains(r.writes[2], " /2/4 ") {
			t.Errorf("%q", r.writes)
		}
	})
}

// TestWritesEndWithLine checks that a write consists of complete lines, and does not exceed the atomic size
// of a pipe except for a longer line.
func TestWritesEndWithLine(t *testing.T) {
	r := &recorder{}
	log := newLog(t, r)
	var want strings.Builder
	for i := range 300 {
		size := i * 7 % 400
		if i%100 == 50 {
			size = 9000
		}
		e := entry("/" + strings.Repeat("a", size))
		log.Write(e)
		want.WriteString(reference("combined", e))
	}
	log.Close()
	for _, w := range r.writes {
		if !strings.HasSuffix(w, "\n") || len(w) > 4096 && strings.Count(w, "\n") != 1 {
			t.Errorf("a write of %d bytes ends with %q", len(w), w[len(w)-1])
		}
	}
	if got := strings.Join(r.writes, ""); got != want.String() || len(r.writes) > 60 {
		t.Errorf("%d bytes in %d writes, want %d", len(got), len(r.writes), want.Len())
	}
}

// slowFile blocks its first write until goOn is closed. It records the maximum number of lines that were logged
// but not written.
type slowFile struct {
	goOn            chan struct{}
	logged          atomic.Int64
	written, behind int64
}

func (f *slowFile) Write(p []byte) (int, error) {
	<-f.goOn
	f.behind = max(f.behind, f.logged.Load()-f.written)
	f.written += int64(bytes.Count(p, []byte("\n")))
	return len(p), nil
}

// TestStalledFile checks that Write blocks once 1 MiB of lines waits for a slow file, and that no line is lost.
func TestStalledFile(t *testing.T) {
	const clients, each, mebibyte = 4, 2000, 1000 // lines of about 1 KiB
	f := &slowFile{goOn: make(chan struct{})}
	log := newLog(t, f)
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for range each {
				log.Write(entry("/" + strings.Repeat("a", 1000)))
				f.logged.Add(1)
			}
		})
	}
	for f.logged.Load() < mebibyte {
		runtime.Gosched()
	}
	close(f.goOn)
	running.Wait()
	log.Close()
	if f.written != clients*each || f.behind > 2*mebibyte+clients { // being written and pending
		t.Errorf("%d of %d lines are written; at most %d were not yet", f.written, clients*each, f.behind)
	}
}

// TestRedirect checks that earlier entries are written to the previous writer.
func TestRedirect(t *testing.T) {
	before, after := &recorder{}, &recorder{}
	log := newLog(t, before)
	log.Write(entry("/before"))
	log.SetOutput(after)
	log.Write(entry("/after"))
	log.Close()
	if len(before.writes) != 1 || !strings.Contains(before.writes[0], "/before") || len(after.writes) != 1 ||
		!strings.Contains(after.writes[0], "/after") {
		t.Errorf("%q, %q", before.writes, after.writes)
	}
}

// TestConcurrentClients checks that all entries of concurrent clients are written as complete lines, also
// while the file changes.
func TestConcurrentClients(t *testing.T) {
	const clients, each = 8, 500
	var files [4]recorder
	log := newLog(t, &files[0])
	var running sync.WaitGroup
	for client := range clients {
		running.Go(func() {
			for i := range each {
				log.Write(entry(fmt.Sprintf("/%d/%d", client, i)))
			}
		})
	}
	for i := range files {
		log.SetOutput(&files[i])
		log.Flush()
	}
	running.Wait()
	log.Close()
	seen := make(map[string]int)
	for i := range files {
		for line := range strings.Lines(strings.Join(files[i].writes, "")) {
			seen[line]++
		}
	}
	for client := range clients {
		for i := range each {
			if n := seen[reference("combined", entry(fmt.Sprintf("/%d/%d", client, i)))]; n != 1 {
				t.Fatalf("the line of %d/%d is there %d times", client, i, n)
			}
		}
	}
}

// TestClose checks that closing an unused log does nothing, and that after a failure each line counts as lost.
func TestClose(t *testing.T) {
	var b bytes.Buffer
	newLogOf(&b, "json", nil).Close()
	lost := 0
	log := newLogOf(failing{}, "json", func() { lost++ })
	for range 100 {
		log.Write(entry("/"))
	}
	log.Close()
	log.Close()
	if b.Len() != 0 || lost != 100 {
		t.Errorf("%q is written, %d are lost", b.String(), lost)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("closed") }
