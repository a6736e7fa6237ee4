package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/urnd/urnd/systemd"
)

// Snapshot saves and restores the cache of answers in a file. With the path "" it does
// nothing. It is safe for concurrent use. The zero value is ready.
type Snapshot struct {
	mu      sync.Mutex
	purged  bool               // restoring must not begin again
	unread  string             // the file that was not restored as a whole, since the daemon stopped; "" for none
	stop    context.CancelFunc // of a running Restore; nil for none
	stopped chan struct{}
}

// SnapshotPath returns the path of the snapshot in a directory, "" being the state directory of systemd. It is "" where there
// is neither.
func SnapshotPath(directory string) string {
	if directory == "" {
		directory = systemd.StateDirectory()
	}
	if directory == "" {
		return ""
	}
	return filepath.Join(directory, "answers")
}

// Restore reads the file, if it exists, with a function that returns the number of restored
// entries. The file is renamed where invalid returns true for its error. Where ctx ends before all is
// restored, Save leaves the file as it is.
func (s *Snapshot) Restore(
	ctx context.Context, path string, log *slog.Logger, read func(context.Context, io.ReadSeeker) (int, error), invalid func(error) bool,
) {
	ctx, done := s.begin(ctx)
	defer done()
	if path == "" || ctx.Err() != nil {
		return
	}
	file, err := openRegular(path)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	n := 0
	if err == nil {
		defer file.Close()
		n, err = read(ctx, file)
	}
	switch {
	case err == nil && s.interrupt(ctx, path):
		log.Info("answers were not restored as a whole before the stop", "file", path, "answers", n)
	case err == nil:
		log.Info("answers were restored", "file", path, "answers", n)
	case invalid(err):
		renamed := path + ".bad"
		err = errors.Join(err, os.Rename(path, renamed))
		log.Warn("the snapshot of answers is invalid, and was renamed", "file", renamed, "error", err)
	default:
		log.Warn("the snapshot of answers cannot be read", "file", path, "error", err)
	}
}

var errNotRegular = errors.New("it is not a regular file")

// openRegular opens a file for reading, and fails for anything else: a named pipe, for one, would
// block.
func openRegular(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // it is of the configuration
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// begin returns the context of a Restore, which Stop cancels.
func (s *Snapshot) begin(ctx context.Context) (context.Context, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	if s.purged {
		cancel()
	}
	stopped := make(chan struct{})
	s.stop, s.stopped = cancel, stopped
	return ctx, func() { cancel(); close(stopped) }
}

// interrupt reports whether the daemon stopped before a file was restored, and no purge has made it invalid.
func (s *Snapshot) interrupt(ctx context.Context, path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() == nil || s.purged {
		return false
	}
	s.unread = path
	return true
}

// Stop ends Restore for good: purged entries must not be restored.
func (s *Snapshot) Stop() {
	s.mu.Lock()
	s.purged, s.unread = true, ""
	stop, stopped := s.stop, s.stopped
	s.mu.Unlock()
	if stop != nil {
		stop()
		<-stopped
	}
}

// Remove deletes the file: purged entries must not be restored after a crash.
func (s *Snapshot) Remove(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Save writes the file with a function that returns the number of written entries. It
// replaces the file atomically. A file that Restore could not restore as a whole stays: it has more.
func (s *Snapshot) Save(path string, log *slog.Logger, write func(io.Writer) (int, error)) {
	s.mu.Lock()
	keep := s.unread == path
	s.mu.Unlock()
	if path == "" || keep {
		return
	}
	n, err := writeFile(path, write)
	if err != nil {
		log.Warn("answers were not saved", "file", path, "error", err)
		return
	}
	log.Info("answers were saved", "file", path, "answers", n)
}

func writeFile(path string, write func(io.Writer) (int, error)) (n int, err error) {
	const ownerAlone = 0o600
	_ = os.Remove(path + ".new")                                                         // of a process that was killed
	file, err := os.OpenFile(path+".new", os.O_CREATE|os.O_EXCL|os.O_WRONLY, ownerAlone) //nolint:gosec // it is of the configuration
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	n, err = write(file)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return 0, err
	}
	return n, os.Rename(file.Name(), path)
}
