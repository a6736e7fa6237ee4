package certificate_test

import (
	"bytes"
	"encoding/pem"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/certificate"
)

// writeLater writes a file with a later modification time than before, because timestamps of file systems are
// coarse.
func writeLater(t *testing.T, path string, text []byte) {
	t.Helper()
	later := time.Now()
	if info, err := os.Stat(path); err == nil {
		later = info.ModTime().Add(time.Second)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
}

// TestHalfWritten: a certificate may be half written, and its key may be written at another time.
func TestHalfWritten(t *testing.T) {
	ca, now := testserver.NewAuthority(t), time.Now()
	files := issue(t, ca, time.Hour, "first.example")
	first, err := os.ReadFile(files.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(files.Key)
	if err != nil {
		t.Fatal(err)
	}
	next, nextKey := ca.Issue(time.Hour, "second.example")
	set, err := certificate.NewSet([]certificate.Files{files}, nil, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, path string
		text       []byte // nil removes the file
		want       []byte
	}{
		{"half a certificate", files.Certificate, next[:len(next)/2], first},
		{"no certificate", files.Certificate, []byte{}, first},
		{"no file", files.Certificate, nil, first},
		{"the certificate alone", files.Certificate, next, first},
		{"half a key", files.Key, nextKey[:len(nextKey)/2], first},
		{"the key", files.Key, nextKey, next},
		{"the old key", files.Key, key, next},
		{"the old certificate", files.Certificate, first, first},
	} {
		if tt.text == nil {
			err = os.Remove(tt.path)
		} else {
			writeLater(t, tt.path, tt.text)
		}
		now = now.Add(time.Second)
		block, _ := pem.Decode(tt.want)
		if got := raw(t, set); err != nil || !bytes.Equal(got, block.Bytes) {
			t.Errorf("%s: another certificate; %v", tt.name, err)
		}
	}
}

// TestWatch requires a daily log message about expiry, from 21 days before.
func TestWatch(t *testing.T) {
	const day = 24 * time.Hour
	ca, now := testserver.NewAuthority(t), time.Now().Truncate(time.Second)
	files := issue(t, ca, 90*day+time.Minute, "first.example")
	whole, err := os.ReadFile(files.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	set, err := certificate.NewSet([]certificate.Files{files}, nil, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	watch := certificate.NewWatcher(set)
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	for _, tt := range []struct {
		name    string
		ahead   time.Duration
		write   func()
		logs    string // "" for none
		degrade string // a part of the message of /readyz; "" for none
	}{
		{"90 days before", 0, nil, "", ""},
		{"22 days before", 68 * day, nil, "", ""},
		{"20 days before", 2 * day, nil, "in 20 days", "in 20 days"},
		{"an hour later", time.Hour, nil, "", "in 19 days"},
		{"a day later", day, nil, "in 18 days", "in 18 days"},
		{"half a certificate", 0, func() { writeLater(t, files.Certificate, whole[:100]) }, "", "cannot be loaded"},
		{"still half", 0, nil, "certificate reload failed, keeping the previous one", "cannot be loaded"},
		{"still", 0, nil, "", "cannot be loaded"},
		{
			"whole again", 0, func() { writeLater(t, files.Certificate, whole) }, "certificate reload recovered",
			"in 18 days",
		},
		{"expired", 19 * day, nil, "has expired at", "has expired at"},
		{"renewed", 0, func() {
			next, nextKey := ca.Issue(365*day, "second.example")
			writeLater(t, files.Certificate, next)
			writeLater(t, files.Key, nextKey)
		}, "certificate replaced", ""},
	} {
		now = now.Add(tt.ahead)
		if tt.write != nil {
			tt.write()
		}
		log.Reset()
		watch.CheckAndLog(logger)
		if text := log.String(); strings.Count(text, "\n") > 1 || (tt.logs == "") != (text == "") ||
			!strings.Contains(text, tt.logs) {
			t.Errorf("%s: the log has %q", tt.name, text)
		}
		if got := strings.Join(watch.Failures(), "; "); (tt.degrade == "") != (got == "") ||
			!strings.Contains(got, tt.degrade) {
			t.Errorf("%s: /readyz says %q", tt.name, got)
		}
	}
}

// TestValidityOfShort: a certificate with a lifetime of a week, as authorities offer, is reported in its last
// quarter.
func TestValidityOfShort(t *testing.T) {
	const day = 24 * time.Hour
	files := issue(t, testserver.NewAuthority(t), 6*day, "first.example")
	set, err := certificate.NewSet([]certificate.Files{files}, nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	leaf := set.Leaves()[0]
	for left, isNoted := range map[time.Duration]bool{6 * day: false, 2 * day: false, day: true, 0: true, -day: true} {
		if got := certificate.Validity(leaf, leaf.NotAfter.Add(-left)); (got != "") != isNoted {
			t.Errorf("%s before its end: %q", left, got)
		}
	}
}
