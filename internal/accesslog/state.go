package accesslog

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

// writeState is whether the access log can be written, as its last line was. It is safe for concurrent use.
type writeState struct {
	log *slog.Logger
	now func() time.Time

	mu     sync.Mutex
	fault  error
	logged time.Time // when a fault was last logged; the zero value where writing was logged to work again
}

// logFaultEvery is the least time between two lines of the log about this: on a full disk, short lines may still fit.
const logFaultEvery = time.Minute

// wrote records the outcome of a write.
func (s *writeState) wrote(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err
	now := s.now()
	switch recent := now.Sub(s.logged) < logFaultEvery; {
	case err != nil && (s.logged.IsZero() || !recent):
		s.log.Error("the access log cannot be written, and lines of it are lost", "error", err)
		s.logged = now
	case err == nil && !s.logged.IsZero() && !recent:
		s.log.Info("the access log is written again")
		s.logged = time.Time{}
	}
}

// faults are what is wrong with the access log.
func (s *writeState) faults() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		return nil
	}
	return []string{fmt.Sprintf("the access log cannot be written, and lines of it are lost: %s", s.fault)}
}

// stateWriter is a writer of the access log whose outcomes are recorded.
type stateWriter struct {
	io.Writer
	state *writeState
}

// Write implements io.Writer.
func (w stateWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.state.wrote(err)
	return n, err
}
