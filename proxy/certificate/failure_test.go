package certificate_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/certificate"
)

// failing is a storage that counts loads, and can be made read-only.
type failing struct {
	certificate.Storage
	loads atomic.Int64
	err   atomic.Pointer[error] // error of all writes; nil for none
}

func unwritable(s certificate.Storage, err error) *failing {
	f := &failing{Storage: s}
	f.err.Store(&err)
	return f
}

func (f *failing) fail() error {
	if err := f.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (f *failing) Load(ctx context.Context, key string) ([]byte, error) {
	f.loads.Add(1)
	return f.Storage.Load(ctx, key)
}

func (f *failing) Store(ctx context.Context, key string, value []byte) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.Storage.Store(ctx, key, value)
}

func (f *failing) Delete(ctx context.Context, key string) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.Storage.Delete(ctx, key)
}

func (f *failing) Lock(ctx context.Context, name string) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.Storage.Lock(ctx, name)
}

// awaitLooks waits until the library has checked several more times for renewals.
func (f *failing) awaitLooks(t *testing.T) {
	t.Helper()
	before := f.loads.Load()
	testserver.Wait(t, "certificates were looked at", func() bool { return f.loads.Load() > before+30 })
}

// replace stores another certificate for a name, whose validity is relative to now.
func (r *rig) replace(name string, begins, ends time.Duration) {
	r.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		r.t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(begins),
		NotAfter: time.Now().Add(ends), DNSNames: []string{name}, SubjectKeyId: []byte("an authority"),
		AuthorityKeyId: []byte("an authority"),
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		r.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		r.t.Fatal(err)
	}
	all, err := r.storage.List(r.t.Context(), "certificates", true)
	if err != nil {
		r.t.Fatal(err)
	}
	replaced := 0
	for _, path := range all {
		block := &pem.Block{Type: "CERTIFICATE", Bytes: der}
		switch {
		case strings.HasSuffix(path, name+".key"):
			block = &pem.Block{Type: "PRIVATE KEY", Bytes: secret}
		case !strings.HasSuffix(path, name+".crt"):
			continue
		}
		if err := r.storage.Store(r.t.Context(), path, pem.EncodeToMemory(block)); err != nil {
			r.t.Fatal(err)
		}
		replaced++
	}
	if replaced != 2 {
		r.t.Fatalf("%d files were replaced of %q", replaced, all)
	}
}

// transport returns the client's transport of a configuration.
func transport(c *certificate.ManagerConfig) *http.Transport {
	return c.Client.Transport.(*http.Transport)
}

// newName returns a unique name for a test, because the library pauses renewals per name for the lifetime of
// the process.
func newName(label string) string { return label + "-" + strings.ToLower(rand.Text()) + ".test" }

// failed returns the number of failed orders.
func (r *rig) failed() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, err := range r.orders {
		if err != nil {
			n++
		}
	}
	return n
}

// TestWrongClock: if the clock is years off, certificates seem expired or not yet valid, including that of the
// authority. They stay in use, orders fail and are retried with backoff, and all recovers once the clock is
// right.
func TestWrongClock(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	for _, tt := range []struct {
		name         string
		off          time.Duration // clock offset
		begins, ends time.Duration // validity of the stored certificate; the library uses the system clock
		notice       string
		renewals     int // failed renewals of the stored certificate
	}{
		{"ahead", 10 * year, -10 * year, -9 * year, "has expired at", 1},
		{"behind", -10 * year, 10 * year, 11 * year, "is not valid before", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			old, added := newName("old"), newName("new")
			r.start(nil, old)
			r.awaitNames(old)
			r.current().Close()
			r.replace(old, tt.begins, tt.ends)

			storage := &failing{Storage: r.storage}
			clock := func() time.Time { return time.Now().Add(tt.off) }
			manager := r.start(func(c *certificate.ManagerConfig) {
				c.Now, c.Storage, c.RenewInterval = clock, storage, time.Millisecond
				transport(c).TLSClientConfig.Time = clock
			}, old, added)
			r.awaitNames(old)
			want := []string{"the certificate of " + added + ": "}
			if tt.renewals > 0 {
				want = append(want, "the certificate of "+old+": renewing it at ")
			}
			testserver.Wait(t, "it is said what has failed",
				func() bool { return len(manager.Failures()) == len(want) })
			for _, start := range want {
				if !slices.ContainsFunc(manager.Failures(), func(s string) bool {
					return strings.HasPrefix(s, start) &&
						strings.Contains(s, "certificate has expired or is not yet valid")
				}) {
					t.Errorf("no failure begins with %q: %q", start, manager.Failures())
				}
			}
			set, err := certificate.NewSet(nil, manager, clock)
			if err != nil {
				t.Fatal(err)
			}
			watch := certificate.NewWatcher(set)
			if reported := strings.Join(watch.Failures(), "; "); !strings.Contains(reported,
				"the certificate of "+old+" "+tt.notice) {
				t.Errorf("/readyz says %q", reported)
			}
			if at := watch.Expiries()[old]; time.Until(at).Round(time.Hour) != tt.ends {
				t.Errorf("it ends at %s", at)
			}
			testserver.Wait(t, "the log says that none was obtained", func() bool {
				return r.log.count("certificate order failed", added, "retry_in=1m0s") == 1
			})
			// The start tries it, and the library, which checks every millisecond, once more after that has
			// failed.
			if got := r.log.count("certificate renewal failed", old); got < tt.renewals || got > 2*tt.renewals {
				t.Errorf("it is logged %d times that it was not renewed", got)
			}
			if tt.renewals > 0 { // the library keeps checking, and each name pauses for at least a minute
				storage.awaitLooks(t)
			}
			r.awaitNames(old)
			if got := r.failed(); got > len(want)+tt.renewals {
				t.Errorf("%d orders have failed", got)
			}

			manager.Close()
			r.start(nil, old, added)
			r.awaitNames(added)
			if tt.renewals > 0 {
				testserver.Wait(t, "it is renewed", func() bool {
					leaves := r.set.Leaves()
					return len(leaves) == 2 && leaves[0].NotAfter.After(time.Now()) &&
						leaves[1].NotAfter.After(time.Now())
				})
			}
		})
	}
}

