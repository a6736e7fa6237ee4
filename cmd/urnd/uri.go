package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

func newURI() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "uri",
		Short: "Parse, normalize and compare URIs",
		Long: `Parse, normalize and compare URIs. Every command but extract takes its input as
arguments, or, with "-", as lines of standard input: one line in, one line out.
A bad one has "error: ..." in its place, and the status is 1.`,
		RunE: needsCommand,
	}
	cmd.AddCommand(newNormalize(), newKey(), newParse(), newCompare(), newJoin(), newExtract())
	return cmd
}

type outputJSON struct {
	Input  string `json:"input"`
	Output string `json:"output"`
}

func newNormalize() *cobra.Command {
	var t tool
	cmd := &cobra.Command{
		Use:   "normalize URI...",
		Short: "Print the normal form of URIs",
		Long:  "Print the normal form of URIs, by syntax and scheme (RFC 3986 section 6.2).\nComponents and fragments stay.",
		Example: `  urnd uri normalize HTTP://Example.COM:80/b/../%7Esmith
  urnd uri normalize - < uris.txt`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return t.each(cmd, args) },
	}
	t.run = func(input string) (result, error) {
		u, err := parseURI(input)
		if err != nil {
			return result{}, err
		}
		output := u.Normalize().String()
		return result{text: output, document: outputJSON{input, output}}, nil
	}
	cmd.Flags().BoolVar(&t.asJSON, "json", false, "print one JSON object a line")
	return cmd
}

func newKey() *cobra.Command {
	var t tool
	cmd := &cobra.Command{
		Use:   "key URI...",
		Short: "Print the key under which URIs are cached",
		Long: `Print the canonical name of URIs, under which answers are cached. Equivalent URIs
have one key: URNs by RFC 8141 section 3.1 and the rules of their namespace.`,
		Example: `  urnd uri key URN:ISBN:0-395-36341-1 urn:isbn:0395363411`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := urnns.NewSet(urnns.Builtin()...)
			if err != nil {
				return err
			}
			t.run = func(input string) (result, error) {
				u, err := uri.Parse(input)
				if err != nil {
					return result{}, err
				}
				name, err := resolver.Name(set, u)
				if err != nil {
					return result{}, err
				}
				return result{text: name.String(), document: outputJSON{input, name.String()}}, nil
			}
			return t.each(cmd, args)
		},
	}
	cmd.Flags().BoolVar(&t.asJSON, "json", false, "print one JSON object a line")
	return cmd
}

type compareJSON struct {
	Input      string `json:"input"`
	Equivalent bool   `json:"equivalent"`
	Rung       string `json:"rung"`
	Reason     string `json:"reason"`
}

func newCompare() *cobra.Command {
	var t tool
	cmd := &cobra.Command{
		Use:   "compare URI URI",
		Short: "Say whether two URIs are equivalent, and why",
		Long: `Say whether two URIs are equivalent: on which rung of the ladder of comparison
(identical, syntax, scheme, urn, namespace, different), and the reason, after a
tab. On standard input the two stand on one line, separated by a tab.`,
		Example: `  urnd uri compare urn:isbn:0395363411 URN:ISBN:0-395-36341-1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 && (len(args) != 1 || args[0] != "-") {
				return errors.New(`compare takes two URIs, or "-"`)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := urnns.NewSet(urnns.Builtin()...)
			if err != nil {
				return err
			}
			t.run = func(input string) (result, error) { return compare(set, input) }
			if len(args) == 2 {
				args = []string{args[0] + "\t" + args[1]}
			}
			return t.each(cmd, args)
		},
	}
	cmd.Flags().BoolVar(&t.asJSON, "json", false, "print one JSON object a line")
	return cmd
}

func compare(set *urnns.Set, input string) (result, error) {
	first, second, err := cutPair(input)
	if err != nil {
		return result{}, err
	}
	a, err := parseURI(first)
	if err != nil {
		return result{}, err
	}
	b, err := parseURI(second)
	if err != nil {
		return result{}, err
	}
	c := set.Compare(a, b)
	return result{
		text:     c.Rung.String() + "\t" + c.Reason,
		document: compareJSON{input, c.Equivalent(), c.Rung.String(), c.Reason},
	}, nil
}
