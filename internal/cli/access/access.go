// Package access has the commands of urnd access, which explain the access decisions of the daemon. A client
// address, a method and a URL enter; a Verdict with its steps leaves, as text or JSON. It applies the rules
// of the forward proxy, CONNECT (RFC 9110 section 9.3.6) and sites without opening connections.
package access

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Wiring has the functions of the daemon that the commands need; each takes a configuration.
type Wiring struct {
	// Policy returns the rules of the forward proxy.
	Policy func(c config.Config) (*policy.Policy, error)
	// Groups returns the groups of users that the rules name, nil for none.
	Groups func(c config.Config) (gate.GroupFile, error)
	// Server returns the data by which requests are classified.
	Server func(c config.Config) (route.Server, error)
	// Gateways returns the data of the protocol gateways.
	Gateways func(c config.Config) scheme.Infos
	// SiteURLs returns the URL that each server of a site gets for a request, or the location of urnd's own
	// redirect; nil if urnd responds in another way.
	SiteURLs func(r config.SiteRoute, a *route.Request) ([]string, error)
}

// Command returns the command.
func Command(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use: "access", Short: "Test access to the forward proxy and sites",
		RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(newTest(w))
	return cmd
}

func newTest(w Wiring) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "test [CLIENT METHOD] URL",
		Short: "Test whether the forward proxy or a site allows a request",
		Long: `Test whether the forward proxy allows a request, and explain the decision: whether the client may
use it (access.proxy_clients, access.proxy_users), which rule decides (proxy.rules), whether the
scheme and port are allowed (such as gateways.enabled, gateways.allow_ports), and whether the
address may be connected to (access.allow_destinations). No lookup and no connection is made: if
the decision depends on the address of the host, set it with --destination. The target of CONNECT,
which clients use for https, is a host and a port; --server-name and --client-hello describe the
beginning of the tunnel.

For a URL of a site it shows the matching entry of proxy.sites, and why, the request to its
servers, and the allowed clients. A URL alone is a GET request from 127.0.0.1.

The exit status is 0 if the request is allowed, 1 if it is denied, or if that depends on the
address, and 2 if the request or the configuration is invalid.`,
		Example: `  urnd access test 10.1.2.3 GET http://example.org/
  urnd access test 10.1.2.3 GET gopher://example.org:7070/
  urnd access test https://www.example.org/api/users?utm_source=a
  urnd access test 10.1.2.3 CONNECT example.org:443
  urnd access test 10.1.2.3 CONNECT example.org:443 --user ci --destination 192.0.2.1
  URND_PROXY_POLICY=enforce urnd access test 10.1.2.3 CONNECT example.org:443`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return cobra.ExactArgs(3)(cmd, args)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (methods []string,
			_ cobra.ShellCompDirective,
		) {
			if len(args) == 1 {
				methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodConnect}
			}
			return methods, cobra.ShellCompDirectiveNoFileComp
		},
	}
	s := cli.AddFile(cmd)
	cmd.Flags().StringVar(&o.user, "user", "", "`name` of the authenticated user")
	cmd.Flags().StringSliceVar(&o.groups, "group", nil,
		"`name` of a group of the user, in addition to those of access.proxy_groups")
	cmd.Flags().StringVar(&o.destination, "destination", "", "`address` of the destination")
	cmd.Flags().StringVar(&o.at, "at", "",
		"`time` of the request in proxy.time_zone, such as 2026-12-01T09:30; default: now")
	cmd.Flags().StringVar(&o.serverName, "server-name", "", "`host` in the TLS server name (SNI) of a tunnel")
	cmd.Flags().StringVar(&o.hello, "client-hello", "", "how a tunnel begins: `unnamed`, encrypted or none")
	output := cli.AddOutput(cmd, "one object", cli.JSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		// Without a decision the exit status is that of a usage error: a script must not mistake a typing
		// error for a decision.
		if len(args) == 1 {
			args = []string{"127.0.0.1", http.MethodGet, args[0]}
		}
		v, err := w.test(s, args, o)
		if err == nil {
			err = output.Document(cmd.OutOrStdout(), v, v.print)
		}
		if err != nil {
			return cli.Usage(err)
		}
		if v.Result != ResultAllowed {
			return cli.ErrReported
		}
		return nil
	}
	return cmd
}

