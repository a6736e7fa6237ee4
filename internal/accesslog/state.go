package accesslog

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

// writeState records whether the access log is writable, according to the last write. It is safe for concurrent
// use.
type writeState struct {
	log *slog.Logger
	now func() time.Time

	mu       sync.Mutex
	failure  error
	rotation error     // error of the last rotation or removal of old files
	tried    time.Time // time of the last attempted rotation
	logged   time.Time // time at which an error was last logged; the zero value after the recovery was logged
}

// logFailureEvery is the minimum interval of log records about this state: on a full disk, short lines may still
// be written.
const logFailureEvery = time.Minute

// wrote records the result of a write.
func (s *writeState) wrote(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
	now := s.now()
	switch recent := now.Sub(s.logged) < logFailureEvery; {
	case err != nil && (s.logged.IsZero() || !recent):
		s.log.Error("access log write failed, lines dropped", "error", err)
		s.logged = now
	case err == nil && !s.logged.IsZero() && !recent:
		s.log.Info("access log write succeeded again")
		s.logged = time.Time{}
	}
}

// failures returns the current problems of the access log.
func (s *writeState) failures() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		all = append(all, fmt.Sprintf("access log write failed, lines dropped: %s", s.failure))
	}
	if s.rotation != nil {
		all = append(all, fmt.Sprintf("access log kept longer than configured: %s", s.rotation))
	}
	return all
}

// mayRotate reports whether a rotation may be tried: not within retryTime of a failure.
func (s *writeState) mayRotate(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := now.Sub(s.tried)
	return s.rotation == nil || since >= retryTime || since < 0
}

// rotated records the result of a rotation, and logs an error that differs from the previous one.
func (s *writeState) rotated(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && (s.rotation == nil || s.rotation.Error() != err.Error()) {
		s.log.Error("access log rotation failed", "error", err)
	}
	s.rotation, s.tried = err, s.now()
}

// stateWriter records the results of writes in a writeState.
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
