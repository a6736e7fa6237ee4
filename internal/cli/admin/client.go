// Package admin has the client of the admin interface of a running urnd, and its flags. Flags or the
// configuration enter, which give the address and credentials; documents (JSON, RFC 8259) and errors with
// hints leave. Requests are HTTP (RFC 9110) over TCP, TLS or a Unix socket, with a bearer token (RFC 6750).
package admin

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/internal/secret"
)

// Flags are the flags for access to the admin interface of a running urnd.
type Flags struct {
	settings                                 *cli.Settings
	at, token, certificate, key, authorities string
}

// AddFlags adds the flags to a command, including --admin for the address.
func AddFlags(cmd *cobra.Command) *Flags {
	f := AddAccess(cmd)
	cmd.Flags().StringVar(&f.at, "admin", "",
		"`address` of the admin interface: a URL, host:port, or unix: and a path; replaces "+
			"listen.admin")
	return f
}

// AddAccess adds the flags without --admin, for a command that gets the address in another way.
func AddAccess(cmd *cobra.Command) *Flags {
	f := &Flags{settings: cli.AddFile(cmd)}
	cmd.Flags().StringVar(&f.token, "token-file", "", "`file` of the administrator token; replaces access.admin_token")
	cmd.Flags().StringVar(&f.certificate, "cert", "",
		"`file` of the client certificate in PEM, if tls.client_ca requires one")
	cmd.Flags().StringVar(&f.key, "key", "", "`file` of its private key in PEM")
	cmd.Flags().StringVar(&f.authorities, "ca", "",
		"`file` of the certificate authorities, in PEM, that verify the daemon; default: "+
			"those of the system")
	return f
}

var (
	errOff = errors.New("listen.admin is empty: the admin interface is off, or its socket is opened by systemd; set " +
		"its address with --admin")
	errURL = errors.New("the address of an admin interface is host:port, with http://, https:// or no scheme, or " +
		"unix: and an absolute path")
	errCertificate = errors.New("the admin interface requires a client certificate (tls.client_ca): set --cert and " +
		"--key, and --admin with the host name in the certificate of the daemon")
	errKey = errors.New("--cert and --key are required together")
)

// Client returns a client of the admin interface that the flags, or else the configuration, name.
func (f *Flags) Client() (*Client, error) {
	if (f.certificate == "") != (f.key == "") {
		return nil, cli.Usage(errKey)
	}
	at, token, setting := f.at, f.token, "--token-file"
	if at == "" {
		c, err := f.settings.Load(nil)
		if err != nil {
			return nil, err
		}
		if at, err = urlOf(c); err != nil {
			return nil, err
		}
		if c.TLS.ClientCA != "" && f.certificate == "" {
			return nil, cli.Usage(errCertificate)
		}
		if token == "" {
			token, setting = c.Access.AdminToken, "access.admin_token"
		}
	}
	made := &Client{}
	dial, err := made.locate(at, f.certificate != "")
	if err != nil {
		return nil, cli.Usage(err)
	}
	if token != "" {
		text, err := secret.Read(setting, token)
		if err != nil {
			return nil, err
		}
		made.token = string(bytes.TrimSpace(text))
	}
	secure, err := f.tls()
	if err != nil {
		return nil, err
	}
	made.client = http.Client{
		Timeout:   timeout,
		Transport: &http.Transport{DialContext: dial, TLSClientConfig: secure, DisableKeepAlives: true},
		// Never send the token to another server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return made, nil
}

// ClientAt returns a client of the admin interface at an address in the syntax of --admin. It does not read the
// configuration.
func (f *Flags) ClientAt(address string) (*Client, error) {
	other := *f
	other.at = address
	return other.Client()
}

// urlOf returns the address of the admin interface in a configuration, in the syntax of --admin.
func urlOf(c config.Config) (string, error) {
	address := c.Listen.Admin
	if address == "" {
		return "", errOff
	}
	scheme := "http://"
	if c.TLS.ClientCA != "" {
		scheme = "https://"
	}
	if strings.HasPrefix(address, config.UnixPrefix) {
		return address, nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("listen.admin: %w", err)
	}
	if addr, err := netip.ParseAddr(host); host == "" || err == nil && addr.IsUnspecified() {
		if host = "127.0.0.1"; addr.Is6() {
			host = "::1"
		}
	}
	return scheme + net.JoinHostPort(host, port), nil
}

// tls returns the TLS configuration of the flags.
func (f *Flags) tls() (*tls.Config, error) {
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.certificate != "" {
		pair, err := tls.LoadX509KeyPair(f.certificate, f.key)
		if err != nil {
			return nil, fmt.Errorf("--cert and --key: %w", err)
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	if f.authorities != "" {
		var err error
		if secure.RootCAs, err = secret.LoadCertPool("--ca", f.authorities); err != nil {
			return nil, err
		}
	}
	return secure, nil
}

// Client is a client of the admin interface. It is safe for concurrent use.
type Client struct {
	base, token string // token is "" for none
	client      http.Client
}

// Limits of a request to the admin interface. The timeout is long because a refresh waits for origins.
const (
	connectTimeout = 5 * time.Second
	timeout        = 10 * time.Minute
	maxReply       = 16 << 20
)

// locate sets the base URL from the value of --admin, and returns its dial function. secure means TLS over a
// Unix socket.
func (c *Client) locate(
	at string, secure bool,
) (func(ctx context.Context, network, address string) (net.Conn, error), error) {
	if path, ok := strings.CutPrefix(at, config.UnixPrefix); ok {
		if !strings.HasPrefix(path, "/") {
			return nil, errURL
		}
		c.base = "http://localhost"
		if secure {
			c.base = "https://localhost"
		}
		return netguard.Socket(connectTimeout, path), nil
	}
	if !strings.Contains(at, "://") {
		if _, _, err := net.SplitHostPort(at); err != nil {
			return nil, errURL
		}
		at = "http://" + at
	}
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, errURL
	}
	c.base = u.Scheme + "://" + u.Host
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		return netguard.NewAllowlist(connectTimeout, addr.WithZone("")).DialContext, nil
	}
	// No restriction: the user of the command names the host.
	return netguard.NewUnrestricted(connectTimeout).DialContext, nil
}

// Base returns the base URL of requests.
func (c *Client) Base() string { return c.base }

// Get requests a document.
func (c *Client) Get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	return c.send(ctx, http.MethodGet, path, query)
}

