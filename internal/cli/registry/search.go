package registry

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
)

// searchFlags are the flags of urnd registry search.
type searchFlags struct {
	below, alias, target, title, after string
	statuses                           []string
	limit                              int
	within                             time.Duration
	asJSON                             bool
}

// The bounds of a search that nothing else is said of.
const (
	searchLimit  = 100
	searchWithin = time.Minute
)

func newSearch(w Wiring) *cobra.Command {
	var s searchFlags
	cmd := &cobra.Command{
		Use:        "search [TEXT]",
		SuggestFor: []string{"list", "ls", "find", "grep", "query", "names"},
		Short:      "Find names by their beginning, title, a part of a target, status or alias",
		Long: `Find names, and print a line for each in the order of names: name, status, and where it leads, separated
by tabs. TEXT is a part of the name or of a target, in any case; all that is given must fit.

--title has words of the titles of targets and in the metadata, in any order and case and without
diacritics; the last one may be the beginning of a word. Such names are printed in the order in which they
were registered.

--below, --title and --alias-of are found at once, however many names there are. TEXT and --target are not
indexed: all names below --below are read one after another, which takes seconds for a million. A search
that has used its --time, or has found as many as --limit, says so and how to go on.

The exit status is 1 if the time was too short to read all.`,
		Example: `  urnd registry search kalevala
  urnd registry search --title 'war and peac'
  urnd registry search --below urn:nbn:fi:example
  urnd registry search --target //old.example.org/
  urnd registry search --below urn:nbn:fi: --status withdrawn,reserved
  urnd registry search --alias-of urn:nbn:fi:example-1
  urnd registry search --prefix`,
		Args: cobra.MaximumNArgs(1),
	}
	f := addStore(cmd, w)
	prefix := cmd.Flags().Bool("prefix", false, "find prefixes, not names")
	s.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		search, err := s.search(args)
		if err != nil {
			return cli.Usage(err)
		}
		if *prefix {
			search.Kind = registry.KindPrefix
		}
		if *prefix && s.alias != "" {
			return cli.Usage(errors.New("--alias-of and --prefix exclude each other: only names are aliases"))
		}
		p := cli.StartProgress(cmd, "searching")
		defer p.End()
		opened, err := f.open(cmd.Context())
		if err != nil {
			return p.Interrupted(err, "nothing was searched; the same command begins anew")
		}
		defer opened.close()
		return usageOf(s.run(cmd, p, opened, search))
	}
	return cmd
}

func (s *searchFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.below, "below", "", "only names that begin with this `text`")
	flags.StringVar(&s.target, "target", "", "only those with this `text` in the URI of a target")
	flags.StringVar(&s.title, "title", "", "only those with these `words` in a title")
	flags.StringVar(&s.alias, "alias-of", "", "only aliases of this `name`")
	flags.StringSliceVar(&s.statuses, "status", nil, "only those with one of these `statuses`: active, reserved, withdrawn")
	flags.StringVar(&s.after, "after", "", "only names after this `name`: to go on with a search")
	flags.IntVar(&s.limit, "limit", searchLimit, "find at most this `number`; 0 is all")
	flags.DurationVar(&s.within, "time", searchWithin, "search at most this `long`; 0 is until the end")
	flags.BoolVar(&s.asJSON, "json", false, "print the document of each, one a line")
}

// search returns the search of the flags, whose names need not be canonical yet.
func (s *searchFlags) search(args []string) (registry.Search, error) {
	search := registry.Search{Below: s.below, AliasOf: s.alias, Target: s.target, Title: s.title, After: s.after, Limit: s.limit, Within: s.within}
	if len(args) > 0 {
		search.Text = args[0]
	}
	for _, text := range s.statuses {
		var status registry.Status
		if err := status.UnmarshalText([]byte(text)); err != nil {
			return search, err
		}
		search.Statuses = append(search.Statuses, status)
	}
	if s.limit < 0 || s.within < 0 {
		return search, errors.New("--limit and --time are not negative")
	}
	return search, search.Validate()
}

// run prints what is found.
func (s *searchFlags) run(cmd *cobra.Command, p *cli.Progress, in *session, search registry.Search) error {
	w := p.Over(cmd.OutOrStdout())
	n := int64(0)
	done, err := in.Search(cmd.Context(), in.actor, search, func(e registry.Entry) error {
		n++
		p.Show(cli.Step{What: "searching", Done: n, Unit: "found", More: "up to " + e.Name})
		if s.asJSON {
			return cli.PrintJSON(w, api.NewName(e))
		}
		_, err := fmt.Fprintf(w, "%s\t%s\t%s\n", e.Key, e.Status, leadText(e))
		return err
	})
	if err != nil {
		if done.Last == "" {
			return p.Interrupted(err, "%d found, and nothing was changed; the same command begins anew", done.Found)
		}
		return p.Interrupted(err, "%d names were read, %d found; go on with --after '%s'", done.Read, done.Found, done.Last)
	}
	p.End()
	switch {
	case done.Late:
		fmt.Fprintf(cmd.ErrOrStderr(), "urnd: the time of %s is over: %d names were read, %d found; "+
			"go on with --after '%s'\n", s.within, done.Read, done.Found, done.Last)
		return cli.ErrReported
	case done.Last != "":
		fmt.Fprintf(cmd.ErrOrStderr(), "urnd: there may be more than %d: go on with --after '%s', "+
			"or use --limit 0\n", done.Found, done.Last)
	case done.Found == 0:
		fmt.Fprintln(cmd.ErrOrStderr(), "urnd: nothing was found")
	}
	return nil
}

// leadText says where an entry leads.
func leadText(e registry.Entry) string {
	var to []string
	switch {
	case e.Status == registry.Withdrawn:
		to = e.Successors
	case e.Alias != "":
		to = []string{e.Alias}
	case e.Status == registry.Active:
		for _, t := range e.Targets {
			to = append(to, t.URI)
		}
	}
	return strings.Join(to, " ")
}
