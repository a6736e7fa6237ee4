package valkey

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	client "github.com/valkey-io/valkey-go"
)

// Errors of Config.
var (
	errScheme   = errors.New("it does not begin with redis:// or rediss://")
	errPassword = errors.New("it has a password, which others can read in the configuration")
	errCA       = errors.New("it has no certificate in PEM")
)

// Check returns what is wrong with a URL. It never shows the URL, which may contain a password.
func Check(text string) error {
	u, err := url.Parse(text)
	if err != nil || !slices.Contains([]string{"redis", "rediss", "valkey", "valkeys"}, u.Scheme) {
		return errScheme
	}
	if _, has := u.User.Password(); has {
		return errPassword
	}
	if u.Hostname() == "" {
		return errors.New("it names no server")
	}
	if path := strings.TrimPrefix(u.Path, "/"); path != "" {
		if n, err := strconv.Atoi(path); err != nil || n < 0 {
			return errors.New("what follows the server is not the number of a database")
		}
	}
	for name := range u.Query() {
		if name != "addr" && name != "master_set" {
			return fmt.Errorf("it has the parameter %q: those allowed are addr and master_set", name)
		}
	}
	return nil
}

// options returns those of the client for a configuration, whose connections are counted.
func options(c Config, all *conns) (client.ClientOption, error) {
	if err := Check(c.URL); err != nil {
		return client.ClientOption{}, err
	}
	made, err := client.ParseURL(c.URL)
	if err != nil {
		return made, err
	}
	if made.TLSConfig != nil {
		made.TLSConfig.MinVersion = tls.VersionTLS12
		if c.CA != nil {
			made.TLSConfig.RootCAs = x509.NewCertPool()
			if !made.TLSConfig.RootCAs.AppendCertsFromPEM(c.CA) {
				return made, errCA
			}
		}
	}
	made.DialCtxFn = dialer(c, all)
	if c.Password != nil {
		made.AuthCredentialsFn = credentials(c, made.Username)
	}
	made.Dialer.Timeout = connectFor //nolint:forbidigo // of the first commands: dialer dials
	made.ClientName, made.ClientSetInfo = "urnd", client.DisableClientSetInfo
	made.DisableCache, made.DisableRetry, made.AlwaysPipelining = true, true, true
	made.PipelineMultiplex = connections
	made.ReadBufferEachConn, made.WriteBufferEachConn = buffer, buffer
	made.BlockingPoolSize = 2
	made.ClusterOption.MaxMovedRedirections = maxRedirections
	return made, nil
}

const (
	connections     = 1 // as a power of two
	buffer          = 64 << 10
	maxRedirections = 3 // of a command: nodes of a cluster may lead around in a circle
	renewEvery      = 4 // rounds of run that fail
)

// server is the client of a server, of a cluster, or of the server that sentinels have named.
type server struct {
	client.Client
	main  string // that server; "" without sentinels
	conns *conns
}

// close closes all connections, those in use, too.
func (s *server) close() {
	s.conns.close()
	s.Close()
}

// connect makes the client, whose connections are made anew by itself from then on. Where a number of rounds has failed since it worked, it makes another
// one now and then, and where the server was caught at once: what the client has learned may be why it fails, such as who is in the cluster, or
// that there is one, or which question a reply is to. It keeps the client that is there until the other one has connected.
func (l *Level) connect(ctx context.Context, failures int) error {
	old := l.server.Load()
	var main string
	renews := old == nil || old.conns.isSuspect.Load() || failures%renewEvery == renewEvery-1
	if renews || failures > 0 {
		var err error
		if main, err = l.mainServer(ctx); err != nil && old == nil {
			return fmt.Errorf("%w: %w", errConnecting, err)
		}
		renews = err == nil && (renews || main != old.main)
	}
	if !renews {
		return nil
	}
	made, err := l.newServer(ctx, main)
	if err != nil {
		if old != nil && !errors.Is(err, errOld) {
			return nil // it may answer again
		}
		return err
	}
	l.server.Store(made)
	if old != nil {
		l.running.Go(old.close)
	}
	return nil
}

// newServer connects, to a server where the configuration does not name it.
func (l *Level) newServer(ctx context.Context, main string) (*server, error) {
	made := &server{main: main, conns: new(conns)}
	settings, err := l.options(made.conns)
	if err != nil {
		return nil, err
	}
	if main != "" {
		settings.InitAddress, settings.ForceSingleClient, settings.Sentinel.MasterSet = []string{main}, true, ""
	}
	if made.Client, err = client.NewClient(settings); err != nil {
		made.conns.close()
		if made.Client != nil {
			made.Close()
		}
		return nil, fmt.Errorf("%w: %w", errConnecting, err)
	}
	if _, err := serverOf(ctx, made); errors.Is(err, errOld) { // other errors are those of what follows
		made.close()
		return nil, err
	}
	return made, nil
}

// options returns those of a client, which dials until the level is closed.
func (l *Level) options(all *conns) (client.ClientOption, error) {
	c := l.config
	c.Dial = l.dial
	settings, err := options(c, all)
	open := settings.DialCtxFn
	settings.DialCtxFn = func(ctx context.Context, address string, d *net.Dialer, secured *tls.Config) (net.Conn, error) { //nolint:forbidigo // see dialer
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(l.ctx, cancel)() //nolint:contextcheck // Close ends it
		return open(ctx, address, d, secured)
	}
	return settings, err
}