// send sends a request, and returns the document of the response. A status other than 200 is an error.
func (c *Client) send(ctx context.Context, method, path string, query url.Values) ([]byte, error) {
	status, text, err := c.Do(ctx, method, path, query)
	if err != nil || status == http.StatusOK {
		return text, err
	}
	return nil, c.StatusError(status, text)
}

// Read sends a request, and decodes the document of the response.
func (c *Client) Read(ctx context.Context, method, path string, query url.Values, document any) error {
	text, err := c.send(ctx, method, path, query)
	if err != nil {
		return err
	}
	return readDocument(text, document)
}

func readDocument(text []byte, document any) error {
	if err := json.Unmarshal(text, document); err != nil {
		return fmt.Errorf("reading the response of the admin interface: %w", err)
	}
	return nil
}

// Show requests a document from the admin interface of the flags. It prints the document unchanged for JSON
// output, or else decodes it and calls print.
func (f *Flags) Show(
	cmd *cobra.Command, output *cli.Output, path string, query url.Values, document any, print func(w io.Writer) error,
) error {
	c, err := f.Client()
	if err != nil {
		return err
	}
	text, err := c.Get(cmd.Context(), path, query)
	switch {
	case err != nil:
		return err
	case output.IsJSON():
		_, err = cmd.OutOrStdout().Write(text)
		return err
	}
	if err := readDocument(text, document); err != nil {
		return err
	}
	return print(cmd.OutOrStdout())
}

// StatusError returns the error for a response with an error status, or one that is not from an admin interface.
func (c *Client) StatusError(status int, text []byte) error {
	var problem api.Problem
	if json.Unmarshal(text, &problem) != nil || problem.Detail == "" {
		problem.Detail = "check that this is an admin interface of urnd"
	}
	err := fmt.Errorf("the admin interface at %s responded with status %d: %s", c.base, status,
		plaintext.OneLine(problem.Detail))
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return cli.Hint(err, "send the administrator token with --token-file, or set access.admin_token")
	case http.StatusNotFound:
		return cli.Hint(err,
			"set --admin to the address of the admin interface: listen.admin in the configuration of the running urnd")
	}
	return err
}

// Do sends a request, and returns the response whatever its status.
func (c *Client) Do(ctx context.Context, method, path string, query url.Values) (status int, text []byte, err error) {
	address := c.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return 0, nil, fmt.Errorf("connecting to the admin interface: %w", err)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.client.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) { // it contains a URL that the user did not enter
			err = failed.Err
		}
		return 0, nil, c.unreachable(fmt.Errorf("connecting to the admin interface at %s: %w", c.base, err))
	}
	defer response.Body.Close()
	text, err = io.ReadAll(io.LimitReader(response.Body, maxReply))
	if err != nil {
		return 0, nil, fmt.Errorf("reading the response of the admin interface: %w", err)
	}
	return response.StatusCode, text, nil
}

// unreachable adds a hint to the error of a request without response.
func (c *Client) unreachable(err error) error {
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		return cli.Hint(err, "set --ca to the authorities of the daemon's certificate")
	case errors.Is(err, fs.ErrPermission):
		return cli.Hint(err, "run the command as a user with access to the socket, such as with sudo")
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return cli.Hint(err, "this port uses http: write --admin http://...")
	default:
		return cli.Hint(err,
			"check that urnd is running (systemctl status urnd), and that --admin or listen.admin is its address")
	}
}
