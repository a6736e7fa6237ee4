package gs1

import (
	"strings"

	"github.com/urnd/urnd/urnns/digitallink"
)

// Title returns the default title of a link, by its type: section 2.5.3.
func Title(rel string) string {
	name, ok := strings.CutPrefix(digitallink.ShortType(rel), "gs1:")
	if !ok {
		return rel
	}
	switch name {
	case "pip":
		return "Product information page"
	case "dpp":
		return "Digital product passport"
	case "defaultLink", "defaultLinkMulti":
		return "Default link"
	case "epcis":
		return "EPCIS repository"
	case "epil":
		return "Electronic patient information leaflet"
	case "eifu":
		return "Electronic instructions for use"
	case "smpc":
		return "Summary of product characteristics"
	case "jws":
		return "JSON web signature"
	case "faqs":
		return "Frequently asked questions"
	default:
		return inWords(name)
	}
}

// inWords splits a name in camel case into words: "recallStatus" is "Recall status".
func inWords(name string) string {
	var b strings.Builder
	for i, c := range name {
		capital := 'A' <= c && c <= 'Z'
		switch {
		case i == 0:
			b.WriteString(strings.ToUpper(string(c)))
		case capital:
			b.WriteString(" " + strings.ToLower(string(c)))
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
