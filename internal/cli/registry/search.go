package registry

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
)

// searchFlags are the flags of urnd registry search.
type searchFlags struct {
	registry.Search
	limit  uint
	output *cli.Output
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
  urnd registry search --prefix --output csv`,
		Args: cobra.MaximumNArgs(1),
	}
	f := addStore(cmd, w)
	prefix := cmd.Flags().Bool("prefix", false, "find prefixes, not names")
	s.addTo(cmd)
	cli.Before(cmd, func(args []string) error {
		s.Text, s.Limit = strings.Join(args, ""), int(s.limit)
		if *prefix {
			s.Kind = registry.KindPrefix
		}
		switch {
		case *prefix && s.AliasOf != "":
			return errors.New("--alias-of and --prefix exclude each other: only names are aliases")
		case s.Within < 0:
			return errors.New("--time is not negative: 0 is until the end")
		default:
			return s.Validate()
		}
	})
	return f.run(existing, "searching", "nothing was searched", func(ctx context.Context, in *session, _ []string) error { return s.run(ctx, in) })
}

func (s *searchFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.Below, "below", "", "only names that begin with this `text`")
	flags.StringVar(&s.Target, "target", "", "only those with this `text` in the URI of a target")
	flags.StringVar(&s.Title, "title", "", "only those with these `words` in a title")
	flags.StringVar(&s.AliasOf, "alias-of", "", "only aliases of this `name`")
	statuses := []string{registry.Active.String(), registry.Reserved.String(), registry.Withdrawn.String()}
	cli.Each(cmd, &s.Statuses, "status", "only those with one of these `statuses`: "+strings.Join(statuses, ", "), cli.ParseText[registry.Status])
	cli.Complete(cmd, "status", statuses...)
	flags.StringVar(&s.After, "after", "", "only names after this `name`: to go on with a search")
	flags.UintVar(&s.limit, "limit", searchLimit, "find at most this `number`; 0 is all")
	flags.DurationVar(&s.Within, "time", searchWithin, "search at most this `long`; 0 is until the end")
	s.output = cli.AddOutput(cmd, "the document of each name that the API has", cli.CSV, cli.JSON)
}

// run prints what is found.
func (s *searchFlags) run(ctx context.Context, in *session) error {
	table, err := s.output.Rows(in.out, "name", "status", "leads to")
	if err != nil {
		return err
	}
	n := int64(0)
	done, err := in.Search(ctx, in.actor, s.Search, func(e registry.Entry) error {
		n++
		in.progress.Show(cli.Step{What: "searching", Done: n, Unit: "found", More: "up to " + e.Name})
		return table.Row(api.NewName(e), e.String(), e.Status.String(), leadText(e))
	})
	switch {
	case err != nil && done.Last == "":
		return in.progress.Anew(err, "%d found, and nothing was changed", done.Found)
	case err != nil:
		return in.progress.Interrupted(err, "%d names were read, %d found; go on with --after '%s'", done.Read, done.Found, done.Last)
	case done.Late:
		in.say("the time of %s is over: %d names were read, %d found; go on with --after '%s'", s.Within, done.Read, done.Found, done.Last)
		return cli.ErrReported
	case done.Last != "":
		in.say("there may be more than %d: go on with --after '%s', or use --limit 0", done.Found, done.Last)
	case done.Found == 0:
		in.say("nothing was found")
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
