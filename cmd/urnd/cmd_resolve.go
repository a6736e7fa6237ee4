package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

func newResolve() *cobra.Command {
	var trace, asJSON, all bool
	cmd := &cobra.Command{
		Use:   "resolve URI...",
		Short: "Print the locations of URIs",
		Long: `Print the location of each URI, as the daemon would answer. With --trace, every
step of the resolution is printed before it, on lines that begin with "#": the
output is a text/uri-list (RFC 2483 section 5).`,
		Example: `  urnd resolve URN:ietf:rfc:2648
  urnd resolve --trace urn:isbn:0-395-36341-1
  urnd resolve --all urn:isbn:0-395-36341-1
  urnd resolve --json urn:ietf:bcp:14`,
		Args: cobra.MinimumNArgs(1),
	}
	s := addSettings(cmd)
	cmd.Flags().BoolVar(&trace, "trace", false, "print every step")
	cmd.Flags().BoolVar(&all, "all", false, "print all locations, best first (I2Ls)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the document of /api/v1/resolve, one a line")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := s.load(map[string]string{})
		if err != nil {
			return err
		}
		r, err := newResolution(c, newResolverDependencies())
		if err != nil {
			return err
		}
		defer r.close()
		out := resolveOutput{w: cmd.OutOrStdout(), errors: cmd.ErrOrStderr(), trace: trace, json: asJSON}
		if all {
			out.service = resolver.I2Ls
		}
		return out.resolveAll(cmd.Context(), r.resolver, args)
	}
	return cmd
}

type resolveOutput struct {
	w, errors   io.Writer
	trace, json bool
	service     resolver.Service
}

func (o resolveOutput) resolveAll(ctx context.Context, r resolver.Resolver, args []string) error {
	failed := false
	for _, arg := range args {
		if err := o.resolve(ctx, r, arg); err != nil {
			failed = true
			fmt.Fprintf(o.errors, "urnd: %s: %v\n", arg, err)
		}
	}
	if failed {
		return errReported
	}
	return nil
}

func (o resolveOutput) resolve(ctx context.Context, r resolver.Resolver, arg string) error {
	u, err := uri.FromIRI(arg)
	if err != nil {
		return err
	}
	ctx, trace := resolver.WithTrace(ctx, time.Now)
	q, err := resolver.NewQuery(u, o.service)
	if err != nil {
		return err
	}
	q = q.Selected()
	answer, err := r.Resolve(ctx, q)
	if o.trace && !o.json {
		for _, step := range trace.Steps() {
			fmt.Fprintf(o.w, "# %s: %s\n", step.Stage, step.Detail)
		}
	}
	if err != nil {
		return err
	}
	if !o.json {
		locations := answer.Locations[:1]
		if q.Service == resolver.I2Ls {
			locations = answer.Locations
		}
		for _, l := range locations {
			if _, err := fmt.Fprintln(o.w, l.URI); err != nil {
				return err
			}
		}
		return nil
	}
	encoder := json.NewEncoder(o.w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(api.NewAnswer(q, answer, trace.Steps()))
}
