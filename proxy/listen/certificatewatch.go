package listen

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
	// expiryNotice is how long before its end a certificate is pointed out.
	expiryNotice = 21 * 24 * time.Hour
	// expiryEvery is how often the log says so, and certificateEvery how often the files are looked at.
	expiryEvery      = 24 * time.Hour
	certificateEvery = 10 * time.Second
)

// CertificateWatch looks at the files of a certificate now and then, and logs what administrators should know.
type CertificateWatch struct {
	*Certificate
	now     func() time.Time
	log     atomic.Pointer[slog.Logger] // of the configuration in force
	once    sync.Once
	running sync.WaitGroup
	cancel  context.CancelFunc

	// What Look has seen and logged.
	serial   string
	fault    string // of the last look
	isLogged bool   // fault is
	noticed  time.Time
}

// WatchCertificate returns a watch of a certificate, which Start begins.
func WatchCertificate(certificate *Certificate, now func() time.Time) *CertificateWatch {
	return &CertificateWatch{Certificate: certificate, now: now, cancel: func() {}}
}

// Start begins to look at the files, which only the first call does, and logs to a log from then on.
func (w *CertificateWatch) Start(log *slog.Logger) {
	w.log.Store(log)
	w.once.Do(func() {
		var ctx context.Context
		ctx, w.cancel = context.WithCancel(context.Background())
		w.running.Go(func() { w.watch(ctx) })
	})
}

// Close ends what Start has begun.
func (w *CertificateWatch) Close() {
	w.cancel()
	w.running.Wait()
}

func (w *CertificateWatch) watch(ctx context.Context) {
	ticker := time.NewTicker(certificateEvery)
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
// look: the certificate and its key are written one after the other. It is not to be called after Start.
func (w *CertificateWatch) Look(log *slog.Logger) {
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
	leaf, _ := w.Leaf()
	if serial := leaf.SerialNumber.String(); serial != w.serial {
		if w.serial != "" {
			log.Info("the certificate was replaced", "expires", leaf.NotAfter)
		}
		w.serial, w.noticed = serial, time.Time{}
	}
	if notice := Validity(leaf, w.now()); notice != "" && w.now().Sub(w.noticed) >= expiryEvery {
		log.Warn("the certificate of urnd "+notice, "expires", leaf.NotAfter, "subject", leaf.Subject.String())
		w.noticed = w.now()
	}
}

// Faults are what is wrong with the certificate.
func (w *CertificateWatch) Faults() []string {
	leaf, fault := w.Leaf()
	var all []string
	if fault != nil {
		all = append(all, "the files of the certificate cannot be used, "+
			"so that the certificate before them stays in use: "+fault.Error())
	}
	if notice := Validity(leaf, w.now()); notice != "" {
		all = append(all, "the certificate of urnd "+notice)
	}
	return all
}

// Current returns the certificate in use, nil where there is none.
func (w *CertificateWatch) Current() *x509.Certificate {
	if w == nil {
		return nil
	}
	leaf, _ := w.Leaf()
	return leaf
}

// Expires returns when the certificate does; ok is false where there is none.
func (w *CertificateWatch) Expires() (at time.Time, ok bool) {
	if w == nil {
		return time.Time{}, false
	}
	leaf, _ := w.Leaf()
	return leaf.NotAfter, true
}

// Validity says what is to be known about the validity of a certificate (RFC 5280 section 4.1.2.5), "" for nothing.
func Validity(leaf *x509.Certificate, now time.Time) string {
	at := leaf.NotAfter.UTC().Format(time.RFC3339)
	switch left := leaf.NotAfter.Sub(now); {
	case now.Before(leaf.NotBefore):
		return "is not valid before " + leaf.NotBefore.UTC().Format(time.RFC3339)
	case left < 0:
		return "has expired at " + at
	case left < expiryNotice:
		return fmt.Sprintf("expires at %s, in %d days", at, int(left.Hours()/24))
	default:
		return ""
	}
}
