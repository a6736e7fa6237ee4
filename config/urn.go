package config

import "github.com/urnd/urnd/uri"

// URN says which names are accepted as URNs.
type URN struct {
	// Accept names specifications of URN syntax, "rfc2141", "draft" and
	// "rfc8141". Each part of a URN must conform to at least one of them.
	Accept []string `mapstructure:"accept"`
}

func urnSettings() []Setting {
	return []Setting{
		{
			Path: "urn", Invalidates: Answers | Snapshot,
			Doc: "Which names are accepted as URNs: each part must conform to at least one of these specifications: " +
				"rfc2141, draft (draft-ietf-urnbis-rfc2141bis-urn-03) and rfc8141. Others are answered 400. A list of " +
				"one accepts only that specification:",
			Sample: "accept: [rfc8141]",
		},
		{
			Path: "urn.accept", Default: uri.CurrentURN.Names(), OneOf: (uri.RFC2141 | uri.CurrentURN).Names(), check: checkAccept,
			Doc: "the specifications",
		},
	}
}

func checkAccept(f *Faults, path string, value any) {
	if accept, _ := value.([]string); len(accept) == 0 {
		f.add(path, "names no specification, so every URN would be refused")
	}
}

// Specs returns the specifications in Accept.
func (u URN) Specs() uri.Conformance {
	var specs uri.Conformance
	for _, name := range u.Accept {
		spec, _ := uri.ParseConformance(name) // Validate has checked it
		specs |= spec
	}
	return specs
}
