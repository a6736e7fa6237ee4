package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/proxy/listen"
)

const (
	// expiryNotice is how long before its end a certificate is pointed out.
	expiryNotice = 21 * 24 * time.Hour
	// expiryEvery is how often the log says so, and certificateEvery how often the files are looked at.
	expiryEvery      = 24 * time.Hour
	certificateEvery = 10 * time.Second
)

// ownCertificate is the certificate of urnd, over all configurations that have its files.
type ownCertificate struct {
	*listen.Certificate
	now     func() time.Time
	log     atomic.Pointer[slog.Logger] // of the configuration in force
	once    sync.Once
	running sync.WaitGroup
	cancel  context.CancelFunc

	// What watch has seen and logged.
	serial   string
	fault    string // of the last look
	isLogged bool   // fault is
	noticed  time.Time
}

// newCertificate reads the certificate of a configuration.
func newCertificate(c config.TLS, now func() time.Time) (*listen.Certificate, error) {
	var paths [2]string
	for i, s := range []struct{ setting, name string }{{"tls.certificate", c.Certificate}, {"tls.key", c.Key}} {
		var err error
		if paths[i], err = secret.Path(s.setting, s.name); err != nil {
			return nil, err
		}
	}
	certificate, err := listen.NewCertificate(paths[0], paths[1], now)
	if err != nil {
		return nil, fmt.Errorf("tls.certificate and tls.key: %w", err)
	}
	return certificate, nil
}

// wireCertificate returns the certificate of a configuration: the one of the previous configuration where it has the same
// files. Files that are invalid now are an error, though the one before could still be used.
func wireCertificate(c config.TLS, r *resolution, d dependencies) (*ownCertificate, error) {
	certificate, err := newCertificate(c, d.now)
	if err != nil {
		return nil, err
	}
	var previous *shared.Values
	if d.previous != nil {
		previous = &d.previous.shared
	}
	own, err := shared.Reuse(&r.shared, previous, "certificate", [...]string{c.Certificate, c.Key}, func() (*ownCertificate, func(), error) {
		made := &ownCertificate{Certificate: certificate, now: d.now, cancel: func() {}}
		return made, made.close, nil
	})
	if err != nil {
		return nil, err
	}
	r.faults = append(r.faults, own.faults)
	r.starters = append(r.starters, func() { own.start(d.log) })
	return own, nil
}

// start begins to look at the files, which only the first call does, and logs to a log from then on.
func (o *ownCertificate) start(log *slog.Logger) {
	o.log.Store(log)
	o.once.Do(func() {
		var ctx context.Context
		ctx, o.cancel = context.WithCancel(context.Background())
		o.running.Go(func() { o.watch(ctx) })
	})
}

func (o *ownCertificate) close() {
	o.cancel()
	o.running.Wait()
}

func (o *ownCertificate) watch(ctx context.Context) {
	ticker := time.NewTicker(certificateEvery)
	defer ticker.Stop()
	for {
		o.look()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// look reads the files if they have changed, and logs what administrators should know. A fault is logged at the second look:
// the certificate and its key are written one after the other.
func (o *ownCertificate) look() {
	log, fault := o.log.Load(), ""
	if err := o.Check(); err != nil {
		fault = err.Error()
	}
	switch {
	case fault == "" && o.isLogged:
		log.Info("the files of the certificate can be used again")
		o.isLogged = false
	case fault != "" && fault == o.fault && !o.isLogged:
		log.Error("the files of the certificate cannot be used: the certificate before them stays in use", "error", fault)
		o.isLogged = true
	}
	o.fault = fault
	leaf, _ := o.Leaf()
	if serial := leaf.SerialNumber.String(); serial != o.serial {
		if o.serial != "" {
			log.Info("the certificate was replaced", "expires", leaf.NotAfter)
		}
		o.serial, o.noticed = serial, time.Time{}
	}
	if notice := validity(leaf.NotBefore, leaf.NotAfter, o.now()); notice != "" && o.now().Sub(o.noticed) >= expiryEvery {
		log.Warn("the certificate of urnd "+notice, "expires", leaf.NotAfter, "subject", leaf.Subject.String())
		o.noticed = o.now()
	}
}

// faults are what is wrong with the certificate.
func (o *ownCertificate) faults() []string {
	leaf, fault := o.Leaf()
	var all []string
	if fault != nil {
		all = append(all, fmt.Sprintf("the files of the certificate cannot be used, so that the certificate before them stays in use: %s", fault))
	}
	if notice := validity(leaf.NotBefore, leaf.NotAfter, o.now()); notice != "" {
		all = append(all, "the certificate of urnd "+notice)
	}
	return all
}

// expires returns when the certificate does; ok is false where there is none.
func (o *ownCertificate) expires() (at time.Time, ok bool) {
	if o == nil {
		return time.Time{}, false
	}
	leaf, _ := o.Leaf()
	return leaf.NotAfter, true
}

// validity says what is to be known about the validity of a certificate (RFC 5280 section 4.1.2.5), "" for nothing.
func validity(from, until, now time.Time) string {
	at := until.UTC().Format(time.RFC3339)
	switch left := until.Sub(now); {
	case now.Before(from):
		return "is not valid before " + from.UTC().Format(time.RFC3339)
	case left < 0:
		return "has expired at " + at
	case left < expiryNotice:
		return fmt.Sprintf("expires at %s, in %d days", at, int(left.Hours()/24))
	default:
		return ""
	}
}
