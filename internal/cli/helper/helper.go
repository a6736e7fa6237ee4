// Package helper has the commands of urnd helper, which Squid starts as its helper programs. Requests with
// URLs enter on standard input, and responses leave on standard output, in the protocol of Squid's
// url_rewrite_program and store_id_program. URNs (RFC 8141) are resolved like the daemon does, URLs normalized
// by RFC 3986.
package helper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/redact"
	"github.com/urnd/urnd/internal/squid"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Command returns the command. names returns the rules for names of a configuration, and open its resolution.
func Command(names cli.NamesOf, open cli.OpenResolution) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "helper",
		Short: "Normalize URLs and resolve URNs for Squid",
		Long: `Normalize URLs and resolve URNs for Squid, which starts these commands and uses
standard input and output. A request that begins with a number has a
channel-ID: such requests are handled concurrently, up to 64 at a time, and others
sequentially. So concurrency= is optional in squid.conf.`,
		RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(newURLRewrite(open), newStoreID(names))
	return cmd
}

// answerer returns the response to a URL from Squid.
type answerer func(ctx context.Context, url string) squid.Answer

// serve responds to Squid until the end of its input, or SIGTERM.
func (a answerer) serve(cmd *cobra.Command) error {
	return squid.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(),
		func(ctx context.Context, url string) squid.Answer {
			return a.protected(ctx, cmd.ErrOrStderr(), url)
		})
}

// protected calls a, and converts a panic to an error response, because Squid stops if its helpers die. The
// stack is written to log, which is Squid's cache.log.
func (a answerer) protected(ctx context.Context, log io.Writer, url string) (answer squid.Answer) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(log, "urnd: panic: %v\n%s", p, debug.Stack())
			answer = squid.Broken("internal error")
		}
	}()
	return a(ctx, url)
}

// maxMessage bounds a message, in bytes; it may contain the URL.
const maxMessage = 1024

// failed returns the response for an error: an invalid or refused URL is refused, other errors are failures
// of the helper.
func failed(err error) squid.Answer {
	text := redact.URLs(err.Error())
	text = text[:min(len(text), maxMessage)]
	if errors.As(err, new(*uri.ParseError)) || errors.As(err, new(*resolver.Negative)) ||
		errors.Is(err, resolver.ErrForbidden) {
		return squid.Refused(text)
	}
	return squid.Broken(text)
}

// hasAuthority reports whether a URL has an authority. The host and port of CONNECT (RFC 9112 section 3.2.3),
// which parse as a scheme and a path, do not.
func hasAuthority(u uri.URI) bool {
	_, ok := u.Authority()
	return ok
}

// whereChanged returns the response with the normal form of a URL, or Unchanged if the URL is normal already.
func whereChanged(answer func(string) squid.Answer, normal, url string) squid.Answer {
	if normal == url {
		return squid.Unchanged()
	}
	return answer(normal)
}

func newURLRewrite(open cli.OpenResolution) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "url-rewrite",
		Short: "Resolve URNs and normalize URLs, as the url_rewrite_program of Squid",
		Long: `Resolve URNs and normalize URLs, as the url_rewrite_program of Squid. A client that
requests a URN from Squid is redirected to its first location, by the rules and servers of
the configuration. A URL is replaced by its normal form, in which bytes that are not allowed in
URLs, such as "[", are percent-encoded. Other requests are not changed:
the response is ERR, with a message if the URL is invalid or the URN has no location,
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

// urlRewriter responds as a url_rewrite_program.
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

// redirect returns the redirect for a URN, to the first location: Squid does not pass on what a client
// accepts.
func (r urlRewriter) redirect(ctx context.Context, q resolver.Query) squid.Answer {
	if !q.Service.Locates() {
		return squid.Refused(fmt.Sprintf("the service %s is not available for Squid", q.Service))
	}
	answer, err := r.resolver.Resolve(ctx, q)
	if err != nil {
		return failed(err)
	}
	return squid.Redirect(answer.Locations[0].URI)
}

func newStoreID(names cli.NamesOf) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store-id",
		Short: "Print cache keys of URIs, as the store_id_program of Squid",
		Long: `Print cache keys of URIs, as the store_id_program of Squid: equivalent URIs then share
one entry of its cache. The key of a URL is its normal form, that of a URN its canonical
name by the rules of its namespace. The response is ERR if the key is the URI itself, if
the URI is invalid (Squid forwards bytes that clients send raw, such as "[", and caches them separately), ` +
			`and for a URN with components ("?+" or "?="), which change its
target but not its name.`,
		Example: `  printf 'URN:ISBN:0-395-36341-1\n' | urnd helper store-id

  # in squid.conf
  store_id_program /usr/bin/urnd helper store-id
  store_id_children 1 startup=1 concurrency=64`,
		Args: cobra.NoArgs,
	}
	s := cli.AddFile(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		rules, err := s.Names(names)
		if err != nil {
			return err
		}
		return answerer(storeIDs{rules}.answer).serve(cmd)
	}
	return cmd
}

// storeIDs responds as a store_id_program.
type storeIDs struct{ names resolver.Names }

func (s storeIDs) answer(_ context.Context, url string) squid.Answer {
	q, err := resolver.ParseQuery(url, resolver.I2L)
	if err != nil {
		return failed(err)
	}
	switch _, components := q.URI.Query(); {
	case q.IsURN() && components:
		return squid.Refused("the components of a URN are not part of its key")
	case !q.IsURN() && !hasAuthority(q.URI):
		return squid.Unchanged()
	}
	canonical, err := s.names.Canonical(q)
	if err != nil {
		return failed(err)
	}
	return whereChanged(squid.StoreID, canonical.URI.String(), url)
}
