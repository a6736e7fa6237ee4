package uri

import (
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

type compareJSON struct {
	Input      string `json:"input"`
	Equivalent bool   `json:"equivalent"`
	Rung       string `json:"rung"`
	Reason     string `json:"reason"`
}

func newCompare(names cli.NamesOf) *cobra.Command {
	var objective uri.Objective
	var rules resolver.Names
	cmd := &cobra.Command{
		Use:   "compare {URI URI | -}",
		Short: "Compare two URIs",
		Long: `Compare two URIs: print the step of the comparison ladder at which they are equivalent
(identical, syntax, scheme, urn, namespace), or functional or different, and the
reason, after a tab. functional are two names of the same resource: they are
not equivalent. On standard input each line has two URIs, separated by a tab.

For naming, the components and directives of URNs are ignored; for caching of
results they are compared, except the order of directives
(draft-ietf-urnbis-rfc2141bis-urn-03 section 5, steps 5a and 5b).`,
		Example: `  urnd uri compare urn:isbn:0395363411 URN:ISBN:0-395-36341-1
  urnd uri compare --for caching 'urn:example:a?s=I2L&c=x' 'urn:example:a?c=x&s=I2L'`,
		Args: pairOr(2, 2),
	}
	s := cli.AddFile(cmd)
	cli.AddChoice(cmd, &objective, "for", "`purpose` of the comparison: naming or caching",
		cli.Words[uri.Objective]{
			{Name: "naming", Value: uri.ObjectiveNaming},
			{Name: "caching", Value: uri.ObjectiveCaching},
		})
	lines := newLines(cmd, func(input string) (cli.Result, error) { return compare(rules, objective, input) })
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if rules, err = s.Names(names); err != nil {
			return err
		}
		return lines.RunAll(cmd, []string{strings.Join(args, "\t")})
	}
	return cmd
}

// pairOr returns a check for least to most arguments, or "-" alone.
func pairOr(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && args[0] == cli.Stdin {
			return nil
		}
		return cobra.RangeArgs(least, most)(cmd, args)
	}
}

func compare(rules resolver.Names, objective uri.Objective, input string) (cli.Result, error) {
	first, second, err := cutPair(input)
	if err != nil {
		return cli.Result{}, err
	}
	a, err := parseURI(first)
	if err != nil {
		return cli.Result{}, err
	}
	b, err := parseURI(second)
	if err != nil {
		return cli.Result{}, err
	}
	c := rules.Compare(objective, a, b)
	return cli.Result{
		Text:     c.Rung.String() + "\t" + c.Reason,
		Document: compareJSON{input, c.Equivalent(), c.Rung.String(), c.Reason},
	}, nil
}

type joinJSON struct {
	Input  string          `json:"input"`
	Base   string          `json:"base"`
	Output *string         `json:"output,omitempty"`
	Error  *cli.InputError `json:"error,omitempty"`
}

func newJoin() *cobra.Command {
	var profile uri.Profile
	var base string // "" if each line has its own
	cmd := &cobra.Command{
		Use:   "join {BASE REF... | BASE - | -}",
		Short: "Resolve references relative to a base URI",
		Long: `Resolve references relative to a base URI. The profiles are rfc3986 (section
5.2) and draft (draft-fielding-uri-syntax-02 section 5.2, which preserves surplus
".." segments; draft-remove and draft-refuse remove or refuse them).
"BASE -" reads references from standard input; "-" alone reads lines with
a base and a reference, separated by a tab.`,
		Example: `  urnd uri join 'http://a/b/c/d;p?q' ../g '?y'
  urnd uri join --profile draft 'http://a/b/c/d;p?q' '?y'`,
		Args: pairOr(2, math.MaxInt),
	}
	cli.AddChoice(cmd, &profile, "profile", "the `algorithm`: rfc3986, draft, draft-remove or draft-refuse",
		cli.Words[uri.Profile]{
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
	lines.OnError = func(input string, f cli.InputError) any {
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

// parseURI parses an absolute URI, and checks it by the rules of its scheme.
func parseURI(input string) (uri.URI, error) {
	u, err := uri.Parse(input)
	if err != nil {
		return uri.URI{}, err
	}
	return u, u.Check()
}

// cutPair splits an input line of two URIs.
func cutPair(input string) (a, b string, err error) {
	a, b, ok := strings.Cut(input, "\t")
	if !ok {
		rule := uri.Rule{Name: "pair", Section: "urnd uri --help", Requirement: "two URIs are separated by a tab"}
		return "", "", &uri.ParseError{Input: input, Offset: len(input), Rule: rule}
	}
	return a, b, nil
}
