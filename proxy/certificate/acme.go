package certificate

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3/acme"
	"go.uber.org/zap"
)

// ManagerConfig configures a Manager. All fields must be set, except where noted.
type ManagerConfig struct {
	Directory     string       // directory URL of the certificate authority (RFC 8555 section 7.1.1)
	Contact       string       // mail address of the account; may be empty
	KeyID         string       // with HMAC, the external account binding (RFC 8555 section 7.3.4); both may be empty
	HMAC          string       // base64url
	Client        *http.Client // with a transport
	Storage       Storage
	Now           func() time.Time
	RenewInterval time.Duration // how often certificates are checked for renewal; 0 is ten minutes
	// Ordered is called after each order, with its error or nil.
	Ordered func(err error)
}

const (
	renewEvery = 10 * time.Minute
	// orderTimeout is the timeout of an order, during which the authority connects to this server.
	orderTimeout = 5 * time.Minute
	// maxOrders is the maximum number of concurrent orders.
	maxOrders = 4
)

// retries are the delays between attempts for a name; the last one applies to all further attempts. Let's
// Encrypt allows five failures per hour.
var retries = [...]time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour} //nolint:gochecknoglobals // a constant

// Manager obtains a certificate for each of its names from a certificate authority by ACME, and renews it. It
// is safe for concurrent use. Start must be called before Manage, and Close after both.
type Manager struct {
	config ManagerConfig
	log    atomic.Pointer[slog.Logger] // of the current configuration
	once   sync.Once
	ending sync.Once
	issuer *issuer
	cache  *certmagic.Cache
	magic  *certmagic.Config
	ctx    context.Context //nolint:containedctx // of the goroutines of Start
	cancel context.CancelFunc
	orders chan struct{} // semaphore of maxOrders
	work   sync.WaitGroup

	mu       sync.Mutex
	names    []string
	waiting  map[string]context.CancelFunc // cancels obtaining the first certificate of a name
	failures map[string]error              // error of the last order of a name
	unkept   error                         // error of the last write to the storage
}

// NewManager returns a manager. It does nothing until Start.
func NewManager(config ManagerConfig) *Manager {
	m := &Manager{
		config: config, orders: make(chan struct{}, maxOrders), cancel: func() {},
		waiting: make(map[string]context.CancelFunc), failures: make(map[string]error),
	}
	m.config.Storage = &reporting{config.Storage, m.reportStorage}
	m.issuer = newIssuer(m.config)
	return m
}

// Start starts the maintenance of certificates, at the first call only, and sets the logger.
func (m *Manager) Start(log *slog.Logger) {
	m.log.Store(log)
	m.once.Do(func() {
		m.ctx, m.cancel = context.WithCancel(context.Background())
		quiet := zap.NewNop() // urnd logs the events itself, in its own words
		m.cache = certmagic.NewCache(certmagic.CacheOptions{
			GetConfigForCert:   func(certmagic.Certificate) (*certmagic.Config, error) { return m.magic, nil },
			RenewCheckInterval: cmp.Or(m.config.RenewInterval, renewEvery), Logger: quiet,
		})
		m.magic = certmagic.New(m.cache, certmagic.Config{
			Issuers: []certmagic.Issuer{m.issuer}, Storage: m.config.Storage, Logger: quiet, OnEvent: m.event,
			KeySource: certmagic.StandardKeyGenerator{KeyType: certmagic.P256},
			OCSP:      certmagic.OCSPConfig{DisableStapling: true}, // stapling would dial without the guard
		})
		m.issuer.current = m.leaf
	})
}

// Close stops what Start has started. Certificates stay in the storage. Further calls do nothing.
func (m *Manager) Close() {
	m.ending.Do(func() {
		m.cancel()
		m.work.Wait()
		if m.cache != nil {
			m.cache.Stop()
		}
	})
}

// Manage sets the names that have a certificate: certificates of new names are obtained, those of removed names
// are no longer renewed. It does not wait for the authority. The certificate of the first name is the default
// for clients without SNI.
func (m *Manager) Manage(names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, before := range m.names {
		if slices.Contains(names, before) {
			continue
		}
		if cancel, is := m.waiting[before]; is {
			cancel()
		}
		m.cache.RemoveManaged([]certmagic.SubjectIssuer{{Subject: before}})
		delete(m.failures, before)
	}
	for _, name := range names {
		if _, is := m.waiting[name]; is || slices.Contains(m.names, name) {
			continue
		}
		ctx, cancel := context.WithCancel(m.ctx)
		m.waiting[name] = cancel
		m.work.Go(func() {
			defer cancel()
			m.obtain(ctx, name)
			m.mu.Lock()
			defer m.mu.Unlock()
			delete(m.waiting, name)
		})
	}
	m.names = names
}

