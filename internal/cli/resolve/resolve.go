// Package resolve has the command urnd resolve, which prints where names lead.
package resolve

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/resolver"
)

// Command returns the command. open returns what resolves names.
func Command(open cli.OpenResolution) *cobra.Command {
	var o output
	var all, fresh bool
	cmd := &cobra.Command{
		Use:   "resolve URI... | -",
		Short: "Print the locations of URIs",
		Long: `Print the location of each URI, as the daemon would answer; an ISBN, ISSN or DOI will do. With --trace, every
step of the resolution is printed before it, on lines that begin with "#": the
output is a text/uri-list (RFC 2483 section 5).

With "-" alone, the lines of standard input are URIs, which are resolved side by
side. There is one line of output for each, in their order: the location, or
"error: " and the reason.`,
		Example: `  urnd resolve URN:ietf:rfc:2648
  urnd resolve --trace urn:isbn:0-395-36341-1
  urnd resolve --all urn:isbn:0-395-36341-1
  urnd resolve --json urn:ietf:bcp:14
  printf 'urn:ietf:rfc:1\nurn:ietf:rfc:2\n' | urnd resolve -`,
		Args: cobra.MinimumNArgs(1),
	}
	s := cli.AddSettings(cmd)
	cmd.Flags().BoolVar(&o.trace, "trace", false, "print every step")
	cmd.Flags().BoolVar(&all, "all", false, "print all locations, best first (I2Ls); with \"-\", separated by tabs")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the document of /api/v1/resolve, one a line")
	cmd.Flags().BoolVar(&fresh, "fresh", false, "ask all servers again for each URI, also for what is known from the one before")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		lines := len(args) == 1 && args[0] == "-"
		if lines && o.trace && !o.json {
			return errTraceOfLines
		}
		c, err := s.Load(nil)
		if err != nil {
			return err
		}
		r, err := open(cmd.Context(), c, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		defer r.Close()
		o.w, o.errors, o.names = cmd.OutOrStdout(), cmd.ErrOrStderr(), r.Names
		if all {
			o.service = resolver.I2Ls
		}
		ctx := cmd.Context()
		if fresh {
			ctx = resolver.WithFresh(ctx)
		}
		if lines {
			p := cli.StartProgress(cmd, "resolving")
			defer p.End()
			return o.resolveLines(ctx, p, r.Resolver, cmd.InOrStdin())
		}
		return o.resolveAll(ctx, r.Resolver, args)
	}
	return cmd
}

type output struct {
	names       resolver.Names
	w, errors   io.Writer
	trace, json bool
	service     resolver.Service
}

func (o output) resolveAll(ctx context.Context, r resolver.Resolver, args []string) error {
	failed := false
	for _, arg := range args {
		if err := o.resolve(ctx, r, arg); err != nil {
			failed = true
			fmt.Fprintf(o.errors, "urnd: %s: %v\n", arg, err)
			if detail := netguard.Detail(err); detail != "" {
				fmt.Fprintf(o.errors, "urnd: %s: %s\n", arg, detail)
			}
		}
	}
	if failed {
		return cli.ErrReported
	}
	return nil
}

func (o output) resolve(ctx context.Context, r resolver.Resolver, arg string) error {
	q, answer, trace, err := o.ask(ctx, r, arg)
	if o.trace && !o.json {
		for _, step := range trace.Steps() {
			fmt.Fprintf(o.w, "# %s: %s\n", step.Stage, step.Detail)
		}
	}
	if err != nil {
		return err
	}
	if o.json {
		return o.encode(api.NewAnswer(q, answer, trace.Steps()))
	}
	_, err = fmt.Fprintln(o.w, strings.Join(o.locations(q, answer), "\n"))
	return err
}

// ask resolves one URI, and returns its trace also where that fails.
func (o output) ask(ctx context.Context, r resolver.Resolver, arg string) (resolver.Query, resolver.Answer, *resolver.Trace, error) {
	ctx, trace := resolver.WithTrace(ctx, time.Now)
	q, err := o.names.TypedQuery(arg, o.service)
	if err != nil {
		return resolver.Query{}, resolver.Answer{}, trace, err
	}
	q = q.Selected()
	answer, err := r.Resolve(ctx, q)
	return q, answer, trace, err
}

// locations returns what is printed of an answer.
func (o output) locations(q resolver.Query, answer resolver.Answer) []string {
	var all []string
	for _, l := range answer.Locations {
		all = append(all, l.URI)
	}
	if q.Service == resolver.I2L {
		return all[:1]
	}
	return all
}

func (o output) encode(document any) error {
	return cli.PrintJSON(o.w, document)
}
