package certificate_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/certificate"
)

// rig is a server whose certificates an ACME authority issues.
type rig struct {
	t       *testing.T
	pebble  *testserver.Pebble
	storage certificate.Storage
	http    net.Listener // nil rejects HTTP-01
	tls     net.Listener

	log logBuffer

	mu      sync.Mutex
	manager *certificate.Manager
	set     *certificate.Set
	orders  []error
}

// logBuffer collects the log.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// count returns the number of log lines that contain all of the texts.
func (b *logBuffer) count(texts ...string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for line := range strings.Lines(b.text.String()) {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
			n++
		}
	}
	return n
}

func listener(t *testing.T) (net.Listener, netip.AddrPort) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, netip.MustParseAddrPort(l.Addr().String())
}

// newRig starts an authority, and a server that it reaches by HTTP and TLS.
func newRig(t *testing.T, change func(*testserver.PebbleConfig)) *rig {
	t.Helper()
	plain, plainAddr := listener(t)
	secure, secureAddr := listener(t)
	config := testserver.PebbleConfig{HTTP: plainAddr, TLS: secureAddr}
	if change != nil {
		change(&config)
	}
	r := &rig{
		t: t, pebble: testserver.StartPebble(t, config),
		storage: certificate.FileStorage(t.TempDir()), http: plain, tls: secure,
	}
	go http.Serve(plain, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if text, ok := r.current().Authorization(q.Context(), q.URL.Path); ok {
			io.WriteString(w, text)
			return
		}
		http.NotFound(w, q)
	}))
	go func() {
		config := &tls.Config{
			NextProtos: []string{"http/1.1"},
			GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
				r.mu.Lock()
				set := r.set
				r.mu.Unlock()
				return set.Challenge(hello)
			},
		}
		for {
			conn, err := secure.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = tls.Server(conn, config).Handshake()
			}()
		}
	}()
	return r
}

func (r *rig) current() *certificate.Manager {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.manager
}

// start starts a manager of the names, until the end of the test or the next start.
func (r *rig) start(change func(*certificate.ManagerConfig), names ...string) *certificate.Manager {
	r.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(r.pebble.CA.PEM)
	config := certificate.ManagerConfig{
		Directory: r.pebble.Directory, Contact: "hostmaster@example.test", Storage: r.storage, Now: time.Now,
		Client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}},
		Ordered: func(err error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.orders = append(r.orders, err)
		},
	}
	if change != nil {
		change(&config)
	}
	manager := certificate.NewManager(config)
	set, err := certificate.NewSet(nil, manager, time.Now)
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	r.manager, r.set = manager, set
	r.mu.Unlock()
	manager.Start(slog.New(slog.NewTextHandler(&r.log, nil)))
	r.t.Cleanup(manager.Close)
	manager.Manage(names)
	return manager
}

// awaitNames waits until clients that request the hosts get certificates for them.
func (r *rig) awaitNames(hosts ...string) {
	r.t.Helper()
	for _, host := range hosts {
		testserver.Wait(r.t, "there is a certificate for "+host, func() bool {
			r.mu.Lock()
			set := r.set
			r.mu.Unlock()
			return named(r.t, set, host) == host
		})
	}
}

func TestManager(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	manager := r.start(nil, "a.test", "b.test")
	r.awaitNames("a.test", "b.test")
	if failures := manager.Failures(); len(failures) > 0 {
		t.Errorf("faults: %q", failures)
	}
	if got := named(t, r.set, "other.test"); got != "a.test" {
		t.Errorf("a client that asks for another name gets %q", got)
	}
	// A removed name is no longer served, an added one is obtained.
	manager.Manage([]string{"b.test", "c.test"})
	r.awaitNames("c.test")
	if got := named(t, r.set, "a.test"); got != "b.test" {
		t.Errorf("a name that has gone has %q", got)
	}
	// After a restart the manager loads them from the storage, even if the authority is unavailable.
	issued := r.pebble.Orders()
	manager.Close()
	r.pebble.Stop()
	r.start(nil, "b.test", "c.test")
	r.awaitNames("b.test", "c.test")
	if issued != 3 {
		t.Errorf("%d certificates were issued", issued)
	}
}

// TestChallenges requires that either challenge type suffices.
func TestChallenges(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*rig) net.Listener{
		"HTTP-01":     func(r *rig) net.Listener { return r.tls },
		"TLS-ALPN-01": func(r *rig) net.Listener { return r.http },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			end(r).Close()
			r.start(nil, "a.test")
			testserver.Wait(t, "there is a certificate, or it has failed", func() bool {
				return named(t, r.set, "a.test") == "a.test" || len(r.current().Failures()) > 0
			})
			if failures := r.current().Failures(); len(failures) > 0 {
				t.Errorf("faults: %q", failures)
			}
		})
	}
}

