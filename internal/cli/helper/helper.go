// Package helper has the commands of urnd helper, which Squid starts.
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

// Command returns the command. names returns the rules for names of a configuration, and open what resolves them.
func Command(names cli.NamesOf, open cli.OpenResolution) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "helper",
		Short: "Normalize URLs and resolve URNs for Squid",
		Long: `Normalize URLs and resolve URNs for Squid, which starts these commands and speaks
with them on standard input and output. A request that begins with a number has a
channel-ID: such requests are answered side by side, up to 64 at a time, and others
one after another. So concurrency= may be set in squid.conf or not.`,
		RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(newURLRewrite(open), newStoreID(names))
	return cmd
}

// answerer makes the answer for a URL of Squid's.
type answerer func(ctx context.Context, url string) squid.Answer

// serve answers Squid until its end, or until SIGTERM.
func (a answerer) serve(cmd *cobra.Command) error {
	return squid.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), func(ctx context.Context, url string) squid.Answer {
		return a.protected(ctx, cmd.ErrOrStderr(), url)
	})
}

// protected is a, but a panic is an answer too, as Squid stops when its helpers do not live.
// Squid has its stack in cache.log.
func (a answerer) protected(ctx context.Context, log io.Writer, url string) (answer squid.Answer) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(log, "urnd: panic: %v\n%s", p, debug.Stack())
			answer = squid.Broken("internal error")
		}
	}()
	return a(ctx, url)
}

// maxMessage bounds a message, which can hold the URL it is about.
const maxMessage = 1024

// failed answers that a URL has no better form, and why: a fault of the URL is no fault of the
// helper.
func failed(err error) squid.Answer {
	text := redact.URLs(err.Error())
	text = text[:min(len(text), maxMessage)]
	if errors.As(err, new(*uri.ParseError)) || errors.As(err, new(*resolver.Negative)) || errors.Is(err, resolver.ErrForbidden) {
		return squid.Refused(text)
	}
	return squid.Broken(text)
}

// hasAuthority tells URLs from the host and port of CONNECT (RFC 9112 section 3.2.3), which
// look like a scheme and a path.
func hasAuthority(u uri.URI) bool {
	_, ok := u.Authority()
	return ok
}

// whereChanged answers with the normal form of a URL, unless that is the URL itself.
func whereChanged(answer func(string) squid.Answer, normal, url string) squid.Answer {
	if normal == url {
		return squid.Unchanged()
	}
	return answer(normal)
}
