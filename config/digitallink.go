package config

import (
	"net"
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// The schemes of identifiers in web addresses.
const (
	SchemeGS1             = "gs1"
	schemeDataIdentifiers = "data-identifiers"
)

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
			f.Add(path+".root", "%q is there twice", d.Root)
		}
		if u, err := uri.Parse(d.Terms); d.Terms != "" && (err != nil || !u.IsLocation() || u.Check() != nil) {
			f.Add(path+".terms", "%q is not a URL such as https://www.example.org/terms", d.Terms)
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
		f.Add(path, "is missing")
	case err != nil || u.Scheme() != "https" || !isDomain(host) || net.ParseIP(host) != nil || hasPort || hasUser || hasQuery || hasFragment:
		f.Add(path, "%q is not a URL such as https://id.example.org/, of https and without port", root)
	case !strings.HasSuffix(root, "/"):
		f.Add(path, "%q does not end with a slash: write %[1]s/", root)
	case u.Normalize() != u:
		f.Add(path, "%q is not in normal form: write %s", root, u.Normalize())
	}
}
