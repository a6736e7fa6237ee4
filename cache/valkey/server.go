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
	"time"

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

// options returns those of the client for a configuration.
func options(c Config) (client.ClientOption, error) {
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
	made.DialCtxFn = dialer(c)
	if c.Password != nil {
		made.AuthCredentialsFn = credentials(c, made.Username)
	}
	made.Dialer.Timeout = connectFor //nolint:forbidigo // of the first commands: dialer dials
	made.Sentinel.Username, made.Sentinel.Dialer = "", made.Dialer
	made.Sentinel.Dialer.LocalAddr = sentinel{}          //nolint:forbidigo // see dialer
	made.Sentinel.TopologyRefreshInterval = refreshEvery // what they tell by themselves may be missed
	made.Sentinel.TLSConfig = made.TLSConfig
	made.ClientName, made.ClientSetInfo = "urnd", client.DisableClientSetInfo
	made.DisableCache, made.DisableRetry, made.AlwaysPipelining = true, true, true
	made.PipelineMultiplex = connections
	made.ReadBufferEachConn, made.WriteBufferEachConn = buffer, buffer
	made.BlockingPoolSize = 2
	return made, nil
}

const (
	connections  = 1 // as a power of two
	buffer       = 64 << 10
	refreshEvery = time.Second // of what sentinels say
)

// connect makes the client, whose connections are made anew by itself from then on.
func (l *Level) connect() error {
	if l.server.Load() != nil {
		return nil
	}
	settings, err := options(l.config)
	if err != nil {
		return err
	}
	open := settings.DialCtxFn
	settings.DialCtxFn = func(ctx context.Context, address string, marked *net.Dialer, secured *tls.Config) (net.Conn, error) { //nolint:forbidigo // see dialer
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(l.ctx, cancel)() //nolint:contextcheck // Close ends it
		return open(ctx, address, marked, secured)
	}
	server, err := client.NewClient(settings)
	if err != nil {
		return fmt.Errorf("%w: %w", errConnecting, err)
	}
	if _, err := serverOf(l.ctx, server); errors.Is(err, errOld) { // other errors are those of what follows //nolint:contextcheck // Close ends it
		server.Close()
		return err
	}
	l.server.Store(&server)
	return nil
}
