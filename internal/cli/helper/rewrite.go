package helper

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/squid"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

func newURLRewrite(open cli.OpenResolution) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "url-rewrite",
		Short: "Resolve URNs and normalize URLs, as the url_rewrite_program of Squid",
		Long: `Resolve URNs and normalize URLs, as the url_rewrite_program of Squid. A client that
asks Squid for a URN is redirected to its first location, by the rules and servers of
the configuration. A URL is replaced by its normal form, in which octets that are none of
URLs, such as "[", are percent-encoded. All else is left as it is:
the answer is ERR, with a message if the URL is invalid or the URN has no location,
and BH if urnd or a server has failed.`,
		Example: `  printf 'urn:ietf:rfc:2648\n' | urnd helper url-rewrite

  # in squid.conf
  url_rewrite_program /usr/bin/urnd helper url-rewrite
  url_rewrite_children 1 startup=1 concurrency=64
  acl URN proto URN
  http_access allow localnet URN
  miss_access deny URN`,
		Args: cobra.NoArgs,
	}
	s := cli.AddSettings(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := s.Load(nil)
		if err != nil {
			return err
		}
		r, err := open(cmd.Context(), c, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		defer r.Close()
		return answerer(urlRewriter{r.Names, r.Resolver}.answer).serve(cmd)
	}
	return cmd
}

// urlRewriter makes the answers of a url_rewrite_program.
type urlRewriter struct {
	names    resolver.Names
	resolver resolver.Resolver
}

func (r urlRewriter) answer(ctx context.Context, url string) squid.Answer {
	q, err := resolver.ParseQuery(uri.EncodeRaw(url), resolver.I2L)
	if err != nil {
		return failed(err)
	}
	if q.IsURN() {
		return r.redirect(ctx, q.Selected())
	}
	if !hasAuthority(q.URI) {
		return squid.Unchanged()
	}
	canonical, err := r.names.Canonical(q)
	if err != nil {
		return failed(err)
	}
	return whereChanged(squid.Rewrite, canonical.URI.String(), url)
}

// redirect answers for a URN. Squid cannot tell what a client accepts: it is the first location.
func (r urlRewriter) redirect(ctx context.Context, q resolver.Query) squid.Answer {
	if !q.Service.Locates() {
		return squid.Refused(fmt.Sprintf("the service %s is not offered to Squid", q.Service))
	}
	answer, err := r.resolver.Resolve(ctx, q)
	if err != nil {
		return failed(err)
	}
	return squid.Redirect(answer.Locations[0].URI)
}