// TestReadOnlyDirectory: with a read-only directory existing certificates stay in use, even after a restart;
// nothing is ordered that could not be stored; and Failures reports it, if a certificate is due for renewal, too.
func TestReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *testserver.PebbleConfig) { c.Validity = time.Hour })
	storage := &failing{Storage: r.storage}
	change := func(c *certificate.ManagerConfig) { c.Storage, c.RenewInterval = storage, time.Millisecond }
	kept, ending, added := newName("kept"), newName("ending"), newName("new")
	r.start(change, kept, ending)
	r.awaitNames(kept, ending)
	r.current().Close()
	r.replace(ending, -2*time.Hour, time.Minute) // due for renewal
	issued := r.pebble.Orders()

	readOnly := error(syscall.EROFS)
	storage.err.Store(&readOnly)
	manager := r.start(change, kept, ending, added)
	r.awaitNames(kept, ending)
	want := []string{
		"the certificate of " + ending + ": obtaining a certificate from ",
		"the certificate of " + added + ": obtaining a certificate from ",
		"certificate storage failed, no certificates are ordered: ",
	}
	testserver.Wait(t, "it is said what has failed", func() bool { return len(manager.Failures()) == len(want) })
	for i, reported := range manager.Failures() {
		if !strings.HasPrefix(reported, want[i]) || !strings.Contains(reported, "read-only file system") {
			t.Errorf("it is said: %q", reported)
		}
	}
	storage.awaitLooks(t)
	r.awaitNames(kept, ending)
	for text, n := range map[string]int{
		"certificate storage failed": 1, "certificate renewal failed": 1,
		"certificate order failed": 1,
	} {
		if got := r.log.count(text, "read-only file system"); got != n {
			t.Errorf("%q is logged %d times", text, got)
		}
	}
	if got := r.pebble.Orders(); got != issued {
		t.Errorf("%d certificates were issued that could not be kept", got-issued)
	}

	// Once the directory is writable again, all is obtained, and Failures is empty.
	manager.Close()
	storage.err.Store(nil)
	manager = r.start(change, kept, ending, added)
	r.awaitNames(added)
	testserver.Wait(t, "nothing is wrong", func() bool { return len(manager.Failures()) == 0 })
}

// TestReadOnlyAtRenewal: a directory that becomes read-only while certificates are in use is logged when one is
// due for renewal, which stays in use, and again when it is writable.
func TestReadOnlyAtRenewal(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *testserver.PebbleConfig) { c.Validity = 6 * time.Second })
	storage := &failing{Storage: r.storage}
	renewed, added := newName("renewed"), newName("new")
	manager := r.start(func(c *certificate.ManagerConfig) { c.Storage, c.RenewInterval = storage, 10*time.Millisecond },
		renewed)
	r.awaitNames(renewed)
	readOnly := error(syscall.EROFS)
	storage.err.Store(&readOnly)
	testserver.Wait(t, "it is said that it cannot be stored", func() bool {
		return slices.ContainsFunc(manager.Failures(),
			func(s string) bool { return strings.HasPrefix(s, "certificate storage failed") })
	})
	r.awaitNames(renewed)
	if r.log.count("certificate storage failed", "read-only file system") != 1 {
		t.Error("the log does not say so")
	}
	storage.err.Store(nil)
	manager.Manage([]string{renewed, added})
	r.awaitNames(renewed, added)
	if r.log.count("certificate storage recovered") != 1 {
		t.Error("the log does not say that it can be stored again")
	}
}

// TestClientIsUnchanged requires that the caller's HTTP client is not modified.
func TestClientIsUnchanged(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: new(tls.Config)}}
	before := client.Transport
	certificate.NewManager(certificate.ManagerConfig{Client: client, Now: time.Now}).Close()
	if client.Transport != before {
		t.Error("another transport")
	}
}
