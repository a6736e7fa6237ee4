package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

func newToken(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Create, list and revoke tokens for the API of the registry",
		Long: `Create, list and revoke tokens for the API of the registry on the admin interface. A token has a
role: a reader reads names, a writer also changes them, and an admin also changes prefixes and purges
sandboxes. It may be for some names only. It opens nothing else of the admin interface.`,
		RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(newTokenCreate(w), newTokenList(w), newTokenRevoke(w))
	return cmd
}

func newTokenCreate(w Wiring) *cobra.Command {
	var t token.Token
	var role, expires string
	var actions []string
	cmd := &cobra.Command{
		Use:   "create --name NAME --role reader|writer|admin",
		Short: "Create a token, and print it once",
		Long: `Create a token, and print it. It is not stored, and cannot be printed again: only a hash of it is
stored.`,
		Example: `  urnd registry token create --name catalogue --role writer --prefix urn:nbn:fi:
  urnd registry token create --name statistics --role reader --expires 2032-01-01 > /etc/statistics.token`,
		Args: cobra.NoArgs,
	}
	f := addStore(cmd, w)
	cmd.Flags().StringVar(&t.Name, "name", "", "whose it is: the `name` that its changes have in the history")
	cmd.Flags().StringVar(&role, "role", "", "its `role`: reader, writer or admin")
	cmd.Flags().StringArrayVar(&t.Prefixes, "prefix", nil, "it is only for names that begin with this `text`; may be repeated")
	cmd.Flags().StringSliceVar(&actions, "action", nil, "it is only for this `action`: read, change, withdraw, mint, import, purge or tokens; "+
		"may be repeated")
	cmd.Flags().StringVar(&t.Note, "note", "", "a `text` for the list of tokens")
	cmd.Flags().StringVar(&expires, "expires", "", "the `time` from which on it is not valid: 2032-01-01, "+
		"2032-01-01T12:00:00Z, or as 720h from now")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if err := t.Role.UnmarshalText([]byte(role)); err != nil {
			return cli.Usage(fmt.Errorf("--role: %w", err))
		}
		for _, text := range actions {
			var action registry.Action
			if err := action.UnmarshalText([]byte(text)); err != nil {
				return cli.Usage(fmt.Errorf("--action: %w", err))
			}
			t.Actions = append(t.Actions, action)
		}
		if t.Expires, err = expiry(expires, time.Now()); err != nil {
			return cli.Usage(err)
		}
		s, err := f.openOrMake(cmd.Context())
		if err != nil {
			return err
		}
		defer s.close()
		made, secret, err := s.CreateToken(cmd.Context(), s.actor, t)
		if errors.Is(err, registry.ErrInvalid) {
			return cli.Usage(err)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "urnd: created the token %s; it is shown only now\n", made.ID)
		_, err = fmt.Fprintln(cmd.OutOrStdout(), secret)
		return err
	}
	return cmd
}

// expiry parses the time at which a token expires; the zero value is never.
func expiry(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return now.Add(d).UTC().Truncate(time.Second), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("--expires: %q is neither a time, such as 2032-01-01 or 2032-01-01T12:00:00Z, "+
		"nor a duration, such as 720h", text)
}

func newTokenList(w Wiring) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the tokens",
		Example: "  urnd registry token list\n  urnd registry token list --json",
		Args:    cobra.NoArgs,
	}
	f := addStore(cmd, w)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object for each token")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := f.open(cmd.Context())
		if err != nil {
			return err
		}
		defer s.close()
		tokens, damaged, err := s.Tokens(cmd.Context(), s.actor)
		if err != nil {
			return err
		}
		for _, err := range damaged {
			fmt.Fprintf(cmd.ErrOrStderr(), "urnd: %v\n", err)
		}
		if asJSON {
			encoder := json.NewEncoder(cmd.OutOrStdout())
			encoder.SetEscapeHTML(false)
			for _, t := range tokens {
				if err := encoder.Encode(t); err != nil {
					return err
				}
			}
			return nil
		}
		table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "id\trole\tname\tcreated\tby\tused\texpires\tprefixes\tnote")
		for _, t := range tokens {
			expires := "never"
			if !t.Expires.IsZero() {
				expires = t.Expires.Format(time.RFC3339)
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Role, oneLine(t.Name), t.Created.Format(time.DateOnly), oneLine(t.By),
				orDash(t.Used), expires, orDash(strings.Join(t.Prefixes, " ")), oneLine(t.Note))
		}
		return table.Flush()
	}
	return cmd
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func newTokenRevoke(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "revoke ID...",
		Short: "Revoke tokens",
		Long: `Revoke tokens by the IDs that urnd registry token list shows. A running urnd refuses them within a
second, and stops the imports that were sent with them.`,
		Example: "  urnd registry token revoke 3f2a9c5d7e810b46",
		Args:    cobra.MinimumNArgs(1),
	}
	f := addStore(cmd, w)
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		s, err := f.open(cmd.Context())
		if err != nil {
			return err
		}
		defer s.close()
		for _, id := range ids {
			t, err := s.RevokeToken(cmd.Context(), s.actor, id)
			if err != nil {
				return fmt.Errorf("revoking %q: %w", id, err)
			}
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: revoked, the %s of %s\n", id, t.Role, t.Name); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}
