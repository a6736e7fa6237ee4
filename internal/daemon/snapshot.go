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

// Snapshot saves the answer cache to a file and restores it. With the path "" it does nothing. The zero value
// is ready to use. It is safe for concurrent use.
type Snapshot struct {
	mu      sync.Mutex
	purged  bool               // a purge prevents any further Restore
	unread  string             // path of a file that was only partly restored when the daemon stopped; "" for none
	stop    context.CancelFunc // cancels a running Restore; nil for none
	stopped chan struct{}
}

// SnapshotPath returns the path of the snapshot in directory, or in the systemd state directory if directory is
// "". It returns "" if there is none.
func SnapshotPath(directory string) string {
	if directory == "" {
		directory = systemd.StateDirectory()
	}
	if directory == "" {
		return ""
	}
	return filepath.Join(directory, "answers")
}

// Restore restores the entries of the file, if it exists. read returns the number of restored entries. If
// invalid returns true for an error of read, the file is renamed. If ctx ends before all entries are restored,
// Save leaves the file unchanged.
func (s *Snapshot) Restore(
	ctx context.Context, path string, log *slog.Logger, read func(context.Context, io.ReadSeeker) (int, error),
	invalid func(error) bool,
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
		log.Info("snapshot of answers partly restored before shutdown", "file", path, "answers", n)
	case err == nil:
		log.Info("snapshot of answers restored", "file", path, "answers", n)
	case invalid(err):
		renamed := path + ".bad"
		err = errors.Join(err, os.Rename(path, renamed))
		log.Warn("snapshot of answers invalid, renamed", "file", renamed, "error", err)
	default:
		log.Warn("reading the snapshot of answers failed", "file", path, "error", err)
	}
}

var errNotRegular = errors.New("not a regular file")

// openRegular opens a regular file for reading. It fails for other files: opening a named pipe, for example,
// would block.
func openRegular(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // configured
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

// interrupt records and reports that the daemon stopped before the file was restored completely, unless a purge
// has invalidated it.
func (s *Snapshot) interrupt(ctx context.Context, path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() == nil || s.purged {
		return false
	}
	s.unread = path
	return true
}

// Stop permanently stops Restore, so that purged entries are not restored.
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

// Remove deletes the file, so that purged entries are not restored after a crash.
func (s *Snapshot) Remove(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Save replaces the file atomically. write returns the number of written entries. A file that Restore has only
// partly restored is kept, because it contains more entries.
func (s *Snapshot) Save(path string, log *slog.Logger, write func(io.Writer) (int, error)) {
	s.mu.Lock()
	keep := s.unread == path
	s.mu.Unlock()
	if path == "" || keep {
		return
	}
	n, err := writeFile(path, write)
	if err != nil {
		log.Warn("saving the snapshot of answers failed", "file", path, "error", err)
		return
	}
	log.Info("snapshot of answers saved", "file", path, "answers", n)
}

func writeFile(path string, write func(io.Writer) (int, error)) (n int, err error) {
	const ownerAlone = 0o600
	// Left over from a killed process.
	_ = os.Remove(path + ".new")
	file, err := os.OpenFile(path+".new", os.O_CREATE|os.O_EXCL|os.O_WRONLY, ownerAlone) //nolint:gosec // configured
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
