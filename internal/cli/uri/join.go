package uri

import (
	"math"

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
	var profile uri.Profile
	var base string // "" where each line has its own
	cmd := &cobra.Command{
		Use:   "join {BASE REF... | BASE - | -}",
		Short: "Resolve references relative to a base URI",
		Long: `Resolve references relative to a base URI. The profiles are rfc3986 (section
5.2) and draft (draft-fielding-uri-syntax-02 section 5.2, which keeps surplus
".." segments; draft-remove and draft-refuse are its two other treatments).
"BASE -" reads references from standard input; "-" alone reads lines that hold
a base and a reference, separated by a tab.`,
		Example: `  urnd uri join 'http://a/b/c/d;p?q' ../g '?y'
  urnd uri join --profile draft 'http://a/b/c/d;p?q' '?y'`,
		Args: pairOr(2, math.MaxInt),
	}
	cli.Choice(cmd, &profile, "profile", "the `algorithm`: rfc3986, draft, draft-remove or draft-refuse", cli.Words[uri.Profile]{
		{Name: "rfc3986", Value: uri.RFC3986},
		{Name: "draft", Value: uri.Draft},
		{Name: "draft-remove", Value: uri.DraftRemove},
		{Name: "draft-refuse", Value: uri.DraftRefuse},
	})
	split := func(input string) (string, string, error) {
		if base != "" {
			return base, input, nil
		}
		return cutPair(input)
	}
	lines := newLines(cmd, func(input string) (cli.Result, error) { return join(split, profile, input) })
	lines.OnError = func(input string, f cli.Fault) any {
		b, ref, err := split(input)
		if err != nil {
			b, ref = "", input
		}
		return joinJSON{Input: ref, Base: b, Error: &f}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if args[0] != cli.Stdin {
			base, args = args[0], args[1:]
		}
		return lines.RunAll(cmd, args)
	}
	return cmd
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
