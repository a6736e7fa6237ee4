package accesslog

import (
	"io"
	"log/slog"
	"os"
	"time"
)

// File is a Log with what it is written to, a file that can be opened again or a stream, and whether that can be written.
// nil is none.
type File struct {
	*Log
	file  *os.File // nil where it is a stream
	state *writeState
}

// FileConfig configures a File. All fields but Path and To must be set.
type FileConfig struct {
	Path   string    // of the file, which is made; "" is To
	To     io.Writer // a stream
	Format string    // as of New
	Lost   func()    // is called for each entry that could not be written
	// Faults is told when lines cannot be written, and when they can be again.
	Faults *slog.Logger
	Now    func() time.Time
}

// Open opens a file. It must be closed.
func Open(c FileConfig) (*File, error) {
	f := &File{state: &writeState{log: c.Faults, now: c.Now}}
	to := c.To
	if c.Path != "" {
		var err error
		if f.file, err = openFile(c.Path); err != nil {
			return nil, err
		}
		to = f.file
	}
	f.Log = New(stateWriter{to, f.state}, c.Format, c.Lost)
	return f, nil
}

func openFile(path string) (*os.File, error) {
	const ownerWritesGroupReads = 0o640
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, ownerWritesGroupReads) //nolint:gosec // it is of the configuration
}

// Reopen opens the file again, if there is one: it may have been renamed.
func (f *File) Reopen() error {
	if f == nil || f.file == nil {
		return nil
	}
	file, err := openFile(f.file.Name())
	if err != nil {
		return err
	}
	f.Redirect(stateWriter{file, f.state}) // what was logged before is in the old one
	before := f.file
	f.file = file
	return before.Close()
}

// Faults are what is wrong with the log.
func (f *File) Faults() []string {
	if f == nil {
		return nil
	}
	return f.state.faults()
}

// Close writes what is left, and closes the file.
func (f *File) Close() {
	if f == nil {
		return
	}
	f.Log.Close()
	if f.file != nil {
		_ = f.file.Close() // lines that were lost are counted
	}
}
