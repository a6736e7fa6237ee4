// Package status has the command urnd status, which prints the state of running urnds. Addresses of admin
// interfaces enter; readiness and metrics of each instance, and their totals, leave as text, CSV or JSON.
// Metrics are read in the text format of Prometheus, over HTTP (RFC 9110).
package status

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/admin"
)

// maxInstances bounds the instances of one command.
const maxInstances = 64

// timeout bounds the requests to all instances, which run concurrently.
const timeout = 10 * time.Second

var errTooMany = fmt.Errorf("more than %d addresses are given: ask for some of them at a time", maxInstances)

// Command returns the command.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [ADDRESS...]",
		Short: "Print how running urnds fare: ready, caches, registry, traffic",
		Long: `Print how a running urnd fares: its version, whether it is ready and why not, its caches, its
registry, how many requests it has answered since it was started, and which DNS servers and gateways
are slowest, by the mean time of their answers. Several are printed beside each other, and what can be
is summed.

ADDRESS is that of an admin interface: a URL, a host with its port, or unix: and a path. Without one it is
listen.admin of the configuration, which is asked with the token of access.admin_token. For an
ADDRESS no configuration is read, and a token is sent only with --token-file. Where tls.client_ca is
set, --cert and --key are required.

The exit status is 0 where all are ready, 1 where one is not, or does not say, and 2 if the command was
used wrongly.`,
		Example: `  urnd status
  urnd status 127.0.0.1:8142 127.0.0.1:8152
  urnd status --output json unix:/run/urnd/admin.sock`,
		Args: cobra.ArbitraryArgs,
	}
	access := admin.AddAccess(cmd)
	output := cli.AddOutput(cmd, "one object for each instance", cli.CSV, cli.JSON)
	cmd.RunE = func(cmd *cobra.Command, addresses []string) error {
		clients, err := clientsOf(access, addresses)
		if err != nil {
			return err
		}
		all := ask(cmd.Context(), clients)
		if err := printAll(cmd.OutOrStdout(), output, all); err != nil {
			return err
		}
		return failures(cmd, all)
	}
	return cmd
}

// clientsOf returns the clients of addresses, or that of the configuration without addresses.
func clientsOf(access *admin.Flags, addresses []string) ([]*admin.Client, error) {
	if len(addresses) == 0 {
		c, err := access.Client()
		return []*admin.Client{c}, err
	}
	if len(addresses) > maxInstances {
		return nil, cli.Usage(errTooMany)
	}
	var all []*admin.Client
	for _, address := range addresses {
		c, err := access.At(address)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// ask queries all instances concurrently, since an unreachable one takes the whole timeout.
func ask(ctx context.Context, clients []*admin.Client) []Instance {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	all := make([]Instance, len(clients))
	var asking sync.WaitGroup
	for i, c := range clients {
		asking.Go(func() { all[i] = instanceAt(ctx, c, time.Now) })
	}
	asking.Wait()
	return all
}

// failures prints the errors of instances, and returns the error for the exit status.
func failures(cmd *cobra.Command, all []Instance) error {
	var failed error
	for _, i := range all {
		if i.Error != "" {
			fmt.Fprintln(cmd.ErrOrStderr(), "urnd:", i.Error)
		}
		switch {
		case i.Error != "":
			failed = cli.Hint(cli.ErrReported, "look whether urnd runs (systemctl status urnd), and whether that is the address of its admin interface")
		case !i.Ready && failed == nil:
			failed = cli.Hint(cli.ErrReported, "the log of urnd says more (journalctl -u urnd); docs/operations.md#readiness has what to do")
		}
	}
	return failed
}

// readiness is the document of /readyz.
type readiness struct {
	Status            string
	Unready, Degraded []string
}

var errNoReadiness = errors.New("this is perhaps not an admin interface of urnd: it does not say whether it is ready")
