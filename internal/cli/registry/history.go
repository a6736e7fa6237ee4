package registry

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/diff"
	"github.com/urnd/urnd/resolver/registry/service"
)

// historyPage is how many versions are read at once.
const historyPage = 100

func newHistory(w Wiring) *cobra.Command {
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "history NAME",
		Short: "Print the versions of a name, and what changed from one to the next",
		Long: `Print the versions of a name, the newest first: when, by whom and why each was made, and
what it changed. Nothing that was ever registered is lost.

The exit status is 1 if the name is not registered.`,
		Example: `  urnd registry history urn:nbn:fi:example-1
  urnd registry history urn:nbn:fi:example-1 --limit 1
  urnd registry history urn:nbn:fi:example-1 --json
  urnd registry history urn:nbn:fi: --prefix`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	prefix := addPrefix(cmd)
	cmd.Flags().IntVar(&limit, "limit", 0, "print at most this `number` of versions; 0 is all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the document of each version, one a line")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := f.open(cmd.Context())
		if err != nil {
			return err
		}
		defer s.close()
		key, err := s.key(args[0], *prefix)
		if err != nil {
			return err
		}
		h := history{s, key, cmd.OutOrStdout(), asJSON}
		return unknownHelp(key, h.print(cmd.Context(), limit))
	}
	return cmd
}

// history prints the versions of a key.
type history struct {
	session *session
	key     registry.Key
	w       io.Writer
	asJSON  bool
}

// print prints at most limit versions, 0 for all.
func (h history) print(ctx context.Context, limit int) error {
	var last registry.Entry // whose difference needs the one before it
	printed := 0
	for page := (service.Page{Limit: historyPage}); ; {
		found, err := h.session.History(ctx, h.session.actor, h.key, page)
		if err != nil {
			return err
		}
		for _, e := range found.Entries {
			if last.Exists() {
				if err := h.version(e, last); err != nil {
					return err
				}
				if printed++; printed == limit {
					return nil
				}
			}
			last = e
		}
		if page.Cursor = found.Next; found.Next == "" {
			return h.version(registry.Entry{}, last)
		}
	}
}

// version prints a version and how it differs from the one before it.
func (h history) version(before, e registry.Entry) error {
	if h.asJSON {
		return cli.PrintJSON(h.w, api.NewName(e))
	}
	change := diff.Of(registry.Changed{Before: before, After: e})
	_, err := fmt.Fprintf(h.w, "version %s\n%s", versionOf(e), change.Text())
	return err
}
