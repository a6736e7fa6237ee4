package config

import (
	"slices"
	"strings"
	"unicode"
)

// ARK is what the site commits itself to for its ARKs: the elements of erc-support. What is empty is not known.
type ARK struct {
	SupportWho   string `mapstructure:"support_who"`   // who makes the commitment
	SupportWhat  string `mapstructure:"support_what"`  // the commitment
	SupportWhen  string `mapstructure:"support_when"`  // the date of it
	SupportWhere string `mapstructure:"support_where"` // what says more
}

// maxSupport bounds an element of the commitment, in octets: it is in each description of an ARK.
const maxSupport = 500

func arkSettings() []Setting {
	return []Setting{
		{
			Path: "ark", Invalidates: Nothing,
			Doc: "What ?info of an ARK of the registry says that this site commits itself to, where the metadata of the name says " +
				"nothing else: see docs/links.md. What is empty is (:unkn).",
		},
		{
			Path: "ark.support_who", Form: "text", check: checkSupport,
			Doc:    "who makes the commitment",
			Sample: "support_who: Library of Example",
		},
		{
			Path: "ark.support_what", Form: "text", check: checkSupport,
			Doc: "the commitment, such as one of those in draft-kunze-ark section 5.1.1: Not Guaranteed, Permanent: Dynamic " +
				"Content, Permanent: Stable Content, Permanent: Unchanging Content",
			Sample: "support_what: 'Permanent: Stable Content'",
		},
		{
			Path: "ark.support_when", Form: "text", check: checkSupport,
			Doc:    "the date of the commitment",
			Sample: "support_when: '20310501'",
		},
		{
			Path: "ark.support_where", Form: "text", check: checkSupport,
			Doc:    "the URL of what says more, such as a policy",
			Sample: "support_where: https://library.example.org/policy",
		},
	}
}

// checkSupport checks an element of the commitment, which is a line.
func checkSupport(f *Faults, path string, value any) {
	text, _ := value.(string)
	switch {
	case len(text) > maxSupport:
		f.add(path, "has more than %d octets", maxSupport)
	case strings.ContainsFunc(text, unicode.IsControl):
		f.add(path, "%q has a line end or another control character", text)
	}
}

// hasARKs reports whether there is a registry with names that begin as ARKs do.
func (r Registry) hasARKs() bool {
	const scheme = "ark:"
	return r.Store != "" && slices.ContainsFunc(r.Only, func(beginning string) bool {
		return len(beginning) >= len(scheme) && strings.EqualFold(beginning[:len(scheme)], scheme)
	})
}
