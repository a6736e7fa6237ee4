package main

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy/listen"
)

// The end of the certificate is in the log from 21 days before, once a day.
func TestCertificateIsLooked(t *testing.T) {
	const day = 24 * time.Hour
	ca := newAuthority(t)
	now := time.Now().Truncate(time.Second)
	certificate, key := ca.issueUntil(t, "first", now.Add(30*day))
	files := newPairFiles(t, certificate, key)
	var log logBuffer
	log.next = io.Discard
	made, err := newCertificate(config.TLS{Certificate: files.certificate, Key: files.key}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	watch := listen.WatchCertificate(made, func() time.Time { return now })
	logger := slog.New(slog.NewTextHandler(&log, nil))
	seen := 0
	for _, tt := range []struct {
		name    string
		ahead   time.Duration
		write   func()
		logs    string // "": nothing
		degrade string // a part of what /readyz says; "": it says nothing
	}{
		{"30 days before", 0, nil, "", ""},
		{"22 days before", 8 * day, nil, "", ""},
		{"20 days before", 2 * day, nil, "in 20 days", "in 20 days"},
		{"an hour later", time.Hour, nil, "", "in 19 days"},
		{"a day later", day, nil, "in 18 days", "in 18 days"},
		{"half a certificate", 0, func() { writeLater(t, files.certificate, certificate[:100]) }, "", "cannot be used"},
		{"still half", 0, nil, "cannot be used: the certificate before them stays in use", "cannot be used"},
		{"still", 0, nil, "", "cannot be used"},
		{"whole again", 0, func() { writeLater(t, files.certificate, certificate) }, "can be used again", "in 18 days"},
		{"expired", 19 * day, nil, "has expired at", "has expired at"},
		{"renewed", 0, func() {
			next, nextKey := ca.issueUntil(t, "second", now.Add(90*day))
			writeLater(t, files.certificate, next)
			writeLater(t, files.key, nextKey)
		}, "the certificate was replaced", ""},
	} {
		now = now.Add(tt.ahead)
		if tt.write != nil {
			tt.write()
		}
		watch.Look(logger)
		text := log.String()[seen:]
		seen += len(text)
		if strings.Count(text, "\n") > 1 || (tt.logs == "") != (text == "") || !strings.Contains(text, tt.logs) {
			t.Errorf("%s: the log has %q", tt.name, text)
		}
		if got := strings.Join(watch.Faults(), "; "); (tt.degrade == "") != (got == "") || !strings.Contains(got, tt.degrade) {
			t.Errorf("%s: /readyz says %q", tt.name, got)
		}
	}
}
