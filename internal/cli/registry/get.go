package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/diff"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/service"
)

func newGet(w Wiring) *cobra.Command {
	var v service.Version
	cmd := &cobra.Command{
		SuggestFor: []string{"show", "read", "lookup", "info", "resolve"},
		Use:        "get NAME",
		Short:      "Print the entry of a name",
		Long: `Print the entry of a name, as it is now, or as it was at a time. The name need not be canonical.

The exit status is 1 if it is not registered, or was not at that time.`,
		Example: `  urnd registry get urn:nbn:fi:example-1
  urnd registry get urn:nbn:fi:example-1 --at 2031-05-01
  urnd registry get urn:nbn:fi:example-1 --output json
  urnd registry get urn:nbn:fi: --prefix`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	addTime(cmd, &v.At, "at", "as it was at this `time`: a date, which means its end (UTC), or a time of RFC 3339",
		plaintext.ParseTimeEnd)
	output := cli.AddOutput(cmd, "the document that the API of the registry has", cli.JSON)
	return f.runName("reading the registry", "nothing was read",
		func(ctx context.Context, s *session, key registry.Key) error {
			e, err := s.Get(ctx, s.actor, key, v)
			if err != nil {
				return notRegisteredHint(key, err)
			}
			return output.Document(s.out, api.NewName(e), func(w io.Writer) error {
				_, err := io.WriteString(w, entryText(e))
				return err
			})
		})
}

// notRegisteredHint adds a hint to the error of a name that is not registered.
func notRegisteredHint(key registry.Key, err error) error {
	if !errors.Is(err, registry.ErrUnknown) || key.Kind == registry.KindPrefix {
		return err
	}
	return cli.Hint(err, "where a prefix or another system leads it is shown by urnd resolve --trace %s", key.Name)
}

// entryText formats an entry: its key, and a line for each value.
func entryText(e registry.Entry) string {
	var text bytes.Buffer
	fmt.Fprintln(&text, e.Key)
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	row := func(label, value string) {
		fmt.Fprintf(table, "  %s\t%s\n", label, plaintext.OneLine(value))
	}
	for _, f := range field.RecordFields() {
		fact := f.Format(&e.Record)
		switch f.Name {
		case "status":
			fact.Lines[0] += " since " + timeText(e.Since)
		case "since":
			continue
		case "authoritative":
			switch {
			case e.Authoritative && len(e.Targets) == 0:
				fact.Lines = []string{"unregistered names below do not exist"}
			case e.Authoritative:
				fact.Lines = []string{"names below are not resolved by other systems"}
			}
		case "sandbox":
			if e.Sandbox {
				fact.Lines = []string{"it may be purged"}
			}
		}
		for _, line := range fact.Lines {
			row(fact.Label, line)
		}
	}
	row("version", versionOf(e))
	_ = table.Flush() // a buffer never fails
	return text.String()
}

// versionOf returns the number, time, author and note of a version.
func versionOf(e registry.Entry) string {
	text := fmt.Sprintf("%d, %s", e.Version, timeText(e.Changed))
	if e.By != "" {
		text += ", by " + e.By
	}
	if e.Redacted {
		text += ", redacted"
	}
	if e.Note != "" {
		text += ": " + e.Note
	}
	return plaintext.OneLine(text)
}

func timeText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// historyPage is the number of versions read in one batch.
const historyPage = 100

func newHistory(w Wiring) *cobra.Command {
	var limit uint
	cmd := &cobra.Command{
		Use:   "history NAME",
		Short: "Print the versions of a name, with their differences",
		Long: `Print the versions of a name, the newest first: when, by whom and why each was made, and
what it changed. Nothing that was ever registered is lost.

The exit status is 1 if the name is not registered.`,
		Example: `  urnd registry history urn:nbn:fi:example-1
  urnd registry history urn:nbn:fi:example-1 --limit 1
  urnd registry history urn:nbn:fi:example-1 --output json
  urnd registry history urn:nbn:fi: --prefix`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	cmd.Flags().UintVar(&limit, "limit", 0, "print at most this `number` of versions; 0 is all")
	output := cli.AddOutput(cmd, "the document of each version", cli.JSON)
	return f.runName("reading the registry", "nothing was read",
		func(ctx context.Context, s *session, key registry.Key) error {
			return notRegisteredHint(key, s.printHistory(ctx, output, key, limit))
		})
}

// printHistory prints at most limit versions of a key, 0 for all.
func (s *session) printHistory(ctx context.Context, output *cli.Output, key registry.Key, limit uint) error {
	print := func(before, e registry.Entry) error {
		return output.Document(s.out, api.NewName(e), func(w io.Writer) error {
			change := diff.Of(registry.Changed{Before: before, After: e})
			_, err := fmt.Fprintf(w, "version %s\n%s", versionOf(e), change.Text())
			return err
		})
	}
	var last registry.Entry // printed once the version before it is known
	printed := uint(0)
	for page := (service.Page{Limit: historyPage}); ; {
		found, err := s.History(ctx, s.actor, key, page)
		if err != nil {
			return err
		}
		for _, e := range found.Entries {
			if last.Exists() {
				if err := print(e, last); err != nil {
					return err
				}
				if printed++; printed == limit {
					return nil
				}
			}
			last = e
		}
		if page.Cursor = found.Next; found.Next == "" {
			return print(registry.Entry{}, last)
		}
	}
}

// searchFlags are the flags of urnd registry search.
type searchFlags struct {
	registry.Search
	limit  uint
	output *cli.Output
}

// The default limits of a search.
const (
	searchLimit  = 100
	searchWithin = time.Minute
)

func newSearch(w Wiring) *cobra.Command {
	var s searchFlags
	cmd := &cobra.Command{
		Use:        "search [TEXT]",
		SuggestFor: []string{"list", "ls", "find", "grep", "query", "names"},
		Short:      "Find names by prefix, title, target, status or alias",
		Long: `Find names, and print a line for each, in order: name, status, and targets, alias or successors,
separated by tabs. TEXT is a part of the name or of a target, in any case; a name must match all
conditions.

--title selects by words of target titles and of the metadata, in any order and case and without
diacritics; the last one may be the beginning of a word. These names are printed in the order of
their registration.

--below, --title, --alias-of, and a --target that is a complete host (example.org, //example.org/)
use an index. For TEXT and other values of --target all names below --below are read, which takes
seconds for a million. A search that reaches its --time or --limit says so, and how to continue.

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
	cli.AddCheck(cmd, func(args []string) error {
		s.Text, s.Limit = strings.Join(args, ""), int(s.limit)
		if *prefix {
			s.Kind = registry.KindPrefix
		}
		switch {
		case *prefix && s.AliasOf != "":
			return errors.New("--alias-of and --prefix are mutually exclusive: only names are aliases")
		case s.Timeout < 0:
			return errors.New("--time must not be negative: 0 is no limit")
		default:
			return s.Validate()
		}
	})
	return f.run(existing, "searching", "nothing was searched",
		func(ctx context.Context, in *session, _ []string) error { return s.run(ctx, in) })
}

func (s *searchFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.Prefix, "below", "", "only names with this `prefix`")
	flags.StringVar(&s.Target, "target", "", "only those with this `text` in the URI of a target")
	flags.StringVar(&s.Title, "title", "", "only those with these `words` in a title")
	flags.StringVar(&s.AliasOf, "alias-of", "", "only aliases of this `name`")
	statuses := []string{registry.Active.String(), registry.Reserved.String(), registry.Withdrawn.String()}
	cli.AddParsedList(cmd, &s.Statuses, "status",
		"only those with one of these `statuses`: "+strings.Join(statuses, ", "), cli.ParseText[registry.Status])
	cli.Complete(cmd, "status", statuses...)
	flags.StringVar(&s.After, "after", "", "only names after this `name`: to go on with a search")
	flags.UintVar(&s.limit, "limit", searchLimit, "find at most this `number`; 0 is all")
	flags.DurationVar(&s.Timeout, "time", searchWithin, "search at most this `long`; 0 is until the end")
	s.output = cli.AddOutput(cmd, "the document of each name that the API has", cli.CSV, cli.JSON)
}

// run prints the results.
func (s *searchFlags) run(ctx context.Context, in *session) error {
	table, err := s.output.Rows(in.out, "name", "status", "target")
	if err != nil {
		return err
	}
	n := int64(0)
	done, err := in.Search(ctx, in.actor, s.Search, func(e registry.Entry) error {
		n++
		in.progress.Show(cli.Step{Activity: "searching", Done: n, Unit: "found", More: "up to " + e.Name})
		return table.Row(api.NewName(e), e.String(), e.Status.String(), leadText(e))
	})
	switch {
	case err != nil && done.Last == "":
		return in.progress.InterruptedRestart(err, "%d found, and nothing was changed", done.Found)
	case err != nil:
		return in.progress.Interrupted(err, "%d names were read, %d found; continue with --after '%s'", done.Read,
			done.Found, done.Last)
	case done.TimedOut:
		in.say("the time limit of %s was reached: %d names were read, %d found; continue with --after '%s'", s.Timeout,
			done.Read, done.Found, done.Last)
		return cli.ErrReported
	case done.Last != "":
		in.say("there may be more than %d: go on with --after '%s', or use --limit 0", done.Found, done.Last)
	case done.Found == 0:
		in.say("nothing was found")
	}
	return nil
}

// leadText returns the targets, alias or successors of an entry.
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
