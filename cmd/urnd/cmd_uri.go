package main

import (
	"github.com/spf13/cobra"

	"github.com/urnd/urnd/uri"
)

func newURI() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "uri",
		Short: "Parse, normalize and compare URIs",
		Long: `Parse, normalize and compare URIs. Every command but extract takes its input as
arguments, or, with "-", as lines of standard input: one line in, one line out.
For an invalid one "error: ..." is printed, and the exit status is 1.`,
		RunE: requireSubcommand,
	}
	cmd.AddCommand(newNormalize(), newKey(), newParse(), newCompare(), newJoin(), newExtract(), newEncode(), newDisplay())
	return cmd
}

type outputJSON struct {
	Input  string `json:"input"`
	Output string `json:"output"`
}

func newNormalize() *cobra.Command {
	return mapping(&cobra.Command{
		Use:   "normalize URI...",
		Short: "Print the normal form of URIs",
		Long:  "Print the normal form of URIs, by syntax and scheme (RFC 3986 section 6.2).\nComponents of URNs and fragments are not removed.",
		Example: `  urnd uri normalize HTTP://Example.COM:80/b/../%7Esmith
  urnd uri normalize - < uris.txt`,
	}, parseURI, func(u uri.URI) string { return u.Normalize().String() })
}

func newKey() *cobra.Command {
	var t tool
	cmd := &cobra.Command{
		Use:   "key URI...",
		Short: "Print the key under which URIs are cached",
		Long: `Print the canonical name of URIs, under which answers are cached. Equivalent URIs
have the same key: URNs by RFC 8141 section 3.1 and the rules of their namespace,
those of the configuration included.`,
		Example: `  urnd uri key URN:ISBN:0-395-36341-1 urn:isbn:0395363411
  urnd uri key --accept rfc2141 urn:example:a,b`,
		Args: cobra.MinimumNArgs(1),
	}
	s := addFile(cmd)
	cmd.Flags().StringSlice("accept", nil, "`specifications` of URNs; each part of a URN must satisfy one of them: rfc2141, draft, rfc8141 (urn.accept)")
	cmd.Flags().BoolVar(&t.asJSON, "json", false, "print one JSON object a line")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		names, err := s.names()
		if err != nil {
			return err
		}
		t.run = func(input string) (result, error) {
			u, err := uri.Parse(input)
			if err != nil {
				return result{}, err
			}
			key, err := names.Key(u)
			if err != nil {
				return result{}, err
			}
			return result{text: key.String(), document: outputJSON{input, key.String()}}, nil
		}
		return t.runAll(cmd, args)
	}
	return cmd
}
