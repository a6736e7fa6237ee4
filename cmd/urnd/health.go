package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/redact"
)

// leastToken is how long the token of administrators is at least.
const leastToken = 16

var errShortToken = fmt.Errorf("access.admin_token: the token has less than %d octets", leastToken)

// health is what is known of how the daemon does. It is safe for concurrent use.
type health struct {
	now func() time.Time

	mu       sync.Mutex
	stopping bool
	refused  error // why the last reading of the configuration was refused
	answered time.Time
	failed   time.Time // when a DNS server last failed to answer
}

var errStopping = errors.New("urnd stops")

// dns hears of a question to a server.
func (h *health) dns(rcode string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch rcode {
	case "timeout", "error":
		if !h.failed.After(h.answered) { // the first one since
			h.failed = h.now()
		}
	case "canceled":
	default:
		h.answered = h.now()
	}
}

// reloaded hears of a reading of the configuration.
func (h *health) reloaded(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refused = err
}

// refusal returns why the last reading of the configuration was refused, nil where it
// was not.
func (h *health) refusal() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refused
}

// stop says that the daemon ends.
func (h *health) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopping = true
}

// report returns why the daemon is not ready, and what is not as it should be.
func (h *health) report() (unready, degraded []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopping {
		unready = append(unready, errStopping.Error())
	}
	if h.refused != nil {
		degraded = append(degraded, "the configuration was not reloaded: "+redact.URLs(firstLine(h.refused)))
	}
	if h.failed.After(h.answered) {
		degraded = append(degraded, "no DNS server has answered since "+h.failed.UTC().Format(time.RFC3339))
	}
	return unready, degraded
}
