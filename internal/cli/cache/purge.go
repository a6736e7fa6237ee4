package cache

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/admin"
)

// purgeFlags are the flags of urnd cache purge.
type purgeFlags struct {
	prefix, host, tag  string
	all, hard, refresh bool
}

func newPurge(k kinds) *cobra.Command {
	var p purgeFlags
	cmd := &cobra.Command{
		Use:   "purge [URI...]",
		Short: "Purge URIs, a prefix, a host, a tag, or all",
		Long: `Purge cache entries: for http and https URLs, and those that gateways retrieve, the stored
responses, for URNs and all other URIs the answers. Exactly one selection is required: URIs,
--prefix, --host, --tag or --all.

Purged entries are revalidated before their next use; answers remain usable while their source
fails. With --hard they are removed, and for answers also the DNS records that they came from. With
--refresh stored responses are fetched again immediately, in all variants.`,
		Example: `  urnd cache purge http://www.example.org/news
  urnd cache purge --refresh http://www.example.org/
  urnd cache purge --hard URN:ISBN:0-395-36341-1
  urnd cache purge --prefix http://www.example.org/images/
  urnd cache purge --prefix urn:isbn:
  urnd cache purge --prefix gopher://
  urnd cache purge --host www.example.org
  urnd cache purge --tag product-17
  urnd cache purge --all --hard`,
		Args: cobra.ArbitraryArgs,
	}
	f := admin.AddFlags(cmd)
	cmd.Flags().StringVar(&p.prefix, "prefix", "",
		"purge the entries of URIs whose canonical form begins with this `prefix`")
	cmd.Flags().StringVar(&p.host, "host", "",
		"purge the stored responses of this `host`, with any scheme; without a port, of all its "+
			"ports")
	cmd.Flags().StringVar(&p.tag, "tag", "",
		"purge the stored responses with this `tag` in Surrogate-Key, Cache-Tag or Cache-Groups")
	cmd.Flags().BoolVar(&p.all, "all", false, "purge all stored responses and all answers")
	cmd.Flags().BoolVar(&p.hard, "hard", false, "remove purged entries")
	cmd.Flags().BoolVar(&p.refresh, "refresh", false, "fetch stored responses for URLs again immediately")
	output := cli.AddOutput(cmd, "one object for each line", cli.CSV, cli.JSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		purges, err := p.purges(k, cmd.Flags().Changed, args)
		if err != nil {
			return cli.Usage(err)
		}
		c, err := f.Client()
		if err != nil {
			return err
		}
		return p.run(cmd, c, purges, output)
	}
	return cmd
}

// purgeLine is a selection to purge, and the number of purged objects.
type purgeLine struct {
	By     string `json:"by"` // the parameter of the admin interface
	Value  string `json:"value,omitempty"`
	Of     string `json:"of"`
	Purged int    `json:"purged"`

	normal string // the value of the parameter
}

var (
	errPurgeSelection = errors.New("exactly one selection is required: URIs, --prefix, --host, --tag or --all")
	errPurgeMode      = errors.New("--hard and --refresh are mutually exclusive")
	errPurgeRefresh   = errors.New("--refresh requires URLs with stored responses")
)

// purges returns the selections to purge; changed reports whether a flag was used.
func (p *purgeFlags) purges(k kinds, changed func(name string) bool, args []string) ([]purgeLine, error) {
	lines, err := linesOf(k, args)
	if err != nil {
		return nil, err
	}
	selections := min(len(lines), 1)
	for _, flag := range []struct{ name, value string }{{"prefix", p.prefix}, {"host", p.host}, {"tag", p.tag}} {
		if changed(flag.name) {
			selections++
			lines = append(lines, flagLine(k, flag.name, flag.value))
		}
	}
	if p.all {
		selections++
		lines = append(lines, purgeLine{By: "all", Of: ofResponses, normal: "true"},
			purgeLine{By: "all", Of: ofAnswers, normal: "true"})
	}
	switch {
	case selections != 1:
		return nil, errPurgeSelection
	case lines[0].normal == "":
		return nil, fmt.Errorf("--%s is empty", lines[0].By)
	case p.hard && p.refresh:
		return nil, errPurgeMode
	case p.refresh && slices.ContainsFunc(lines,
		func(l purgeLine) bool { return l.By != "uri" || l.Of != ofResponses }):
		return nil, errPurgeRefresh
	default:
		return lines, nil
	}
}

// linesOf returns the selections of URIs.
func linesOf(k kinds, args []string) ([]purgeLine, error) {
	var lines []purgeLine
	for _, text := range args {
		of, normal, err := k.cachedAs(text)
		if err != nil {
			return nil, err
		}
		lines = append(lines, purgeLine{By: "uri", Value: text, Of: of, normal: normal})
	}
	return lines, nil
}

// flagLine returns the selection of a flag. Only prefixes can select answers.
func flagLine(k kinds, name, value string) purgeLine {
	line := purgeLine{By: name, Value: value, Of: ofResponses, normal: value}
	if scheme, _, _ := strings.Cut(strings.ToLower(value), ":"); name == "prefix" {
		line.Of = k.of(scheme)
	}
	return line
}

// run purges the selections one by one, and prints a line for each. An error does not stop the rest.
func (p *purgeFlags) run(cmd *cobra.Command, c *admin.Client, purges []purgeLine, output *cli.Output) error {
	table, err := output.Rows(cmd.OutOrStdout(), "by", "value", "of", "purged")
	if err != nil {
		return err
	}
	var failed error
	for _, line := range purges {
		if err := p.purge(cmd.Context(), c, &line); err != nil {
			failed = cli.Hint(cli.ErrReported, "urnd status shows whether urnd is running and ready")
			fmt.Fprintf(cmd.ErrOrStderr(), "urnd: %s: %v\n", line.name(), err)
			continue
		}
		if err := p.print(table, output.Format, line); err != nil {
			return err
		}
	}
	return failed
}

func (p *purgeFlags) purge(ctx context.Context, c *admin.Client, line *purgeLine) error {
	query := url.Values{line.By: {line.normal}}
	switch {
	case p.hard:
		query.Set("mode", "hard")
	case p.refresh:
		query.Set("mode", "refresh")
	}
	var document struct{ Purged int }
	if err := c.Read(ctx, http.MethodDelete, pathOf(line.Of), query, &document); err != nil {
		return err
	}
	line.Purged = document.Purged
	return nil
}

// name describes the selection.
func (l purgeLine) name() string {
	switch l.By {
	case "uri":
		return l.Value
	case "all":
		return "all"
	default:
		return l.By + " " + l.Value
	}
}

func (p *purgeFlags) print(table *cli.Table, format cli.Format, line purgeLine) error {
	if format == cli.CSV {
		return table.Row(line, line.By, line.Value, line.Of, strconv.Itoa(line.Purged))
	}
	what, done := line.Of, "purged"
	if line.Purged == 1 {
		what = strings.TrimSuffix(what, "s")
	}
	if p.refresh {
		done = "fetched again"
	}
	return table.Row(line, fmt.Sprintf("%s: %d %s %s", line.name(), line.Purged, what, done))
}
