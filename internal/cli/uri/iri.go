package uri

import (
	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/uri"
)

func newEncode() *cobra.Command {
	return mapping(&cobra.Command{
		Use:   "encode IRI...",
		Short: "Convert IRIs to URIs",
		Long: `Convert IRIs to URIs (RFC 3987 section 3.1), also URNs with characters that are
not allowed in them. Host names in the DNS are mapped by IDNA, all else is
percent-encoded. An ambiguous input is an error.`,
		Example: `  urnd uri encode http://bücher.example/straße 'urn:example:Müller 1'`,
	}, fromIRI, uri.URI.String)
}

func newDisplay() *cobra.Command {
	return mapping(&cobra.Command{
		Use:   "display URI...",
		Short: "Print URIs in readable form",
		Long: `Print URIs in readable form: RFC 3987 section 3.2. Percent-encodings are shown as
characters where "urnd uri encode" returns the same URI: delimiters, invisible
characters and hosts, which could be confused with others, are not decoded.`,
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

// mapping returns a command that parses inputs with read and prints them with write.
func mapping(cmd *cobra.Command, read func(string) (uri.URI, error), write func(uri.URI) string) *cobra.Command {
	cmd.Args = cobra.MinimumNArgs(1)
	newLines(cmd, func(input string) (cli.Result, error) {
		u, err := read(input)
		if err != nil {
			return cli.Result{}, err
		}
		output := write(u)
		return cli.Result{Text: output, Document: outputJSON{input, output}}, nil
	})
	return cmd
}