// options are the properties of a request that flags set.
type options struct {
	user, destination, at, serverName, hello string
	groups                                   []string
}

// membership has the groups of the user of a trial: those of flags, which simulate a helper, and those of a
// file.
type membership struct {
	named []string
	file  gate.GroupFile
}

// Memberships implements gate.Groups.
func (m membership) Memberships(ctx context.Context, user string, among []string) ([]string, error) {
	known, err := m.file.Memberships(ctx, user, among)
	return append(slices.Clone(m.named), known...), err
}

// apply sets the options in a trial, which has its configuration already.
func (o options) apply(t *trial) (err error) {
	t.user, t.serverName = o.user, o.serverName
	if o.destination != "" {
		if t.destination, err = netip.ParseAddr(o.destination); err != nil {
			return fmt.Errorf("--destination %q is not an IP address", o.destination)
		}
	}
	if t.hello = policy.ParseHello(o.hello); t.hello == policy.HelloNone && o.hello != "" {
		return fmt.Errorf("--client-hello %q is not unnamed, encrypted or none", o.hello)
	}
	if t.hello == policy.HelloNone && o.serverName != "" {
		t.hello = policy.HelloNamed
	}
	t.at = time.Now()
	if o.at == "" {
		return nil
	}
	zone := time.Local //nolint:gosmopolitan // the default is the time zone of the machine
	if name := t.config.Proxy.TimeZone; name != "" {
		if zone, err = time.LoadLocation(name); err != nil {
			return fmt.Errorf("proxy.time_zone: %w", err)
		}
	}
	const minutes = "2006-01-02T15:04"
	if t.at, err = time.ParseInLocation(minutes, o.at, zone); err != nil {
		return fmt.Errorf("--at %q is not a time such as %s", o.at, minutes)
	}
	return nil
}

// test applies the configuration to the request of the arguments.
func (w Wiring) test(s *cli.Settings, args []string, o options) (Verdict, error) {
	client, view, err := parseAccess(args[0], args[1], args[2])
	if err != nil {
		return Verdict{}, err
	}
	t := trial{client: client}
	if t.config, err = s.Load(nil); err != nil {
		return Verdict{}, err
	}
	if err := o.apply(&t); err != nil {
		return Verdict{}, err
	}
	groups, err := w.Groups(t.config)
	if err != nil {
		return Verdict{}, err
	}
	t.groups = membership{o.groups, groups}
	if t.policy, err = w.Policy(t.config); err != nil {
		return Verdict{}, err
	}
	server, err := w.Server(t.config)
	if err != nil {
		return Verdict{}, err
	}
	t.gateways = w.Gateways(t.config)
	route.Classify(&t.classified, &view, &route.Endpoint{Server: &server, MayProxy: true})
	if err := t.classified.Err; err != nil {
		return Verdict{}, err
	}
	if t.classified.Site != nil {
		t.target, t.routes = view.Target, t.config.Proxy.SiteRoutes()
		t.site = &t.routes[t.classified.Site.Index]
		if t.urls, err = w.SiteURLs(*t.site, &t.classified); err != nil {
			return Verdict{}, err
		}
	}
	if t.classified.Host != "" {
		return Verdict{}, errOwnName
	}
	if t.classified.Key.IsValid() {
		if _, err := policy.NewRequest(client, o.user, view.Method, t.classified.Key); err != nil {
			return Verdict{}, err
		}
	} else if t.classified.Kind != route.KindTunnel {
		return Verdict{}, errNoHost
	}
	return verdictOf(t), nil
}

var errNoHost = errors.New("a request to a proxy has a URL with a host, such as http://example.org/, or is CONNECT " +
	"and example.org:443")

// errOwnName is the error of a URL that urnd resolves as a name, instead of requesting it from its server.
var errOwnName = errors.New("its host is in registry.hosts: it is a name, which access.resolve_clients may resolve; " +
	"urnd resolve shows its target")

