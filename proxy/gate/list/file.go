package list

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Config configures a File. All fields must be set.
type Config struct {
	Path  string
	Log   *slog.Logger
	Now   func() time.Time
	After func(time.Duration) <-chan time.Time // such as time.After
}

// Parse parses a list, such as ParseHosts.
type Parse[T any] func(io.Reader) (T, Report, error)

// File holds the last valid content of a file that may change. While the file is missing, empty, unreadable,
// being written, or has shrunk too much, the previous content stays in use, and Failures has the reason. It is
// safe for concurrent use; Run reloads the file when it changes.
//
// A file is read when it has not changed for a second. If its last line has no line end, it is read again
// after ten seconds, and accepted if it has not changed since. A file that has lost more than half of at
// least a hundred entries, or all of its entries, is rejected, until it is larger, or written again with the
// same size and number of entries ("touch" is enough), or opened anew. A file in which no line is an entry or
// a comment, and one of zero bytes, is always rejected.
type File[T any] struct {
	config  Config
	parse   Parse[T]
	current atomic.Pointer[content[T]]

	mu      sync.Mutex
	failure string // why the file cannot be used; "" if it can

	// State of watch, used by one goroutine.
	seen     state
	since    time.Time // when that state was first seen
	changing time.Time // when the first unprocessed change was seen; the zero value for none
	reread   time.Time // when to read again a file whose last line has no line end; the zero value for never
	done     bool      // seen was processed
	refused  *content[T]
}

// content is the parsed content of a file.
type content[T any] struct {
	value  T
	report Report
	state  state
	loaded time.Time
}

// Info describes the content of a File.
type Info struct {
	Path     string
	Entries  int
	Skipped  int       // lines that are invalid
	Mistakes []Mistake // the first ten of them
	Loaded   time.Time // when the file was read
}

// state identifies a version of a file.
type state struct {
	info os.FileInfo
	err  error // of stat, instead of info
}

const (
	quietTime  = time.Second      // without a change, before a file is read
	rereadTime = 10 * time.Second // the same if its last line has no line end
	mostChange = time.Minute      // a file that changes for longer is reported as a failure
	shrinkFrom = 100              // entries: shorter lists are maintained by hand, and may lose more than half
	readTries  = 3                // of a file that changes while it is opened
)

var (
	errNotRegular = errors.New("not a regular file")
	errEmpty      = errors.New("the file is empty: a list without entries needs a comment, such as # none")
	errNoEntries  = errors.New("the file has no valid entry")
	errChanged    = errors.New("the file changed during the read")
)

// open reads a file for the first time. It starts no goroutine. An unusable file is an error.
func open[T any](config Config, parse Parse[T]) (*File[T], error) {
	f := &File[T]{config: config, parse: parse}
	err := errChanged
	for try := 0; try < readTries && errors.Is(err, errChanged); try++ {
		f.seen = f.stat()
		if err = f.seen.err; err != nil {
			break
		}
		var read *content[T]
		if read, err = f.read(context.Background()); err == nil {
			f.done = true
			if now := f.config.Now(); now.Sub(f.seen.info.ModTime()) < quietTime {
				// It may change again without another size and time: read it again when it has not changed
				// for a while.
				read.state, f.since, f.changing, f.done = state{}, now, now, false
			}
			f.accept(read)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", config.Path, err)
	}
	return f, nil
}

// Get returns the content.
func (f *File[T]) Get() T { return f.current.Load().value }

// String returns the path.
func (f *File[T]) String() string { return f.config.Path }

// Info describes the current content.
func (f *File[T]) Info() Info {
	c := f.current.Load()
	return Info{f.config.Path, c.report.Entries, c.report.Skipped, c.report.Mistakes, c.loaded}
}

// Failures returns why the current file cannot be used; empty if it can.
func (f *File[T]) Failures() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failure == "" {
		return nil
	}
	at := f.current.Load().loaded.UTC().Format(time.RFC3339)
	return []string{fmt.Sprintf("the reload of list %s failed, the content of %s stays in use: %s", f.config.Path,
		at, f.failure)}
}

// stat returns the state of the file.
func (f *File[T]) stat() state {
	info, err := os.Stat(f.config.Path)
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular // opening a named pipe would block
	}
	return state{info, err}
}

// same reports whether two states are of the same version of a file.
func (s state) same(other state) bool {
	if s.info == nil || other.info == nil || s.err != nil || other.err != nil {
		return s.err != nil && other.err != nil && s.err.Error() == other.err.Error()
	}
	return os.SameFile(s.info, other.info) && s.info.Size() == other.info.Size() &&
		s.info.ModTime().Equal(other.info.ModTime())
}

// read reads the version of the file in f.seen. The error is errChanged if the file has another version
// before or after.
func (f *File[T]) read(ctx context.Context) (*content[T], error) {
	file, err := os.Open(f.config.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !f.seen.same(state{info, nil}) {
		return nil, errors.Join(errChanged, err)
	}
	value, report, err := f.parse(readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return file.Read(p)
	}))
	info, statErr := file.Stat()
	switch {
	case statErr != nil || !f.seen.same(state{info, nil}) || !f.seen.same(f.stat()):
		return nil, errors.Join(errChanged, statErr)
	case err != nil:
		return nil, err
	case f.seen.info.Size() == 0:
		return nil, errEmpty
	case report.Entries == 0 && report.Skipped > 0:
		return nil, fmt.Errorf("%w: %v", errNoEntries, report.Mistakes[0])
	}
	return &content[T]{value, report, f.seen, f.config.Now()}, nil
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// accept makes a content the current one.
func (f *File[T]) accept(read *content[T]) {
	f.current.Store(read)
	attrs := []any{"path", f.config.Path, "entries", read.report.Entries, "skipped", read.report.Skipped}
	if len(read.report.Mistakes) > 0 {
		attrs = append(attrs, "first_skipped", read.report.Mistakes[0].String())
	}
	f.config.Log.Info("list loaded", attrs...)
}

// setFailure records why the file cannot be used, "" if it can, and logs transitions.
func (f *File[T]) setFailure(failure string) {
	f.mu.Lock()
	before := f.failure
	f.failure = failure
	f.mu.Unlock()
	switch {
	case before == "" && failure != "":
		f.config.Log.Error("list reload failed, keeping the previous one", "path", f.config.Path, "error", failure)
	case before != "" && failure == "":
		f.config.Log.Info("list reload recovered", "path", f.config.Path)
	}
}
