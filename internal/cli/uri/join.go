package uri

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/uri"
)

type joinJSON struct {
	Input  string     `json:"input"`
	Base   string     `json:"base"`
	Output *string    `json:"output,omitempty"`
	Error  *cli.Fault `json:"error,omitempty"`
}

func newJoin() *cobra.Command {
	var t cli.Lines
	var profile string
	cmd := &cobra.Command{
		Use:   "join BASE REF...",
		Short: "Resolve references relative to a base URI",
		Long: `Resolve references relative to a base URI. The profiles are rfc3986 (section
5.2) and draft (draft-fielding-uri-syntax-02 section 5.2, which keeps surplus
".." segments; draft-remove and draft-refuse are its two other treatments).
"BASE -" reads references from standard input; "-" alone reads lines that hold
a base and a reference, separated by a tab.`,
		Example: `  urnd uri join 'http://a/b/c/d;p?q' ../g '?y'
  urnd uri join --profile draft 'http://a/b/c/d;p?q' '?y'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 && (len(args) != 1 || args[0] != "-") {
				return errors.New(`join takes a base and references, or "-"`)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := profileOf(profile)
			if err != nil {
				return err
			}
			base := args[0]
			fixed := base != "-"
			if fixed {
				args = args[1:]
			}
			split := func(input string) (string, string, error) {
				if fixed {
					return base, input, nil
				}
				return cutPair(input)
			}
			t.Run = func(input string) (cli.Result, error) { return join(split, p, input) }
			t.OnError = func(input string, e cli.Fault) any {
				b, ref, err := split(input)
				if err != nil {
					b, ref = "", input
				}
				return joinJSON{Input: ref, Base: b, Error: &e}
			}
			return t.RunAll(cmd, args)
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "rfc3986", "the `algorithm`: rfc3986, draft, draft-remove or draft-refuse")
	cmd.Flags().BoolVar(&t.AsJSON, "json", false, "print one JSON object a line")
	return cmd
}

func profileOf(name string) (uri.Profile, error) {
	switch name {
	case "rfc3986":
		return uri.RFC3986, nil
	case "draft":
		return uri.Draft, nil
	case "draft-remove":
		return uri.DraftRemove, nil
	case "draft-refuse":
		return uri.DraftRefuse, nil
	}
	return 0, fmt.Errorf("unknown profile %q: use rfc3986, draft, draft-remove or draft-refuse", name)
}

func join(split func(string) (string, string, error), p uri.Profile, input string) (cli.Result, error) {
	base, ref, err := split(input)
	if err != nil {
		return cli.Result{}, err
	}
	b, err := uri.Parse(base)
	if err != nil {
		return cli.Result{}, err
	}
	r, err := uri.ParseReference(ref)
	if err != nil {
		return cli.Result{}, err
	}
	target, err := b.Resolve(r, p)
	if err != nil {
		return cli.Result{}, err
	}
	output := target.String()
	return cli.Result{Text: output, Document: joinJSON{Input: ref, Base: base, Output: &output}}, nil
}
