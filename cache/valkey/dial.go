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

// sentinel marks what is of a connection to a sentinel: it stands where the client of the library has an address.
type sentinel struct{ net.Addr }

// sentinelConn is a connection to a sentinel, which credentials tells from one to a server by its address.
type sentinelConn struct{ net.Conn }

// RemoteAddr implements net.Conn.
func (c sentinelConn) RemoteAddr() net.Addr { return sentinel{c.Conn.RemoteAddr()} }

// dialer returns what opens the connections of the client. The dialer that the library passes is not used: its address alone says whether
// it is for a sentinel.
func dialer(c Config) func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) { //nolint:forbidigo // as said
	return func(ctx context.Context, address string, marked *net.Dialer, settings *tls.Config) (net.Conn, error) { //nolint:forbidigo // as said
		conn, err := dial(ctx, c, address, settings)
		if _, is := marked.LocalAddr.(sentinel); is && err == nil { //nolint:forbidigo // as said
			return sentinelConn{conn}, nil
		}
		return conn, err
	}
}

// credentials returns those of a connection: sentinels have the same password, or none, and no users.
func credentials(c Config, user string) func(client.AuthCredentialsContext) (client.AuthCredentials, error) {
	return func(at client.AuthCredentialsContext) (client.AuthCredentials, error) {
		password, err := c.Password()
		if _, is := at.Address.(sentinel); is {
			return client.AuthCredentials{Password: password}, err
		}
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
