// Package cache has the commands of urnd cache, which inspect and purge the caches of a running urnd. URIs,
// prefixes, hosts or tags enter, and requests to the admin interface leave; its documents are printed as
// text, CSV or JSON. The stored responses are those of an HTTP cache by RFC 9111.
package cache

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/admin"
	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/uri"
)

// Command returns the command. hasResponses reports whether responses, rather than answers, are stored for
// URIs of a scheme in lower case.
func Command(hasResponses func(scheme string) bool) *cobra.Command {
	kinds := kinds{hasResponses}
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Inspect and purge the caches of a running urnd",
		Long: `Inspect and purge the caches of a running urnd: for http and https URLs, and those that
gateways retrieve, the stored responses of the HTTP cache; for URNs and all other URIs the
answers, which are the targets of names.

The commands use the admin interface of the daemon: at listen.admin of the configuration,
which may be a Unix socket, with the token of access.admin_token. With --admin no
configuration is read, and a token is sent only with --token-file. If tls.client_ca is set,
--cert and --key are required.

The exit status is 0 on success, even if nothing was found, 1 after a failure, and 2 after
a usage error, in which case nothing is purged.`,
		RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(newStats(), newShow(kinds), newWhy(kinds), newPurge(kinds))
	return cmd
}

// The paths of the admin interface.
const (
	pathStats     = "/api/v1/cache"
	pathAnswers   = "/api/v1/cache/entries"
	pathResponses = "/api/v1/responses"
	pathWhy       = "/api/v1/responses/why"
)

// The kinds of cached objects that a purge counts.
const (
	ofResponses = "responses"
	ofAnswers   = "answers"
)

// kinds determines the kind of cached objects of a URI.
type kinds struct{ hasResponses func(scheme string) bool }

// of returns the kind of cached objects of a scheme in lower case.
func (k kinds) of(scheme string) string {
	if k.hasResponses(scheme) {
		return ofResponses
	}
	return ofAnswers
}

// cachedAs returns a URI in the form that the admin interface takes, and the kind of its cached objects.
func (k kinds) cachedAs(text string) (of, normal string, err error) {
	u, err := uri.FromIRI(text)
	if err == nil {
		err = u.Check()
	}
	if err != nil {
		return "", "", cli.Usage(err)
	}
	return k.of(strings.ToLower(u.Scheme())), u.String(), nil
}

// pathOf returns the path of the admin interface for a kind of cached objects.
func pathOf(of string) string {
	if of == ofResponses {
		return pathResponses
	}
	return pathAnswers
}

func newStats() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Print the content and use of the caches",
		Example: "  urnd cache stats\n  urnd cache stats --output json --admin http://127.0.0.1:8142",
		Args:    cobra.NoArgs,
	}
	f := admin.AddFlags(cmd)
	output := cli.AddOutput(cmd, "the document of "+pathStats, cli.CSV, cli.JSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var document statsJSON
		return f.Show(cmd, output, pathStats, nil, &document,
			func(w io.Writer) error { return document.print(w, output) })
	}
	return cmd
}

// statsJSON is the decoded part of the document of pathStats.
type statsJSON struct {
	Caches map[string]struct {
		Lookups                   map[string]uint64
		Evictions, Entries, Bytes int64
	}
}

// print prints a table of the caches.
func (s statsJSON) print(w io.Writer, output *cli.Output) error {
	table, err := output.Table(w, "cache", "entries", "bytes", "evictions", "lookups")
	for _, name := range slices.Sorted(maps.Keys(s.Caches)) {
		c := s.Caches[name]
		var lookups []string
		for _, outcome := range slices.Sorted(maps.Keys(c.Lookups)) {
			lookups = append(lookups, fmt.Sprintf("%s %d", outcome, c.Lookups[outcome]))
		}
		number := func(n int64) string { return strconv.FormatInt(n, 10) }
		err = errors.Join(err, table.Row(c, name, number(c.Entries), number(c.Bytes), number(c.Evictions),
			strings.Join(lookups, ", ")))
	}
	return errors.Join(err, table.End())
}

func newShow(k kinds) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show URI",
		Short: "Print the cache entries of a URI",
		Long: `Print the cache entries of a URI: for an http or https URL, and one that a gateway
retrieves, the stored responses, with the request header fields that select each of them; for a
URN, or another URI, the answers for all services.`,
		Example: "  urnd cache show http://www.example.org/\n  urnd cache show --output json urn:isbn:0-395-36341-1",
		Args:    cobra.ExactArgs(1),
	}
	f := admin.AddFlags(cmd)
	output := cli.AddOutput(cmd, "the document of "+pathResponses+" or "+pathAnswers, cli.JSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		of, normal, err := k.cachedAs(args[0])
		if err != nil {
			return err
		}
		var document cachedJSON
		return f.Show(cmd, output, pathOf(of), url.Values{"uri": {normal}}, &document,
			func(w io.Writer) error { return document.print(w, args[0]) })
	}
	return cmd
}

// cachedJSON is the document of the cached objects of a URI.
type cachedJSON struct {
	Responses []api.Response
	Entries   []api.Entry
}

// print prints the cached objects of the URI name.
func (document cachedJSON) print(w io.Writer, name string) error {
	var lines []string
	for _, r := range document.Responses {
		lines = append(lines, responseLines(r)...)
	}
	for _, e := range document.Entries {
		lines = append(lines, e.Key+": "+freshness(e.TTL))
		for _, l := range e.Locations {
			lines = append(lines, "  "+l.URI)
		}
		if e.Reason != "" {
			lines = append(lines, "  no: "+e.Reason)
		}
	}
	if lines == nil {
		lines = []string{name + ": nothing is cached"}
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, plaintext.OneLine(line)); err != nil {
			return err
		}
	}
	return nil
}

// responseLines returns the lines about a stored response.
func responseLines(r api.Response) []string {
	size, where := fmt.Sprintf("%d bytes", r.Size), "incomplete"
	if r.Size < 0 {
		size = "of unknown length"
	}
	if len(r.Where) > 0 {
		where = strings.Join(r.Where, " and ")
	}
	lines := []string{fmt.Sprintf("%d: %s, age %s, %s, %s", r.Status, freshness(r.TTL), seconds(r.Age), size, where)}
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, "  "+name+": "+value)
		}
	}
	if r.Spelling != "" {
		add("spelling", strconv.Quote(r.Spelling)) // quoted: it is input of a client
	}
	for _, name := range slices.Sorted(maps.Keys(r.Selecting)) {
		value := "none"
		if shown := r.Selecting[name]; shown != nil {
			value = *shown
		}
		lines = append(lines, "  for requests with "+name+": "+value)
	}
	add("ETag", r.ETag)
	add("Last-Modified", r.LastModified)
	add("tags", strings.Join(r.Tags, ", "))
	if r.Partial {
		add("partial", "only a part is stored")
	}
	if r.Purged {
		add("purged", "it is revalidated before each use")
	}
	return lines
}

func freshness(ttl int64) string {
	if ttl > 0 {
		return "fresh for " + seconds(ttl)
	}
	return "stale for " + seconds(-ttl)
}

func seconds(n int64) string { return (time.Duration(n) * time.Second).String() }
