package config

import (
	"slices"
	"strings"
)

// warnOfRegistry warns of names that the registry would not be asked for.
func warnOfRegistry(f *Faults, r Registry) {
	isURN := func(beginning string) bool {
		beginning = canonicalBeginning(beginning)
		return strings.HasPrefix(beginning, "urn:") || strings.HasPrefix("urn:", beginning)
	}
	if len(r.Only) > 0 && r.Store != "" && !slices.ContainsFunc(r.Only, isURN) {
		f.Add("registry.only", "has no URN: the registry is asked for none, and takes none: add 'urn:' for all, or what yours begin with")
	}
	if strings.HasPrefix(r.Store, "sqlite:~") {
		f.Add("registry.store", "~ is no directory of yours here: write all of the path, such as sqlite:/var/lib/urnd/registry.db")
	}
	warnOfBeginnings(f, "registry.only", r.Only)
	warnOfBeginnings(f, "registry.describe", r.Describe)
}

// warnOfBeginnings warns of what no name begins with.
func warnOfBeginnings(f *Faults, setting string, beginnings []string) {
	for i, beginning := range beginnings {
		at := index(setting, i)
		scheme, _, ok := strings.Cut(beginning, ":")
		switch {
		case !ok || !isScheme(scheme):
			f.Add(at, "%q has no scheme, and never matches: write what names begin with, such as urn:nbn:fi: or ark:/12345/", beginning)
		case strings.ContainsAny(beginning, "*?"):
			f.Add(at, "%q never matches: write it without \"*\" and \"?\": all names that begin so are meant", beginning)
		}
	}
}

// canonicalBeginning returns what names begin with as canonical ones do, as far as it can be compared: a DOI is a URN.
func canonicalBeginning(beginning string) string {
	beginning = strings.ToLower(beginning)
	if strings.HasPrefix(beginning, "doi:") {
		return "urn:" + beginning
	}
	return beginning
}
