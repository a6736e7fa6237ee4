package list

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	pollEvery   = time.Minute            // interval of checks without events: network file systems have none
	eventDelay  = 100 * time.Millisecond // how long events are collected
	mostDrained = 1000                   // events per check
)

// Run reloads the file when it changes, until ctx ends. It must be called only once.
func (f *File[T]) Run(ctx context.Context) {
	var events <-chan fsnotify.Event
	var failures <-chan error
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		defer func() { _ = watcher.Close() }() // it was only read from
		events, failures = watcher.Events, watcher.Errors
	} else {
		f.config.Log.Warn("list watch failed, changes are noticed within a minute", "path", f.config.Path, "error",
			err.Error())
	}
	for {
		if watcher != nil {
			// The directory is watched, as a file is usually replaced by a rename; and each time again, as
			// the directory may be replaced, too. If that fails, the file is still checked every minute.
			_ = watcher.Add(filepath.Dir(f.config.Path))
		}
		wait := f.look(ctx)
		if wait <= 0 {
			wait = pollEvery
		}
		select {
		case <-ctx.Done():
			return
		case <-f.config.After(wait):
			continue
		case <-events:
		case err := <-failures: // events may be lost
			f.config.Log.Debug("file system watch failed", "path", f.config.Path, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-f.config.After(eventDelay):
			drain(events)
		}
	}
}

// drain removes pending events.
func drain(events <-chan fsnotify.Event) {
	for range mostDrained {
		select {
		case <-events:
		default:
			return
		}
	}
}

// look checks the file, and reads it if it has changed and is quiet since. It returns the time until the next
// check, 0 if none is pending.
func (f *File[T]) look(ctx context.Context) time.Duration {
	now := f.config.Now()
	if seen := f.stat(); !seen.same(f.seen) {
		f.changed(seen, now)
	}
	if f.done {
		return 0
	}
	quiet := now.Sub(f.since)
	switch {
	case quiet < quietTime:
		if now.Sub(f.changing) >= mostChange {
			f.setFailure("the file has been changing for more than a minute")
		}
		return quietTime - quiet
	case now.Before(f.reread):
		return f.reread.Sub(now)
	case f.seen.err != nil:
		f.finish(f.seen.err.Error())
		return 0
	case f.seen.same(f.current.Load().state):
		f.finish("")
		return 0
	}
	return f.reload(ctx, now)
}

// reload reads the file, and makes it the current content if it is valid. It returns the time until the next
// check, like look.
func (f *File[T]) reload(ctx context.Context, now time.Time) time.Duration {
	read, err := f.read(ctx)
	switch {
	case ctx.Err() != nil:
		return 0
	case errors.Is(err, errChanged):
		f.changed(f.stat(), now)
		return quietTime
	case err != nil:
		f.finish(err.Error())
		// Reading is retried at the next check: permissions change without a change of the content.
		f.done = errors.Is(err, ErrTooLarge) || errors.Is(err, errEmpty) || errors.Is(err, errNoEntries)
		return 0
	case read.report.Unfinished && f.reread.IsZero():
		f.reread = f.since.Add(rereadTime)
		return max(f.reread.Sub(now), quietTime)
	}
	failure := f.shrunk(read)
	if failure == "" {
		f.accept(read)
	}
	f.finish(failure)
	return 0
}

// changed records another version of the file.
func (f *File[T]) changed(seen state, now time.Time) {
	f.seen, f.since, f.reread, f.done = seen, now, time.Time{}, false
	if f.changing.IsZero() {
		f.changing = now
	}
}

// finish records that the version of the file was processed, and why it cannot be used; "" if it can.
func (f *File[T]) finish(failure string) {
	f.done, f.changing, f.reread = true, time.Time{}, time.Time{}
	if failure == "" {
		f.refused = nil
	}
	f.setFailure(failure)
}

// shrunk returns why a file that has shrunk is rejected, "" if it is accepted.
func (f *File[T]) shrunk(read *content[T]) string {
	entries, before := read.report.Entries, f.current.Load().report.Entries
	if before == 0 || 2*entries >= before || before < shrinkFrom && entries > 0 {
		return ""
	}
	if r := f.refused; r != nil && r.report.Entries == entries && r.state.info.Size() == read.state.info.Size() {
		return ""
	}
	// The parsed value is not retained.
	f.refused = &content[T]{report: Report{Entries: entries}, state: read.state}
	return fmt.Sprintf("the file has %d entries, %d before: it may be incomplete; touch it to use it anyway",
		entries, before)
}