// obtain loads the certificate of a name or orders one, and retries until it succeeds.
func (m *Manager) obtain(ctx context.Context, name string) {
	for attempt := 0; ; attempt++ {
		err := m.order(ctx, name)
		if err == nil || ctx.Err() != nil {
			return
		}
		if m.leaf(name) != nil { // it was loaded, and could not be renewed: the library retries
			if f := (orderFailure{}); !errors.As(err, &f) { // event has logged an orderFailure
				m.notRenewed(name, err)
			}
			return
		}
		wait := max(retries[min(attempt, len(retries)-1)], m.issuer.limit.pause())
		m.failed(name, err)
		m.log.Load().Error("certificate order failed, retrying", "name", name, "error", err, "retry_in", wait)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// order loads or orders the certificate of a name, without retry.
func (m *Manager) order(ctx context.Context, name string) error {
	select {
	case m.orders <- struct{}{}:
		defer func() { <-m.orders }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, orderTimeout)
	defer cancel()
	if err := m.magic.ManageSync(ctx, []string{name}); err != nil {
		return fmt.Errorf("obtaining a certificate from %s: %w", m.config.Directory, reason(err))
	}
	return nil
}

// event handles an event of the library.
func (m *Manager) event(_ context.Context, event string, data map[string]any) error {
	name, _ := data["identifier"].(string)
	isRenewal, _ := data["renewal"].(bool)
	switch event {
	case "cert_obtained":
		m.config.Ordered(nil)
		m.failed(name, nil)
		m.log.Load().Info("certificate obtained", "name", name, "renewal", isRenewal)
	case "cert_failed":
		err, _ := data["error"].(error)
		m.config.Ordered(err)
		if isRenewal { // obtain logs the failure of a first order, with the retry delay
			m.notRenewed(name, fmt.Errorf("renewing it at %s: %w", m.config.Directory, reason(err)))
		}
	}
	return nil
}

// notRenewed records and logs why a certificate could not be renewed.
func (m *Manager) notRenewed(name string, err error) {
	m.failed(name, err)
	m.log.Load().Error("certificate renewal failed, keeping the previous one and retrying", "name", name, "error", err)
}

// reportStorage records the result of a write to the storage, and logs when it changes between success and
// failure.
func (m *Manager) reportStorage(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.unkept
	m.unkept = err
	switch log := m.log.Load(); {
	case err != nil && before == nil:
		log.Error("certificate storage failed, keeping the previous certificates and ordering none", "error", err)
	case err == nil && before != nil:
		log.Info("certificate storage recovered")
	}
}

// reason returns the cause of a failed order, without what the library adds.
func reason(err error) error {
	if f := (orderFailure{}); errors.As(err, &f) {
		return f
	}
	return err
}

// failed records the error of the last order of a name; nil clears it.
func (m *Manager) failed(name string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if delete(m.failures, name); err != nil && slices.Contains(m.names, name) {
		m.failures[name] = err
	}
}

// Failures returns the problems with the managed certificates, for administrators.
func (m *Manager) Failures() (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range m.names {
		if err := m.failures[name]; err != nil {
			all = append(all, fmt.Sprintf("the certificate of %s: %v", name, err))
		}
	}
	if m.unkept != nil {
		all = append(all, fmt.Sprintf("certificate storage failed, no certificates are ordered: %v", m.unkept))
	}
	return all
}

// certificate returns the certificate for a host, that of the first name for "", nil if there is none.
func (m *Manager) certificate(host string) *tls.Certificate {
	if host == "" {
		if names := m.current(); len(names) > 0 {
			host = names[0]
		}
	}
	if m.cache == nil || host == "" {
		return nil
	}
	found := m.cache.AllMatchingCertificates(host)
	if len(found) == 0 {
		return nil
	}
	return &found[0].Certificate
}

// leaf returns the leaf certificate of a name, nil if there is none.
func (m *Manager) leaf(name string) *x509.Certificate {
	if c := m.certificate(name); c != nil {
		return c.Leaf
	}
	return nil
}

// leaves returns the leaf certificates in use.
func (m *Manager) leaves() (all []*x509.Certificate) {
	for _, name := range m.current() {
		if leaf := m.leaf(name); leaf != nil {
			all = append(all, leaf)
		}
	}
	return all
}

// current returns the names of Manage.
func (m *Manager) current() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.names
}

// isMissing reports whether an error means that a key is not in the storage.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// problemOf returns the problem document of the authority in an error; ok is false if it sent none.
func problemOf(err error) (problem acme.Problem, ok bool) { return problem, errors.As(err, &problem) }
