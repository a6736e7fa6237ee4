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

// logFile is the file of a log, of which each day has its own where keep is more than 0: that of a day before is renamed to end in its
// date. It is not safe for concurrent use. Libraries that rotate files (lumberjack, timberjack) do not fit: they rotate by size or by the
// clock of the system, remove what has a similar name, and own the file, so that a second configuration that has it and logrotate would
// take it from each other.
type logFile struct {
	*os.File
	keep  int // days
	now   func() time.Time
	state *writeState
	day   string // of the last line, or today, in the form of dayLayout
	// locked is since when another has the file locked; the zero value where none has.
	locked time.Time
}

// errLocked is the error of a file that another renames at this moment: the log of another configuration begins the same day.
var errLocked = errors.New("the file is locked")

const (
	dayLayout = "20060102"
	// retryTime is how long a rotation that failed is not tried again.
	retryTime = time.Minute
	// lookTime bounds the wait for midnight: the clock of the system may be set, and timers stand still while a machine sleeps.
	lookTime = time.Hour
)

func openFile(path string, keep int, now func() time.Time, state *writeState) (*logFile, error) {
	const ownerWritesGroupReads = 0o640
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, ownerWritesGroupReads) //nolint:gosec // it is of the configuration
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

// isDue reports whether the day of the last line is over. Where the clock was put back over midnight, it is not.
func (f *logFile) isDue() bool {
	if f.keep == 0 {
		return false
	}
	now := f.now()
	today := now.Format(dayLayout)
	if f.day > now.AddDate(0, 0, 1).Format(dayLayout) { // it was put forward far, and back
		f.day = today
	}
	return today > f.day
}

// rotate begins a new file where that is due, and removes old ones. Where it fails, lines go to the old one, and it is tried again.
func (f *logFile) rotate() {
	var err error
	if f.isDue() {
		if err = f.begin(); err == nil || errors.Is(err, fs.ErrExist) { // the file of the next day has another name
			f.day = f.now().Format(dayLayout)
		}
		if errors.Is(err, errLocked) { // the next line tries again
			return
		}
	}
	f.state.rotated(errors.Join(err, f.prune()))
}

// begin renames the file, and opens the new one. The file of this path may have been renamed by another program, or by the log of another
// configuration, while this one is being drained: who renames it has it locked.
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
		return fmt.Errorf("%s is a symbolic link, which is not renamed", f.Name())
	}
	if err == nil && os.SameFile(own, at) {
		if own.Size() == 0 {
			return nil
		}
		old := f.Name() + "-" + f.day
		if _, err := os.Lstat(old); err == nil {
			return fmt.Errorf("%s is there already: %w", old, fs.ErrExist)
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

// lock locks the file. Who has it locked for longer than a moment does not just rename it.
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

// prune removes the files of days that are over for more than keep days: regular files named as begin does, and no others.
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

// rotate begins a new file where its day is over, and removes old ones.
func (f *File) rotate() {
	if f.file == nil || f.file.keep == 0 {
		return
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	f.flush() // lines are of the day in which they gathered
	f.file.rotate()
}

// Run begins new files now, where their day is over, and at midnight, and removes those that are kept no longer, until ctx ends. after is
// time.After. It returns immediately where no file is kept for a time.
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

// untilMidnight returns the time until the next day, or lookTime. Where the clock is put forward at midnight, that may have been before.
func untilMidnight(now time.Time) time.Duration {
	year, month, day := now.Date()
	return min(max(time.Date(year, month, day+1, 0, 0, 0, 0, now.Location()).Sub(now), time.Second), lookTime)
}
