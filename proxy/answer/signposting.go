package answer

import (
	"strings"

	"github.com/urnd/urnd/proxy/answer/represent"
	"github.com/urnd/urnd/resolver"
)

// maxSignposts bounds the links of a page in its Link field: a longer one leads to the linkset, which has all.
const maxSignposts = 12

// signposts returns the links that FAIR Signposting has of what a name names, beside its items and descriptions: what it is, who made it, and
// its license.
func signposts(w represent.Work) []resolver.Link {
	links := []resolver.Link{{Rel: "type", URI: "https://schema.org/" + w.Metadata.SchemaType()}}
	for _, agent := range w.Metadata.Creators {
		if isWebURL(agent.URI) {
			links = append(links, resolver.Link{Rel: "author", URI: agent.URI})
		}
	}
	if isWebURL(w.Metadata.License) {
		links = append(links, resolver.Link{Rel: "license", URI: w.Metadata.License})
	}
	return links
}

func isWebURL(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}

// pageLinks returns the links of the page about a name: FAIR Signposting level 1, while it is small. Of names that the registry has not, it is not
// known what they name.
func pageLinks(w represent.Work, isRegistered bool) []resolver.Link {
	links := []resolver.Link{{Rel: "type", URI: "https://schema.org/AboutPage"}}
	if isRegistered {
		links = append(links, signposts(w)...)
	}
	for _, l := range w.Locations {
		links = append(links, resolver.Link{Rel: relItem, URI: l.URI, Type: l.Type, Language: l.Language, Title: l.Title})
	}
	if len(links) > maxSignposts {
		return nil
	}
	return links
}
