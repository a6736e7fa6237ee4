// Package access has the commands of urnd access, which say what the daemon would decide.
package access

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Wiring is what the commands need of the program, each of a configuration.
type Wiring struct {
	// Policy returns the rules of the site for the forward proxy.
	Policy func(c config.Config) (*policy.Policy, error)
	// Server returns what the requests of clients are compared with.
	Server func(c config.Config) (route.Server, error)
	// Gateways returns what is known of the protocol gateways.
	Gateways func(c config.Config) scheme.Infos
}

// Command returns the command.
func Command(w Wiring) *cobra.Command {
	cmd := &cobra.Command{Use: "access", Short: "Test what the forward proxy allows", RunE: cli.RequireSubcommand}
	cmd.AddCommand(newTest(w))
	return cmd
}

func newTest(w Wiring) *cobra.Command {
	var user, destination string
	cmd := &cobra.Command{
		Use:   "test CLIENT METHOD URL",
		Short: "Say whether the forward proxy passes a request on, and why",
		Long: `Say whether the forward proxy passes a request on, and why: whether the client may
use it (access.proxy_clients, access.proxy_users), which rule decides (proxy.rules), whether the
scheme is retrieved and the port may be named (such as gateways.enabled, gateways.allow_ports), and
whether the address may be dialled (access.allow_destinations). Nothing is looked up or connected to:
where it depends on the address of the host, --destination gives one. The target of CONNECT, by
which clients ask for https, is a host and a port.

The exit status is 0 if the request is passed on, 1 if it is refused, or if that depends on the
address, and 2 if there is no such request, or no such configuration.`,
		Example: `  urnd access test 10.1.2.3 GET http://example.org/
  urnd access test 10.1.2.3 GET gopher://example.org:7070/
  urnd access test 10.1.2.3 CONNECT example.org:443
  urnd access test 10.1.2.3 CONNECT example.org:443 --user ci --destination 192.0.2.1
  URND_PROXY_POLICY=enforce urnd access test 10.1.2.3 CONNECT example.org:443`,
		Args: cobra.ExactArgs(3),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (methods []string, _ cobra.ShellCompDirective) {
			if len(args) == 1 {
				methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodConnect}
			}
			return methods, cobra.ShellCompDirectiveNoFileComp
		},
	}
	s := cli.AddFile(cmd)
	cmd.Flags().StringVar(&user, "user", "", "the `name` with which the client has logged in")
	cmd.Flags().StringVar(&destination, "destination", "", "the `address` that is dialled")
	output := cli.AddOutput(cmd, "one object", cli.JSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		// Where there is no decision, the status is that of wrong usage: a program must not take a typing error for one.
		v, err := w.test(s, args, user, destination)
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

// test applies the configuration to the request of the arguments.
func (w Wiring) test(s *cli.Settings, args []string, user, destination string) (Verdict, error) {
	client, view, err := parseAccess(args[0], args[1], args[2])
	if err != nil {
		return Verdict{}, err
	}
	t := trial{client: client, user: user}
	if destination != "" {
		if t.destination, err = netip.ParseAddr(destination); err != nil {
			return Verdict{}, fmt.Errorf("--destination %q is not an IP address", destination)
		}
	}
	if t.config, err = s.Load(nil); err != nil {
		return Verdict{}, err
	}
	if t.policy, err = w.Policy(t.config); err != nil {
		return Verdict{}, err
	}
	server, err := w.Server(t.config)
	if err != nil {
		return Verdict{}, err
	}
	t.gateways = w.Gateways(t.config)
	route.Classify(&t.ask, &view, &route.Place{Server: &server, Proxies: true})
	if err := t.ask.Err; err != nil {
		return Verdict{}, err
	}
	if t.ask.Host != "" {
		return Verdict{}, errOwnName
	}
	if t.ask.Key.IsValid() {
		if _, err := policy.NewRequest(client, user, view.Method, t.ask.Key); err != nil {
			return Verdict{}, err
		}
	} else if t.ask.Kind != route.KindTunnel {
		return Verdict{}, errNoHost
	}
	return verdictOf(t), nil
}

var errNoHost = errors.New("a request to a proxy has a URL with a host, such as http://example.org/, " +
	"or is CONNECT and example.org:443")

// errOwnName is the error of a URL that is not asked for from its server.
var errOwnName = errors.New("its host is in registry.hosts: it is a name, which access.resolve_clients may ask for; " +
	"urnd resolve shows where it leads")

// parseAccess returns the client of the arguments, and its request.
func parseAccess(client, method, target string) (addr netip.Addr, v route.View, err error) {
	if addr, err = netip.ParseAddr(client); err != nil {
		return addr, v, fmt.Errorf("the client %q is not an IP address", client)
	}
	v = route.View{Method: method, Target: target, Host: "", Lines: func(string) []string { return nil }}
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

// print writes a verdict as text.
func (v Verdict) print(w io.Writer) error {
	fmt.Fprintln(w, v.Summary())
	for _, step := range v.Steps {
		if _, err := fmt.Fprintf(w, "%s: %s\n", step.Stage, step.Detail); err != nil {
			return err
		}
	}
	return nil
}
