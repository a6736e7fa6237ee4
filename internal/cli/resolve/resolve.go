// Package resolve has the command urnd resolve, which prints the locations of names. URIs enter as arguments
// or lines, and locations leave as a text/uri-list (RFC 2483), CSV or JSON. It resolves names like the
// daemon, including those of URNs (RFC 8141).
package resolve

import (
	"context"
	"errors"
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

// Command returns the command. open returns the resolution of a configuration.
func Command(open cli.OpenResolution) *cobra.Command {
	var o output
	var all, fresh bool
	cmd := &cobra.Command{
		Use:   "resolve URI... | -",
		Short: "Print the locations of URIs",
		Long: `Print the location of each URI, as the daemon would resolve it; a bare ISBN, ISSN or DOI is
accepted. With --trace, every step of the resolution is printed before it, on lines that begin with
"#": the output is a text/uri-list (RFC 2483 section 5).

With "-" alone, the lines of standard input are URIs, which are resolved concurrently. Each has one
line of output, in input order: the location, or "error: " and the reason.`,
		Example: `  urnd resolve URN:ietf:rfc:2648
  urnd resolve --trace urn:isbn:0-395-36341-1
  urnd resolve --all urn:isbn:0-395-36341-1
  urnd resolve --output json urn:ietf:bcp:14
  printf 'urn:ietf:rfc:1\nurn:ietf:rfc:2\n' | urnd resolve -
  urnd resolve --output csv - < names.txt > locations.csv`,
		Args: cobra.MinimumNArgs(1),
	}
	s := cli.AddSettings(cmd)
	cmd.Flags().BoolVar(&o.trace, "trace", false, "print every step")
	cmd.Flags().BoolVar(&all, "all", false,
		"print all locations, in order of preference (I2Ls); with \"-\", separated by tabs")
	cmd.Flags().BoolVar(&fresh, "fresh", false, "query all servers again for each URI, without caches")
	o.Output = cli.AddOutput(cmd, "the document of /api/v1/resolve for each URI", cli.CSV, cli.JSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		lines := o.Format == cli.CSV || len(args) == 1 && args[0] == cli.Stdin
		if lines && o.trace && !o.IsJSON() {
			return cli.Usage(errTraceOfLines)
		}
		if err := cli.StdinAlone(args); err != nil {
			return err
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
		o.w, o.errors, o.names, o.resolver = cmd.OutOrStdout(), cmd.ErrOrStderr(), r.Names, r.Resolver
		if all {
			o.service = resolver.I2Ls
		}
		ctx := cmd.Context()
		if fresh {
			ctx = resolver.WithCacheBypass(ctx)
			cmd.SetContext(ctx)
		}
		if lines {
			return cli.LineRunner{
				Output: o.Output, Activity: "resolving", Workers: lineWorkers,
				Run: o.line,
			}.RunAll(cmd, args)
		}
		return o.resolveAll(ctx, args)
	}
	return cmd
}

// lineWorkers is the number of lines that are resolved concurrently.
const lineWorkers = 16

var errTraceOfLines = errors.New("--trace cannot be combined with lines of standard input, or with CSV: use " +
	"--output json")

type output struct {
	*cli.Output
	names     resolver.Names
	resolver  resolver.Resolver
	w, errors io.Writer
	trace     bool
	service   resolver.Service
}

// resolveAll resolves URIs one by one. An error does not stop the rest.
func (o output) resolveAll(ctx context.Context, args []string) error {
	failed := false
	for _, arg := range args {
		if err := o.resolve(ctx, arg); err != nil {
			failed = true
			fmt.Fprintf(o.errors, "urnd: %s: %v\n", arg, err)
			if detail := netguard.Detail(err); detail != "" {
				fmt.Fprintf(o.errors, "urnd: %s: %s\n", arg, detail)
			}
		}
	}
	switch {
	case failed && o.trace:
		return cli.ErrReported
	case failed:
		return cli.Hint(cli.ErrReported, "--trace prints each step, with its errors")
	default:
		return nil
	}
}

func (o output) resolve(ctx context.Context, arg string) error {
	q, answer, trace, err := o.resolveOne(ctx, arg)
	if o.trace && !o.IsJSON() {
		for _, step := range trace.Steps() {
			fmt.Fprintf(o.w, "# %s: %s\n", step.Stage, step.Detail)
		}
	}
	if err != nil {
		return err
	}
	return o.Document(o.w, api.NewAnswer(q, answer, trace.Steps()), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, strings.Join(o.locations(q, answer), "\n"))
		return err
	})
}

// line resolves a line.
func (o output) line(ctx context.Context, line string) (cli.Result, error) {
	q, answer, trace, err := o.resolveOne(ctx, line)
	if err != nil {
		return cli.Result{}, err
	}
	steps := trace.Steps()
	if !o.trace {
		steps = nil
	}
	return cli.Result{Text: strings.Join(o.locations(q, answer), "\t"), Document: api.NewAnswer(q, answer, steps)}, nil
}

// resolveOne resolves one URI, and returns its trace even on failure.
func (o output) resolveOne(ctx context.Context, arg string) (resolver.Query, resolver.Answer, *resolver.Trace, error) {
	ctx, trace := resolver.WithTrace(ctx, time.Now)
	q, err := o.names.ParseInput(arg, o.service)
	if err != nil {
		return resolver.Query{}, resolver.Answer{}, trace, err
	}
	q = q.Selected()
	answer, err := o.resolver.Resolve(ctx, q)
	return q, answer, trace, err
}

// locations returns the locations to print.
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
