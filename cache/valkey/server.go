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
	errScheme   = errors.New("URL must begin with redis:// or rediss://")
	errPassword = errors.New("URL with a password, which is readable by others")
	errCA       = errors.New("no PEM certificate")
)

// CheckURL returns what is wrong with a URL. The error never contains the URL, which may have a password.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || !slices.Contains([]string{"redis", "rediss", "valkey", "valkeys"}, u.Scheme) {
		return errScheme
	}
	if _, has := u.User.Password(); has {
		return errPassword
	}
	if u.Hostname() == "" {
		return errors.New("URL without a server")
	}
	if path := strings.TrimPrefix(u.Path, "/"); path != "" {
		if n, err := strconv.Atoi(path); err != nil || n < 0 {
			return errors.New("invalid database number after the server")
		}
	}
	for name := range u.Query() {
		if name != "addr" && name != "master_set" {
			return fmt.Errorf("unknown parameter %q: use addr or master_set", name)
		}
	}
	return nil
}

// options returns the client options of a configuration; the connections are tracked in all.
func options(c Config, all *conns) (client.ClientOption, error) {
	if err := CheckURL(c.URL); err != nil {
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
	made.Dialer.Timeout = connectFor //nolint:forbidigo // for the first commands; dialer limits the dialling
	made.ClientName, made.ClientSetInfo = "urnd", client.DisableClientSetInfo
	made.DisableCache, made.DisableRetry, made.AlwaysPipelining = true, true, true
	made.PipelineMultiplex = connections
	made.ReadBufferEachConn, made.WriteBufferEachConn = buffer, buffer
	made.BlockingPoolSize = 2
	made.ClusterOption.MaxMovedRedirections = maxRedirections
	return made, nil
}

const (
	connections     = 1 // the exponent: 2 connections
	buffer          = 64 << 10
	maxRedirections = 3 // of a command, because cluster nodes may redirect in a circle
	renewEvery      = 4 // failed rounds of run
)

// server is the client of a server, of a cluster, or of the primary that sentinels named.
type server struct {
	client.Client
	main  string // the address of the primary; "" without sentinels
	conns *conns
}

// close closes all connections, including those in use.
func (s *server) close() {
	s.conns.close()
	s.Close()
}

// connect creates the client, which then reconnects by itself. It creates another client every renewEvery
// failed rounds, and immediately after a protocol violation, because the state of the client may be the cause:
// the nodes of the cluster, whether there is a cluster, or which command a reply belongs to. The old client is
// used until the new one has connected.
func (l *Level) connect(ctx context.Context, failures int) error {
	old := l.server.Load()
	var main string
	renews := old == nil || old.conns.suspect.Load() || failures%renewEvery == renewEvery-1
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
			return nil // it may respond again
		}
		return err
	}
	l.server.Store(made)
	if old != nil {
		l.running.Go(old.close)
	}
	return nil
}

// newServer connects to main, or to the configured servers if main is "".
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
	if _, err := serverOf(ctx, made); errors.Is(err, errOld) { // other errors show in later commands
		made.close()
		return nil, err
	}
	return made, nil
}

// options returns the client options of the level; dialling is cancelled by Close.
func (l *Level) options(all *conns) (client.ClientOption, error) {
	c := l.config
	c.Dial = l.dial
	settings, err := options(c, all)
	open := settings.DialCtxFn
	settings.DialCtxFn = func(
		ctx context.Context, address string, d *net.Dialer, secured *tls.Config, //nolint:forbidigo // see dialer
	) (net.Conn, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(l.ctx, cancel)() //nolint:contextcheck // cancelled by Close
		return open(ctx, address, d, secured)
	}
	return settings, err
}
