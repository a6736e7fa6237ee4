package accesslog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// logFile is the file of a log. If keep is positive it is rotated daily: the file of a previous day is renamed
// by appending its date. It is not safe for concurrent use. Libraries for rotation (lumberjack, timberjack) are
// unsuitable: they rotate by size or by the system clock, remove files with similar names, and assume exclusive
// ownership, which a second configuration with the same file and logrotate would violate.
type logFile struct {
	*os.File
	keep  int // in days
	now   func() time.Time
	state *writeState
	day   string // day of the last line, or today, in dayLayout
	// locked is the time since when another process or log holds the lock; the zero value if none does.
	locked time.Time
}

// errLocked is the error for a file that is being renamed by the log of another configuration, which rotates it
// at the same time.
var errLocked = errors.New("the file is locked")

const (
	dayLayout = "20060102"
	// retryTime is the delay before a failed rotation is retried.
	retryTime = time.Minute
	// lookTime limits the wait for midnight, because the system clock may be set, and timers stop while a
	// machine sleeps.
	lookTime = time.Hour
)

func openFile(path string, keep int, now func() time.Time, state *writeState) (*logFile, error) {
	const ownerWritesGroupReads = 0o640
	// Otherwise opening a named pipe would block until another process reads it.
	const flags = os.O_APPEND | os.O_CREATE | os.O_WRONLY | syscall.O_NONBLOCK
	file, err := os.OpenFile(path, flags, ownerWritesGroupReads) //nolint:gosec // configured
	if errors.Is(err, syscall.ENXIO) {
		err = fmt.Errorf("a named pipe that no process reads, or a socket: %w", err)
	}
	if err != nil {
		return nil, err
	}
	f := &logFile{File: file, keep: keep, now: now, state: state, day: now().Format(dayLayout)}
	if info, err := file.Stat(); err == nil && info.Size() > 0 {
		f.day = min(f.day, info.ModTime().In(now().Location()).Format(dayLayout))
	}
	return f, nil
}

// Write implements io.Writer.
func (f *logFile) Write(p []byte) (int, error) {
	if f.isDue() && f.state.mayRotate(f.now()) {
		f.rotate()
	}
	return f.File.Write(p)
}

// isDue reports whether the day of the last line is over. It is not if the clock was set back over midnight.
func (f *logFile) isDue() bool {
	if f.keep == 0 {
		return false
	}
	now := f.now()
	today := now.Format(dayLayout)
	if f.day > now.AddDate(0, 0, 1).Format(dayLayout) { // the clock was set far ahead and back again
		f.day = today
	}
	return today > f.day
}

// rotate starts a new file if that is due, and removes old ones. If it fails, lines are written to the old
// file, and it is retried.
func (f *logFile) rotate() {
	var err error
	if f.isDue() {
		if err = f.begin(); err == nil || errors.Is(err, fs.ErrExist) { // tomorrow's file has another name
			f.day = f.now().Format(dayLayout)
		}
		if errors.Is(err, errLocked) { // retried with the next line
			return
		}
	}
	f.state.rotated(errors.Join(err, f.prune()))
}

// begin renames the file and opens a new one. Another program, or the log of another configuration that is
// being drained, may have renamed it already; the renaming log holds a lock.
func (f *logFile) begin() error {
	if err := f.lock(); err != nil {
		return err
	}
	defer func(locked *os.File) { _ = syscall.Flock(int(locked.Fd()), syscall.LOCK_UN) }(f.File)
	own, err := f.Stat()
	if err != nil {
		return err
	}
	at, err := os.Lstat(f.Name())
	if err == nil && at.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link: not renamed", f.Name())
	}
	if err == nil && os.SameFile(own, at) {
		if own.Size() == 0 {
			return nil
		}
		old := f.Name() + "-" + f.day
		if _, err := os.Lstat(old); err == nil {
			return fmt.Errorf("%s exists already: %w", old, fs.ErrExist)
		}
		if err := os.Rename(f.Name(), old); err != nil {
			return err
		}
	}
	opened, err := openFile(f.Name(), f.keep, f.now, f.state)
	if err != nil {
		return err
	}
	before := f.File
	f.File = opened.File
	return before.Close()
}

// lock locks the file. It returns errLocked at first; a lock that is held for retryTime is not that of a
// rotation, and is an error.
func (f *logFile) lock() error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch now := f.now(); {
	case err == nil:
		f.locked = time.Time{}
		return nil
	case f.locked.IsZero():
		f.locked = now
		return errLocked
	case now.Sub(f.locked) < retryTime:
		return errLocked
	}
	return fmt.Errorf("locking the file, which another process may rotate: %w", err)
}

// prune removes regular files named by begin whose day is more than keep days ago. It does not touch other
// files.
func (f *logFile) prune() error {
	entries, err := os.ReadDir(filepath.Dir(f.Name()))
	if err != nil {
		return err
	}
	oldest := f.now().AddDate(0, 0, -f.keep).Format(dayLayout)
	var all []error
	for _, entry := range entries {
		day, ok := strings.CutPrefix(entry.Name(), filepath.Base(f.Name())+"-")
		if _, err := time.Parse(dayLayout, day); !ok || err != nil || day >= oldest || !entry.Type().IsRegular() {
			continue
		}
		if err := os.Remove(filepath.Join(filepath.Dir(f.Name()), entry.Name())); !errors.Is(err, fs.ErrNotExist) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// rotate starts a new file if the day of the current one is over, and removes old ones.
func (f *File) rotate() {
	if f.file == nil || f.file.keep == 0 {
		return
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	f.flush() // pending lines belong to the previous day
	f.file.rotate()
}

// Run rotates files whose day is over, immediately and at each midnight, and removes expired ones, until ctx
// ends. after is time.After. It returns immediately if no log is rotated daily.
func (s Set) Run(ctx context.Context, after func(time.Duration) <-chan time.Time) {
	var daily Set
	for _, f := range s {
		if f.file != nil && f.file.keep > 0 {
			daily = append(daily, f)
		}
	}
	for len(daily) > 0 {
		for _, f := range daily {
			f.rotate()
		}
		select {
		case <-ctx.Done():
			return
		case <-after(untilMidnight(daily[0].file.now())):
		}
	}
}

// untilMidnight returns the time until the next day, at least a second and at most lookTime. If the clock is
// set ahead at midnight, the computed time may be in the past.
func untilMidnight(now time.Time) time.Duration {
	year, month, day := now.Date()
	return min(max(time.Date(year, month, day+1, 0, 0, 0, 0, now.Location()).Sub(now), time.Second), lookTime)
}
