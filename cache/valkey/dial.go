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

var errHandshake = errors.New("shaking hands by TLS")

// dialer returns what opens the connections of the client, in place of the dialer that the library passes.
func dialer(c Config, all *conns) func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) { //nolint:forbidigo // as said
	return func(ctx context.Context, address string, _ *net.Dialer, settings *tls.Config) (net.Conn, error) { //nolint:forbidigo // as said
		conn, err := dial(ctx, c, address, settings)
		if err != nil {
			return nil, err
		}
		return all.add(conn)
	}
}

// errBeside means that a server leads to where urnd itself runs.
var errBeside = errors.New("the server names a loopback or link-local address")

// dial connects to what the configuration names, and to what servers name: the others of a cluster, or the main one. Those have loopback and
// link-local addresses only where a server of the configuration has one, too.
func (l *Level) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := l.config.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	at, ok := conn.RemoteAddr().(*net.TCPAddr)
	switch {
	case !ok || !at.IP.IsLoopback() && !at.IP.IsLinkLocalUnicast():
	case slices.Contains(l.configured, address):
		l.isBeside.Store(true)
	case !l.isBeside.Load():
		return nil, errors.Join(errBeside, conn.Close())
	}
	return conn, nil
}

// credentials returns those of a connection, which are asked for each time.
func credentials(c Config, user string) func(client.AuthCredentialsContext) (client.AuthCredentials, error) {
	return func(client.AuthCredentialsContext) (client.AuthCredentials, error) {
		password, err := c.Password()
		return client.AuthCredentials{Username: user, Password: password}, err
	}
}

// dial connects to a server, by TLS where it is to be. Its certificate is for the host that is dialled, or for the one in the URL:
// nodes of a cluster, and servers that sentinels name, are known by addresses which certificates often do not have.
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

// names returns those that the certificate of a server may have.
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

// secured connects by TLS to a server whose certificate is for a name.
func secured(ctx context.Context, c Config, address, name string, settings *tls.Config) (net.Conn, error) {
	conn, err := c.Dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	settings = settings.Clone()
	settings.ServerName = name
	made := tls.Client(conn, settings)
	if err := made.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the error is that of the handshake
		return nil, fmt.Errorf("%w: %w", errHandshake, err)
	}
	return made, nil
}
