// Package cache has the commands of urnd cache, which ask the admin interface of a running urnd.
package cache

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/admin"
	"github.com/urnd/urnd/uri"
)

// Command returns the command. hasResponses reports whether responses are stored for the URIs of a scheme, in lower
// case.
func Command(hasResponses func(scheme string) bool) *cobra.Command {
	kinds := kinds{hasResponses}
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Look into the caches of a running urnd, and purge them",
		Long: `Look into the caches of a running urnd, and purge them. Of http and https URLs, and of
those that gateways retrieve, that are the stored responses of the HTTP cache; of URNs and all
other URIs the answers, which are where names lead.

The commands ask the admin interface of the daemon: at listen.admin of the configuration, also
where that is a Unix socket, and with the token of access.admin_token. With --admin no
configuration is read, and a token is sent only with --token-file. Where tls.client_ca is set,
--cert and --key are required.

The exit status is 0 where all was done, even if nothing was found, 1 after a failure, and 2 if
the command was used wrongly; then nothing is purged.`,
		RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(newStats(), newShow(kinds), newPurge(kinds))
	return cmd
}

// The paths of the admin interface.
const (
	pathStats     = "/api/v1/cache"
	pathAnswers   = "/api/v1/cache/entries"
	pathResponses = "/api/v1/responses"
)

// The things that the caches hold, of which a purge says how many there were.
const (
	ofResponses = "responses"
	ofAnswers   = "answers"
)

// kinds knows what the caches hold of a URI.
type kinds struct{ hasResponses func(scheme string) bool }

// of returns what the caches hold of the URIs of a scheme, in lower case.
func (k kinds) of(scheme string) string {
	if k.hasResponses(scheme) {
		return ofResponses
	}
	return ofAnswers
}

// cachedAs returns a URI as the admin interface takes it, and what the caches hold of it.
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

// pathOf returns the path of the admin interface for what the caches hold.
func pathOf(of string) string {
	if of == ofResponses {
		return pathResponses
	}
	return pathAnswers
}

func newStats() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Print what the caches hold, and how they were used",
		Example: "  urnd cache stats\n  urnd cache stats --json --admin http://127.0.0.1:8142",
		Args:    cobra.NoArgs,
	}
	f := admin.AddFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the document of "+pathStats)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := f.Client()
		if err != nil {
			return err
		}
		text, err := c.Get(cmd.Context(), pathStats, nil)
		if err != nil {
			return err
		}
		if asJSON {
			_, err = cmd.OutOrStdout().Write(text)
			return err
		}
		return printStats(cmd.OutOrStdout(), text)
	}
	return cmd
}

// printStats prints the document of pathStats as a table.
func printStats(w io.Writer, text []byte) error {
	var document struct {
		Caches map[string]struct {
			Lookups                   map[string]uint64
			Evictions, Entries, Bytes int64
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return fmt.Errorf("reading the answer of the admin interface: %w", err)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "cache\tentries\tbytes\tevictions\tlookups")
	for _, name := range slices.Sorted(maps.Keys(document.Caches)) {
		c := document.Caches[name]
		var lookups []string
		for _, outcome := range slices.Sorted(maps.Keys(c.Lookups)) {
			lookups = append(lookups, fmt.Sprintf("%s %d", outcome, c.Lookups[outcome]))
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\n", name, c.Entries, c.Bytes, c.Evictions, strings.Join(lookups, ", "))
	}
	return table.Flush()
}