// TestBoundAccount covers RFC 8555 section 7.3.4.
func TestBoundAccount(t *testing.T) {
	t.Parallel()
	const key = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"
	r := newRig(t, func(c *testserver.PebbleConfig) { c.Keys = map[string]string{"kid-1": key} })
	manager := r.start(nil, "a.test")
	testserver.Wait(t, "an account without a key is refused", func() bool { return len(manager.Failures()) > 0 })
	if failure := manager.Failures()[0]; !strings.Contains(failure, "externalAccountRequired") {
		t.Errorf("the fault is %q", failure)
	}
	manager.Close()
	r.start(func(c *certificate.ManagerConfig) { c.KeyID, c.HMAC = "kid-1", key }, "a.test")
	r.awaitNames("a.test")
}

// TestTwoMachines: two machines with a shared storage obtain a certificate once, and each answers the
// challenges of the other.
func TestTwoMachines(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	first := r.start(nil, "a.test")
	second := r.start(nil, "a.test") // the authority connects to this one
	for _, m := range []*certificate.Manager{first, second} {
		set, err := certificate.NewSet(nil, m, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		testserver.Wait(t, "each has the certificate", func() bool { return named(t, set, "a.test") == "a.test" })
	}
	if got := r.pebble.Orders(); got != 1 {
		t.Errorf("%d certificates were issued", got)
	}
}

// TestRenewal: a certificate is renewed before it expires. If that fails it stays in use, and Failures reports
// it.
func TestRenewal(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *testserver.PebbleConfig) { c.Validity = 6 * time.Second })
	manager := r.start(func(c *certificate.ManagerConfig) { c.RenewInterval = 100 * time.Millisecond }, "a.test")
	r.awaitNames("a.test")
	first := r.set.Leaves()[0]
	testserver.Wait(t, "it is renewed", func() bool {
		leaves := r.set.Leaves()
		return len(leaves) == 1 && !leaves[0].Equal(first)
	})
	r.pebble.Stop()
	testserver.Wait(t, "it is said that it cannot be renewed", func() bool { return len(manager.Failures()) > 0 })
	if failure := manager.Failures()[0]; !strings.HasPrefix(failure,
		"the certificate of a.test: renewing it at https://") || !strings.Contains(failure, "connection refused") {
		t.Errorf("the fault is %q", failure)
	}
	r.awaitNames("a.test")
}

// TestNoAuthority: certificates stay in use while the authority, or the storage, is unavailable, and Failures
// reports it.
func TestNoAuthority(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	manager := r.start(nil, "a.test")
	r.awaitNames("a.test")
	r.pebble.Stop()
	manager.Manage([]string{"a.test", "b.test"})
	testserver.Wait(t, "it is said what is missing", func() bool { return len(manager.Failures()) > 0 })
	if failure := manager.Failures()[0]; !strings.HasPrefix(failure, "the certificate of b.test: ") ||
		!strings.Contains(failure, "connection refused") {
		t.Errorf("the fault is %q", failure)
	}
	r.awaitNames("a.test")
	manager.Manage([]string{"a.test"})
	if failures := manager.Failures(); len(failures) > 0 {
		t.Errorf("faults of a name that has gone: %q", failures)
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	manager := r.start(func(c *certificate.ManagerConfig) { c.Storage = unwritable(r.storage, syscall.ENOSPC) },
		"a.test")
	testserver.Wait(t, "it is said why there is no certificate", func() bool { return len(manager.Failures()) > 0 })
	if failure := manager.Failures()[0]; !strings.Contains(failure, "no space left on device") {
		t.Errorf("the fault is %q", failure)
	}
	if got := r.pebble.Orders(); got != 0 {
		t.Errorf("%d certificates were issued that could not be kept", got)
	}
}

// TestFilesArePrivate requires that other users cannot read key files.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	dir := t.TempDir()
	r.storage = certificate.FileStorage(dir)
	r.start(nil, "a.test")
	r.awaitNames("a.test")
	root := os.DirFS(dir)
	if err := walkFiles(root, func(path string, mode os.FileMode) {
		if mode.Perm()&0o077 != 0 {
			t.Errorf("%s: %s", path, mode)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

func walkFiles(root fs.FS, visit func(path string, mode fs.FileMode)) error {
	return fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && path != "." {
			visit(path, info.Mode())
		}
		return err
	})
}
