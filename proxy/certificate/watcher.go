package certificate

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// expiryNotice is the time before its expiry when a warning about a certificate starts; for a short-lived
	// one it is the last quarter of its lifetime if that is less.
	expiryNotice = 21 * 24 * time.Hour
	// expiryEvery is the interval of that warning in the log, and checkInterval the interval of checks of the
	// files.
	expiryEvery   = 24 * time.Hour
	checkInterval = 10 * time.Second
)

// Watcher checks the certificates of a Set periodically, and logs changes, errors and expiry for administrators.
type Watcher struct {
	*Set
	log     atomic.Pointer[slog.Logger] // of the current configuration
	once    sync.Once
	running sync.WaitGroup
	cancel  context.CancelFunc

	// State of CheckAndLog.
	noticed map[string]time.Time // by serial number: last warning about expiry; the zero value for none
	failure string               // error of the last check
	logged  bool                 // failure was logged
}

// NewWatcher returns a watch of a set. It does nothing until Start.
func NewWatcher(set *Set) *Watcher { return &Watcher{Set: set, cancel: func() {}} }

// Start starts the checks, at the first call only, and sets the logger.
func (w *Watcher) Start(log *slog.Logger) {
	w.log.Store(log)
	w.once.Do(func() {
		var ctx context.Context
		ctx, w.cancel = context.WithCancel(context.Background())
		w.running.Go(func() { w.watch(ctx) })
	})
}

// Close stops what Start has started.
func (w *Watcher) Close() {
	w.cancel()
	w.running.Wait()
}

func (w *Watcher) watch(ctx context.Context) {
	ticker := time.NewTicker(checkInterval)
	defer ticker.Stop()
	for {
		w.CheckAndLog(w.log.Load())
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// CheckAndLog checks the files and logs changes, errors and expiry. An error is logged at the second check, because a
// certificate and its key are written one after the other. It must not be called after Start.
func (w *Watcher) CheckAndLog(log *slog.Logger) {
	failure := ""
	if err := w.Check(); err != nil {
		failure = err.Error()
	}
	switch {
	case failure == "" && w.logged:
		log.Info("certificate reload recovered")
		w.logged = false
	case failure != "" && failure == w.failure && !w.logged:
		log.Error("certificate reload failed, keeping the previous one",
			"error", failure)
		w.logged = true
	}
	w.failure = failure
	first, seen := w.noticed == nil, make(map[string]time.Time)
	for _, leaf := range w.Leaves() {
		serial := leaf.SerialNumber.String()
		noticed, known := w.noticed[serial]
		if !known && !first {
			log.Info("certificate replaced", "expires", leaf.NotAfter, "subject", Name(leaf))
		}
		if notice := Validity(leaf, w.now()); notice != "" && w.now().Sub(noticed) >= expiryEvery {
			log.Warn("the certificate of urnd "+notice, "expires", leaf.NotAfter, "subject", Name(leaf))
			noticed = w.now()
		}
		seen[serial] = noticed
	}
	w.noticed = seen
}

// Failures returns the problems with the certificates, for administrators.
func (w *Watcher) Failures() (all []string) {
	w.mu.Lock()
	for i := range w.pairs {
		if failure := w.pairs[i].failure; failure != nil {
			all = append(all, "the certificate files cannot be loaded, the previous certificate stays in use: "+
				failure.Error())
		}
	}
	w.mu.Unlock()
	for _, leaf := range w.Leaves() {
		if notice := Validity(leaf, w.now()); notice != "" {
			all = append(all, fmt.Sprintf("the certificate of %s %s", Name(leaf), notice))
		}
	}
	if w.managed != nil {
		all = append(all, w.managed.Failures()...)
	}
	return all
}

// Expiries returns the expiry of the certificates by name; the earliest if several have the same name.
func (w *Watcher) Expiries() map[string]time.Time {
	all := make(map[string]time.Time)
	for _, leaf := range w.Leaves() {
		if at, is := all[Name(leaf)]; !is || leaf.NotAfter.Before(at) {
			all[Name(leaf)] = leaf.NotAfter
		}
	}
	return all
}

// Name returns a display name of a certificate: its first host, otherwise its subject.
func Name(leaf *x509.Certificate) string {
	switch {
	case len(leaf.DNSNames) > 0:
		return leaf.DNSNames[0]
	case len(leaf.IPAddresses) > 0:
		return leaf.IPAddresses[0].String()
	default:
		return leaf.Subject.String()
	}
}

// Validity returns a text about the validity period of a certificate (RFC 5280 section 4.1.2.5) if it needs
// attention, otherwise "".
func Validity(leaf *x509.Certificate, now time.Time) string {
	at := leaf.NotAfter.UTC().Format(time.RFC3339)
	notice := min(expiryNotice, leaf.NotAfter.Sub(leaf.NotBefore)/4)
	switch left := leaf.NotAfter.Sub(now); {
	case now.Before(leaf.NotBefore):
		return "is not valid before " + leaf.NotBefore.UTC().Format(time.RFC3339)
	case left < 0:
		return "has expired at " + at
	case left < notice:
		return fmt.Sprintf("expires at %s, in %d days", at, int(left.Hours()/24))
	default:
		return ""
	}
}
