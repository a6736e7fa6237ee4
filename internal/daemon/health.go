package daemon

import (
	"errors"
	"strings"
	"sync"
	"time"
)

// Health is the state of the daemon for /readyz. It is safe for concurrent use.
type Health struct {
	now    func() time.Time
	redact func(string) string

	stopping chan struct{} // closed by Stop

	mu          sync.Mutex
	reloadErr   error // error of the last reload; nil if it succeeded
	lastAnswer  time.Time
	lastFailure time.Time // first failed DNS query since lastAnswer
}

// NewHealth returns a Health without problems. redact removes secrets from reported errors.
func NewHealth(now func() time.Time, redact func(string) string) *Health {
	return &Health{now: now, redact: redact, stopping: make(chan struct{})}
}

var errStopping = errors.New("urnd is stopping")

// RecordQuery records whether a DNS query was answered.
func (h *Health) RecordQuery(answered bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case answered:
		h.lastAnswer = h.now()
	case !h.lastFailure.After(h.lastAnswer): // first failure since the last answer
		h.lastFailure = h.now()
	}
}

// AwaitsDNS reports whether no DNS server has responded since a query failed.
func (h *Health) AwaitsDNS() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lastFailure.After(h.lastAnswer)
}

// Reloaded records the result of a reload.
func (h *Health) Reloaded(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reloadErr = err
}

// refusal returns the error of the last reload without secrets, or nil.
func (h *Health) refusal() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.redacted()
}

// redacted returns reloadErr without secrets; h.mu is held.
func (h *Health) redacted() error {
	if h.reloadErr == nil {
		return nil
	}
	return errors.New(h.redact(h.reloadErr.Error()))
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// Stop records that the daemon is stopping. It must be called only once.
func (h *Health) Stop() { close(h.stopping) }

// Stopping returns a channel that is closed when the daemon stops.
func (h *Health) Stopping() <-chan struct{} { return h.stopping }

// Report returns the reasons why the daemon is not ready, and the problems with which it is degraded but ready.
func (h *Health) Report() (unready, degraded []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.stopping:
		unready = append(unready, errStopping.Error())
	default:
	}
	if h.reloadErr != nil {
		degraded = append(degraded, "configuration reload failed, keeping the previous one: "+firstLine(h.redacted()))
	}
	if h.lastFailure.After(h.lastAnswer) {
		degraded = append(degraded, "no DNS server has responded since "+h.lastFailure.UTC().Format(time.RFC3339)+
			": check whether they are reachable")
	}
	return unready, degraded
}
