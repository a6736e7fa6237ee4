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

var errTooMany = fmt.Errorf("more than %d addresses: use several commands", maxInstances)

// Command returns the command.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [ADDRESS...]",
		Short: "Print the status of running instances",
		Long: `Print the status of a running urnd: its version, whether it is ready and why not, its caches, its
registry, the number of requests since its start, and the DNS servers and gateways with the
slowest mean response time. Several instances are printed side by side, with sums where
possible.

ADDRESS is that of an admin interface: a URL, host:port, or unix: and a path. Without one it is
listen.admin of the configuration, with the token of access.admin_token. With an
ADDRESS no configuration is read, and a token is sent only with --token-file. If tls.client_ca is
set, --cert and --key are required.

The exit status is 0 if all are ready, 1 if one is not, or does not respond, and 2 after a
usage error.`,
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
		all := fetch(cmd.Context(), clients)
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
		c, err := access.ClientAt(address)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// fetch queries all instances concurrently, since an unreachable one takes the whole timeout.
func fetch(ctx context.Context, clients []*admin.Client) []Instance {
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
			failed = cli.Hint(cli.ErrReported,
				"check that urnd is running (systemctl status urnd), and that this is the address of "+
					"its admin interface")
		case !i.Ready && failed == nil:
			failed = cli.Hint(cli.ErrReported,
				"the log of urnd has details (journalctl -u urnd); see docs/operations.md#readiness")
		}
	}
	return failed
}

// readiness is the document of /readyz.
type readiness struct {
	Status            string
	Unready, Degraded []string
}

var errNoReadiness = errors.New("the response has no readiness: check that this is an admin interface of urnd")
