package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

func newToken(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Create, list and revoke tokens for the API of the registry",
		Long: `Create, list and revoke tokens for the API of the registry on the admin interface. A token has a
role: a reader reads names, a writer also changes them, and an admin also changes prefixes and
purges sandboxes. It may be limited to some prefixes and actions. It gives no access to other parts
of the admin interface.`,
		RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(newTokenCreate(w), newTokenList(w), newTokenRevoke(w))
	return cmd
}

func newTokenCreate(w Wiring) *cobra.Command {
	var t token.Token
	cmd := &cobra.Command{
		SuggestFor: []string{"make", "new", "add"},
		Use:        "create --name NAME --role reader|writer|admin",
		Short:      "Create a token, and print it once",
		Long: `Create a token, and print it. It is not stored, and cannot be printed again: only a hash of it is
stored.`,
		Example: `  urnd registry token create --name catalogue --role writer --prefix urn:nbn:fi:
  urnd registry token create --name statistics --role reader --expires 2032-01-01 > /etc/statistics.token`,
		Args: cobra.NoArgs,
	}
	f := addStore(cmd, w)
	cmd.Flags().StringVar(&t.Name, "name", "", "the `name` of its owner, shown in the history of its changes")
	roles := []string{registry.Reader.String(), registry.Writer.String(), registry.Admin.String()}
	cli.AddParsed(cmd, &t.Role, "role", "its `role`: "+cli.JoinOr(roles...), cli.ParseText[registry.Role])
	cli.Complete(cmd, "role", roles...)
	cmd.Flags().StringArrayVar(&t.Prefixes, "prefix", nil, "only for names with this `prefix`; repeatable")
	var actions []string
	for _, a := range registry.Actions() {
		actions = append(actions, string(a))
	}
	cli.AddParsedList(cmd, &t.Actions, "action", "only for this `action`: "+cli.JoinOr(actions...)+"; repeatable",
		cli.ParseText[registry.Action])
	cli.Complete(cmd, "action", actions...)
	cmd.Flags().StringVar(&t.Note, "note", "", "a `text` for the list of tokens")
	cli.AddParsed(cmd, &t.Expires, "expires",
		"expiry `time`: 2032-01-01, 2032-01-01T12:00:00Z, or 720h from now", expiry)
	cli.Require(cmd, "role", "it is "+cli.JoinOr(roles...))
	return f.run(made, "creating a token", "no token was created",
		func(ctx context.Context, s *session, _ []string) error {
			made, secret, err := s.CreateToken(ctx, s.actor, t)
			if err != nil {
				return err
			}
			s.say("created the token %s; it is shown only now", made.ID)
			_, err = fmt.Fprintln(s.out, secret)
			return err
		})
}

// expiry parses the time at which a token expires; the zero value is never.
func expiry(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return time.Now().Add(d).UTC().Truncate(time.Second), nil
	}
	at, err := plaintext.ParseTime(text)
	if err != nil {
		return at, fmt.Errorf("%w, nor a duration, such as 720h", err)
	}
	return at, nil
}

func newTokenList(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		SuggestFor: []string{"ls", "show"},
		Use:        "list",
		Short:      "List the tokens",
		Example:    "  urnd registry token list\n  urnd registry token list --output json",
		Args:       cobra.NoArgs,
	}
	f := addStore(cmd, w)
	output := cli.AddOutput(cmd, "an object for each token", cli.CSV, cli.JSON)
	return f.run(existing, "reading the registry", "nothing was read",
		func(ctx context.Context, s *session, _ []string) error {
			tokens, damaged, err := s.Tokens(ctx, s.actor)
			if err != nil {
				return err
			}
			for _, err := range damaged {
				s.say("%v", err)
			}
			table, err := output.Table(s.out, "id", "role", "name", "created", "by", "used", "expires",
				"prefixes", "note")
			for _, t := range tokens {
				expires := "never"
				if !t.Expires.IsZero() {
					expires = t.Expires.Format(time.RFC3339)
				}
				err = errors.Join(err, table.Row(t, t.ID, t.Role.String(), t.Name, t.Created.Format(time.DateOnly),
					t.By,
					orDash(t.Used), expires, orDash(strings.Join(t.Prefixes, " ")), t.Note))
			}
			return errors.Join(err, table.End())
		})
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func newTokenRevoke(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		SuggestFor: []string{"delete", "remove", "rm"},
		Use:        "revoke ID...",
		Short:      "Revoke tokens",
		Long: `Revoke tokens by the IDs that urnd registry token list shows. A running urnd refuses them within a
second, and stops the imports that were sent with them.`,
		Example: "  urnd registry token revoke 3f2a9c5d7e810b46",
		Args:    cobra.MinimumNArgs(1),
	}
	f := addStore(cmd, w)
	return f.run(existing, "revoking tokens", "nothing was revoked",
		func(ctx context.Context, s *session, ids []string) error {
			for i, id := range ids {
				t, err := s.RevokeToken(ctx, s.actor, id)
				if err != nil {
					err = s.progress.Interrupted(err, "%d of %d tokens are revoked; continue with %s", i, len(ids), id)
					return cli.Hint(fmt.Errorf("revoking %q: %w", id, err),
						"urnd registry token list prints the IDs of tokens")
				}
				if _, err := fmt.Fprintf(s.out, "%s: revoked, the %s of %s\n", id, t.Role, t.Name); err != nil {
					return err
				}
			}
			return nil
		})
}
