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
	// expiryNotice is how long before its end a certificate is pointed out; for one that lives no longer than that,
	// the last quarter of its life.
	expiryNotice = 21 * 24 * time.Hour
	// expiryEvery is how often the log says so, and lookEvery how often the files are looked at.
	expiryEvery = 24 * time.Hour
	lookEvery   = 10 * time.Second
)

// Watch looks at the certificates of a Set now and then, and logs what administrators should know.
type Watch struct {
	*Set
	log     atomic.Pointer[slog.Logger] // of the configuration in force
	once    sync.Once
	running sync.WaitGroup
	cancel  context.CancelFunc

	// What Look has seen and logged.
	noticed  map[string]time.Time // by serial number: when its end was last logged; the zero value for never
	fault    string               // of the last look
	isLogged bool                 // fault is
}

// NewWatch returns a watch of a set, which Start begins.
func NewWatch(set *Set) *Watch { return &Watch{Set: set, cancel: func() {}} }

// Start begins to look at the files, which only the first call does, and logs to a log from then on.
func (w *Watch) Start(log *slog.Logger) {
	w.log.Store(log)
	w.once.Do(func() {
		var ctx context.Context
		ctx, w.cancel = context.WithCancel(context.Background())
		w.running.Go(func() { w.watch(ctx) })
	})
}

// Close ends what Start has begun.
func (w *Watch) Close() {
	w.cancel()
	w.running.Wait()
}

func (w *Watch) watch(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		w.Look(w.log.Load())
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Look reads the files if they have changed, and logs what administrators should know. A fault is logged at the second
// look: a certificate and its key are written one after the other. It is not to be called after Start.
func (w *Watch) Look(log *slog.Logger) {
	fault := ""
	if err := w.Check(); err != nil {
		fault = err.Error()
	}
	switch {
	case fault == "" && w.isLogged:
		log.Info("the files of the certificate can be used again")
		w.isLogged = false
	case fault != "" && fault == w.fault && !w.isLogged:
		log.Error("the files of the certificate cannot be used: the certificate before them stays in use",
			"error", fault)
		w.isLogged = true
	}
	w.fault = fault
	isFirst, seen := w.noticed == nil, make(map[string]time.Time)
	for _, leaf := range w.Leaves() {
		serial := leaf.SerialNumber.String()
		noticed, isKnown := w.noticed[serial]
		if !isKnown && !isFirst {
			log.Info("the certificate was replaced", "expires", leaf.NotAfter, "subject", Name(leaf))
		}
		if notice := Validity(leaf, w.now()); notice != "" && w.now().Sub(noticed) >= expiryEvery {
			log.Warn("the certificate of urnd "+notice, "expires", leaf.NotAfter, "subject", Name(leaf))
			noticed = w.now()
		}
		seen[serial] = noticed
	}
	w.noticed = seen
}

// Faults are what is wrong with the certificates.
func (w *Watch) Faults() (all []string) {
	w.mu.Lock()
	for i := range w.pairs {
		if fault := w.pairs[i].fault; fault != nil {
			all = append(all, "the files of the certificate cannot be used, so that the certificate before them stays in use: "+fault.Error())
		}
	}
	w.mu.Unlock()
	for _, leaf := range w.Leaves() {
		if notice := Validity(leaf, w.now()); notice != "" {
			all = append(all, fmt.Sprintf("the certificate of %s %s", Name(leaf), notice))
		}
	}
	if w.managed != nil {
		all = append(all, w.managed.Faults()...)
	}
	return all
}

// Expiries returns when the certificates end, by their names; the earliest where several have the same.
func (w *Watch) Expiries() map[string]time.Time {
	all := make(map[string]time.Time)
	for _, leaf := range w.Leaves() {
		if at, is := all[Name(leaf)]; !is || leaf.NotAfter.Before(at) {
			all[Name(leaf)] = leaf.NotAfter
		}
	}
	return all
}

// Name returns what administrators call a certificate: its first host, or else its subject.
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

// Validity says what is to be known about the validity of a certificate (RFC 5280 section 4.1.2.5), "" for nothing.
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
