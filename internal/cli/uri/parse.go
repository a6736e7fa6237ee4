package uri

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/uri"
)

// parseJSON has null where a component is undefined, and "" where it is empty.
type parseJSON struct {
	Input    string   `json:"input"`
	Scheme   *string  `json:"scheme"`
	Userinfo *string  `json:"userinfo"`
	Host     *string  `json:"host"`
	Registry *string  `json:"registry,omitempty"` // the registry-based authority, where the host is not a server
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
	Lint       *cli.Fault      `json:"lint"`
}

type directiveJSON struct {
	Keyword string `json:"keyword"`
	Value   string `json:"value"`
}

func newParse() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "parse URI...",
		Short: "Print the components of URIs and URNs",
		Long: `Print the defined components of URI references as name=value; for a URN also its
parts, the specifications that it conforms to (rfc2141, draft, rfc8141), and, as
lint, the rule of RFC 8141 section 5 that its NID breaks.`,
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
	}
	document.Registry = optional(u.Registry())
	var line fields
	line.add("scheme", document.Scheme)
	line.add("userinfo", document.Userinfo)
	line.add("host", document.Host)
	line.add("registry", document.Registry)
	line.add("port", document.Port)
	line.add("path", document.Path)
	line.add("query", document.Query)
	line.add("fragment", document.Fragment)
	if u.IsURN() {
		v, err := u.URN()
		if err != nil {
			return cli.Result{}, err
		}
		document.URN = partsOf(v)
		line.add("nid", document.URN.NID)
		line.add("nss", document.URN.NSS)
		line.add("r", document.URN.R)
		line.add("q", document.URN.Q)
		line.add("f", document.URN.F)
		for _, d := range document.URN.Directives {
			line.add("directive:"+d.Keyword, &d.Value)
		}
		conforms := strings.Join(document.URN.Conforms, ",")
		line.add("conforms", &conforms)
		if lint := document.URN.Lint; lint != nil {
			line.add("lint", &lint.Rule)
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
		parts.Lint = &cli.Fault{Message: rule.Says, Offset: len("urn:"), Rule: rule.Name, Section: rule.Section}
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

// fields is a line of name=value; no value of a URI holds a space.
type fields []string

func (f *fields) add(name string, value *string) {
	if value != nil {
		*f = append(*f, name+"="+*value)
	}
}