// parseAccess parses the client and the request of the arguments.
func parseAccess(client, method, target string) (addr netip.Addr, v route.RequestHead, err error) {
	if addr, err = netip.ParseAddr(client); err != nil {
		return addr, v, fmt.Errorf("the client %q is not an IP address", client)
	}
	v = route.RequestHead{Method: method, Target: target, Host: "", Header: func(string) []string { return nil }}
	if method == http.MethodConnect {
		return addr, v, nil
	}
	u, err := uri.FromIRI(uri.EncodeRaw(target))
	if err == nil {
		err = u.Check()
	}
	if err != nil {
		return addr, v, err
	}
	u = u.Normalize()
	v.Target = u.String()
	v.Host, _ = u.Host()
	if v.Host == "" && !u.MayLackHost() {
		err = errNoHost
	}
	return addr, v, err
}

// print prints a verdict as text.
func (v Verdict) print(w io.Writer) error {
	fmt.Fprintln(w, v.Summary())
	for _, step := range v.Steps {
		if _, err := fmt.Fprintf(w, "%s: %s\n", step.Stage, step.Detail); err != nil {
			return err
		}
	}
	return nil
}

// checkGateway checks a URI of a scheme other than http and https like its gateway. dials reports whether its
// address is dialled. The URI is canonical; it is the zero value for CONNECT.
func (v *Verdict) checkGateway(t *trial) (dials bool) {
	c, u := t.config, t.classified.Key
	name := u.Scheme()
	info, known := t.gateways.Find(name)
	template := slices.ContainsFunc(c.Gateways.Templates,
		func(g config.Gateway) bool { return strings.EqualFold(g.Scheme, name) })
	switch {
	case !u.IsValid() || u.IsWeb():
		return true
	case v.Method != http.MethodGet && v.Method != http.MethodHead:
		return v.denyGateway("", "only GET and HEAD are supported for %s", name)
	case template:
		v.note("gateway", "clients are redirected to another gateway (gateways.templates)")
	case !known:
		return v.denyGateway("gateways.templates", "there is no gateway for %s", name)
	case name == "file":
		v.checkFiles(c.File)
	case info.Local:
		v.note("gateway", "%s is explained: nothing is retrieved", name)
	default:
		return v.checkServer(c, info, u)
	}
	return false
}

// denyGateway denies the request by a setting, "" if no setting would allow it.
func (v *Verdict) denyGateway(setting, format string, args ...any) (dials bool) {
	if setting != "" {
		format += " (" + setting + ")"
	}
	v.note("gateway", format, args...)
	v.deny(setting)
	return false
}

func (v *Verdict) checkFiles(c config.File) {
	const roots = "file.roots"
	if len(c.Roots) == 0 {
		v.denyGateway(roots, "no files are served")
		return
	}
	v.note("gateway", "files below %s are served, where they exist (%s)", strings.Join(c.Roots, ", "), roots)
}

// checkServer checks a URI whose gateway contacts a server.
func (v *Verdict) checkServer(c config.Config, info scheme.Info, u uri.URI) (dials bool) {
	name := u.Scheme()
	host, _ := u.Host()
	switch {
	case !info.Enabled:
		return v.denyGateway(info.Setting, "%s is turned off", name)
	case host == "" && len(c.News.Servers) == 0:
		return v.denyGateway("news.servers", "the URL names no server, and none is configured")
	case name == "ftp" && !c.FTP.Login && hasLogin(u):
		return v.denyGateway("ftp.login", "only the user anonymous can log in")
	}
	if err := info.Ports.Check(u); err != nil {
		by := "gateways.allow_ports"
		if withoutDenied := (scheme.Ports{Allow: info.Ports.Allow}); withoutDenied.Check(u) == nil {
			by = "gateways.deny_ports"
		}
		return v.denyGateway(by, "%v", err)
	}
	v.note("gateway", "%s is retrieved, and this port is allowed (%s, gateways.allow_ports, gateways.deny_ports)", name,
		info.Setting)
	return true
}

// hasLogin reports whether an ftp URL names a user other than anonymous.
func hasLogin(u uri.URI) bool {
	userinfo, ok := u.Userinfo()
	return ok && !strings.EqualFold(userinfo, "anonymous") && !strings.EqualFold(userinfo, "ftp")
}
