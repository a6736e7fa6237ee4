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
	errScheme    = errors.New("it does not begin with redis:// or rediss://")
	errPassword  = errors.New("it has a password, which others can read in the configuration")
	errHandshake = errors.New("shaking hands by TLS")
	errCA        = errors.New("it has no certificate in PEM")
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
	made.DialCtxFn = func(ctx context.Context, address string, _ *net.Dialer, settings *tls.Config) (net.Conn, error) { //nolint:forbidigo // it is not used
		return dial(ctx, c, address, settings)
	}
	user := made.Username
	if c.Password != nil {
		made.AuthCredentialsFn = func(client.AuthCredentialsContext) (client.AuthCredentials, error) {
			password, err := c.Password()
			return client.AuthCredentials{Username: user, Password: password}, err
		}
	}
	made.Sentinel.Username, made.Sentinel.Dialer = "", made.Dialer
	made.Sentinel.TLSConfig = made.TLSConfig
	made.ClientName, made.ClientSetInfo = "urnd", client.DisableClientSetInfo
	made.DisableCache, made.DisableRetry, made.AlwaysPipelining = true, true, true
	made.PipelineMultiplex = connections
	made.ReadBufferEachConn, made.WriteBufferEachConn = buffer, buffer
	made.BlockingPoolSize = 2
	return made, nil
}

const (
	connections = 1 // as a power of two
	buffer      = 64 << 10
	connectFor  = 2 * time.Second
)

// dial connects to a server, by TLS where it is to be.
func dial(ctx context.Context, c Config, address string, settings *tls.Config) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectFor)
	defer cancel()
	conn, err := c.Dial(ctx, "tcp", address)
	if err != nil || settings == nil {
		return conn, err
	}
	settings = settings.Clone()
	if host, _, err := net.SplitHostPort(address); err == nil && settings.ServerName == "" {
		settings.ServerName = host
	}
	secured := tls.Client(conn, settings)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the error is that of the handshake
		return nil, fmt.Errorf("%w: %w", errHandshake, err)
	}
	return secured, nil
}

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
	settings.DialCtxFn = func(ctx context.Context, address string, _ *net.Dialer, secured *tls.Config) (net.Conn, error) { //nolint:forbidigo // likewise
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(l.ctx, cancel)() //nolint:contextcheck // Close ends it
		return open(ctx, address, nil, secured)
	}
	server, err := client.NewClient(settings)
	if err != nil {
		return err
	}
	l.server.Store(&server)
	return nil
}

// Explain says which of the settings is wrong for an error, where it can be known, or what the server lacks.
func Explain(err error) error {
	var certificate *tls.CertificateVerificationError
	text := err.Error()
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
	}
	switch {
	case errors.As(err, &certificate):
		return fmt.Errorf("the certificate of the server is not valid for it: %w", err)
	case errors.Is(err, errHandshake):
		return fmt.Errorf("the server may not speak TLS, so that rediss: is to be redis:, or the port is wrong: %w", err)
	case has("WRONGPASS", "NOAUTH", "invalid password"):
		return fmt.Errorf("the user or the password is wrong, or missing: %w", err)
	case has("NOPERM"):
		return fmt.Errorf("the user may not run commands that urnd needs: %w", err)
	case has("unknown command", "unknown subcommand", "syntax error"):
		return fmt.Errorf("the server is too old, or lacks commands: Valkey 7.2 or Redis 6.2 is needed: %w", err)
	case has("DB index", "SELECT is not allowed"):
		return fmt.Errorf("the server has no database of this number: %w", err)
	case has("READONLY"):
		return fmt.Errorf("the server is a replica, which cannot be written to: %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("it was too slow: %w", err)
	default:
		return err
	}
}
