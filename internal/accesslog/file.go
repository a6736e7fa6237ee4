package accesslog

import (
	"errors"
	"io"
	"log/slog"
	"time"
)

// File is a Log with its destination: a file that can be reopened, a stream, or a syslog server. It records
// whether the destination is writable.
type File struct {
	*Log
	file   *logFile      // nil for other destinations; its content is guarded by Log.writing
	syslog *syslogWriter // nil for other destinations
	state  *writeState
}

// FileConfig configures a File. All fields are required except Path, Keep, Syslog and Writer.
type FileConfig struct {
	Config
	Path   string    // of the file, which is created; "" for none
	Keep   int       // days for which daily files are kept; 0 disables rotation: others may rename before Reopen
	Syslog *Syslog   // server, which is dialed for the first lines; nil for none
	Writer io.Writer // stream, used if Path and Syslog are unset
	// ErrorLog logs when lines cannot be written, and when they can be written again.
	ErrorLog *slog.Logger
	Now      func() time.Time
}

// Open opens a log. The caller must close it. Rotating old files is left to Set.Run, because the configuration
// may not come into force.
func Open(c FileConfig) (*File, error) {
	f := &File{state: &writeState{log: c.ErrorLog, now: c.Now}}
	to := c.Writer
	switch {
	case c.Path != "":
		var err error
		if f.file, err = openFile(c.Path, c.Keep, c.Now, f.state); err != nil {
			return nil, err
		}
		to = f.file
	case c.Syslog != nil:
		f.syslog = &syslogWriter{server: *c.Syslog, now: c.Now}
		to = f.syslog
	}
	f.Log = New(stateWriter{to, f.state}, c.Config)
	f.drops = f.syslog != nil
	return f, nil
}

// reopen reopens the file, which may have been renamed. It does nothing for other destinations.
func (f *File) reopen() error {
	if f.file == nil {
		return nil
	}
	f.writing.Lock() // a rotation may run concurrently
	defer f.writing.Unlock()
	f.flush() // earlier lines belong to the old file
	opened, err := openFile(f.file.Name(), f.file.keep, f.file.now, f.state)
	if err != nil {
		return err
	}
	before := f.file.File
	f.file.File, f.file.day, f.broken = opened.File, opened.day, false
	if f.file.keep > 0 {
		f.file.rotate()
	}
	return before.Close()
}

// Close writes pending lines and closes the file.
func (f *File) Close() {
	f.Log.Close()
	if f.file != nil {
		_ = f.file.Close() // lost lines have been counted
	}
	if f.syslog != nil {
		_ = f.syslog.Close()
	}
}

// Set contains the logs of a configuration; each request is written to all logs that select it. nil is empty.
type Set []*File

// Write logs one entry to each log; see Log.Write.
func (s Set) Write(e Entry) {
	for _, f := range s {
		f.Write(e)
	}
}

// Reopen reopens the files, which may have been renamed. The error joins those of all files.
func (s Set) Reopen() error {
	var all []error
	for _, f := range s {
		all = append(all, f.reopen())
	}
	return errors.Join(all...)
}

// Failures returns the current problems of the logs.
func (s Set) Failures() (all []string) {
	for _, f := range s {
		all = append(all, f.state.failures()...)
	}
	return all
}

// Close writes pending lines and closes the files.
func (s Set) Close() {
	for _, f := range s {
		f.Close()
	}
}
