package main

import (
	"github.com/spf13/cobra"

	"github.com/urnd/urnd/uri"
)

func newEncode() *cobra.Command {
	return mapping(&cobra.Command{
		Use:   "encode IRI...",
		Short: "Make URIs of what a person types",
		Long: `Make URIs of what a person types: IRIs (RFC 3987 section 3.1), and names with
characters that URNs do not hold. Host names in the DNS are mapped by IDNA, all
else is percent-encoded. What could be meant in two ways is an error.`,
		Example: `  urnd uri encode http://bücher.example/straße 'urn:example:Müller 1'`,
	}, fromIRI, uri.URI.String)
}

func newDisplay() *cobra.Command {
	return mapping(&cobra.Command{
		Use:   "display URI...",
		Short: "Print URIs for the eyes of a person",
		Long: `Print URIs for the eyes of a person: RFC 3987 section 3.2. Percent-encodings are
shown as characters where "urnd uri encode" leads back to the same URI: delimiters,
what cannot be seen, and hosts, which could look like others, stay as they are.`,
		Example: `  urnd uri display urn:example:M%C3%BCller%201`,
	}, parseURI, uri.URI.Display)
}

// fromIRI maps an IRI to a URI that is well formed by the rules of its scheme.
func fromIRI(input string) (uri.URI, error) {
	u, err := uri.FromIRI(input)
	if err != nil {
		return uri.URI{}, err
	}
	return u, u.Check()
}

// mapping makes a command of a way to read a URI and a way to write it.
func mapping(cmd *cobra.Command, read func(string) (uri.URI, error), write func(uri.URI) string) *cobra.Command {
	t := tool{run: func(input string) (result, error) {
		u, err := read(input)
		if err != nil {
			return result{}, err
		}
		output := write(u)
		return result{text: output, document: outputJSON{input, output}}, nil
	}}
	cmd.Args = cobra.MinimumNArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return t.each(cmd, args) }
	cmd.Flags().BoolVar(&t.asJSON, "json", false, "print one JSON object a line")
	return cmd
}
