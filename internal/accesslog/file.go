package accesslog

import (
	"errors"
	"io"
	"log/slog"
	"time"
)

// File is a Log with what it is written to: a file that can be opened again, a stream, or a server of syslog; and whether that can be
// written.
type File struct {
	*Log
	file   *logFile      // nil where it is none; what is in it changes with Log.writing locked
	syslog *syslogWriter // nil where it is none
	state  *writeState
}

// FileConfig configures a File. All fields but Path, Keep, Syslog and To must be set.
type FileConfig struct {
	Config
	Path   string    // of the file, which is made; "" is none
	Keep   int       // how many days the file of a day is kept; 0 has one file for all, which others may rename before Reopen
	Syslog *Syslog   // the server, which is dialled by the first lines; nil is none
	To     io.Writer // a stream, where there is neither
	// Faults is told when lines cannot be written, and when they can be again.
	Faults *slog.Logger
	Now    func() time.Time
}

// Open opens a file. It must be closed. Files of days before are left to Set.Run: the configuration may not come into force.
func Open(c FileConfig) (*File, error) {
	f := &File{state: &writeState{log: c.Faults, now: c.Now}}
	to := c.To
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

// reopen opens the file again, if there is one: it may have been renamed.
func (f *File) reopen() error {
	if f.file == nil {
		return nil
	}
	f.writing.Lock() // a day may begin meanwhile
	defer f.writing.Unlock()
	f.flush() // what was logged before is in the old one
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

// Close writes what is left, and closes the file.
func (f *File) Close() {
	f.Log.Close()
	if f.file != nil {
		_ = f.file.Close() // lines that were lost are counted
	}
	if f.syslog != nil {
		_ = f.syslog.Close()
	}
}

// Set is the logs of a configuration: each request is written to all that want it. nil has none.
type Set []*File

// Write logs one entry, as Log.Write does.
func (s Set) Write(e Entry) {
	for _, f := range s {
		f.Write(e)
	}
}

// Reopen opens the files again: they may have been renamed. The error is of all that could not be.
func (s Set) Reopen() error {
	var all []error
	for _, f := range s {
		all = append(all, f.reopen())
	}
	return errors.Join(all...)
}

// Faults are what is wrong with the logs.
func (s Set) Faults() (all []string) {
	for _, f := range s {
		all = append(all, f.state.faults()...)
	}
	return all
}

// Close writes what is left, and closes the files.
func (s Set) Close() {
	for _, f := range s {
		f.Close()
	}
}
