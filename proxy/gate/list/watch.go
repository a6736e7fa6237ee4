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
	pollEvery   = time.Minute            // how often a file is looked at without an event, as for network file systems there is none
	eventDelay  = 100 * time.Millisecond // for which events are gathered
	mostDrained = 1000                   // events that are gathered; others are one more look
)

// Run notices changes of the file and reads them, until a context ends. It is called once.
func (f *File[T]) Run(ctx context.Context) {
	var events <-chan fsnotify.Event
	var failures <-chan error
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		defer func() { _ = watcher.Close() }() // it only reads
		events, failures = watcher.Events, watcher.Errors
	} else {
		f.config.Log.Warn("changes of a list are noticed after up to a minute", "path", f.config.Path, "error", err.Error())
	}
	for {
		if watcher != nil {
			// The folder, as files are replaced by others of their name, each time, as it can be replaced, too. What cannot be watched
			// is looked at every minute.
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
			f.config.Log.Debug("the file system reports an error of its events", "path", f.config.Path, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-f.config.After(eventDelay):
			drain(events)
		}
	}
}

// drain takes the events that wait.
func drain(events <-chan fsnotify.Event) {
	for range mostDrained {
		select {
		case <-events:
		default:
			return
		}
	}
}

// look looks at the file, and reads it where it has changed and been quiet since. It returns when to look again, 0 where nothing is
// under way.
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
			f.setFault("the file has been changing for more than a minute")
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

// reload reads the file, and makes it the content where it can be used. It returns when to look again, as look does.
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
		// What cannot be read is tried again, with the next look: rights change without a change of the content.
		f.done = errors.Is(err, ErrTooLarge) || errors.Is(err, errEmpty) || errors.Is(err, errNoEntries)
		return 0
	case read.report.Unfinished && f.reread.IsZero():
		f.reread = f.since.Add(rereadTime)
		return max(f.reread.Sub(now), quietTime)
	}
	fault := f.shrunk(read)
	if fault == "" {
		f.accept(read)
	}
	f.finish(fault)
	return 0
}

// changed records another state of the file.
func (f *File[T]) changed(seen state, now time.Time) {
	f.seen, f.since, f.reread, f.done = seen, now, time.Time{}, false
	if f.changing.IsZero() {
		f.changing = now
	}
}

// finish records that the state of the file is dealt with, and why it cannot be used; "" where it can.
func (f *File[T]) finish(fault string) {
	f.done, f.changing, f.reread = true, time.Time{}, time.Time{}
	if fault == "" {
		f.refused = nil
	}
	f.setFault(fault)
}

// shrunk returns why a file that has become much smaller is refused, "" where it is not.
func (f *File[T]) shrunk(read *content[T]) string {
	entries, before := read.report.Entries, f.current.Load().report.Entries
	if before == 0 || 2*entries >= before || before < shrinkFrom && entries > 0 {
		return ""
	}
	if r := f.refused; r != nil && r.report.Entries == entries && r.state.info.Size() == read.state.info.Size() {
		return ""
	}
	// Without its value, which is not used.
	f.refused = &content[T]{report: Report{Entries: entries}, state: read.state}
	return fmt.Sprintf("the file has %d entries, of %d before: it may be half-written; touch it to use it as it is", entries, before)
}
