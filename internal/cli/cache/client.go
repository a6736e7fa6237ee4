package cache

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"github.com/urnd/urnd/internal/secret"
)

// adminFlags are the flags by which a command reaches the admin interface of a running urnd.
type adminFlags struct {
	settings                                 *cli.Settings
	at, token, certificate, key, authorities string
}

func addAdmin(cmd *cobra.Command) *adminFlags {
	f := &adminFlags{settings: cli.AddFile(cmd)}
	cmd.Flags().StringVar(&f.at, "admin", "", "the `URL` of the admin interface, or unix: and a path, in place of listen.admin")
	cmd.Flags().StringVar(&f.token, "token-file", "", "read the token of administrators from this `file`, in place of access.admin_token")
	cmd.Flags().StringVar(&f.certificate, "cert", "", "the client certificate, a `file` in PEM, where tls.client_ca requires one")
	cmd.Flags().StringVar(&f.key, "key", "", "its private key, a `file` in PEM")
	cmd.Flags().StringVar(&f.authorities, "ca", "", "trust the certificate of the daemon by these authorities, "+
		"a `file` in PEM; default: those of the system")
	return f
}

var (
	errAdminOff = errors.New("listen.admin is empty: the admin interface is turned off, " +
		"or systemd opens its socket; --admin says where it is")
	errAdminURL    = errors.New("--admin is http://, https:// and a host with its port, or unix: and a path that begins with a slash")
	errCertificate = errors.New("the admin interface requires a client certificate (tls.client_ca): " +
		"give --cert and --key, and --admin with the name in the certificate of the daemon")
	errKey         = errors.New("--cert and --key are given together")
	errAuthorities = errors.New("--ca: the file contains no certificate")
)

// client returns the client of the admin interface that the flags, or else the configuration, name.
func (f *adminFlags) client() (*adminClient, error) {
	if (f.certificate == "") != (f.key == "") {
		return nil, cli.Usage(errKey)
	}
	at, token, setting := f.at, f.token, "--token-file"
	if at == "" {
		c, err := f.settings.Load(nil)
		if err != nil {
			return nil, err
		}
		if at, err = adminURL(c); err != nil {
			return nil, err
		}
		if c.TLS.ClientCA != "" && f.certificate == "" {
			return nil, cli.Usage(errCertificate)
		}
		if token == "" {
			token, setting = c.Access.AdminToken, "access.admin_token"
		}
	}
	made := &adminClient{}
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
		Timeout:       adminTimeout,
		Transport:     &http.Transport{DialContext: dial, TLSClientConfig: secure, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token is for no other
	}
	return made, nil
}

// adminURL returns where the admin interface of a configuration is, as --admin has it.
func adminURL(c config.Config) (string, error) {
	address := c.Listen.Admin
	if address == "" {
		return "", errAdminOff
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
func (f *adminFlags) tls() (*tls.Config, error) {
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.certificate != "" {
		pair, err := tls.LoadX509KeyPair(f.certificate, f.key)
		if err != nil {
			return nil, fmt.Errorf("--cert and --key: %w", err)
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	if f.authorities != "" {
		text, err := secret.Read("--ca", f.authorities)
		if err != nil {
			return nil, err
		}
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(text) {
			return nil, errAuthorities
		}
	}
	return secure, nil
}

// adminClient asks the admin interface.
type adminClient struct {
	base, token string // token is "" for none
	client      http.Client
}

// Bounds of a request to the admin interface: a refresh waits for origins.
const (
	adminConnect  = 5 * time.Second
	adminTimeout  = 10 * time.Minute
	maxAdminReply = 16 << 20
)

// locate sets the base of URLs by the value of --admin, and returns the dial function for it. secure is
// whether a socket is asked by TLS.
func (c *adminClient) locate(at string, secure bool) (func(ctx context.Context, network, address string) (net.Conn, error), error) {
	if path, ok := strings.CutPrefix(at, config.UnixPrefix); ok {
		if !strings.HasPrefix(path, "/") {
			return nil, errAdminURL
		}
		c.base = "http://localhost"
		if secure {
			c.base = "https://localhost"
		}
		return netguard.Socket(adminConnect, path), nil
	}
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, errAdminURL
	}
	c.base = u.Scheme + "://" + u.Host
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		return netguard.Only(adminConnect, addr.WithZone("")).DialContext, nil
	}
	// Whoever runs the command names the host.
	return netguard.New(adminConnect, netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")).DialContext, nil
}

func (c *adminClient) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	return c.ask(ctx, http.MethodGet, path, query)
}

// ask sends a request, and returns the document of the answer. One that refuses is an error.
func (c *adminClient) ask(ctx context.Context, method, path string, query url.Values) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("asking the admin interface: %w", err)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.client.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) { // its URL is not what was typed
			err = failed.Err
		}
		return nil, fmt.Errorf("asking the admin interface at %s: %w", c.base, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAdminReply))
	if err != nil {
		return nil, fmt.Errorf("reading the answer of the admin interface: %w", err)
	}
	if response.StatusCode == http.StatusOK {
		return text, nil
	}
	var problem api.Problem
	if json.Unmarshal(text, &problem) != nil || problem.Detail == "" {
		problem.Detail = "this is perhaps not an admin interface of urnd"
	}
	return nil, fmt.Errorf("the admin interface at %s answered %d: %s", c.base, response.StatusCode, cli.WithoutControls(problem.Detail))
}
