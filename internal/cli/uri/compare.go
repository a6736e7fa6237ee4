package uri

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
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
		Short: "Report whether two URIs are equivalent, and why",
		Long: `Report whether two URIs are equivalent: the rung of the comparison ladder
(identical, syntax, scheme, urn, namespace, functional, different), and the
reason, after a tab. "functional" are two names of the same resource: they are
not equivalent. On standard input each line holds two URIs, separated by a tab.

For naming, the components and directives of URNs do not count; for caching of
results they do, but for the order of directives
(draft-ietf-urnbis-rfc2141bis-urn-03 section 5, steps 5a and 5b).`,
		Example: `  urnd uri compare urn:isbn:0395363411 URN:ISBN:0-395-36341-1
  urnd uri compare --for caching 'urn:example:a?s=I2L&c=x' 'urn:example:a?c=x&s=I2L'`,
		Args: pairOr(2, 2),
	}
	s := cli.AddFile(cmd)
	cli.Choice(cmd, &objective, "for", "the `objective` of the comparison: naming or caching",
		cli.Words[uri.Objective]{{Name: "naming", Value: uri.Naming}, {Name: "caching", Value: uri.Caching}})
	lines := newLines(cmd, func(input string) (cli.Result, error) { return compare(rules.Set, objective, input) })
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if rules, err = s.Names(names); err != nil {
			return err
		}
		return lines.RunAll(cmd, []string{strings.Join(args, "\t")})
	}
	return cmd
}

// pairOr returns what takes from least to most arguments, or "-" alone.
func pairOr(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && args[0] == cli.Stdin {
			return nil
		}
		return cobra.RangeArgs(least, most)(cmd, args)
	}
}

func compare(set *urnns.Set, objective uri.Objective, input string) (cli.Result, error) {
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
	c := set.Compare(objective, a, b)
	return cli.Result{
		Text:     c.Rung.String() + "\t" + c.Reason,
		Document: compareJSON{input, c.Equivalent(), c.Rung.String(), c.Reason},
	}, nil
}
