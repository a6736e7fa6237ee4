package config

import (
	"net"
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// DigitalLink is where identifiers in web addresses begin: those of GS1 Digital Link, or of another scheme of ISO/IEC 18975.
type DigitalLink struct {
	Root     string   `mapstructure:"root"`     // "https://", a host, and a path that ends with a slash
	Scheme   string   `mapstructure:"scheme"`   // empty: gs1
	Name     string   `mapstructure:"name"`     // of the resolver, for its description file
	Contact  string   `mapstructure:"contact"`  // who runs it, likewise
	Terms    string   `mapstructure:"terms"`    // the URL of its terms of use, likewise
	Contexts []string `mapstructure:"contexts"` // what contexts the targets of names have, likewise
}

// The schemes of identifiers in web addresses.
const (
	SchemeGS1             = "gs1"
	schemeDataIdentifiers = "data-identifiers"
)

// digitalLinkSchemes are the values of registry.digital_link.*.scheme.
func digitalLinkSchemes() []string { return []string{SchemeGS1, schemeDataIdentifiers} }

func digitalLinkSetting() Setting {
	return Setting{
		Path: "registry.digital_link", Default: []DigitalLink{}, Form: tableForm, Elements: digitalLinkElements(),
		Doc: "Where identifiers in web addresses begin, see docs/links.md: what is below a root is one of its scheme, and nothing else, and is " +
			"answered as GS1's standard for resolvers says. The paths of its host are names of the registry, as with hosts. A list:",
		Sample: `digital_link:
  - root: https://id.example.org/
    # gs1: GS1 Digital Link; data-identifiers: those of ASC MH10.8.2, in paths and queries of ISO/IEC 18975
    scheme: gs1
    # for /.well-known/gs1resolver
    name: The resolver of Example Ltd
    contact: Example Ltd, Identification
    terms: https://www.example.org/terms
    contexts: [DE, FR]`,
	}
}

func digitalLinkElements() []Setting {
	return []Setting{
		{
			Path: "registry.digital_link.*.root", Form: "https:// URL that ends with /",
			Doc: "the URL that its identifiers begin with, without port; it must be set",
		},
		{Path: "registry.digital_link.*.scheme", OneOf: digitalLinkSchemes(), Doc: "the scheme of its identifiers; empty: gs1"},
		{Path: "registry.digital_link.*.name", Form: "text", Doc: "the name of the resolver, in /.well-known/gs1resolver"},
		{Path: "registry.digital_link.*.contact", Form: "text", Doc: "who runs it, likewise"},
		{Path: "registry.digital_link.*.terms", Form: "URL", Doc: "the URL of its terms of use, likewise"},
		{
			Path: "registry.digital_link.*.contexts", Form: "text",
			Doc: "the contexts that targets of its names have, such as countries, likewise: clients choose by context= in the query",
		},
	}
}

// host returns the host of the root, as hosts are compared; "" where there is none.
func (d DigitalLink) host() string {
	u, err := uri.Parse(d.Root)
	if err != nil {
		return ""
	}
	host, _ := u.Host()
	return uri.CanonicalHost(host)
}

// checkDigitalLink checks registry.digital_link.
func checkDigitalLink(f *Faults, r Registry) {
	for i, d := range r.DigitalLink {
		path := index("registry.digital_link", i)
		checkRoot(f, path+".root", d.Root)
		isTwice := func(other DigitalLink) bool { return other.Root == d.Root }
		if d.Root != "" && slices.IndexFunc(r.DigitalLink, isTwice) < i {
			f.add(path+".root", "%q is there twice", d.Root)
		}
		if d.Scheme != "" {
			Setting{Path: path + ".scheme", OneOf: digitalLinkSchemes()}.validate(f, d.Scheme)
		}
		if u, err := uri.Parse(d.Terms); d.Terms != "" && (err != nil || !u.IsLocation() || u.Check() != nil) {
			f.add(path+".terms", "%q is not a URL such as https://www.example.org/terms", d.Terms)
		}
	}
}

// checkRoot checks what identifiers begin with.
func checkRoot(f *Faults, path, root string) {
	u, err := uri.Parse(root)
	if err == nil {
		err = u.Check()
	}
	host, _ := u.Host()
	_, hasPort := u.Port()
	_, hasUser := u.Userinfo()
	_, hasQuery := u.Query()
	_, hasFragment := u.Fragment()
	switch {
	case root == "":
		f.add(path, "is missing")
	case err != nil || u.Scheme() != "https" || !isDomain(host) || net.ParseIP(host) != nil || hasPort || hasUser || hasQuery || hasFragment:
		f.add(path, "%q is not a URL such as https://id.example.org/, of https and without port", root)
	case !strings.HasSuffix(root, "/"):
		f.add(path, "%q does not end with a slash: write %[1]s/", root)
	case u.Normalize() != u:
		f.add(path, "%q is not in normal form: write %s", root, u.Normalize())
	}
}
