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

	mu       sync.Mutex
	fault    error
	rotation error     // why the last file was not rotated, or old ones were not removed
	tried    time.Time // when rotation failed
	logged   time.Time // when a fault was last logged; the zero value where writing was logged to work again
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
func (s *writeState) faults() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault != nil {
		all = append(all, fmt.Sprintf("the access log cannot be written, and lines of it are lost: %s", s.fault))
	}
	if s.rotation != nil {
		all = append(all, fmt.Sprintf("the access log is kept longer than it is configured: %s", s.rotation))
	}
	return all
}

// mayRotate reports whether rotation may be tried: not soon after it failed.
func (s *writeState) mayRotate(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := now.Sub(s.tried)
	return s.rotation == nil || since >= retryTime || since < 0
}

// rotated records the outcome of a rotation, and logs a failure that is new.
func (s *writeState) rotated(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && (s.rotation == nil || s.rotation.Error() != err.Error()) {
		s.log.Error("the access log is not rotated, or old ones are not removed", "error", err)
	}
	s.rotation, s.tried = err, s.now()
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
