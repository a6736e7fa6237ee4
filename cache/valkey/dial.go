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
	"time"

	client "github.com/valkey-io/valkey-go"
)

const connectFor = 2 * time.Second

var errHandshake = errors.New("TLS handshake")

// dialer returns the function that opens the connections of the client; it replaces the dialer of the library.
func dialer(c Config, all *conns) func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) { //nolint:forbidigo // unused
	return func(ctx context.Context, address string, _ *net.Dialer, settings *tls.Config) (net.Conn, error) { //nolint:forbidigo // unused
		conn, err := dial(ctx, c, address, settings)
		if err != nil {
			return nil, err
		}
		return all.add(conn)
	}
}

// errBeside means that a server names an address of the host of urnd.
var errBeside = errors.New("loopback or link-local address in a reply of the server")

// dial connects to configured servers, and to servers that these name: other nodes of a cluster, or the
// primary. Loopback and link-local addresses are rejected, unless a configured server has one.
func (l *Level) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := l.config.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	at, ok := conn.RemoteAddr().(*net.TCPAddr)
	switch {
	case !ok || !at.IP.IsLoopback() && !at.IP.IsLinkLocalUnicast():
	case slices.Contains(l.configured, address):
		l.beside.Store(true)
	case !l.beside.Load():
		return nil, errors.Join(errBeside, conn.Close())
	}
	return conn, nil
}

// credentials returns a function that reads the credentials anew for each connection.
func credentials(c Config, user string) func(client.AuthCredentialsContext) (client.AuthCredentials, error) {
	return func(client.AuthCredentialsContext) (client.AuthCredentials, error) {
		password, err := c.Password()
		return client.AuthCredentials{Username: user, Password: password}, err
	}
}

// dial connects to a server, by TLS if settings is not nil. The certificate must be for the dialled host or for
// the host in the URL: cluster nodes and servers named by sentinels are known by addresses, which certificates
// often do not contain.
func dial(ctx context.Context, c Config, address string, settings *tls.Config) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectFor)
	defer cancel()
	if settings == nil {
		return c.Dial(ctx, "tcp", address)
	}
	var first error
	for _, name := range names(c.URL, address) {
		conn, err := secured(ctx, c, address, name, settings)
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
		if !errors.As(err, new(x509.HostnameError)) {
			break
		}
	}
	return nil, first
}

// names returns the host names that the certificate of a server may have.
func names(text, address string) []string {
	var all []string
	if host, _, err := net.SplitHostPort(address); err == nil {
		all = append(all, host)
	}
	if u, err := url.Parse(text); err == nil && !slices.Contains(all, u.Hostname()) {
		all = append(all, u.Hostname())
	}
	return all
}

// secured connects by TLS to a server with a certificate for a name.
func secured(ctx context.Context, c Config, address, name string, settings *tls.Config) (net.Conn, error) {
	conn, err := c.Dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	settings = settings.Clone()
	settings.ServerName = name
	made := tls.Client(conn, settings)
	if err := made.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the handshake error is returned
		return nil, fmt.Errorf("%w: %w", errHandshake, err)
	}
	return made, nil
}
