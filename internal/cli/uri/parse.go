package uri

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/uri"
)

// parseJSON has null for undefined components, and "" for empty ones.
type parseJSON struct {
	Input    string   `json:"input"`
	Scheme   *string  `json:"scheme"`
	Userinfo *string  `json:"userinfo"`
	Host     *string  `json:"host"`
	Registry *string  `json:"registry,omitempty"` // the registry-based authority, if the authority is not a server
	Port     *string  `json:"port"`
	Path     *string  `json:"path"`
	Query    *string  `json:"query"`
	Fragment *string  `json:"fragment"`
	URN      *urnJSON `json:"urn,omitempty"`
}

type urnJSON struct {
	NID        *string         `json:"nid"`
	NSS        *string         `json:"nss"`
	R          *string         `json:"r"`
	Q          *string         `json:"q"`
	F          *string         `json:"f"`
	Directives []directiveJSON `json:"directives"`
	Conforms   []string        `json:"conforms"`
	Lint       *cli.InputError `json:"lint"`
}

type directiveJSON struct {
	Keyword string `json:"keyword"`
	Value   string `json:"value"`
}

func newParse() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "parse URI...",
		Short: "Print the components of URIs and URNs",
		Long: `Print the components of URI references as name=value; for a URN also its
parts, the specifications that it conforms to (rfc2141, draft, rfc8141), and, as
lint, the rule of RFC 8141 section 5 that its NID violates.`,
		Example: `  urnd uri parse 'urn:example:a123?+r?=q#f'
  urnd uri parse --output json http://user@example.org:8080/a?b#c`,
		Args: cobra.MinimumNArgs(1),
	}
	newLines(cmd, parse)
	return cmd
}

func parse(input string) (cli.Result, error) {
	u, err := uri.ParseReference(input)
	if err != nil {
		return cli.Result{}, err
	}
	document := parseJSON{
		Input:    input,
		Scheme:   optional(u.Scheme(), u.IsAbsolute()),
		Userinfo: optional(u.Userinfo()), Host: optional(u.Host()), Port: optional(u.Port()),
		Path: optional(u.Path(), true), Query: optional(u.Query()), Fragment: optional(u.Fragment()),
		Registry: optional(u.Registry()),
	}
	var line fields
	line.add(field{"scheme", document.Scheme}, field{"userinfo", document.Userinfo}, field{"host", document.Host},
		field{"registry", document.Registry}, field{"port", document.Port}, field{"path", document.Path},
		field{"query", document.Query},
		field{"fragment", document.Fragment})
	if u.IsURN() {
		v, err := u.URN()
		if err != nil {
			return cli.Result{}, err
		}
		parts := partsOf(v)
		document.URN = parts
		line.add(field{"nid", parts.NID}, field{"nss", parts.NSS}, field{"r", parts.R}, field{"q", parts.Q},
			field{"f", parts.F})
		for _, d := range parts.Directives {
			line.add(field{"directive:" + d.Keyword, &d.Value})
		}
		conforms := strings.Join(parts.Conforms, ",")
		line.add(field{"conforms", &conforms})
		if parts.Lint != nil {
			line.add(field{"lint", &parts.Lint.Rule})
		}
	}
	return cli.Result{Text: strings.Join(line, " "), Document: document}, nil
}

func partsOf(v uri.URN) *urnJSON {
	parts := &urnJSON{
		NID: optional(v.NID(), true), NSS: optional(v.NSS(), true),
		R: optional(v.R()), Q: optional(v.Q()), F: optional(v.F()),
		Directives: []directiveJSON{}, Conforms: v.Conforms().Names(),
	}
	for _, d := range v.Directives() {
		parts.Directives = append(parts.Directives, directiveJSON(d))
	}
	if rule := uri.LintNID(v.NID()); rule != (uri.Rule{}) {
		parts.Lint = &cli.InputError{
			Message: rule.Requirement, Offset: len("urn:"), Rule: rule.Name,
			Section: rule.Section,
		}
	}
	return parts
}

// optional returns nil for an undefined value.
func optional(value string, defined bool) *string {
	if !defined {
		return nil
	}
	return &value
}

// field is a named component; its value is nil if undefined.
type field struct {
	name  string
	value *string
}

// fields is a line of name=value; values of a URI contain no spaces.
type fields []string

func (f *fields) add(parts ...field) {
	for _, p := range parts {
		if p.value != nil {
			*f = append(*f, p.name+"="+*p.value)
		}
	}
}
